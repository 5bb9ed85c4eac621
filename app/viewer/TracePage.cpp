// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TracePage.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>
#include <QPixmap>
#include <QPlainTextEdit>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/viewer/AppSettings.h"
#include "app/viewer/LiveFollower.h"
#include "app/viewer/RemoteKeeper.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/ViewerActions.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/lod/SelectionStatistics.h"
#include "model/remote/RemoteTrace.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/eventFacts.h"
#include "views/events/EventsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"
#include "views/explain/StepStrip.h"
#include "views/explain/StepsPanel.h"
#include "views/histogram/NamePanel.h"
#include "views/jobs/LazyTab.h"
#include "views/notes/MarkStore.h"
#include "views/notes/TimelineMarks.h"
#include "views/sql/SqlPanel.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackArrangement.h"
#include "views/timeline/exportPicture.h"

namespace lanescope::viewer {

using namespace views;

TracePage::TracePage(TracePtr trace, ExplainedRunPtr known, QWidget* parent)
    : DocumentPage(parent), trace_(std::move(trace)), guide_(new RunGuide(trace_, *timeline_, this)) {
    arrange();
    connectParts();
    timeline_->setTrace(trace_);
    timeline_->state().tracks().setDefaultArrangement(firstArrangement(*trace_));
    marks_ = new PageMarks(trace_->path, *timeline_, this);
    tables_->addPanels(tracePanels(*this), trace_, firstPanel(*trace_));
    showVisible();
    connectTables();
    tableCommands_ = new TableCommands(*tables_, this);
    connect(tableCommands_, &TableCommands::shown, this, [this] {
        emit tablesRequested();
        area_->showPart(*tables_);
    });
    copyEvidence_ = new QAction(tr("Copy as &evidence"), this);
    copyEvidence_->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
    copyEvidence_->setToolTip(tr("Picture, numbers and query of what is selected or seen"));
    connect(copyEvidence_, &QAction::triggered, this, [this] { copyEvidence(*this); });
    details_->setTrace(trace_);
    showWarnings();
    setFocusProxy(timeline_);
    watchIndex();
    if (const auto remote = remoteOf(*trace_)) {
        remote_ = new RemoteKeeper(*this);
        static_cast<QVBoxLayout*>(layout())->insertWidget(0, remote_);
        if (remote->isGrowing()) {
            startFollowing();
            return;
        }
    }
    guide_->start(std::move(known));
}

/// Pictures read an index in pieces, and the corruption of a piece is detected only then.
void TracePage::watchIndex() {
    constexpr std::chrono::milliseconds interval{1000};
    if (trace_->corruptBlocks == nullptr) return;
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, [this, timer] {
        if (!trace_->isCorrupt()) return;
        timer->stop();
        // Checked again, so that the trace is reloaded when opened again. A persistent problem is reported again.
        static_cast<void>(checkIndex(*trace_));
        showWarnings();
        if (auto* panel = tables_->panel<WarningPanel>("health")) panel->setTrace(trace_);
        tables_->updateTitles();
    });
    timer->start(interval);
}

void TracePage::arrange() {
    addTo(columnIn(upper_), &guide_->legend(), &guide_->strip(), Filling{timeline_});
    overlay_->addPage(details_);
    overlay_->addPage(&guide_->idlePanel());
    split(whole_, {{upper_, 640, 1}, {tables_, 280}});
    auto* content = new QWidget(this);
    addTo(columnIn(content), healthBar_, &guide_->card(), Filling{whole_});
    area_ = new PageArea(content, this);
    columnIn(this)->addWidget(area_);
    setTabOrder(timeline_, &guide_->strip());
    setTabOrder(&guide_->strip(), overlay_);
}

void TracePage::connectParts() {
    connect(&timeline_->state().selection(), &TimelineSelection::eventChanged, details_, &DetailsPanel::setEvent);
    connect(&timeline_->state().selection(), &TimelineSelection::eventChanged, this, &TracePage::updateDetails);
    connect(details_, &DetailsPanel::eventActivated, timeline_, &TimelineView::revealEvent);
    connect(&timeline_->places(), &TimelinePlaces::changed, this, &TracePage::placeDetails);
    connect(overlay_, &OverlayPanel::placed, this, &TracePage::placeDetails);
    connect(overlay_, &OverlayPanel::closed, this, [this] {
        timeline_->commands().clearSelection();
        timeline_->setFocus();
    });
    connect(healthBar_, &WarningBar::placeRequested, this, [this] {
        const auto place = placeOf(*trace_, healthPlaces(*trace_), healthBar_->worst());
        if (place) TimelineNavigator(timeline_->state()).showPlace(place->range, place->process);
    });
    connect(healthBar_, &WarningBar::detailsRequested, this, [this] { showPanel(QStringLiteral("health")); });
    connect(whole_, &QSplitter::splitterMoved, this, [this] { hasOwnSizes_ = true; });
    connect(guide_, &RunGuide::gapShown, this, [this](bool isShown) {
        overlay_->setPage(isShown ? 1 : 0);
        updateDetails();
    });
    connect(guide_, &RunGuide::explained, this, &TracePage::showRun);
    connect(guide_, &RunGuide::failed, this, &TracePage::showMessage);
    connect(guide_, &RunGuide::queryRequested, this, [this](const QString& sql) {
        showPanel(QStringLiteral("sql"));
        auto& panel = tables_->demand<SqlPanel>("sql");
        panel.ask(sql);
        panel.editor().setFocus();
    });
}

