#include "app/viewer/PageTools.h"

#include <QFileDialog>
#include <QMessageBox>
#include <QStandardPaths>
#include <QTabWidget>
#include <memory>

#include "app/viewer/AppSettings.h"
#include "app/viewer/NotesKeeper.h"
#include "model/events/eventsAsText.h"
#include "model/live/LiveTrace.h"
#include "views/events/EventsPanel.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"
#include "views/sql/SqlPanel.h"
#include "views/summary/LatestJob.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {
namespace {

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
      events_(new EventsPanel(parent)),
      sql_(new SqlPanel(parent)),
      store_(new MarkStore(this)),
      marksPanel_(new MarksPanel(*store_, parent)),
      marks_(new TimelineMarks(*store_, timeline, this)),
      keeper_(new NotesKeeper(*store_, trace_->path, userNotesFolder(), this)) {
    const int place = tables_.indexOf(before);
    tables_.insertTab(place, events_, tr("Events"));
    tables_.insertTab(place + 1, sql_, tr("SQL"));
    tables_.insertTab(place + 2, marksPanel_, tr("Marks"));
    marksPanel_->setTitle(toQString(trace_->title));
    sql_->setFile(fileToAsk());
    connect(sql_, &SqlPanel::rangeActivated, this, &PageTools::showRange);
    connectEvents();
    connectMarks();
    events_->setTrace(trace_);
}

PageTools::~PageTools() {
    delete keeper_;  // It writes what is left of the marks, so it goes before them.
}

void PageTools::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    events_->setTrace(trace_);
    events_->setVisibleRange(timeline_.visibleRange()->range().shifted(timeline_.timeOrigin()));
    if (sql_->file() != fileToAsk()) sql_->setFile(fileToAsk());
}

std::filesystem::path PageTools::fileToAsk() const {
    const auto live = liveTraceAt(trace_->path);
    return live ? live->partial : trace_->path;
}

void PageTools::connectEvents() {
    connect(&timeline_, &TimelineView::placesChanged, this, [this] {
        events_->setVisibleRange(timeline_.visibleRange()->range().shifted(timeline_.timeOrigin()));
    });
    connect(&timeline_, &TimelineView::selectedRangeChanged, events_,
            &EventsPanel::setSelectedRange);
    connect(&timeline_, &TimelineView::eventSelected, events_, &EventsPanel::selectEvent);
    connect(events_, &EventsPanel::eventSelected, &timeline_, &TimelineView::setSelectedEvent);
    connect(events_, &EventsPanel::eventActivated, &timeline_, &TimelineView::revealEvent);
    connect(events_, &EventsPanel::saveRequested, this, &PageTools::saveEvents);
}

void PageTools::connectMarks() {
    connect(marksPanel_, &MarksPanel::markActivated, marks_, &TimelineMarks::show);
    connect(store_, &MarkStore::changed, this, &PageTools::updateTitles);
    connect(keeper_, &NotesKeeper::remarked, this, [this](const QString& text, bool isTrouble) {
        marksPanel_->setRemark(text, isTrouble);
        // Marks that are not kept must not go unnoticed.
        if (isTrouble) tables_.setCurrentWidget(marksPanel_);
    });
}

void PageTools::updateTitles() {
    const size_t count = store_->marks().size();
    tables_.setTabText(tables_.indexOf(marksPanel_),
                       count > 0 ? tr("Marks (%1)").arg(count) : tr("Marks"));
}

void PageTools::showRange(TimeRange range) {
    VisibleRange& visible = *timeline_.visibleRange();
    const TimeRange shared = range.shifted(-timeline_.timeOrigin());
    const int64_t shownNs = visible.range().durationNs();
    // Near enough to be seen, far enough to be understood.
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
    job->start([this, trace = trace_, request = events_->request(),
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
    sql_->setTheme(theme);
    marks_->setTheme(theme);
}

bool PageTools::isBusy() const {
    const QWidget* current = tables_.currentWidget();
    return keeper_->isBusy() || (current == events_ && events_->isStale()) ||
           (current == sql_ && sql_->isStale());
}

void PageTools::restore(const AppSettings& settings) {
    sql_->setHistory(settings.queries());
}

void PageTools::store(AppSettings& settings) const {
    if (!sql_->history().isEmpty()) settings.setQueries(sql_->history());
}

}  // namespace lanescope
