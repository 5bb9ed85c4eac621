// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/PageTools.h"

#include <QFileDialog>
#include <QMessageBox>
#include <QPointer>
#include <QStandardPaths>
#include <QTabWidget>
#include <algorithm>
#include <memory>

#include "app/viewer/AppSettings.h"
#include "app/viewer/MarkActions.h"
#include "model/events/listEvents.h"
#include "model/live/LiveTrace.h"
#include "model/text/formatValue.h"
#include "views/events/EventsPanel.h"
#include "views/histogram/NamePanel.h"
#include "views/jobs/LatestJob.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"
#include "views/sql/SqlPanel.h"
#include "views/text/shownText.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

/// A column called start may contain any number; sums of a few of these still fit.
constexpr int64_t maxTimeNs = int64_t{1} << 60;

std::filesystem::path userNotesFolder() {
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    return std::filesystem::path(data.toStdString()) / "notes";
}

}  // namespace

PageTools::PageTools(TracePtr trace, TimelineView& timeline, QTabWidget& tables, QWidget* before,
                     QWidget* parent)
    : QObject(parent),
      trace_(std::move(trace)),
      timeline_(timeline),
      tables_(tables),
      events_(new PanelTab<EventsPanel>([this] { return makeEvents(); })),
      sql_(new PanelTab<SqlPanel>([this] { return makeSql(); },
                                  [](SqlPanel& panel) { return &panel.answer(); })),
      marksPanel_(new PanelTab<MarksPanel>([this] { return makeMarks(); })),
      name_(new PanelTab<NamePanel>([this] { return makeName(); })),
      store_(new MarkStore(this)),
      marks_(new TimelineMarks(*store_, timeline, this)),
      keeper_(new NotesKeeper(*store_, trace_->path, userNotesFolder(), this)) {
    addTabs(before);
    connect(&timeline_, &TimelineView::placesChanged, this, [this] {
        if (events_->panel()) events_->panel()->setVisibleRange(visibleRange());
    });
    connectMarks();
}

PageTools::~PageTools() {
    delete keeper_;  // It saves pending marks, so it is deleted before them.
}

void PageTools::addTabs(QWidget* before) {
    const int place = tables_.indexOf(before);
    tables_.insertTab(place, events_, tr("Events"));
    tables_.insertTab(place + 1, name_, tr("One name"));
    tables_.insertTab(place + 2, sql_, tr("SQL"));
    tables_.insertTab(place + 3, marksPanel_, tr("Marks"));
}

EventsPanel& PageTools::events() const {
    return events_->demandPanel();
}
SqlPanel& PageTools::sql() const {
    return sql_->demandPanel();
}
MarksPanel& PageTools::marksPanel() const {
    return marksPanel_->demandPanel();
}
NamePanel& PageTools::name() const {
    return name_->demandPanel();
}
LazyTab& PageTools::nameTab() const {
    return *name_;
}
LazyTab& PageTools::eventsTab() const {
    return *events_;
}
LazyTab& PageTools::sqlTab() const {
    return *sql_;
}
LazyTab& PageTools::marksTab() const {
    return *marksPanel_;
}

void PageTools::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    if (EventsPanel* events = events_->panel()) {
        events->setTrace(trace_);
        events->setVisibleRange(visibleRange());
    }
    if (name_->panel()) name_->panel()->setTrace(trace_);
    if (SqlPanel* sql = sql_->panel(); sql && sql->file() != queryFile()) sql->setFile(queryFile());
}

TimeRange PageTools::visibleRange() const {
    return timeline_.visibleRange()->range().shifted(timeline_.timeOrigin());
}

std::filesystem::path PageTools::queryFile() const {
    const auto live = liveTraceAt(trace_->path);
    return live ? live->partial : trace_->path;
}

EventsPanel* PageTools::makeEvents() {
    auto* events = new EventsPanel;
    connect(&timeline_, &TimelineView::selectedRangeChanged, events,
            &EventsPanel::setSelectedRange);
    connect(&timeline_, &TimelineView::eventSelected, events, &EventsPanel::selectEvent);
    connect(events, &EventsPanel::eventSelected, &timeline_, &TimelineView::setSelectedEvent);
    connect(events, &EventsPanel::eventActivated, &timeline_, &TimelineView::revealEvent);
    connect(events, &EventsPanel::saveRequested, this, &PageTools::saveEvents);
    events->setTrace(trace_);
    events->setVisibleRange(visibleRange());
    events->setSelectedRange(timeline_.selectedRange());
    events->selectEvent(timeline_.selectedEvent());
    return events;
}

SqlPanel* PageTools::makeSql() {
    auto* sql = new SqlPanel;
    connect(sql, &SqlPanel::rangeActivated, this, &PageTools::showRange);
    sql->setFile(queryFile());
    sql->setTheme(theme_);
    sql->setHistory(queries_);
    return sql;
}

