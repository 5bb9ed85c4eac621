// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/events/EventsPanel.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <algorithm>
#include <iterator>
#include <memory>

#include "model/text/formatValue.h"
#include "model/trace/kinds/eventFacts.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr int64_t rowsPerPage = 128;

/// The delay from a change of the range to the next query; several changes make one.
constexpr int settleMs = 60;

constexpr int lettersOfName = 20;
constexpr int lettersOfLine = 22;
constexpr int aroundText = 32;  // of a cell, in pixels, as the window's style pads it

const std::vector<EventKind>& kindsOffered() {
    static const std::vector<EventKind> kinds = [] {
        std::vector<EventKind> recorded;
        std::ranges::copy_if(kindsInOrder(), std::back_inserter(recorded), isRecorded);
        return recorded;
    }();
    return kinds;
}

QString number(int64_t count) { return toQString(formatCount(count)); }

}  // namespace

void EventTableModel::showWindow(TracePtr trace, const EventWindow& window, bool isDescending) {
    beginResetModel();
    trace_ = std::move(trace);
    window_ = window;
    list_.clear();
    isList_ = false;
    isDescending_ = isDescending;
    rows_ = static_cast<int>(std::min(window.size(), maxRows));
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
    if (const auto* durationNs = std::get_if<int64_t>(&cell); durationNs && unit == Unit::Nanoseconds)
        return shortDuration(*durationNs);
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

EventsPanel::EventsPanel(QWidget* parent) : Panel(parent) {
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        isStale_ = job_->isOutdated() || timer_->isActive();
        remark_->setText(tr("There is not enough memory to list these events."));
    });
    connect(copyJob_, &LatestJob::ranOutOfMemory, this,
            [this] { remark_->setText(tr("There is not enough memory to copy these events.")); });
    request_.maxScanned = EventTableModel::maxRows;
    timer_->setSingleShot(true);
    timer_->setInterval(settleMs);
    build();
    arrange();
    kinds_->setObjectName("kinds");
    fillKindsMenu();
    connect(timer_, &QTimer::timeout, this, &EventsPanel::refresh);
    connect(model_, &EventTableModel::sortRequested, this, &EventsPanel::sortBy);
    connect(filterWords_, &QLineEdit::textChanged, this, [this](const QString& text) {
        request_.words = text.trimmed().toStdString();
        invalidate();
    });
    connect(copy_, &QPushButton::clicked, this, &EventsPanel::copyAll);
    connect(save_, &QPushButton::clicked, this, &EventsPanel::saveRequested);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (isSilent_ || !index.isValid()) return;
        event_ = model_->eventAt(index.row());
        emit eventSelected(event_);
    });
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit eventActivated(model_->eventAt(index.row())); });
}

void EventsPanel::build() {
    filterWords_->setPlaceholderText(tr("Words in the name"));
    filterWords_->setAccessibleName(tr("Only events whose name holds these words"));
    filterWords_->setClearButtonEnabled(true);
    filterWords_->setFixedWidth(fontMetrics().averageCharWidth() * 32);
    kinds_->setAccessibleName(tr("Kinds of events"));
    copy_->setText(tr("Copy all"));
    copy_->setToolTip(tr("Copy all rows as tab-separated text"));
    save_->setText(tr("Save as CSV…"));
    remark_->setTextFormat(Qt::PlainText);
    remark_->setForegroundRole(QPalette::PlaceholderText);

    table_->setModel(model_);
    table_->setAccessibleName(tr("Events"));
    table_->horizontalHeader()->setSortIndicator(0, Qt::AscendingOrder);
    table_->setSortingEnabled(true);
    styleTable(*table_);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    sizeColumns();
    QAction* copy = table_->addAction(tr("Copy rows"), QKeySequence::Copy, this, &EventsPanel::copySelection);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
}

