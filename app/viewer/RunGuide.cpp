// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/RunGuide.h"

#include <QCursor>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "app/viewer/AppSettings.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/remote/RemoteTrace.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/StepStrip.h"
#include "views/text/shownText.h"
#include "views/timeline/CriticalPath.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;
using explain::StepPlace;

namespace {

// Share of the page height for the lines of findings.
constexpr double panelShare = 0.14;
constexpr double stripShare = 0.12;  // the same for the strip of steps
constexpr int maxFindings = 3;       // the others are scrolled to
constexpr int lowPage = 440;         // in a lower one every line counts

/// Returns a range around a piece of which the piece is a third.
TimeRange around(TimeRange piece) {
    const int64_t room = std::max<int64_t>(piece.durationNs(), 1000);
    return {piece.startNs - room, piece.endNs + room};
}

}  // namespace

RunGuide::RunGuide(TracePtr trace, TimelineView& timeline, QWidget* page)
    : QObject(page),
      trace_(std::move(trace)),
      timeline_(timeline),
      timelineLeft_(&timeline),
      card_(new ExplanationPanel(page)),
      strip_(new StepStrip(page)),
      legend_(new PartsLegend(page)),
      idlePanel_(new IdlePanel(page)) {
    card_->hide();
    strip_->hide();
    legend_->hide();
    idle_->setTrace(trace_);
    makeActions();
    connectParts();
}

RunGuide::~RunGuide() {
    if (!timelineLeft_) return;
    // It calls this object.
    timeline_.state().setEmptyPlaces({});
    timeline_.state().setGpuParts({});
}

QAction* RunGuide::make(const QString& text, const QKeySequence& key, bool isForTimeline) {
    auto* action = new QAction(text, this);
    action->setShortcut(key);
    // In tables, letters have another meaning.
    if (isForTimeline) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        timelineActions_ << action;
    }
    actions_ << action;
    return action;
}

void RunGuide::makeActions() {
    auto* line = new QAction(this);
    line->setSeparator(true);
    actions_ << line;
    showPanel_ = make(tr("E&xplanation"), QKeySequence(Qt::Key_F7), false);
    showPanel_->setCheckable(true);
    showPanel_->setChecked(true);
    connect(showPanel_, &QAction::toggled, this, &RunGuide::updatePanel);
    connect(showPanel_, &QAction::triggered, this, [this](bool isOn) {
        if (isOn && !card_->findings().empty()) card_->focusFirst();
    });
    showPath_ = make(tr("&Critical path"), QKeySequence(Qt::Key_C), true);
    showPath_->setCheckable(true);
    showPath_->setEnabled(false);
    connect(showPath_, &QAction::toggled, this, &RunGuide::showCriticalPath);
    connect(pathJob_, &LatestJob::ranOutOfMemory, showPath_, [this] { showPath_->setChecked(false); });
    connect(make(tr("Step &before"), QKeySequence(Qt::Key_BracketLeft), true), &QAction::triggered, this,
            [this] { stepBy(-1); });
    connect(make(tr("Step &after"), QKeySequence(Qt::Key_BracketRight), true), &QAction::triggered, this,
            [this] { stepBy(+1); });
    connect(make(tr("S&lowest step"), {}, false), &QAction::triggered, this, &RunGuide::showSlowestStep);
    connect(make(tr("Next-longest &idle gap"), QKeySequence(Qt::Key_I), true), &QAction::triggered, this,
            [this] { showNextGap(+1); });
    connect(make(tr("Longer idle &gap"), QKeySequence(Qt::SHIFT | Qt::Key_I), true), &QAction::triggered, this,
            [this] { showNextGap(-1); });
    timeline_.addActions(timelineActions_);
    strip_->addActions(timelineActions_);
}

