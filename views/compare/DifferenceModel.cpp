#include "views/compare/DifferenceModel.h"

#include <algorithm>
#include <cstdlib>

namespace lanescope {

DifferenceModel::DifferenceModel(QObject* parent) : ReportModel(parent) {}

void DifferenceModel::setTable(ReportTable table) {
    greatestLossNs_.assign(table.columns.size(), 0);
    for (size_t column = 0; column < table.columns.size(); ++column) {
        if (!table.columns[column].name.starts_with("Lost")) continue;
        for (const auto& row : table.rows) {
            const auto* lost = column < row.size() ? std::get_if<int64_t>(&row[column]) : nullptr;
            if (lost)
                greatestLossNs_[column] =
                    std::max<int64_t>({greatestLossNs_[column], std::abs(*lost), 1});
        }
    }
    ReportModel::setTable(std::move(table));
}

void DifferenceModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                         {Qt::ForegroundRole, BarColorRole});
    }
}

bool DifferenceModel::isLostColumn(int column) const {
    return column >= 0 && column < columnCount() &&
           table().columns[size_t(column)].name.starts_with("Lost");
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

}  // namespace lanescope
