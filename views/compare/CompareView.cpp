// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/CompareView.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QScopedValueRollback>
#include <algorithm>
#include <tuple>

#include "model/analysis/stepRanges.h"
#include "model/compare/RunComparison.h"
#include "model/compare/comparePrograms.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {

using namespace analysis;
using namespace compare;

namespace {

constexpr int minHeadlineCharacters = 50, minChartCharacters = 70;

QStringList titlesOf(const std::vector<TracePtr>& traces) {
    QStringList titles;
    for (const TracePtr& trace : traces) titles << toQString(trace->title);
    return titles;
}

}  // namespace

CompareView::CompareView(QWidget* parent) : QWidget(parent) {
    build();
    connectParts();
    addShortcuts();
    connectSide(baseline_, candidate_);
    connectSide(candidate_, baseline_);
}

void CompareView::build() {
    charts_->addWidget(waterfall_);
    charts_->addWidget(steps_);
    charts_->setChildrenCollapsible(false);
    laneLabel_->setAutoFillBackground(true);
    laneLabel_->setContentsMargins(12, 0, 8, 0);
    laneLabel_->setTextFormat(Qt::PlainText);
    laneLabel_->setToolTip(tr(
        "Columns: what the candidate lost (up) or won (down) in each step.\nLine: what it lost since the first step."));
    baseline_->timeline().setStrip(laneLabel_, lane_, lane_->preferredHeight());
    connect(lane_, &DifferenceLane::preferredHeightChanged, this,
            [this](int height) { baseline_->timeline().setStripHeight(height); });
    auto* timelines = new QWidget(this);
    addTo(columnIn(timelines), candidate_, Filling{baseline_});
    lower_->addWidget(tables_);
    lower_->addWidget(details_);
    lower_->setStretchFactor(0, 1);
    lower_->setSizes({1000, 300});
    // Without stretch factors the parts keep their proportions in every window.
    split(parts_, {{charts_, 170}, {timelines, 440}, {lower_, 210}});

    top_ = new QBoxLayout(QBoxLayout::LeftToRight);
    top_->setContentsMargins(0, 0, 12, 0);
    top_->setSpacing(0);
    top_->addWidget(headline_, 1);
    top_->addWidget(alignment_, 0, Qt::AlignTop);
    addTo(columnIn(this), top_, Filling{parts_});
    updatePanels();
}

/// Parts side by side keep a readable width; in a narrow window they are stacked.
void CompareView::arrangeForWidth() {
    const int character = fontMetrics().averageCharWidth();
    const bool isTopNarrow = width() < minHeadlineCharacters * character + alignment_->sizeHint().width();
    const auto direction = isTopNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
    if (top_->direction() != direction) top_->setDirection(direction);
    const bool areChartsNarrow = width() < 2 * minChartCharacters * character;
    charts_->setOrientation(areChartsNarrow ? Qt::Vertical : Qt::Horizontal);
}

bool CompareView::event(QEvent* event) {
    // The choices and their widths depend on the runs.
    if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) arrangeForWidth();
    return QWidget::event(event);
}

void CompareView::connectParts() {
    connect(job_, &ComparisonJob::progressed, headline_, &HeadlinePanel::setProgress);
    connect(job_, &ComparisonJob::compared, this, &CompareView::showRuns);
    connect(job_, &ComparisonJob::failed, this, [this](const QString& sentence) { headline_->setMessage(sentence); });
    connect(job_, &ComparisonJob::finished, this, [this] { headline_->setProgress(-1); });
    connect(headline_, &HeadlinePanel::cancelRequested, this, [this] {
        job_->cancel();
        if (!runs_ && headline_->headline().isEmpty()) headline_->setMessage(tr("The comparison was stopped."));
    });
    connect(headline_, &HeadlinePanel::clauseChosen, this, &CompareView::showClause);
    connect(alignment_, &AlignmentBar::selectionChanged, this, [this] {
        isFirstResult_ = true;
        startComparison();
    });
    connect(alignment_, &AlignmentBar::alignmentChanged, this, &CompareView::align);
    connect(alignment_, &AlignmentBar::candidateChosen, this, &CompareView::showCandidate);
    connect(alignment_, &AlignmentBar::runsChosen, this, &CompareView::showRunsOf);
    connect(alignment_, &AlignmentBar::swapRequested, this, &CompareView::swapSides);
    connect(alignment_, &AlignmentBar::workerChosen, this, [this](int index) {
        shownPair_ = uint32_t(index);
        isPairChosen_ = true;
        showPair();
        scrollToWorker();
    });
    connect(alignment_, &AlignmentBar::baselineOverlayToggled, this,
            [this](bool isOn) { baseline_->timeline().setBaselineOverlayVisible(isOn); });
    connect(waterfall_, &WaterfallChart::partChosen, tables_, &CompareTables::setPart);
    connect(tables_, &CompareTables::partChosen, waterfall_, &WaterfallChart::setChosen);
    connect(tables_, &CompareTables::rowChosen, this, &CompareView::showRow);
    connect(steps_, &StepChart::stepChosen, this, &CompareView::showStep);
    connect(lane_, &DifferenceLane::stepChosen, this, &CompareView::showStep);
    connect(details_, &DetailsPanel::eventActivated, this, [this](EventRef event) {
        const bool isCandidate = candidate_->timeline().state().selection().event().isValid();
        (isCandidate ? candidate_ : baseline_)->timeline().revealEvent(event);
    });
}

