#include "views/compare/DifferenceModel.h"

#include <algorithm>
#include <cstdlib>

namespace lanescope {

DifferenceModel::DifferenceModel(QObject* parent) : ReportModel(parent) {}

void DifferenceModel::setComparison(const Comparison& comparison) {
    setTable(toTable(comparison));
}

void DifferenceModel::setTable(ReportTable table) {
    // Of the three time columns (baseline, candidate, lost) the lost time is the last.
    lostColumn_ = -1;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].unit == Unit::Nanoseconds) lostColumn_ = static_cast<int>(column);
    }
    ReportModel::setTable(std::move(table));
    greatestLossNs_.fill(0);
    for (int row = 0; row < rowCount(); ++row) {
        int64_t& greatest = greatestLossNs_[scaleOf(row)];
        greatest = std::max<int64_t>(greatest, std::abs(lostNsAt(row)));
    }
}

size_t DifferenceModel::scaleOf(int row) const {
    const Cell* cell = cellAt(row, 0);
    const auto* group = cell ? std::get_if<std::string>(cell) : nullptr;
    if (group && *group == name(DifferenceGroup::NvtxRange)) return 1;
    if (group && *group == name(DifferenceGroup::ApiCall)) return 2;
    return 0;
}

void DifferenceModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1),
                         {Qt::ForegroundRole, BarColorRole});
    }
}

int64_t DifferenceModel::lostNsAt(int row) const {
    const Cell* cell = cellAt(row, lostColumn_);
    const auto* lost = cell ? std::get_if<int64_t>(cell) : nullptr;
    return lost ? *lost : 0;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    const bool isAboutChange = index.isValid() && lostColumn_ >= 0 && index.column() >= lostColumn_;
    const int64_t lostNs = isAboutChange ? lostNsAt(index.row()) : 0;
    const QColor color = lostNs > 0 ? theme_.slower : theme_.faster;
    switch (role) {
        case Qt::ForegroundRole:
        case BarColorRole:
            return lostNs != 0 ? QVariant(color) : QVariant();
        case ShareRole:
            // A bar of the time at stake; the percentages are changes here, not shares of a whole.
            if (lostNs == 0 || index.column() != lostColumn_) return {};
            return double(std::abs(lostNs)) / double(greatestLossNs_[scaleOf(index.row())]);
        default:
            return ReportModel::data(index, role);
    }
}

}  // namespace lanescope
