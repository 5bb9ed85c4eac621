// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarksPanel.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QColor>
#include <QHeaderView>
#include <QKeyEvent>
#include <QUndoStack>
#include <algorithm>

#include "model/text/formatValue.h"
#include "views/tables/ReportView.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

MarksModel::MarksModel(MarkStore& store, QObject* parent)
    : QAbstractTableModel(parent), store_(store), rows_(store.marks()) {
    connect(&store_, &MarkStore::changed, this, &MarksModel::adopt);
}

void MarksModel::adopt() {
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
        case Start: return toQString(formatTimestamp(mark->range.startNs));
        case Duration: return mark->range.isEmpty() ? QString() : toQString(formatDuration(mark->range.durationNs()));
        case Track: return toQString(printable(trackText(*mark)));
        case Text: return toQString(printable(mark->text));
        default: return {};
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

MarksPanel::MarksPanel(MarkStore& store, QWidget* parent)
    : Panel(parent), store_(store), model_(new MarksModel(store, this)) {
    build();
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const Mark* mark = model_->markAt(index.row())) emit markActivated(mark->id);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        const Mark* mark = model_->markAt(index.row());
        if (!isFollowing_ && mark) store_.select(mark->id);
    });
    connect(&store_, &MarkStore::selectionChanged, this, &MarksPanel::followSelection);
    connect(&store_, &MarkStore::changed, this, &MarksPanel::updateEmpty);
    updateEmpty();
    followSelection();
}

void MarksPanel::build() {
    table_->setModel(model_);
    table_->setAccessibleName(tr("Marks"));
    styleTable(*table_);
    table_->setEditTriggers(QAbstractItemView::EditKeyPressed);
    table_->horizontalHeader()->setStretchLastSection(true);
    const int letter = fontMetrics().averageCharWidth();
    table_->setColumnWidth(MarksModel::Start, 20 * letter);
    table_->setColumnWidth(MarksModel::Duration, 14 * letter);
    table_->setColumnWidth(MarksModel::Track, 44 * letter);
    table_->installEventFilter(this);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setEnabled(false);
    empty_->setText(
        tr("No marks yet. M marks the selected range or event, or the place under the pointer, and stores the mark "
           "next to the trace."));
    remark_->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* top = rowIn(nullptr, {8, 5, 8, 5}, 8);
    const std::pair<QString, void (MarksPanel::*)() const> copies[] = {
        {tr("Copy as text"), &MarksPanel::copyAsText}, {tr("Copy as Markdown"), &MarksPanel::copyAsMarkdown}};
    for (const auto& [text, slot] : copies) {
        auto* button = new QPushButton(text, this);
        connect(button, &QPushButton::clicked, this, slot);
        top->addWidget(button);
        buttons_.push_back(button);
    }
    auto* remove = new QPushButton(tr("Remove"), this);
    remove->setToolTip(tr("Remove the selected marks (Delete)"));
    connect(remove, &QPushButton::clicked, this, &MarksPanel::removeSelected);
    top->addWidget(remove);
    buttons_.push_back(remove);
    top->addWidget(remark_, 1);
    addTo(columnIn(this), top, Filling{table_}, Filling{empty_});
}

void MarksPanel::setRemark(const QString& text, bool isTrouble) {
    remark_->setText(text);
    remark_->setForegroundRole(isTrouble ? QPalette::WindowText : QPalette::PlaceholderText);
}

void MarksPanel::followSelection() {
    isFollowing_ = true;
    const int row = model_->rowOf(store_.selected());
    if (row >= 0 && table_->currentIndex().row() != row) table_->setCurrentIndex(model_->index(row, MarksModel::Text));
    if (row < 0) table_->setCurrentIndex({});
    isFollowing_ = false;
}

void MarksPanel::updateEmpty() {
    const bool isEmpty = model_->rowCount() == 0;
    table_->setVisible(!isEmpty);
    empty_->setVisible(isEmpty);
    for (QPushButton* button : buttons_) button->setEnabled(!isEmpty);
}

std::vector<Mark> MarksPanel::chosen() const {
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows()) rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    std::vector<Mark> marks;
    for (const int row : rows) marks.push_back(*model_->markAt(row));
    return marks.empty() ? store_.marks() : marks;
}

void MarksPanel::copyAsText() const {
    ReportModel table;
    table.setTable(marksTable(chosen()));
    QApplication::clipboard()->setText(tabSeparated(table, {}));
}

void MarksPanel::copyAsMarkdown() const {
    QApplication::clipboard()->setText(toQString(marksAsMarkdown(chosen(), title_.toStdString())));
}

void MarksPanel::removeSelected() {
    std::vector<std::string> ids;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows())
        ids.push_back(model_->markAt(index.row())->id);
    if (ids.empty()) return;
    store_.undoStack().beginMacro(tr("removal of marks"));
    for (const std::string& id : ids) store_.remove(id);
    store_.undoStack().endMacro();
}

bool MarksPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched != table_) return QWidget::eventFilter(watched, event);
    const bool isAsked = event->type() == QEvent::ShortcutOverride;
    if (isAsked || event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isDelete = key->key() == Qt::Key_Delete;
        if (isDelete || key->matches(QKeySequence::Copy)) {
            if (isAsked)
                event->accept();
            else
                isDelete ? removeSelected() : copyAsText();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace lanescope::views