void RunGuide::connectParts() {
    connect(job_, &ExplainJob::explained, this, &RunGuide::take);
    connect(job_, &ExplainJob::failed, this, [this](const QString& sentence) {
        const bool isOfUnit = std::exchange(chosenUnit_, shownUnit_) != shownUnit_;
        if (isOfUnit) unitError_ = sentence;
        emit explained();
        if (isOfUnit) emit failed(sentence);
    });
    connect(card_, &ExplanationPanel::findingActivated, this, &RunGuide::showFinding);
    connect(card_, &ExplanationPanel::queryRequested, this, &RunGuide::queryRequested);
    connect(card_, &ExplanationPanel::undoRequested, this, &RunGuide::undoFinding);
    connect(card_, &ExplanationPanel::closed, this, [this] {
        showPanel_->setChecked(false);
        timeline_.setFocus();
        QToolTip::showText(QCursor::pos(), tr("F7 shows the explanation again."), &timeline_);
    });
    connect(strip_, &StepStrip::stepChosen, this, &RunGuide::showStep);
    connect(idlePanel_, &IdlePanel::eventActivated, &timeline_, &TimelineView::revealEvent);
    timeline_.state().setEmptyPlaces([this](uint32_t track, int64_t timeNs) { return idle_->placeAt(track, timeNs); });
    connect(idle_, &IdleFinder::found, this, [this] {
        timeline_.state().setGpuParts(
            [this](uint32_t gpu, TimeRange time, size_t count, std::vector<analysis::StepParts>& columns) {
                return idle_->partsOf(gpu, time, count, columns);
            });
        timeline_.refreshEmptyPlaces();
        updateLegend();
        if (std::exchange(isNextGapPending_, false)) showNextGap(+1);
        showPendingGap();
    });
    connect(&timeline_.state(), &TimelineState::emptyPlaceActivated, this, [this](uint32_t track, int64_t timeNs) {
        if (const auto place = idle_->gapAt(track, timeNs)) showGap(place->worker, place->gap, false);
    });
    connect(&timeline_.state().selection(), &TimelineSelection::gapMarkChanged, this, [this] {
        if (!timeline_.state().selection().gapMark()) ranked_.reset();
        emit gapShown(timeline_.state().selection().gapMark().has_value());
    });
    connect(&timeline_.places(), &TimelinePlaces::changed, this, &RunGuide::updateStrip);
}

void RunGuide::start(ExplainedRunPtr known) {
    // A stored summary of a run without plain steps is incomplete.
    if (known && known->hasPlainSteps())
        take(withWarningsOf(std::move(known), *trace_));
    else
        job_->start(trace_);
    idle_->demandIfSmall();
}

void RunGuide::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    mayMove_ = false;
    job_->cancel();
    placeJob_->cancel();
    showPath_->setChecked(false);
    showPath_->setEnabled(false);
    idle_->setTrace(trace_);
    before_.clear();
    pendingGap_.reset();
    shownGap_.reset();
    run_ = nullptr;
    units_.clear();
    chosenUnit_.clear();
    shownUnit_.clear();
    card_->setRun(nullptr);
    strip_->setRun(nullptr);
    card_->hide();
    strip_->hide();
    legend_->hide();
}

void RunGuide::setTheme(const Theme& theme) {
    card_->setTheme(theme);
    strip_->setTheme(theme);
    legend_->setTheme(theme);
    idle_->setTheme(theme);
    idlePanel_->setTheme(theme);
}

void RunGuide::setPageHeight(int height) {
    const int line = card_->fontMetrics().height() + 8;
    const bool isLow = height < lowPage;
    card_->setMaxLines(isLow ? 1 : std::clamp(static_cast<int>(height * panelShare / line), 1, maxFindings));
    strip_->setMaxHeight(isLow ? 0 : static_cast<int>(height * stripShare) - legend_->sizeHint().height());
    // The table of steps has the colours, too.
    legend_->setMaximumHeight(isLow ? 0 : QWIDGETSIZE_MAX);
}

bool RunGuide::isBusy() const {
    return job_->isRunning() || placeJob_->isRunning() || pathJob_->isRunning() || idle_->isBusy();
}

void RunGuide::restore(const AppSettings& settings) {
    showPanel_->setChecked(settings.isPanelVisible("explanation"));
    explain::MutedRules muted;
    for (const QString& name : settings.mutedRules())
        if (const auto* rule = explain::ruleCalled(name.toStdString())) muted.insert(rule);
    card_->setMuted(std::move(muted));
}

void RunGuide::store(AppSettings& settings) const {
    settings.setPanelVisible("explanation", showPanel_->isChecked());
    QStringList muted;
    for (const explain::Rule* rule : explain::allRules())
        if (card_->muted().contains(rule)) muted << QString::fromUtf8(rule->id);
    settings.setMutedRules(muted);
}

void RunGuide::chooseUnit(const std::string& pattern) {
    if (pattern == chosenUnit_) return;
    chosenUnit_ = pattern;
    showPath_->setChecked(false);
    unitError_.clear();
    mayMove_ = false;
    StepSelection selection{.rangeName = pattern};
    job_->start(trace_, selection);
}

