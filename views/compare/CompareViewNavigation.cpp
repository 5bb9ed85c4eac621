// SPDX-License-Identifier: GPL-3.0-or-later
// The part of CompareView that moves the two timelines and what goes with them.
#include <QLabel>
#include <QScopedValueRollback>
#include <algorithm>

#include "model/compare/shownNumbers.h"
#include "model/compare/stepDifferences.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareSide.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/DifferenceLane.h"
#include "views/compare/StepChart.h"
#include "views/compare/WaterfallChart.h"
#include "views/jobs/LatestJob.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/VisibleRange.h"

namespace lanescope::views {

using namespace compare;

void CompareView::align() {
    const WorkerSummary* before = workerOf(false);
    const WorkerSummary* after = workerOf(true);
    const auto step = size_t(alignment_->step());
    alignment_->setMessage({});
    const auto startOf = [](const TracePtr& trace, EventRef event) {
        return trace->rangeOf(event).startNs;
    };
    const TracePtr& candidate = candidateTraces_[shown_];
    switch (alignment_->anchor()) {
        case AlignmentBar::Anchor::Step:
            if (before && after && step < before->steps.size() && step < after->steps.size())
                setOrigins(before->steps[step].startNs, after->steps[step].startNs);
            return;
        case AlignmentBar::Anchor::RunStart:
            return setOrigins(baselineTrace_->range.startNs, candidate->range.startNs);
        case AlignmentBar::Anchor::SelectedSlice:
            if (!lastBaselineEvent_.isValid() || !lastCandidateEvent_.isValid())
                return alignment_->setMessage(
                    tr("Select a slice of each run first; B goes to the other run."));
            return setOrigins(startOf(baselineTrace_, lastBaselineEvent_),
                              startOf(candidate, lastCandidateEvent_));
        case AlignmentBar::Anchor::SelectedRange:
            if (!selectedRange_)
                return alignment_->setMessage(tr("Select a range first: drag along the ruler."));
            const int64_t byNs = selectedRange_->startNs;
            return setOrigins(baseline_->timeline().timeOrigin() + byNs,
                              candidate_->timeline().timeOrigin() + byNs);
    }
}

void CompareView::setOrigins(int64_t baselineNs, int64_t candidateNs) {
    TimelineView& baseline = baseline_->timeline();
    TimelineView& candidate = candidate_->timeline();
    const int64_t movedNs =
        (candidateNs - candidate.timeOrigin()) - (baselineNs - baseline.timeOrigin());
    const TimeRange shown = visibleRange_->range().shifted(baseline.timeOrigin() - baselineNs);
    baseline.setTimeOrigin(baselineNs);
    candidate.setTimeOrigin(candidateNs);
    visibleRange_->setRange(shown);
    // A selected range is trace time on each side; if the sides moved against each other it is
    // another stretch now.
    const std::optional<TimeRange> selected = baseline.selectedRange();
    if (selected && movedNs == 0) selectedRange_ = baseline_->toAxis(*selected);
    if (selected && movedNs != 0) baseline.setSelectedRange(std::nullopt);
    showLane();
}

void CompareView::showLane() {
    const WorkerSummary* before = workerOf(false);
    const WorkerSummary* after = workerOf(true);
    std::vector<StepDifference> steps;
    if (before && after && !selectedRange_) steps = stepDifferences(*before, *after);
    QString text = tr("Lost per step");
    if (steps.size() > 1) {
        text = tr("Lost per step, and in all\n%1 in %2 steps")
                   .arg(toQString(timeDifferenceText(double(steps.back().lostInAllNs))))
                   .arg(steps.size());
    }
    laneLabel_->setText(text);
    lane_->setSteps(std::move(steps), candidate_->timeline().timeOrigin());
}

void CompareView::scrollToWorker() {
    const WorkerSummary* worker = workerOf(false);
    if (!worker) return;
    for (uint32_t track = 0; track < baselineTrace_->tracks.size(); ++track) {
        const Track& each = baselineTrace_->tracks[track];
        const bool isGpu =
            each.kind == TrackKind::Gpu && each.subject < baselineTrace_->gpus.size();
        if (!isGpu || baselineTrace_->gpus[each.subject].id != worker->gpuId) continue;
        return baseline_->timeline().scrollToTrack(track);
    }
}

void CompareView::showCompared() {
    const WorkerSummary* before = workerOf(false);
    const WorkerSummary* after = workerOf(true);
    if (!before || !after || before->steps.empty() || after->steps.empty())
        return visibleRange_->fit();
    const auto rangeOf = [](const WorkerSummary& worker) {
        return TimeRange{worker.steps.front().startNs,
                         worker.steps.back().startNs + worker.steps.back().wallNs};
    };
    const TimeRange both =
        baseline_->toAxis(rangeOf(*before)).united(candidate_->toAxis(rangeOf(*after)));
    const int64_t marginNs = both.durationNs() / 50;
    visibleRange_->setRange({both.startNs - marginNs, both.endNs + marginNs});
}

void CompareView::showStep(int step) {
    const WorkerSummary* before = workerOf(false);
    const WorkerSummary* after = workerOf(true);
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
    if (shownPair_ != comparison.critical) {  // the sentence is about that one
        shownPair_ = comparison.critical;
        isPairChosen_ = true;
        showPair();
    }
    findEvidence(clause);
}

void CompareView::findEvidence(const Clause& clause) {
    const std::optional<ComparedPair> pair = shownPair();
    if (!pair) return;
    finder_->start([this, runs = runs_, candidate = shown_, workers = pair->workers(),
                    clause]() -> LatestJob::Publish {
        const ComparedRuns::Side& a = runs->baseline;
        const ComparedRuns::Side& b = runs->candidates[candidate];
        const Evidence evidence =
            evidenceOf(clause, {*a.trace, a.selection, a.summary.workers[workers.baselineWorker]},
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
        // Steps of different places, on top of each other.
        setOrigins(workerOf(false)->steps[*before.step].startNs,
                   workerOf(true)->steps[*after.step].startNs);
        steps_->setChosen(int(*after.step));
    }
    selectBoth(before.event, after.event);
    std::optional<TimeRange> both;
    const bool hasEvents = before.event.isValid() || after.event.isValid();
    const auto add = [&](const CompareSide& side, const EvidenceSide& found) {
        if (!found.step || (hasEvents && !found.event.isValid())) return;
        const TimeRange range = side.toAxis(found.range);
        both = both ? both->united(range) : range;
    };
    add(*baseline_, before);
    add(*candidate_, after);
    if (both) showBoth(*both);
}

void CompareView::showEvents(EventRef baselineEvent, EventRef candidateEvent) {
    selectBoth(baselineEvent, candidateEvent);
    std::optional<TimeRange> both;
    const auto add = [&](const CompareSide& side, EventRef event) {
        if (!event.isValid()) return;
        const TimeRange range = side.toAxis(side.timeline().trace()->rangeOf(event));
        both = both ? both->united(range) : range;
    };
    add(*baseline_, baselineEvent);
    add(*candidate_, candidateEvent);
    if (both) showBoth(*both);
}

void CompareView::showBoth(TimeRange onAxis) {
    const int64_t marginNs = std::max<int64_t>(onAxis.durationNs(), 1'000);
    visibleRange_->setRange({onAxis.startNs - marginNs, onAxis.endNs + marginNs});
    emit placeShown();
}

void CompareView::selectBoth(EventRef baseline, EventRef candidate) {
    const QScopedValueRollback guard(isMirroring_, true);
    if (baseline.isValid()) {
        baseline_->timeline().revealEvent(baseline);
        lastBaselineEvent_ = baseline;
    } else {
        baseline_->timeline().setSelectedEvent({});
    }
    if (candidate.isValid()) {
        candidate_->timeline().revealEvent(candidate);
        lastCandidateEvent_ = candidate;
    } else {
        candidate_->timeline().setSelectedEvent({});
    }
    const bool isCandidate = candidate.isValid();
    showDetails((isCandidate ? candidate_ : baseline_)->timeline().trace(),
                isCandidate ? candidate : baseline);
}

}  // namespace lanescope::views
