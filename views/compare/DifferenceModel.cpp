// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/DifferenceModel.h"

#include <algorithm>
#include <cstdlib>

#include "views/text/toQString.h"

namespace lanescope::views {

DifferenceModel::DifferenceModel(QObject* parent) : ReportModel(parent) {}

void DifferenceModel::setComparison(compare::ComparisonTable table) {
    comparison_ = std::move(table);
    greatestLossNs_.assign(comparison_.columns.size(), 0);
    for (size_t column = 0; column < comparison_.columns.size(); ++column) {
        if (!comparison_.isLoss(column)) continue;
        for (const std::vector<Cell>& row : comparison_.rows)
            if (const auto* lost = std::get_if<int64_t>(&row[column]))
                greatestLossNs_[column] =
                    std::max<int64_t>({greatestLossNs_[column], std::abs(*lost), 1});
    }
}

void DifferenceModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                         {Qt::ForegroundRole, BarColorRole});
    }
}

bool DifferenceModel::isLostColumn(int column) const {
    return column >= 0 && column < std::ssize(comparison_.columns) &&
           comparison_.isLoss(size_t(column));
}

int DifferenceModel::lostColumn() const {
    for (int column = 0; column < columnCount(); ++column)
        if (isLostColumn(column)) return column;
    return -1;
}

int64_t DifferenceModel::lostNsAt(int row, int column) const {
    const Cell* cell = cellAt(row, column);
    const auto* lost = cell ? std::get_if<int64_t>(cell) : nullptr;
    return lost ? *lost : 0;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    const bool isLost = index.isValid() && isLostColumn(index.column());
    const int64_t lostNs = isLost ? lostNsAt(index.row(), index.column()) : 0;
    switch (role) {
        case Qt::DisplayRole:
            if (!cellAt(index.row(), index.column()) || index.row() >= std::ssize(comparison_.rows))
                return {};
            return toQString(comparison_.text(size_t(index.row()), size_t(index.column())));
        case Qt::ForegroundRole:
        case BarColorRole:
            return lostNs != 0 ? QVariant(lostNs > 0 ? theme_.slower : theme_.faster) : QVariant();
        case ShareRole:
            if (!isLost) return ReportModel::data(index, role);
            if (lostNs == 0) return {};
            return double(std::abs(lostNs)) / double(greatestLossNs_[size_t(index.column())]);
        default:
            return ReportModel::data(index, role);
    }
}

}  // namespace lanescope::views