void RunGuide::take(ExplainedRunPtr run) {
    run_ = std::move(run);
    showPath_->setEnabled(!remoteOf(*trace_));
    shownUnit_ = chosenUnit_;
    if (chosenUnit_.empty()) {
        units_ = run_->summary.units;
        const uint32_t critical = run_->summary.criticalWorker();
        if (run_->summary.source == StepSource::WholeRun && !units_.empty()) units_.insert(units_.begin(), StepUnit());
        if (critical != noIndex && !run_->summary.pattern.empty())
            units_.insert(units_.begin(),
                          {run_->summary.source, run_->summary.pattern, run_->summary.workers[critical].foundSteps});
    }
    card_->setRun(run_);
    strip_->setRun(run_);
    updatePanel();
    strip_->setVisible(strip_->hasContent());
    updateStrip();
    updateLegend();
    // A user who has moved the view keeps it.
    const bool isUntouched =
        mayMove_ && timeline_.state().range().axis().isFitted() && !timeline_.history().canGoBack();
    timeline_.state().range().setDefaultRange(run_->first());
    if (run_->first() && isUntouched)
        timeline_.history().moveWithoutHistory([this] { timeline_.state().range().showDefaultRange(); });
    emit explained();
}

void RunGuide::updatePanel() { card_->setVisible(showPanel_->isChecked() && card_->hasContent()); }

void RunGuide::updateStrip() {
    const QRect tracks = timeline_.places().tracksArea();
    strip_->setMargins(tracks.left(), timeline_.width() - 1 - tracks.right());
    strip_->setVisibleRange(timeline_.state().range().visible());
}

TimeRange RunGuide::rangeOf(StepPlace place) const {
    const analysis::StepSummary& step = run_->summary.workers[place.worker].steps[place.step];
    return {step.startNs, step.startNs + step.wallNs};
}

std::vector<analysis::IdleGaps::Place> RunGuide::gapsOf(StepPlace place) const {
    const auto& gaps = idle_->gaps();
    const analysis::WorkerSummary& of = run_->summary.workers[place.worker];
    for (size_t worker = 0; gaps && worker < gaps->workerCount(); ++worker)
        if (trace_->processes[gaps->processOf(worker)].pid == of.pid &&
            trace_->gpus[gaps->gpuOf(worker)].id == of.gpuId)
            return gaps->longestIn(worker, rangeOf(place));
    return {};
}

void RunGuide::setChosen(std::optional<StepPlace> step) {
    strip_->setChosen(step);
    updateLegend();
}

/// Returns, for example, "Mean step of rank 2, GPU 2, 61.3 ms".
QString RunGuide::meanTitle(const explain::WorkerParts& mean) const {
    const explain::Explanation& explanation = card_->explanation();
    const std::string unit = shownUnit_.empty() ? explanation.what : analysis::shortContributorName(shownUnit_);
    QString title = explanation.what == "run" ? tr("Whole run") : tr("Mean %1").arg(toQString(unit));
    if (explanation.workers.size() > 1)
        title = tr("%1 of %2").arg(title, toQString(run_->summary.workers[mean.worker].label()));
    return tr("%1, %2").arg(title, shortDuration(mean.meanNs));
}

void RunGuide::updateLegend() {
    const auto chosen = run_ ? strip_->chosen() : std::nullopt;
    if (chosen) {
        const analysis::WorkerSummary& worker = run_->summary.workers[chosen->worker];
        const analysis::StepSummary& step = worker.steps[chosen->step];
        const explain::StepExcess excess = explain::excessOf(run_->summary, *chosen);
        QString note = excessText(run_->summary, *chosen);
        const auto gaps = gapsOf(*chosen);
        if (excess.ns > 0 && analysis::isIdle(excess.part) && !gaps.empty() &&
            2 * idle_->gaps()->at(gaps.front()).range.durationNs() > excess.partNs)
            note += tr("; most of it in one gap (press I)");
        const QString unit = strip_->areRequests() ? tr("Request %1") : tr("Step %1");
        legend_->setParts(tr("%1, %2").arg(unit.arg(step.number), shortDuration(step.wallNs)), step.parts, note);
    } else if (run_) {
        const explain::Explanation& explanation = card_->explanation();
        const auto mean =
            std::ranges::find(explanation.workers, run_->summary.criticalWorker(), &explain::WorkerParts::worker);
        if (mean == explanation.workers.end())
            legend_->setParts({}, {});
        else
            legend_->setParts(meanTitle(*mean), mean->parts);
    }
    legend_->setVisible(run_ && legend_->hasContent());
}