void CompareView::addShortcuts() {
    const auto add = [this](const QString& text, const QKeySequence& keys, auto act) {
        addAction(text, keys, this, act)->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    };
    add(tr("&Previous step in both runs"), Qt::Key_BracketLeft,
        [this] { showStep(std::max(0, alignment_->step() - 1)); });
    add(tr("&Next step in both runs"), Qt::Key_BracketRight, [this] { showStep(alignment_->step() + 1); });
    add(tr("&Outline the baseline in the candidate's lanes"), Qt::Key_G,
        [this] { alignment_->setBaselineOverlayVisible(!baseline_->timeline().isBaselineOverlayVisible()); });
}

void CompareView::connectSide(CompareSide* side, CompareSide* other) {
    connect(&side->timeline().state().selection(), &TimelineSelection::rangeChanged, this,
            [this, side](std::optional<TimeRange> range) { selectRange(side, range); });
    connect(&side->timeline().state().selection(), &TimelineSelection::eventChanged, this,
            [this, side, other](EventRef event) {
                if (isMirroring_) return;
                const QScopedValueRollback guard(isMirroring_, true);
                if (event.isValid()) {
                    other->timeline().state().selection().setEvent({});
                    (side == baseline_ ? lastBaselineEvent_ : lastCandidateEvent_) = event;
                }
                showDetails(side->timeline().trace(), event);
            });
}

void CompareView::setTraces(TracePtr baseline, std::vector<TracePtr> candidates) {
    baselineRuns_.clear();
    candidateRuns_.clear();
    baselineTrace_ = std::move(baseline);
    candidateTraces_ = std::move(candidates);
    beginTraces();
}

void CompareView::setRuns(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate) {
    if (baseline.size() == 1 && candidate.size() == 1)
        return setTraces(std::move(baseline.front()), std::move(candidate));
    baselineRuns_ = std::move(baseline);
    candidateRuns_ = std::move(candidate);
    shownBaselineRun_ = shownCandidateRun_ = 0;
    baselineTrace_ = baselineRuns_.front();
    candidateTraces_ = {candidateRuns_.front()};
    beginTraces();
}

void CompareView::beginTraces() {
    shown_ = 0;
    isPairChosen_ = false;
    isFirstResult_ = true;
    selectedRange_.reset();
    runs_.reset();
    alignment_->setCandidates(titlesOf(candidateTraces_), 0);
    alignment_->setRuns(titlesOf(baselineRuns_), titlesOf(candidateRuns_));
    pairTimelines();
    setOrigins(baselineTrace_->range.startNs, candidateTraces_[shown_]->range.startNs);
    visibleRange_->fit();
    findRangeNames();
    startComparison();
}

void CompareView::findRangeNames() {
    alignment_->clearRangeNames();
    names_->start([this, baseline = baselineTrace_, candidate = candidateTraces_.front()] {
        return [this, names = commonRangeNames(*baseline, *candidate)] { alignment_->addRangeNames(names); };
    });
}

void CompareView::showStored(const StoredComparison& stored) {
    if (runs_) return;
    headline_->setAnswer(stored.comparison.answer);
    waterfall_->setPair(&stored.pair());
    steps_->setSteps({&stored.baselineWorker(), stored.pair().baseline},
                     {&stored.candidateWorker(), stored.pair().candidate});
}