/// Makes columns of numbers and kinds as wide as their widest possible value, so that they are never truncated.
void EventsPanel::sizeColumns() {
    const auto widthOf = [this](const std::string& text) {
        return fontMetrics().horizontalAdvance(toQString(text)) + aroundText;
    };
    const std::string latest = formatTimestamp(trace_ ? trace_->range.endNs : 0);
    const int sortMark = style()->pixelMetric(QStyle::PM_HeaderMarkSize, nullptr, this) + 8;
    for (size_t index = 0; index < eventColumnCount; ++index) {
        const auto column = static_cast<EventColumn>(index);
        int wanted = widthOf(eventColumns()[index].name) + sortMark;
        if (column == EventColumn::Start) wanted = std::max(wanted, widthOf(latest));
        if (column == EventColumn::Kind)
            for (const EventKind kind : kindsOffered())
                wanted = std::max(wanted, widthOf(std::string(nameOfKind(kind))));
        if (column == EventColumn::Line) wanted = std::max(wanted, lettersOfLine * fontMetrics().averageCharWidth());
        if (column == EventColumn::Duration || column == EventColumn::Bytes)
            wanted = std::max(wanted, widthOf("1,023.99 MiB"));
        if (column == EventColumn::Rate) wanted = std::max(wanted, widthOf("9,999.99 GB/s"));
        if (column != EventColumn::Name) table_->setColumnWidth(static_cast<int>(index), wanted);
    }
    fillWithNames();
}

/// Gives the names the remaining width, but at least a readable one.
void EventsPanel::fillWithNames() {
    constexpr int name = static_cast<int>(EventColumn::Name);
    int room = width() - table_->verticalScrollBar()->sizeHint().width();
    for (int column = 0; column < static_cast<int>(eventColumnCount); ++column)
        if (column != name) room -= table_->columnWidth(column);
    table_->setColumnWidth(name, std::max(lettersOfName * fontMetrics().averageCharWidth(), room));
}

void EventsPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fillWithNames();
}

void EventsPanel::arrange() {
    auto* top = rowIn(nullptr, {8, 5, 8, 5}, 10);
    addTo(top, filterWords_, kinds_, Filling{remark_}, copy_, save_);
    addTo(columnIn(this), top, Filling{table_});
}

void EventsPanel::fillKindsMenu() {
    auto* menu = new QMenu(kinds_);
    QAction* all = menu->addAction(tr("All kinds"));
    menu->addSeparator();
    std::vector<QAction*> choices;
    for (const EventKind kind : kindsOffered()) {
        QAction* choice = menu->addAction(toQString(nameOfKind(kind)));
        choice->setCheckable(true);
        choice->setChecked(true);
        choices.push_back(choice);
        connect(choice, &QAction::toggled, this, [this, kind](bool isOn) {
            isOn ? request_.kinds.add(kind) : request_.kinds.remove(kind);
            updateKindsText();
            invalidate();
        });
    }
    connect(all, &QAction::triggered, this, [choices] {
        for (QAction* choice : choices) choice->setChecked(true);
    });
    kinds_->setMenu(menu);
    updateKindsText();
}

void EventsPanel::updateKindsText() {
    QStringList names;
    for (const EventKind kind : kindsOffered())
        if (request_.kinds.has(kind)) names << toQString(nameOfKind(kind));
    const auto count = static_cast<size_t>(names.size());
    kinds_->setText(count == kindsOffered().size() ? tr("All kinds")
                    : count == 0                   ? tr("No kind")
                    : count == 1                   ? names.front()
                                                   : tr("%1 of %2 kinds").arg(count).arg(kindsOffered().size()));
}

void EventsPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    visible_ = trace_ ? trace_->range : TimeRange();
    selected_.reset();
    event_ = {};
    sizeColumns();
    invalidate();
}

void EventsPanel::setVisibleRange(TimeRange range) {
    if (range == visible_) return;
    visible_ = range;
    if (!selected_) follow();
}

void EventsPanel::setRange(std::optional<TimeRange> range) {
    if (range == selected_) return;
    selected_ = range;
    follow();
}

void EventsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (isStale_) timer_->start(0);
}

void EventsPanel::invalidate() {
    job_->cancel();
    follow();
}

void EventsPanel::follow() {
    isStale_ = true;
    if (!isVisible()) job_->cancel();
    // Not restarted: while the user pans, the table follows instead of waiting for the end.
    if (isVisible() && !timer_->isActive()) timer_->start(settleMs);
}