uint32_t RunGuide::trackOf(uint32_t worker) const {
    const int64_t gpuId = run_->summary.workers[worker].gpuId;
    for (uint32_t track = 0; track < trace_->tracks.size(); ++track)
        if (trace_->tracks[track].kind == TrackKind::Gpu && trace_->gpus[trace_->tracks[track].subject].id == gpuId)
            return track;
    return noIndex;
}

void RunGuide::showStep(StepPlace place) {
    setChosen(place);
    timeline_.state().range().zoomTo(rangeOf(place));
    const uint32_t track = trackOf(place.worker);
    if (track != noIndex && timeline_.places().trackArea(track).isEmpty())
        TimelineNavigator(timeline_.state()).scrollToTrack(track);
}

bool RunGuide::showStepOf(int64_t number, std::optional<uint32_t> worker) {
    if (!run_ || run_->grid.isEmpty()) return false;
    const size_t column = run_->grid.columnOf(number);
    if (column >= run_->grid.columnCount()) return false;
    std::vector<size_t> rows{run_->grid.rowOf(worker.value_or(run_->summary.criticalWorker()))};
    for (size_t row = 0; row < run_->grid.rowCount() && !worker; ++row) rows.push_back(row);
    for (const size_t row : rows)
        if (const auto place = row < run_->grid.rowCount() ? run_->grid.at(row, column) : std::nullopt) {
            showStep(*place);
            return true;
        }
    return false;
}

void RunGuide::stepBy(int direction) {
    if (!run_ || run_->grid.isEmpty()) return;
    const auto chosen = strip_->chosen();
    const uint32_t worker = chosen ? chosen->worker : run_->summary.criticalWorker();
    const size_t row = run_->grid.rowOf(worker);
    if (row >= run_->grid.rowCount()) return;
    const TimeRange visible = timeline_.state().range().visible();
    // Without one, the first or last visible one.
    const auto [first, end] = run_->grid.columnsIn(row, visible);
    auto column = static_cast<int64_t>(direction > 0 ? first : end) - (direction > 0 ? 1 : 0);
    if (chosen) {
        const auto& steps = run_->summary.workers[worker].steps;
        column = static_cast<int64_t>(run_->grid.columnOf(steps[chosen->step].number));
    }
    for (column += direction; column >= 0 && column < static_cast<int64_t>(run_->grid.columnCount());
         column += direction)
        if (const auto place = run_->grid.at(row, static_cast<size_t>(column))) return showStep(*place);
}

void RunGuide::showSlowestStep() {
    if (!run_ || run_->grid.isEmpty()) return;
    if (const auto place = run_->grid.at(run_->grid.slowestRow(), run_->grid.slowestColumn())) showStep(*place);
}

void RunGuide::showFinding(const explain::Finding& finding) {
    const std::vector<explain::Finding>& all = card_->explanation().findings;
    placeJob_->start([this, trace = trace_, run = run_, finding, all]() -> LatestJob::Publish {
        auto place =
            std::make_shared<Result<explain::FindingPlace>>(explain::placeOf(*trace, run->summary, finding, all));
        return [this, place, worker = finding.worker] {
            if (*place) showPlace(**place, worker);
        };
    });
}

void RunGuide::showCriticalPath(bool isOn) {
    pathJob_->cancel();
    if (!isOn) return timeline_.state().selection().setPath(nullptr);
    StepSelection selection{.rangeName = chosenUnit_};
    pathJob_->start([this, trace = trace_, run = run_, selection]() -> LatestJob::Publish {
        const auto replayed = analysis::replayRun(*trace, selection, &run->summary);
        std::shared_ptr<CriticalPath> path;
        if (replayed) path = std::make_shared<CriticalPath>(*trace, replayed->replay);
        return [this, trace, path = freedInBackground(std::move(path))] {
            if (trace != timeline_.state().trace()) return;
            if (path && !path->pieces.empty()) return timeline_.state().selection().setPath(path);
            showPath_->setChecked(false);
            emit failed(tr("The critical path is not known: no steps with recorded causes."));
        };
    });
}

void RunGuide::showPlace(const explain::FindingPlace& place, uint32_t worker) {
    TimelineSelection& selection = timeline_.state().selection();
    before_.push_back({timeline_.state().range().visible(), timeline_.state().scroll().y(),
                       timeline_.state().tracks().layout().arrangement(), selection.event(), selection.range(),
                       selection.gapMark() ? shownGap_ : std::nullopt, strip_->chosen()});
    timeline_.state().range().setVisible(place.view);
    if (place.stepIndex) setChosen(StepPlace{worker, *place.stepIndex});
    const uint32_t track = trackOf(worker);
    selection.setEvent(place.event);
    selection.setGapMark({});
    if (place.event.isValid()) {
        TimelineNavigator(timeline_.state()).scrollToTrack(timeline_.state().lanes().trackOf(place.event));
        return;
    }
    if (track == noIndex) return;
    if (!place.isGap) {
        selection.setRange(place.range);
        TimelineNavigator(timeline_.state()).scrollToTrack(track);
        return;
    }
    pendingGap_ = {track, place.range};
    if (idle_->gaps())
        showPendingGap();
    else
        idle_->demand();
}