void TracePage::connectTables() {
    connect(&timeline_->state().selection(), &TimelineSelection::rangeChanged, tables_, &TraceTables::setRange);
    connect(&timeline_->state().selection(), &TimelineSelection::eventChanged, tables_, &TraceTables::setEvent);
    connect(&timeline_->state().range().axis(), &VisibleRange::changed, this, &TracePage::showVisible);
    connect(tables_, &TraceTables::nameActivated, this, &TracePage::showName);
    connect(tables_, &TraceTables::eventActivated, timeline_, &TimelineView::revealEvent);
    connect(tables_, &TraceTables::rangeActivated, timeline_,
            [this](TimeRange range) { timeline_->state().selection().setRange(range); });
    connect(hits_, &HitNavigator::changed, this, [this, generation = hits_->generation()]() mutable {
        if (std::exchange(generation, hits_->generation()) != generation) tables_->updateTitles();
    });
    connect(&marks_->store(), &MarkStore::changed, tables_, &TraceTables::updateTitles);
    // Unsaved marks must be noticed.
    connect(marks_, &PageMarks::remarked, this, [this](const QString&, bool isTrouble) {
        if (isTrouble) tables_->setCurrentWidget(&tables_->tab("marks"));
    });
    timeline_->state().setTablesOffered(true);
    connect(&timeline_->state(), &TimelineState::histogramRequested, this, [this](EventRef event) {
        showPanel(QStringLiteral("name"));
        tables_->demand<NamePanel>("name").showNameOf(event);
    });
    connect(&timeline_->state(), &TimelineState::listRequested, this, [this](EventRef event) {
        showPanel(QStringLiteral("events"));
        timeline_->revealEvent(event);
        tables_->demand<EventsPanel>("events").setEvent(event);
    });
}

void TracePage::showRun() {
    const ExplainedRunPtr& run = guide_->run();
    if (auto* panel = tables_->panel<StepsPanel>("steps")) {
        panel->setRun(run);
        panel->setUnits(guide_->units(), guide_->chosenUnit());
    }
    tables_->updateTitles();
    if (run && run->hasPlainSteps()) tables_->suggest(QStringLiteral("steps"));
}

void TracePage::showWarnings() {
    healthBar_->setNotes(healthNotesOf(*trace_));
    healthBar_->setPlaceKnown(placeOf(*trace_, healthPlaces(*trace_), healthBar_->worst()).has_value());
    guide_->card().setShownCaveat(shownText(healthBar_->worst()));
}

void TracePage::showName(const QString& name) {
    hits_->search(name);
    hits_->step(+1);
}

QString TracePage::title() const { return toQString(trace_->title); }

QList<QAction*> TracePage::commands() const {
    return tableCommands_->actions() + guide_->actions() + QList{copyEvidence_};
}

std::vector<FinderEntry> TracePage::places() const { return marks_->entries(); }

ReportView* TracePage::currentTable() const {
    const LazyTab* tab = tables_->isVisible() ? tables_->currentTab() : nullptr;
    return tab ? tab->table() : nullptr;
}

void TracePage::setTheme(const Theme& theme) {
    timeline_->state().options().setTheme(theme);
    tables_->setTheme(theme);
    healthBar_->setTheme(theme);
    marks_->onTimeline().setTheme(theme);
    guide_->setTheme(theme);
    if (liveBar_) liveBar_->setTheme(theme);
}

void TracePage::setDetailsVisible(bool isVisible) {
    hasDetails_ = isVisible;
    updateDetails();
}

