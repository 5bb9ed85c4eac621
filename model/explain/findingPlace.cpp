// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingPlace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/analysis/WorkerTimeline.h"
#include "model/explain/clockLoss.h"
#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns the step that a finding names, else the longest.
TimeRange namedStep(const WorkerSummary& worker, const Finding& finding) {
    const StepSummary* named = nullptr;
    for (const StepSummary& step : worker.steps)
        if (finding.atNs ? step.startNs == *finding.atNs
                         : named == nullptr || step.wallNs > named->wallNs)
            named = &step;
    return named == nullptr ? TimeRange{}
                            : TimeRange{named->startNs, named->startNs + named->wallNs};
}

/// Returns the work of a piece's time, or the first that ran after it.
EventRef eventAt(const LargeVector<GpuWork>& work, const WorkerTimeline::Piece& piece) {
    for (const GpuWork& each : work) {
        if (each.startNs >= piece.range.endNs) return isIdle(piece.part) ? each.event : EventRef();
        const bool isIts =
            each.contributor == piece.contributor || each.waiting == piece.contributor;
        if (!isIdle(piece.part) && isIts && each.endNs > piece.range.startNs) return each.event;
    }
    return {};
}

}  // namespace

Result<FindingPlace> placeOf(const Trace& trace, const RunSummary& run, const Finding& finding) {
    const WorkerSummary& summary = run.workers[finding.worker];
    if (finding.rule == Rule::IdleBetweenSteps) {
        const StepPauses& pauses = summary.pauses;
        FindingPlace pause;
        pause.step =
            pause.range = {pauses.longestStartNs, pauses.longestStartNs + pauses.longestNs};
        return pause;
    }
    if (finding.rule == Rule::GpuThrottled)
        if (const auto loss = clockLossOf(run, finding.worker); loss && !loss->longest.isEmpty())
            return FindingPlace{loss->longest, loss->longest, {}};
    const Result<RunWorkers> workers = RunWorkers::of(trace);
    if (!workers) return fail(workers.error());
    const WorkerSteps* worker = workers->find(summary.pid, summary.gpuId);
    FindingPlace place;
    place.step = place.range = namedStep(summary, finding);
    if (worker == nullptr)
        return fail("{} has no steps of {} any more; open it again.", trace.title, summary.label());
    const WorkerTimeline timeline = workers->timelineOf(*worker);
    const std::vector<TimeRange> steps =
        finding.rule == Rule::OddSteps || finding.rule == Rule::StepPattern
            ? std::vector{place.step}
            : rangesOf(*worker);
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

namespace {

/// Returns a text as an SQL literal.
std::string sqlText(std::string_view text) {
    std::string made = "'";
    for (const char each : text) made += each == '\'' ? "''" : std::string(1, each);
    return made + "'";
}

/// Returns the LIKE pattern of all names that match a pattern: "step #" gives "step %". LIKE's
/// special characters in names match anything, which finds no fewer.
std::string likePattern(std::string_view pattern) {
    std::string like;
    for (const char each : pattern) like += each == '#' ? '%' : each;
    return sqlText(like);
}

/// Returns a condition that `s.value` is a name. A trace keeps only the start of very long names,
/// then "... (5050 bytes, 37bf3100821600e2)"; its file has all of it.
std::string isCalled(std::string_view name) {
    constexpr size_t longest = 4'000;
    const size_t end = name.rfind("... (");
    if (name.size() < longest || end == std::string_view::npos || !name.ends_with(')'))
        return "s.value = " + sqlText(name);
    // In bytes: a character may take several.
    const std::string begin = sqlText(name.substr(0, end));
    return fmt::format("substr(CAST(s.value AS BLOB), 1, {}) = CAST({} AS BLOB)", end, begin);
}

std::string rangesLike(std::string_view pattern, std::string_view order) {
    return fmt::format(
        "SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} ORDER BY {}",
        likePattern(pattern), order);
}

/// Finds ranges by their known name. The name may contain a slash itself, so only its end is known;
/// additions of a compiler or a framework may follow it.
std::string rangesCalled(std::string_view name, std::string_view order) {
    if (name.ends_with(')') && name.find(" (") != std::string_view::npos)
        return rangesLike(fmt::format("#{}#", searchedPart(name)), order);
    const std::string whole = fmt::format("#{}", name);
    return fmt::format(
        "SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} OR text "
        "LIKE {} ORDER BY {}",
        likePattern(whole), likePattern(whole + ", #"), order);
}

/// Finds its steps: their ranges, or the first kernel of each.
std::string stepsOf(const analysis::RunSummary& run, std::string_view order) {
    if (run.pattern.empty()) return {};
    if (run.source != StepSource::KernelPattern) return rangesLike(run.pattern, order);
    return fmt::format(
        "SELECT s.value AS kernel, k.start, k.\"end\" - k.start AS ns FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE {} ORDER BY "
        "{}",
        isCalled(run.pattern), order);
}

}  // namespace

std::string queryOf(const analysis::RunSummary& run, const Finding& finding) {
    switch (finding.rule) {
        case Rule::StepPattern:
        case Rule::IdleBetweenSteps:
            return stepsOf(run, "start");
        case Rule::OddSteps:
            // The first kernel of a step does not take the time of the step.
            return stepsOf(run,
                           run.source == StepSource::KernelPattern ? "start" : "ns DESC LIMIT 10");
        case Rule::InputData:
            if (finding.path.empty())
                return "SELECT start, bytes, \"end\" - start AS ns FROM "
                       "CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1 ORDER BY start";
            return rangesCalled(finding.path.substr(finding.path.rfind('/') + 1),
                                "ns DESC LIMIT 20");
        default:
            return std::string(factsOf(finding.rule).sql);
    }
}

}  // namespace lanescope::explain
