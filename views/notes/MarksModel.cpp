// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarksModel.h"

#include <QColor>
#include <algorithm>

#include "model/notes/marksAsText.h"
#include "model/values/formatValue.h"
#include "views/notes/MarkStore.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {

MarksModel::MarksModel(MarkStore& store, QObject* parent)
    : QAbstractTableModel(parent), store_(store), rows_(store.marks()) {
    connect(&store_, &MarkStore::changed, this, &MarksModel::takeOver);
}

void MarksModel::takeOver() {
    const auto& marks = store_.marks();
    const bool isSameOrder = std::ranges::equal(rows_, marks, {}, &Mark::id, &Mark::id);
    if (!isSameOrder) {
        beginResetModel();
        rows_ = marks;
        endResetModel();
        return;
    }
    rows_ = marks;
    if (!rows_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, Count - 1));
}

const Mark* MarksModel::markAt(int row) const {
    return row >= 0 && row < rowCount() ? &rows_[static_cast<size_t>(row)] : nullptr;
}

int MarksModel::rowOf(const std::string& id) const {
    const auto found = std::ranges::find(rows_, id, &Mark::id);
    return found != rows_.end() ? static_cast<int>(found - rows_.begin()) : -1;
}

int MarksModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MarksModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Count;
}

QVariant MarksModel::data(const QModelIndex& index, int role) const {
    const Mark* mark = index.isValid() ? markAt(index.row()) : nullptr;
    if (!mark) return {};
    const int column = index.column();
    if (role == Qt::TextAlignmentRole)
        return int((column <= Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::DecorationRole && column == Text) return QColor::fromRgb(mark->color);
    if (role == Qt::EditRole && column == Text) return toQString(mark->text);
    if (role == Qt::ToolTipRole && column >= Track)
        return plainToolTip(toQString(printable(column == Text ? mark->text : trackText(*mark))));
    if (role != Qt::DisplayRole) return {};
    switch (column) {
        case Start:
            return toQString(formatTimestamp(mark->range.startNs));
        case Duration:
            return mark->range.isEmpty() ? QString()
                                         : toQString(formatDuration(mark->range.durationNs()));
        case Track:
            return toQString(printable(trackText(*mark)));
        case Text:
            return toQString(printable(mark->text));
        default:
            return {};
    }
}

bool MarksModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const Mark* mark = index.isValid() ? markAt(index.row()) : nullptr;
    if (!mark || role != Qt::EditRole || index.column() != Text) return false;
    Mark changed = *mark;
    changed.text = value.toString().trimmed().toStdString();
    store_.change(changed);
    return true;
}

Qt::ItemFlags MarksModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == Text ? flags | Qt::ItemIsEditable : flags;
}

QVariant MarksModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    const QString names[] = {tr("Start"), tr("Duration"), tr("Track"), tr("Text")};
    if (section < 0 || section >= Count) return {};
    if (role == Qt::DisplayRole) return names[section];
    if (role == Qt::TextAlignmentRole)
        return int((section <= Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

}  // namespace lanescope::views