void RunGuide::showPendingGap() {
    const std::optional<PendingGap> wanted = std::exchange(pendingGap_, std::nullopt);
    if (!wanted || !idle_->gaps()) return;
    const int64_t middleNs = wanted->range.startNs + wanted->range.durationNs() / 2;
    if (const auto place = idle_->gapOf(trace_->tracks[wanted->track].subject, middleNs))
        showGap(place->worker, place->gap, false);
    else
        // Another process works there.
        timeline_.state().selection().setRange(wanted->range);
    if (timeline_.places().trackArea(wanted->track).isEmpty())
        TimelineNavigator(timeline_.state()).scrollToTrack(wanted->track);
}

void RunGuide::undoFinding() {
    placeJob_->cancel();
    pendingGap_.reset();
    if (before_.empty()) {
        timeline_.setFocus();
        return;
    }
    const Before before = before_.back();
    before_.pop_back();
    TimelineSelection& selection = timeline_.state().selection();
    selection.setEvent(before.event);
    selection.setGapMark({});
    selection.setRange(before.range);
    if (before.gap && idle_->gaps()) showGap(before.gap->worker, before.gap->gap, false);
    setChosen(before.step);
    timeline_.state().range().setVisible(before.visible);
    timeline_.state().tracks().arrange([&before](TrackLayout& layout) { layout.setArrangement(before.tracks); });
    timeline_.state().scroll().setY(before.scrollY);
}

void RunGuide::showGap(size_t worker, size_t gap, bool movesThere) {
    const analysis::IdleGaps::Place place{worker, gap};
    shownGap_ = place;
    timeline_.state().selection().setEvent({});
    idlePanel_->setGap(trace_, idle_->gaps(), place);
    const GapMark mark = idle_->markOf(place);
    if (movesThere) {
        timeline_.state().range().zoomTo(around(mark.range));
        if (!mark.tracks.empty() && timeline_.places().trackArea(mark.tracks.front()).isEmpty())
            TimelineNavigator(timeline_.state()).scrollToTrack(mark.tracks.front());
    }
    timeline_.state().selection().setGapMark(mark);
    if (!movesThere) order_ = gapsInOrder();
    const auto found = std::ranges::find(order_, place);
    ranked_ = found == order_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - order_.begin()));
}

std::optional<StepPlace> RunGuide::stepInView() const {
    if (!run_ || run_->grid.isEmpty()) return std::nullopt;
    const TimeRange visible = timeline_.state().range().visible();
    if (const auto chosen = strip_->chosen();
        chosen && rangeOf(*chosen).overlaps(visible) && visible.durationNs() <= 2 * rangeOf(*chosen).durationNs())
        return chosen;
    const size_t row = run_->grid.rowOf(run_->summary.criticalWorker());
    if (row >= run_->grid.rowCount()) return std::nullopt;
    const auto [first, end] = run_->grid.columnsIn(row, visible);
    return end - first == 1 ? run_->grid.at(row, first) : std::nullopt;
}

std::vector<analysis::IdleGaps::Place> RunGuide::gapsInOrder() const {
    const auto step = stepInView();
    const auto own = step ? gapsOf(*step) : std::vector<analysis::IdleGaps::Place>();
    std::vector<analysis::IdleGaps::Place> order = own;
    for (const analysis::IdleGaps::Place& each : idle_->gaps()->longest())
        if (std::ranges::find(own, each) == own.end()) order.push_back(each);
    return order;
}

void RunGuide::showNextGap(int direction) {
    if (!idle_->gaps()) {
        idle_->demand();
        isNextGapPending_ = idle_->isBusy();
        return;
    }
    if (!ranked_) order_ = gapsInOrder();
    if (order_.empty()) return;
    size_t next = 0;
    if (ranked_ && direction > 0) next = std::min(*ranked_ + 1, order_.size() - 1);
    if (ranked_ && direction < 0) next = *ranked_ > 0 ? *ranked_ - 1 : 0;
    showGap(order_[next].worker, order_[next].gap, true);
}

}  // namespace lanescope::viewer
