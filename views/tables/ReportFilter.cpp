// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportFilter.h"

#include <algorithm>

#include "views/tables/ReportModel.h"

namespace lanescope::views {

ReportFilter::ReportFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(ReportModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void ReportFilter::setText(const QString& text) {
    words_ = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void ReportFilter::setGroups(const QStringList& groups) {
    groups_ = groups;
    invalidateFilter();
}

bool ReportFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (!groups_.isEmpty()) {
        const QVariant group = sourceModel()->index(row, 0, parent).data(ReportModel::SortRole);
        if (!groups_.contains(group.toString())) return false;
    }
    if (words_.isEmpty()) return true;
    QString text;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column) {
        const QVariant value =
            sourceModel()->index(row, column, parent).data(ReportModel::SortRole);
        if (value.typeId() == QMetaType::QString) text += value.toString() + QLatin1Char('\n');
    }
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

bool ReportFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(ReportModel::SortRole);
    const QVariant b = right.data(ReportModel::SortRole);
    // An empty cell is less than any number, so that "greatest first" shows the filled ones first.
    if (!a.isValid() || !b.isValid()) return !a.isValid() && b.isValid();
    return QSortFilterProxyModel::lessThan(left, right);
}

}  // namespace lanescope::views