/// The panel covers neither the pointer, which may click again, nor the selected place.
void TracePage::updateDetails() {
    const TimelineSelection& selection = timeline_->state().selection();
    std::optional<TimeRange> place;
    if (selection.event().isValid()) place = trace_->rangeOf(selection.event());
    if (selection.gapMark()) place = selection.gapMark()->range;
    if (!hasDetails_ || !place) return overlay_->hide();
    placeDetails();
    const TimeRange visible = timeline_->state().range().visible();
    const auto xOf = [&](int64_t timeNs) {
        return timeline_->x() + static_cast<int>(std::lround(timeline_->places().xOf(timeNs)));
    };
    std::optional<int> pointer, middle;
    if (selection.hoverTime()) pointer = xOf(*selection.hoverTime());
    if (place->overlaps(visible)) {
        const TimeRange shown = place->intersected(visible);
        middle = xOf(shown.startNs + shown.durationNs() / 2);
    }
    overlay_->showNextTo(pointer, middle);
}

void TracePage::placeDetails() {
    const QRect tracks = timeline_->places().tracksArea();
    overlay_->setArea(tracks.translated(timeline_->pos()));
    const double share =
        overlay_->isHidden() || tracks.width() <= 0 ? 0 : static_cast<double>(overlay_->width()) / tracks.width();
    timeline_->state().range().setCovered(overlay_->isAtLeft() ? share : 0, overlay_->isAtLeft() ? 0 : share);
}

void TracePage::resizeEvent(QResizeEvent* event) {
    DocumentPage::resizeEvent(event);
    guide_->setPageHeight(height());
    shareHeight();
    updateDetails();
}

/// In a low window tables leave more room to the timeline, until the user resizes them.
void TracePage::shareHeight() {
    constexpr int maxTablesHeight = 280;
    constexpr double minTimelineShare = 0.3;
    if (hasOwnSizes_) return;
    const int tables = std::min(maxTablesHeight, static_cast<int>(height() * minTimelineShare));
    whole_->setSizes({whole_->height() - tables, tables});
}

bool TracePage::isBusy() const {
    const LazyTab* tab = tables_->currentTab();
    return hits_->isSearching() || (tab && tab->isBusy()) || marks_->keeper().isBusy() || guide_->isBusy() ||
           timeline_->emptyTracks().isWaiting();
}

void TracePage::restoreLayout(const AppSettings& settings) {
    overlay_->setChosenWidth(settings.splitterState("trace.details").toInt());
    hasOwnSizes_ = whole_->restoreState(settings.splitterState("trace.whole"));
    queries_ = settings.queries();
    if (auto* sql = tables_->panel<SqlPanel>("sql")) sql->setHistory(queries_);
    guide_->restore(settings);
    const QByteArray json = settings.trackArrangement(toQString(trace_->path.string()));
    if (const auto arrangement = arrangementFromJson(json)) timeline_->state().tracks().setArrangement(*arrangement);
}

void TracePage::storeLayout(AppSettings& settings) const {
    if (overlay_->chosenWidth() > 0)
        settings.setSplitterState("trace.details", QByteArray::number(overlay_->chosenWidth()));
    settings.setSplitterState("trace.whole", whole_->saveState());
    const auto* sql = tables_->panel<SqlPanel>("sql");
    if (sql && !sql->history().isEmpty()) settings.setQueries(sql->history());
    guide_->store(settings);
    const TrackArrangement arrangement = timeline_->state().tracks().arrangement();
    settings.setTrackArrangement(
        toQString(trace_->path.string()),
        arrangement == timeline_->state().tracks().defaultArrangement() ? QByteArray() : toJson(arrangement));
}

using views::toQString;

namespace {

constexpr size_t maxSummaryNames = 5;

TimeRange rangeOf(const views::TimelineView& timeline) {
    if (timeline.state().selection().range()) return *timeline.state().selection().range();
    return timeline.state().range().visible();
}

/// Returns a query for the kernels of a range, valid in native files and in exports of Nsight Systems.
QString queryFor(TimeRange range) {
    return QStringLiteral(
               "SELECT k.start, k.end - k.start AS duration, s.value AS name, k.deviceId,\n       k.streamId\nFROM "
               "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName\nWHERE k.end > %1 AND k.start < "
               "%2\nORDER BY k.start;")
        .arg(range.startNs)
        .arg(range.endNs);
}

QString namesIn(const Trace& trace, const SelectionStatistics& statistics) {
    QString text;
    for (size_t index = 0; index < statistics.names.size() && index < maxSummaryNames; ++index) {
        const NameStatistics& each = statistics.names[index];
        text += QStringLiteral("  %1  %2 x  %3\n")
                    .arg(toQString(formatDuration(each.sums.totalNs)))
                    .arg(each.sums.count)
                    .arg(toQString(nameOf(trace, each.key)).simplified());
    }
    return text;
}

constexpr int shownPollMs = 50;

/// Returns the evidence for a reader: the trace, the time, the content of the selected (else
/// visible) range, the facts of the selected event, and the query that reproduces the numbers.
QString evidenceText(const TracePage& page) {
    const Trace& trace = *page.trace();
    const views::TimelineView& timeline = page.timeline();
    const TimeRange range = rangeOf(timeline);
    const SelectionStatistics statistics = selectionStatistics(trace, trace.sums, range);
    QString text = QStringLiteral("%1 (%2), %3 to %4\n%5\n%6")
                       .arg(toQString(trace.title), toQString(trace.producer),
                            toQString(formatTimestamp(range.startNs)), toQString(formatTimestamp(range.endNs)),
                            toQString(selectionHeadline(trace, statistics)), namesIn(trace, statistics));
    if (const EventRef event = timeline.state().selection().event(); event.isValid()) {
        text += QStringLiteral("\n%1\n").arg(toQString(trace.nameOf(event)).simplified());
        for (const Property& fact : describe(trace, event))
            text += QStringLiteral("  %1: %2\n").arg(toQString(fact.name), toQString(fact.value));
    }
    return text + QStringLiteral("\n") + queryFor(range) + QStringLiteral("\n");
}

}  // namespace