void CompareView::pairTimelines() {
    const QScopedValueRollback guard(isMirroring_, true);
    lastBaselineEvent_ = lastCandidateEvent_ = {};
    const TracePtr& candidate = candidateTraces_[shown_];
    if (baseline_->timeline().trace() != baselineTrace_) baseline_->setTrace(baselineTrace_);
    candidate_->setTrace(candidate);
    baseline_->timeline().setCompanion(candidate_->timeline(), pairTracks(*baselineTrace_, *candidate));
    showDetails(baselineTrace_, {});
}

void CompareView::showDetails(const TracePtr& trace, EventRef event) {
    details_->setTrace(trace);
    details_->setEvent(event);
    updatePanels();
}

void CompareView::setTablesVisible(bool isVisible) {
    hasTables_ = isVisible;
    updatePanels();
}

void CompareView::setDetailsVisible(bool isVisible) {
    hasDetails_ = isVisible;
    updatePanels();
}

void CompareView::updatePanels() {
    const bool showsDetails = hasDetails_ && details_->event().isValid();
    tables_->setVisible(hasTables_);
    details_->setVisible(showsDetails);
    lower_->setVisible(hasTables_ || showsDetails);
}

void CompareView::setTheme(const Theme& theme) {
    headline_->setTheme(theme);
    waterfall_->setTheme(theme);
    steps_->setTheme(theme);
    lane_->setTheme(theme);
    QPalette colors = laneLabel_->palette();
    colors.setColor(QPalette::Window, theme.panel);
    laneLabel_->setPalette(colors);
    baseline_->setTheme(theme);
    candidate_->setTheme(theme);
    tables_->setTheme(theme);
}

void CompareView::selectRange(CompareSide* from, std::optional<TimeRange> traceRange) {
    if (isMirroring_) return;
    const QScopedValueRollback guard(isMirroring_, true);
    CompareSide* other = from == baseline_ ? candidate_ : baseline_;
    selectedRange_.reset();
    if (traceRange) selectedRange_ = from->toAxis(*traceRange);
    other->timeline().state().selection().setRange(selectedRange_ ? std::optional(other->toTrace(*selectedRange_))
                                                                  : std::nullopt);
    startComparison();
}

StepSelection CompareView::selectionFor(const Trace& trace, const CompareSide& side) const {
    StepSelection selection;
    if (selectedRange_) {
        selection.stretch = side.toTrace(*selectedRange_);
    } else if (alignment_->isWholeRun()) {
        selection.stretch = trace.range;
    } else {
        selection.rangeName = alignment_->rangeName().toStdString();
        selection.numbers = alignment_->numbers();
    }
    return selection;
}

void CompareView::startComparison() {
    if (!baselineTrace_) return;
    const auto runsOf = [this](const std::vector<TracePtr>& traces, const CompareSide& side) {
        std::vector<ComparisonJob::Run> runs;
        for (const TracePtr& trace : traces) runs.push_back({trace, selectionFor(*trace, side)});
        return runs;
    };
    headline_->setProgress(0);
    // A selected range belongs to the visible runs; the other runs have no matching range.
    if (hasSets() && !selectedRange_)
        job_->startPrograms(runsOf(baselineRuns_, *baseline_), runsOf(candidateRuns_, *candidate_), shownBaselineRun_,
                            shownCandidateRun_);
    else
        job_->start({baselineTrace_, selectionFor(*baselineTrace_, *baseline_)}, runsOf(candidateTraces_, *candidate_));
}

void CompareView::showRunsOf(int baseline, int candidate) {
    if (baseline < 0 || candidate < 0 || size_t(baseline) >= baselineRuns_.size() ||
        size_t(candidate) >= candidateRuns_.size())
        return;
    if (size_t(baseline) == shownBaselineRun_ && size_t(candidate) == shownCandidateRun_) return;
    shownBaselineRun_ = size_t(baseline);
    shownCandidateRun_ = size_t(candidate);
    baselineTrace_ = baselineRuns_[shownBaselineRun_];
    candidateTraces_ = {candidateRuns_[shownCandidateRun_]};
    alignment_->setRunsShown(baseline, candidate);
    baseline_->timeline().state().selection().setRange(std::nullopt);
    selectedRange_.reset();
    isFirstResult_ = true;
    pairTimelines();
    setOrigins(baselineTrace_->range.startNs, candidateTraces_[shown_]->range.startNs);
    visibleRange_->fit();
    startComparison();
}

