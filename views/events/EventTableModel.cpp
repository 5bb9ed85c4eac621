// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/events/EventTableModel.h"

#include <algorithm>
#include <iterator>

#include "model/values/formatTable.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr int64_t rowsPerPage = 128;

}  // namespace

EventTableModel::EventTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventTableModel::showWindow(TracePtr trace, const EventWindow& window, bool isDescending) {
    beginResetModel();
    trace_ = std::move(trace);
    window_ = window;
    list_.clear();
    isList_ = false;
    isDescending_ = isDescending;
    rows_ = static_cast<int>(std::min(window.size(), mostRows));
    for (Page& page : pages_) page.number = -1;
    endResetModel();
}

void EventTableModel::showList(TracePtr trace, std::vector<EventRef> events) {
    beginResetModel();
    trace_ = std::move(trace);
    window_ = {};
    list_ = std::move(events);
    isList_ = true;
    rows_ = static_cast<int>(list_.size());
    endResetModel();
}

const EventTableModel::Page& EventTableModel::page(int64_t number) const {
    Page& cached = pages_[static_cast<size_t>(number) % std::size(pages_)];
    if (cached.number != number) {
        cached.number = number;
        cached.events = window_.slice(number * rowsPerPage, rowsPerPage);
    }
    return cached;
}

EventRef EventTableModel::eventAt(int row) const {
    if (row < 0 || row >= rows_) return {};
    if (isList_) return list_[static_cast<size_t>(row)];
    const int64_t index = isDescending_ ? window_.size() - 1 - row : row;
    const Page& found = page(index / rowsPerPage);
    const auto place = static_cast<size_t>(index % rowsPerPage);
    return place < found.events.size() ? found.events[place] : EventRef();
}

int EventTableModel::rowOf(EventRef event) const {
    if (!event.isValid()) return -1;
    if (isList_) {
        const auto found = std::find(list_.begin(), list_.end(), event);
        return found != list_.end() ? static_cast<int>(found - list_.begin()) : -1;
    }
    const auto index = window_.indexOf(event);
    if (!index) return -1;
    const int64_t row = isDescending_ ? window_.size() - 1 - *index : *index;
    return row < rows_ ? static_cast<int>(row) : -1;
}

int EventTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int EventTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(eventColumnCount);
}

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || !trace_) return {};
    const auto column = static_cast<size_t>(index.column());
    if (column >= eventColumnCount) return {};
    const Unit unit = eventColumns()[column].unit;
    if (role == Qt::TextAlignmentRole)
        return int((unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    const EventRef event = eventAt(index.row());
    if (!event.isValid()) return {};
    const Cell cell = eventCell(*trace_, event, static_cast<EventColumn>(column));
    if (role == Qt::ToolTipRole) {
        const auto* text = std::get_if<std::string>(&cell);
        return text ? QVariant(plainToolTip(toQString(*text))) : QVariant();
    }
    return toQString(formatCell(cell, unit));
}

QVariant EventTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const ReportColumn& column = eventColumns()[static_cast<size_t>(section)];
    if (role == Qt::DisplayRole) return toQString(column.name);
    if (role == Qt::TextAlignmentRole)
        return int((column.unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

void EventTableModel::sort(int column, Qt::SortOrder order) {
    emit sortRequested(column, order);
}

}  // namespace lanescope::views