MarksPanel* PageTools::makeMarks() {
    auto* panel = new MarksPanel(*store_);
    connect(panel, &MarksPanel::markActivated, marks_, &TimelineMarks::show);
    panel->setTitle(toQString(trace_->title));
    panel->setRemark(remark_, isRemarkTrouble_);
    return panel;
}

NamePanel* PageTools::makeName() {
    auto* panel = new NamePanel;
    connect(panel, &NamePanel::eventActivated, &timeline_, &TimelineView::revealEvent);
    panel->setTrace(trace_);
    panel->setTheme(theme_);
    return panel;
}

void PageTools::connectMarks() {
    connect(store_, &MarkStore::changed, this, &PageTools::updateTitles);
    connect(keeper_, &NotesKeeper::remarked, this, &PageTools::showRemark);
}

void PageTools::showRemark(const QString& text, bool isTrouble) {
    remark_ = text;
    isRemarkTrouble_ = isTrouble;
    if (marksPanel_->panel()) marksPanel_->panel()->setRemark(text, isTrouble);
    // Unsaved marks must be noticed.
    if (isTrouble) tables_.setCurrentWidget(marksPanel_);
}

void PageTools::updateTitles() {
    const size_t count = store_->marks().size();
    tables_.setTabText(tables_.indexOf(marksPanel_),
                       count > 0 ? tr("Marks (%1)").arg(count) : tr("Marks"));
}

std::vector<FinderEntry> PageTools::markEntries() const {
    std::vector<FinderEntry> entries;
    for (const Mark& mark : store_->marks()) {
        const QString text = toQString(mark.text).simplified();
        QString detail = tr("mark at %1").arg(toQString(formatTimestamp(mark.range.startNs)));
        if (!mark.range.isEmpty())
            detail += QStringLiteral(", ") + toQString(formatDuration(mark.range.durationNs()));
        entries.push_back({text.isEmpty() ? tr("Mark without text") : text,
                           detail,
                           {},
                           [marks = QPointer<TimelineMarks>(marks_), id = mark.id] {
                               if (marks) marks->show(id);
                           }});
    }
    return entries;
}

void PageTools::showRange(TimeRange range) {
    VisibleRange& visible = *timeline_.visibleRange();
    range = {std::clamp(range.startNs, -maxTimeNs, maxTimeNs),
             std::clamp(range.endNs, -maxTimeNs, maxTimeNs)};
    const TimeRange shared = range.shifted(-timeline_.timeOrigin());
    const int64_t shownNs = visible.range().durationNs();
    // Near enough to be visible, with enough context around it.
    const int64_t windowNs =
        range.isEmpty() ? shownNs : std::max<int64_t>(range.durationNs() * 3, 1000);
    const int64_t middle = shared.startNs + shared.durationNs() / 2;
    visible.setRange({middle - windowNs / 2, middle - windowNs / 2 + windowNs});
    timeline_.setSelectedRange(range.isEmpty() ? std::nullopt : std::optional(range));
}

void PageTools::saveEvents() {
    auto* window = events_->window();
    const QString path = QFileDialog::getSaveFileName(
        window, tr("Save events"), toQString(trace_->title) + QStringLiteral("-events.csv"),
        tr("CSV (*.csv)"));
    if (path.isEmpty()) return;
    auto* job = new LatestJob(this);
    connect(job, &LatestJob::finished, job, &QObject::deleteLater);
    connect(job, &LatestJob::ranOutOfMemory, this, [this] {
        QMessageBox::warning(events_->window(), tr("Save events"),
                             tr("There is not enough memory to save these events."));
    });
    job->start([this, trace = trace_, request = events().request(),
                file = path.toStdString()]() -> LatestJob::Publish {
        auto saved = std::make_shared<Result<int64_t>>(saveEventsAsCsv(*trace, request, file));
        return [this, saved] {
            if (!*saved)
                QMessageBox::warning(events_->window(), tr("Save events"),
                                     toQString(saved->error().sentence));
        };
    });
}

void PageTools::setTheme(const Theme& theme) {
    theme_ = theme;
    if (sql_->panel()) sql_->panel()->setTheme(theme);
    if (name_->panel()) name_->panel()->setTheme(theme);
    marks_->setTheme(theme);
}

bool PageTools::isBusy() const {
    return keeper_->isBusy();
}

void PageTools::restore(const AppSettings& settings) {
    queries_ = settings.queries();
    if (sql_->panel()) sql_->panel()->setHistory(queries_);
}

void PageTools::store(AppSettings& settings) const {
    if (sql_->panel() && !sql_->panel()->history().isEmpty())
        settings.setQueries(sql_->panel()->history());
}

}  // namespace lanescope::viewer