void CompareView::showRuns(ComparedRunsPtr runs) {
    runs_ = std::move(runs);
    if (!isPairChosen_) shownPair_ = runs_->comparisons[shown_].critical;
    const bool isFirst = isFirstResult_;
    if (runs_->baseline.selection.isDefault()) alignment_->setFoundPattern(toQString(runs_->baseline.summary.pattern));
    showPair();
    if (isFirst) scrollToWorker();
    emit compared();
}

std::optional<ComparedPair> CompareView::shownPair() const {
    if (!runs_ || shown_ >= runs_->comparisons.size()) return std::nullopt;
    if (shownPair_ >= runs_->comparisons[shown_].workers.size()) return std::nullopt;
    const WorkerComparison& pair = runs_->comparisons[shown_].workers[shownPair_];
    if (pair.baselineWorker == noIndex || pair.candidateWorker == noIndex) return std::nullopt;
    return ComparedPair{*runs_, shown_, shownPair_};
}

std::pair<const WorkerSummary*, const WorkerSummary*> CompareView::workers() const {
    const std::optional<ComparedPair> pair = shownPair();
    if (!pair) return {};
    return {&pair->baselineWorker(), &pair->candidateWorker()};
}

void CompareView::showPair() {
    const RunComparison& comparison = runs_->comparisons[shown_];
    headline_->setAnswer(comparison.answer);
    QStringList labels;
    for (const WorkerComparison& pair : comparison.workers)
        labels << toQString(pair.candidateLabel.empty() ? pair.baselineLabel : pair.candidateLabel);
    alignment_->setWorkers(labels, int(shownPair_));
    const std::optional<ComparedPair> pair = shownPair();
    waterfall_->setPair(pair ? &pair->workers() : nullptr);
    const auto [before, after] = workers();
    steps_->setSteps(
        {before, pair ? pair->workers().baseline : StepDistribution{}, pair ? pair->baselineBand() : RunBand{}},
        {after, pair ? pair->workers().candidate : StepDistribution{}, pair ? pair->candidateBand() : RunBand{}});
    if (pair)
        tables_->setPair(*pair);
    else
        tables_->clearTables();
    std::vector<int64_t> numbers;
    for (size_t step = 0; after && step < std::min(before->steps.size(), after->steps.size()); ++step)
        numbers.push_back(after->steps[step].number);
    if (selectedRange_) numbers.clear();
    alignment_->setSteps(std::move(numbers));
    if (!selectedRange_) align();
    showLane();
    if (std::exchange(isFirstResult_, false) && !selectedRange_) showCompared();
}

void CompareView::showCandidate(int index) {
    if (index < 0 || size_t(index) >= candidateTraces_.size() || size_t(index) == shown_) return;
    shown_ = size_t(index);
    isPairChosen_ = false;
    baseline_->timeline().state().selection().setRange(std::nullopt);
    pairTimelines();
    if (!runs_) return;
    shownPair_ = runs_->comparisons[shown_].critical;
    showPair();
    emit compared();
}

void CompareView::swapSides() {
    if (!baselineTrace_) return;
    if (hasSets()) {
        setRuns(candidateRuns_, baselineRuns_);
        emit titleChanged();
        return;
    }
    std::vector<TracePtr> candidates = candidateTraces_;
    TracePtr next = std::exchange(candidates[shown_], baselineTrace_);
    std::rotate(candidates.begin(), candidates.begin() + ptrdiff_t(shown_), candidates.begin() + ptrdiff_t(shown_) + 1);
    setTraces(std::move(next), std::move(candidates));
    emit titleChanged();
}

