#include "views/compare/DifferenceModel.h"

#include <algorithm>
#include <cstdlib>

namespace lanescope {

DifferenceModel::DifferenceModel(QObject* parent) : ReportModel(parent) {}

void DifferenceModel::setComparison(const Comparison& comparison) { setTable(toTable(comparison)); }

void DifferenceModel::setTable(ReportTable table) {
    // Of the three time columns (baseline, candidate, lost) the lost time is the last.
    lostColumn_ = -1;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].unit == Unit::Nanoseconds) lostColumn_ = static_cast<int>(column);
    }
    ReportModel::setTable(std::move(table));
    greatestLossNs_ = 0;
    for (int row = 0; row < rowCount(); ++row) {
        greatestLossNs_ = std::max<int64_t>(greatestLossNs_, std::abs(lostNsAt(row)));
    }
}

void DifferenceModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                         {Qt::ForegroundRole, Qt::BackgroundRole});
    }
}

int64_t DifferenceModel::lostNsAt(int row) const {
    const Cell* cell = cellAt(row, lostColumn_);
    const auto* lost = cell ? std::get_if<int64_t>(cell) : nullptr;
    return lost ? *lost : 0;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    if (role == ShareRole) return {};  // the percentages are changes here, not shares of a whole
    const bool isAboutChange = index.isValid() && lostColumn_ >= 0 && index.column() >= lostColumn_;
    if (!isAboutChange || (role != Qt::ForegroundRole && role != Qt::BackgroundRole)) {
        return ReportModel::data(index, role);
    }
    const int64_t lostNs = lostNsAt(index.row());
    if (lostNs == 0) return ReportModel::data(index, role);
    QColor color = lostNs > 0 ? theme_.slower : theme_.faster;
    if (role == Qt::ForegroundRole) return color;
    // The wash grows with the time at stake, so the eye finds what matters in the rows themselves.
    const double weight = double(std::abs(lostNs)) / double(std::max<int64_t>(1, greatestLossNs_));
    color.setAlphaF(float(0.04 + 0.22 * weight));
    return color;
}

}  // namespace lanescope
