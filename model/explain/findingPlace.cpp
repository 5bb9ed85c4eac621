// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingPlace.h"

#include <optional>
#include <vector>

#include "model/analysis/WorkerTimeline.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns the step that a finding names, else the longest.
TimeRange namedStep(const WorkerSummary& worker, const Finding& finding) {
    const StepSummary* named = nullptr;
    for (const StepSummary& step : worker.steps)
        if (finding.atNs ? step.startNs == *finding.atNs : named == nullptr || step.wallNs > named->wallNs)
            named = &step;
    return named == nullptr ? TimeRange{} : TimeRange{named->startNs, named->startNs + named->wallNs};
}

/// Returns the work of a piece's time, or the first that ran after it.
EventRef eventAt(const WorkList& work, const WorkerTimeline::Piece& piece) {
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->startNs >= piece.range.endNs) return isIdle(piece.part) ? each->event : EventRef();
        const bool isIts = each->contributor == piece.contributor || each->waiting == piece.contributor;
        if (!isIdle(piece.part) && isIts && each->endNs > piece.range.startNs) return each->event;
    }
    return {};
}

}  // namespace

Result<FindingPlace> placeOf(const Trace& trace, const RunSummary& run, const Finding& finding) {
    const WorkerSummary& summary = run.workers[finding.worker];
    if (finding.rule->place != nullptr)
        if (const std::optional<TimeRange> range = finding.rule->place(run, finding))
            return FindingPlace{*range, *range, {}};
    const Result<RunWorkers> workers = RunWorkers::of(trace);
    if (!workers) return fail(workers.error());
    const WorkerSteps* worker = workers->find(summary.pid, summary.gpuId);
    FindingPlace place;
    place.step = place.range = namedStep(summary, finding);
    if (worker == nullptr) return fail("{} has no steps of {} any more; open it again.", trace.title, summary.label());
    const WorkerTimeline timeline = workers->timelineOf(*worker);
    const std::vector<TimeRange> steps = finding.rule->isOfSingleSteps() ? std::vector{place.step} : rangesOf(*worker);
    WorkerTimeline::Piece longest;
    timeline.splitInTime(steps, [&](const WorkerTimeline::Piece& piece) {
        const Contributor& each = timeline.contributors()[piece.contributor];
        if (each.name == finding.contributor && each.path == finding.path &&
            piece.range.durationNs() > longest.range.durationNs())
            longest = piece;
    });
    if (longest.range.isEmpty()) return place;
    place.step = steps[longest.window];
    place.range = longest.range;
    place.event = eventAt(timeline.work(), longest);
    return place;
}

}  // namespace lanescope::explain