void CompareView::align() {
    const auto [before, after] = workers();
    const auto step = size_t(alignment_->step());
    alignment_->setMessage({});
    const auto startOf = [](const TracePtr& trace, EventRef event) { return trace->rangeOf(event).startNs; };
    const TracePtr& candidate = candidateTraces_[shown_];
    switch (alignment_->anchor()) {
        case AlignmentBar::Anchor::Step:
            if (before && after && step < before->steps.size() && step < after->steps.size())
                setOrigins(before->steps[step].startNs, after->steps[step].startNs);
            return;
        case AlignmentBar::Anchor::RunStart: return setOrigins(baselineTrace_->range.startNs, candidate->range.startNs);
        case AlignmentBar::Anchor::SelectedSlice:
            if (!lastBaselineEvent_.isValid() || !lastCandidateEvent_.isValid())
                return alignment_->setMessage(
                    tr("Select a slice in each run first. Press B to select the matching slice in the other run."));
            return setOrigins(startOf(baselineTrace_, lastBaselineEvent_), startOf(candidate, lastCandidateEvent_));
        case AlignmentBar::Anchor::SelectedRange:
            if (!selectedRange_) return alignment_->setMessage(tr("Select a range first: drag along the ruler."));
            const int64_t byNs = selectedRange_->startNs;
            return setOrigins(baseline_->timeline().state().range().origin() + byNs,
                              candidate_->timeline().state().range().origin() + byNs);
    }
}

void CompareView::setOrigins(int64_t baselineNs, int64_t candidateNs) {
    TimelineRange& baseline = baseline_->timeline().state().range();
    TimelineRange& candidate = candidate_->timeline().state().range();
    const int64_t movedNs = (candidateNs - candidate.origin()) - (baselineNs - baseline.origin());
    const TimeRange shown = visibleRange_->range().shifted(baseline.origin() - baselineNs);
    baseline.setOrigin(baselineNs);
    candidate.setOrigin(candidateNs);
    visibleRange_->setRange(shown);
    // A selected range is trace time on each side; it is wrong once the sides have moved against each other.
    TimelineSelection& selection = baseline_->timeline().state().selection();
    const std::optional<TimeRange> selected = selection.range();
    if (selected && movedNs == 0) selectedRange_ = baseline_->toAxis(*selected);
    if (selected && movedNs != 0) selection.setRange(std::nullopt);
    showLane();
}

void CompareView::showLane() {
    const auto [before, after] = workers();
    std::vector<StepDifference> steps;
    if (before && after && !selectedRange_) steps = stepDifferences(*before, *after);
    QString text = tr("Diff per step");
    if (steps.size() > 1)
        text = tr("Diff per step and total\n%1 in %2 steps")
                   .arg(signedDuration(steps.back().lostInAllNs))
                   .arg(steps.size());
    laneLabel_->setText(text);
    lane_->setSteps(std::move(steps), candidate_->timeline().state().range().origin());
}

void CompareView::scrollToWorker() {
    const WorkerSummary* worker = workers().first;
    if (!worker) return;
    for (uint32_t track = 0; track < baselineTrace_->tracks.size(); ++track) {
        const Track& each = baselineTrace_->tracks[track];
        const bool isGpu = each.kind == TrackKind::Gpu && each.subject < baselineTrace_->gpus.size();
        if (!isGpu || baselineTrace_->gpus[each.subject].id != worker->gpuId) continue;
        return TimelineNavigator(baseline_->timeline().state()).scrollToTrack(track);
    }
}

void CompareView::showCompared() {
    const auto [before, after] = workers();
    if (!before || !after || before->steps.empty() || after->steps.empty()) return visibleRange_->fit();
    const auto rangeOf = [](const WorkerSummary& worker) {
        return TimeRange{worker.steps.front().startNs, worker.steps.back().startNs + worker.steps.back().wallNs};
    };
    const TimeRange both = baseline_->toAxis(rangeOf(*before)).united(candidate_->toAxis(rangeOf(*after)));
    const int64_t marginNs = both.durationNs() / 50;
    visibleRange_->setRange({both.startNs - marginNs, both.endNs + marginNs});
}

void CompareView::showStep(int step) {
    const auto [before, after] = workers();
    if (!before || !after || step < 0) return;
    const auto at = size_t(step);
    if (at >= before->steps.size() || at >= after->steps.size()) return;
    alignment_->showStep(step);
    align();
    steps_->setChosen(step);
    const int64_t longestNs = std::max(before->steps[at].wallNs, after->steps[at].wallNs);
    visibleRange_->setRange({-longestNs / 40, longestNs + longestNs / 40});
    emit placeShown();
}

