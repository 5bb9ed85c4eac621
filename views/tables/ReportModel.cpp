// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportModel.h"

#include <QLocale>
#include <algorithm>
#include <cmath>
#include <optional>

#include "model/text/formatTable.h"
#include "views/text/shownText.h"

namespace lanescope::views {
namespace {

QVariant toVariant(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) {
        return QVariant::fromValue<qlonglong>(*whole);
    }
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* text = std::get_if<std::string>(&cell)) return toQString(*text);
    return {};
}

std::optional<double> toNumber(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    return std::nullopt;
}

/// Returns the shortest text that is exactly the value.
QString exactText(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return QString::number(*whole);
    if (const auto* real = std::get_if<double>(&cell))
        return QString::number(*real, 'g', QLocale::FloatingPointShortest);
    return toVariant(cell).toString();
}

}  // namespace

ReportModel::ReportModel(QObject* parent) : QAbstractTableModel(parent) {}

void ReportModel::setTable(ReportTable table) {
    beginResetModel();
    table_ = std::move(table);
    endResetModel();
}

Unit ReportModel::unitOf(int column) const {
    return column >= 0 && column < columnCount() ? table_.columns[size_t(column)].unit : Unit::Text;
}

int ReportModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int ReportModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

const Cell* ReportModel::cellAt(int row, int column) const {
    if (row < 0 || row >= rowCount() || column < 0 || column >= columnCount()) return nullptr;
    const auto& cells = table_.rows[size_t(row)];
    return size_t(column) < cells.size() ? &cells[size_t(column)] : nullptr;
}

QVariant ReportModel::data(const QModelIndex& index, int role) const {
    const Cell* cell = cellAt(index.row(), index.column());
    if (!index.isValid() || !cell) return {};
    const Unit unit = unitOf(index.column());
    switch (role) {
        case Qt::DisplayRole:
            if (const auto number = toNumber(*cell); unit == Unit::Nanoseconds && number)
                return shortDuration(std::llround(*number));
            return toQString(formatCell(*cell, unit));
        case Qt::ToolTipRole: return toolTip(*cell, index.column());
        case Qt::TextAlignmentRole:
            return int((unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        case SortRole: return toVariant(*cell);
        case CopyRole: return exactText(*cell);
        case ShareRole:
            if (const auto number = toNumber(*cell); unit == Unit::Percent && number) {
                return std::clamp(*number / 100.0, 0.0, 1.0);
            }
            return {};
        default: return {};
    }
}

QVariant ReportModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const ReportColumn& column = table_.columns[size_t(section)];
    if (role == Qt::DisplayRole) return toQString(column.name);
    if (role == CopyRole) return toQString(headerOf(column));
    if (role == Qt::TextAlignmentRole) {
        return int((column.unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    return {};
}

QString ReportModel::toolTip(const Cell& cell, int column) const {
    // Cells show rounded values; the tip has the exact value or the end of a long name.
    if (unitOf(column) == Unit::Text) return plainToolTip(toVariant(cell).toString());
    const auto* whole = std::get_if<int64_t>(&cell);
    if (!whole) return {};
    const QString number = QLocale(QLocale::English).toString(static_cast<qlonglong>(*whole));
    switch (unitOf(column)) {
        case Unit::Nanoseconds: return number + QStringLiteral(" ns");
        case Unit::Bytes: return number + QStringLiteral(" bytes");
        default: return {};
    }
}

ReportFilter::ReportFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(ReportModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void ReportFilter::setText(const QString& text) {
    filterWords_ = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
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
    if (filterWords_.isEmpty()) return true;
    QString text;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column) {
        const QVariant value = sourceModel()->index(row, column, parent).data(ReportModel::SortRole);
        if (value.typeId() == QMetaType::QString) text += value.toString() + QLatin1Char('\n');
    }
    return std::all_of(filterWords_.begin(), filterWords_.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

bool ReportFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(ReportModel::SortRole);
    const QVariant b = right.data(ReportModel::SortRole);
    // An empty cell is less than any number, so that a descending order shows the filled ones first.
    if (!a.isValid() || !b.isValid()) return !a.isValid() && b.isValid();
    return QSortFilterProxyModel::lessThan(left, right);
}

}  // namespace lanescope::views