void copyEvidence(TracePage& page) {
    const QString text = evidenceText(page);
    const QImage picture = views::pictureOf(page.timeline());
    auto* data = new QMimeData;
    data->setText(text);
    data->setImageData(picture);
    data->setHtml(QStringLiteral("<img src=\"data:image/png;base64,%1\"><pre>%2</pre>")
                      .arg(QString::fromLatin1(pngOf(picture).toBase64()), text.toHtmlEscaped()));
    QGuiApplication::clipboard()->setMimeData(data);
}

void TracePage::updateTrace(TracePtr trace) {
    const views::TrackArrangement arrangement = timeline_->state().tracks().arrangement();
    const int scrolled = timeline_->state().scroll().y();
    const auto places = timeline_->state().tracks().fixedPlaces();
    const TimeRange visible = timeline_->state().range().visible();
    const auto range = timeline_->state().selection().range();
    const EventRef event = sameEvent(*trace_, timeline_->state().selection().event(), *trace);
    if (liveBar_) liveBar_->beforeChange();
    trace_ = std::move(trace);
    timeline_->history().moveWithoutHistory([&] {
        timeline_->setTrace(trace_);
        timeline_->state().tracks().setDefaultArrangement(views::firstArrangement(*trace_));
        timeline_->state().tracks().setArrangement(arrangement);
        if (liveBar_)
            liveBar_->afterChange(*trace_);
        else
            timeline_->state().range().setVisible(visible);
        timeline_->state().scroll().setY(scrolled);
        timeline_->state().tracks().keepPlaces(places);
    });
    details_->setTrace(trace_);
    showWarnings();
    tables_->setTrace(trace_);
    guide_->setTrace(trace_);
    showRun();
    timeline_->state().selection().setRange(range);
    timeline_->state().selection().setEvent(event);
    hits_->repeat();
}

void TracePage::startFollowing() {
    liveBar_ = new LiveBar(*timeline_, this);
    liveBar_->setTheme(timeline_->state().options().theme());
    static_cast<QVBoxLayout*>(layout())->insertWidget(0, liveBar_);
    guide_->setTrace(trace_);  // It is explained at its end.
    // Data that becomes known only at the end is not missing.
    healthBar_->hide();
}

void TracePage::endFollowing(const QString& sentence) {
    if (sentence.isEmpty()) guide_->start();
    if (liveBar_) liveBar_->end(sentence);
    emit titleChanged();
}

void TracePage::follow(LiveFollower* follower) {
    follower->setParent(this);
    startFollowing();
    // Tables and sums of the new trace are computed in the background; they are part of its cost.
    auto* shown = new QTimer(follower);
    shown->setInterval(shownPollMs);
    connect(shown, &QTimer::timeout, this, [this, follower, shown] {
        if (isBusy()) return;
        shown->stop();
        follower->noteShown();
    });
    connect(follower, &LiveFollower::refreshed, this, [this, shown](const TracePtr& trace) {
        updateTrace(trace);
        healthBar_->hide();
        shown->start();
    });
    connect(follower, &LiveFollower::finished, this, [this, follower](const TracePtr& trace) {
        updateTrace(trace);
        endFollowing({});
        follower->deleteLater();
    });
    connect(follower, &LiveFollower::failed, this, [this, follower](const QString& sentence) {
        liveBar_->end(sentence);
        follower->deleteLater();
    });
}

}  // namespace lanescope::viewer