void CompareView::showRow(const RowLead& row) {
    if (row.step >= 0) return showStep(row.step);
    if (row.baselineEvent.isValid() || row.candidateEvent.isValid())
        return showEvents(row.baselineEvent, row.candidateEvent);
    if (!row.query) {
        if (row.part) tables_->setPart(row.part);
        waterfall_->setChosen(row.part);
        return;
    }
    findEvidence({{}, ClauseKind::Cause, row.query});
}

void CompareView::showClause(int index) {
    if (!runs_ || index < 0) return;
    const RunComparison& comparison = runs_->comparisons[shown_];
    if (size_t(index) >= comparison.answer.clauses.size()) return;
    const Clause clause = comparison.answer.clauses[size_t(index)];
    if (shownPair_ != comparison.critical) {  // the sentence describes this candidate
        shownPair_ = comparison.critical;
        isPairChosen_ = true;
        showPair();
    }
    findEvidence(clause);
}

void CompareView::findEvidence(const Clause& clause) {
    const std::optional<ComparedPair> pair = shownPair();
    if (!pair) return;
    finder_->start([this, runs = runs_, candidate = shown_, workers = pair->workers(), clause]() -> LatestJob::Publish {
        const ComparedRuns::Side& a = runs->baseline;
        const ComparedRuns::Side& b = runs->candidates[candidate];
        const Evidence evidence = evidenceOf(clause, {*a.trace, a.selection, a.summary.workers[workers.baselineWorker]},
                                             {*b.trace, b.selection, b.summary.workers[workers.candidateWorker]});
        return [this, evidence, runs] {
            if (runs == runs_) showEvidence(evidence);
        };
    });
}

void CompareView::showEvidence(const Evidence& evidence) {
    const EvidenceSide &before = evidence.baseline, &after = evidence.candidate;
    if (!evidence.isFound()) return;
    if (before.step == after.step && !selectedRange_) {
        showStep(int(*before.step));
    } else if (before.step && after.step && !selectedRange_) {
        // Steps with different indices, aligned.
        const auto [baseline, candidate] = workers();
        setOrigins(baseline->steps[*before.step].startNs, candidate->steps[*after.step].startNs);
        steps_->setChosen(int(*after.step));
    }
    selectBoth(before.event, after.event);
    const bool hasEvents = before.event.isValid() || after.event.isValid();
    const auto rangeOf = [&](const CompareSide& side, const EvidenceSide& found) -> std::optional<TimeRange> {
        if (!found.step || (hasEvents && !found.event.isValid())) return std::nullopt;
        return side.toAxis(found.range);
    };
    showBoth(rangeOf(*baseline_, before), rangeOf(*candidate_, after));
}

void CompareView::showEvents(EventRef baselineEvent, EventRef candidateEvent) {
    selectBoth(baselineEvent, candidateEvent);
    const auto rangeOf = [](const CompareSide& side, EventRef event) -> std::optional<TimeRange> {
        if (!event.isValid()) return std::nullopt;
        return side.toAxis(side.timeline().trace()->rangeOf(event));
    };
    showBoth(rangeOf(*baseline_, baselineEvent), rangeOf(*candidate_, candidateEvent));
}

void CompareView::showBoth(std::optional<TimeRange> baseline, std::optional<TimeRange> candidate) {
    if (!baseline && !candidate) return;
    const TimeRange first = baseline ? *baseline : *candidate;
    const TimeRange both = first.united(candidate ? *candidate : first);
    const int64_t marginNs = std::max<int64_t>(both.durationNs(), 1'000);
    visibleRange_->setRange({both.startNs - marginNs, both.endNs + marginNs});
    emit placeShown();
}

void CompareView::selectBoth(EventRef baseline, EventRef candidate) {
    const QScopedValueRollback guard(isMirroring_, true);
    for (const auto& [side, event, last] : {std::tuple(baseline_, baseline, &lastBaselineEvent_),
                                            std::tuple(candidate_, candidate, &lastCandidateEvent_)}) {
        if (event.isValid()) {
            side->timeline().revealEvent(event);
            *last = event;
        } else {
            side->timeline().state().selection().setEvent({});
        }
    }
    const bool isCandidate = candidate.isValid();
    showDetails((isCandidate ? candidate_ : baseline_)->timeline().trace(), isCandidate ? candidate : baseline);
}

}  // namespace lanescope::views