void EventsPanel::sortBy(int column, Qt::SortOrder order) {
    if (column < 0) return;
    request_.sortedBy = static_cast<EventColumn>(column);
    request_.isDescending = order == Qt::DescendingOrder;
    invalidate();
}

void EventsPanel::refresh() {
    if (!isVisible()) return;
    request_.range = selected_.value_or(visible_);
    if (!trace_) {
        isStale_ = false;
        isSilent_ = true;
        model_->showList(nullptr, {});
        isSilent_ = false;
        return;
    }
    if (request_.words.empty() && request_.sortedBy == EventColumn::Start) {
        const EventWindow window(*trace_, request_.range, request_.kinds);
        isSilent_ = true;
        model_->showWindow(trace_, window, request_.isDescending);
        isSilent_ = false;
        updateRemark(window.size(), window.size(), model_->rowCount(), selected_.has_value());
        isStale_ = false;
        restoreSelection();
        return;
    }
    // Other questions cancelled their jobs; the list of another range is only out of date.
    job_->start(
        [this, trace = trace_, request = request_, isSelected = selected_.has_value()]() -> LatestJob::Publish {
            auto list = std::make_shared<std::optional<EventList>>(listEvents(*trace, request));
            return [this, list, isSelected] {
                if (*list) showEvents(**list, isSelected);
            };
        },
        LatestJob::Older::Published);
}

void EventsPanel::showEvents(const EventList& list, bool isSelected) {
    isSilent_ = true;
    model_->showList(trace_, list.events);
    isSilent_ = false;
    updateRemark(list.inRange, list.scanned, model_->rowCount(), isSelected);
    isStale_ = job_->isOutdated() || timer_->isActive();
    restoreSelection();
}

void EventsPanel::updateRemark(int64_t inRange, int64_t scanned, int64_t shown, bool isSelected) {
    const QString where = isSelected ? tr("in the selected range") : tr("in the visible range");
    QString text = inRange == 1 ? tr("1 event %1").arg(where) : tr("%1 events %2").arg(number(inRange), where);
    const bool isFiltered = !request_.words.empty();
    if (isFiltered) text = tr("%1 of %2").arg(number(shown), text);
    if (scanned < inRange)
        text += tr("; only the first %1 were searched: zoom in for the others").arg(number(scanned));
    else if (!isFiltered && shown < inRange)
        text += request_.isDescending ? tr("; the last %1 are listed").arg(number(shown))
                                      : tr("; the first %1 are listed").arg(number(shown));
    remark_->setText(text);
}

void EventsPanel::setEvent(EventRef event) {
    event_ = event;
    restoreSelection();
}

void EventsPanel::restoreSelection() {
    isSilent_ = true;
    const int row = model_->rowOf(event_);
    if (row < 0) {
        table_->clearSelection();
        table_->setCurrentIndex({});
    } else if (table_->currentIndex().row() != row) {
        table_->setCurrentIndex(model_->index(row, 0));
    }
    isSilent_ = false;
}

void EventsPanel::copySelection() {
    if (!trace_) return;
    std::vector<int> rows;
    for (const QModelIndex& index : table_->selectionModel()->selectedRows()) rows.push_back(index.row());
    if (rows.empty()) return copyAll();
    std::sort(rows.begin(), rows.end());
    std::vector<EventRef> events;
    for (const int row : rows) events.push_back(model_->eventAt(row));
    QApplication::clipboard()->setText(toQString(eventsAsTsv(*trace_, events)));
}

void EventsPanel::copyAll() {
    if (!trace_) return;
    EventRequest request = request_;
    request.range = selected_.value_or(visible_);
    copyJob_->start([trace = trace_, request]() -> LatestJob::Publish {
        const auto list = listEvents(*trace, request);
        if (!list) return {};
        auto text = std::make_shared<QString>(toQString(eventsAsTsv(*trace, list->events)));
        return [text] { QApplication::clipboard()->setText(*text); };
    });
}

}  // namespace lanescope::views
