// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingPlace.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/analysis/WorkerTimeline.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// A range below this share of the view is too narrow to be seen in it.
constexpr int64_t maxViewRatio = 150;
/// Divisor of the view: the space around it.
constexpr int64_t marginRatio = 40;

TimeRange rangeOf(const StepSummary& step) { return {step.startNs, step.startNs + step.wallNs}; }

/// Returns the indices of the steps that findings about single steps name, of one worker.
std::set<uint32_t> affectedSteps(const WorkerSummary& worker, uint32_t index, std::span<const Finding> findings) {
    std::set<uint32_t> steps;
    for (const Finding& each : findings) {
        if (each.worker != index || !each.rule->isOfSingleSteps()) continue;
        if (each.pattern) steps.insert(each.pattern->affected.begin(), each.pattern->affected.end());
        for (uint32_t step = 0; !each.pattern && step < worker.steps.size(); ++step)
            if (std::ranges::find(worker.outliers, worker.steps[step].startNs, &OutlierStep::startNs) !=
                worker.outliers.end())
                steps.insert(step);
    }
    return steps;
}

/// Contributors with the part and the cause of a finding, in any range and at any line.
class OfFinding {
  public:
    OfFinding(const RunSummary& run, const Finding& finding) : finding_(finding) {
        if (finding.pattern) part_ = finding.pattern->part;
        if (!part_ && finding.rule->isOfSingleSteps()) part_ = finding.rule->longerPart(run, finding);
        isOfPart_ = part_.has_value();
        for (const Contributor& each : run.workers[finding.worker].contributors)
            if (!part_ && each.name == finding.contributor && each.path == finding.path) part_ = each.part;
    }
    bool holds(const Contributor& each) const {
        if (each.part != part_) return false;
        if (isOfPart_) return true;
        const ContributorName& name = finding_.contributor;
        if (!name.isIdle()) return each.name.work == name.work;
        return each.name.idle.kind == name.idle.kind && each.name.idle.call == name.idle.call;
    }

  private:
    const Finding& finding_;
    std::optional<StepPart> part_;
    bool isOfPart_ = false;
};

/// A possible place of a finding.
struct Candidate {
    int64_t ns = 0;
    uint32_t step = 0;
    TimeRange range;
    EventRef event;
    bool isGap = false;
};

std::vector<TimeRange> gapsOf(const WorkList& work) {
    std::vector<TimeRange> gaps;
    if (work.empty()) return gaps;
    int64_t busyUntilNs = work.front().startNs;
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->startNs > busyUntilNs) gaps.push_back({busyUntilNs, each->startNs});
        busyUntilNs = std::max(busyUntilNs, each->endNs);
    }
    return gaps;
}

/// Returns the work of a piece's time.
std::optional<GpuWork> workAt(const WorkList& work, const WorkerTimeline::Piece& piece) {
    for (WorkList::Reader each(work); !each.isAtEnd() && each->startNs < piece.range.endNs; each.next()) {
        const bool isIts = each->contributor == piece.contributor || each->waiting == piece.contributor;
        if (isIts && each->endNs > piece.range.startNs) return *each;
    }
    return std::nullopt;
}

/// Returns the largest candidates, of gaps by their time of the finding.
template <class Holds>
std::vector<Candidate> candidatesOf(const WorkerTimeline& timeline, const std::vector<TimeRange>& steps, Holds holds,
                                    size_t count) {
    const std::vector<TimeRange> gaps = gapsOf(timeline.work());
    std::map<size_t, Candidate> ofGap;
    std::vector<Candidate> found;
    std::vector<WorkerTimeline::Piece> pieces;
    timeline.splitInTime(steps, [&](const WorkerTimeline::Piece& piece) {
        if (!holds(timeline.contributors()[piece.contributor])) return;
        if (!isIdle(piece.part)) {
            pieces.push_back(piece);
            return;
        }
        auto gap = std::ranges::upper_bound(gaps, piece.range.startNs, {}, &TimeRange::startNs);
        if (gap == gaps.begin()) return;
        --gap;
        if (gap->endNs <= piece.range.startNs) return;
        Candidate& one = ofGap[static_cast<size_t>(gap - gaps.begin())];
        one.ns += piece.range.durationNs();
        one.step = piece.window;
        one.range = *gap;
        one.isGap = true;
    });
    for (const auto& [gap, each] : ofGap) found.push_back(each);
    const auto isLonger = [](const auto& a, const auto& b) { return a.range.durationNs() > b.range.durationNs(); };
    std::ranges::stable_sort(pieces, isLonger);
    pieces.resize(std::min(pieces.size(), count));
    for (const WorkerTimeline::Piece& piece : pieces)
        if (const std::optional<GpuWork> work = workAt(timeline.work(), piece))
            found.push_back({piece.range.durationNs(), piece.window, {work->startNs, work->endNs}, work->event, false});
    std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::ns);
    return found;
}

TimeRange viewOf(TimeRange step, TimeRange range) {
    TimeRange view{std::min(step.startNs, range.startNs), std::max(step.endNs, range.endNs)};
    const int64_t widest = range.durationNs() * maxViewRatio;
    if (range.durationNs() > 0 && view.durationNs() > widest) {
        const int64_t startNs =
            std::clamp(range.startNs - (widest - range.durationNs()) / 2, view.startNs, view.endNs - widest);
        view = {startNs, startNs + widest};
    }
    const int64_t margin = std::max<int64_t>(view.durationNs() / marginRatio, 1);
    return {view.startNs - margin, view.endNs + margin};
}

class Places {
  public:
    Places(const Trace& trace, const RunSummary& run, RunWorkers workers, std::span<const Finding> all)
        : trace_(trace), run_(run), workers_(std::move(workers)), all_(all) {}

    Result<FindingPlace> of(const Finding& finding) {
        std::vector<TimeRange> used;
        for (const Finding& each : all_) {
            if (each == finding) break;
            if (const Result<FindingPlace> place = find(each, used)) used.push_back(place->range);
        }
        return find(finding, used);
    }

  private:
    const WorkerTimeline* timelineOf(uint32_t worker) {
        const WorkerSummary& summary = run_.workers[worker];
        const WorkerSteps* steps = workers_.find(summary.pid, summary.gpuId);
        if (steps == nullptr) return nullptr;
        const auto known = timelines_.find(worker);
        if (known != timelines_.end()) return &known->second;
        return &timelines_.emplace(worker, workers_.timelineOf(*steps)).first->second;
    }

    Result<FindingPlace> find(const Finding& finding, const std::vector<TimeRange>& used) {
        const WorkerSummary& worker = run_.workers[finding.worker];
        const WorkerTimeline* timeline = timelineOf(finding.worker);
        if (finding.rule->place != nullptr)
            if (const std::optional<TimeRange> range = finding.rule->place(run_, finding))
                return timeline != nullptr ? ofRule(*range, *timeline)
                                           : FindingPlace{*range, *range, viewOf(*range, *range), {}, false, {}};
        if (timeline == nullptr)
            return fail("{} has no steps of {} any more; open it again.", trace_.title, worker.label());
        std::vector<Candidate> candidates =
            finding.rule->isOfLateRank ? collectives(finding) : ofContributor(finding, *timeline, used.size());
        for (const Candidate& each : candidates) {
            if (std::ranges::find(used, each.range) != used.end()) continue;
            const StepSummary& step = worker.steps[each.step];
            return FindingPlace{rangeOf(step), each.range, viewOf(rangeOf(step), each.range),
                                each.event,    each.isGap, each.step};
        }
        return wholeStep(finding);
    }

    /// Returns the step that a finding names, else the longest.
    FindingPlace wholeStep(const Finding& finding) const {
        const std::vector<StepSummary>& steps = run_.workers[finding.worker].steps;
        FindingPlace place;
        for (uint32_t index = 0; index < steps.size(); ++index) {
            const bool isBetter = finding.atNs ? steps[index].startNs == *finding.atNs
                                               : steps[index].wallNs > steps[place.stepIndex.value_or(index)].wallNs;
            if (place.stepIndex && !isBetter) continue;
            place.stepIndex = index;
            place.step = place.range = rangeOf(steps[index]);
        }
        place.view = viewOf(place.step, place.step);
        return place;
    }

    /// Returns the place of a rule, with its longest gap if most of it is idle.
    static FindingPlace ofRule(TimeRange range, const WorkerTimeline& timeline) {
        FindingPlace place{range, range, viewOf(range, range), {}, false, {}};
        TimeRange longest;
        int64_t idleNs = 0;
        for (const TimeRange& gap : gapsOf(timeline.work())) {
            const TimeRange inside = gap.intersected(range);
            if (inside.isEmpty()) continue;
            idleNs += inside.durationNs();
            if (inside.durationNs() > longest.durationNs()) longest = gap;
        }
        if (2 * idleNs > range.durationNs()) {
            place.range = longest;
            place.isGap = true;
        }
        return place;
    }

    std::vector<Candidate> ofContributor(const Finding& finding, const WorkerTimeline& timeline, size_t usedCount) {
        const WorkerSummary& worker = run_.workers[finding.worker];
        const OfFinding of(run_, finding);
        std::vector<Finding> known(all_.begin(), all_.end());
        known.push_back(finding);
        const std::set<uint32_t> affected = affectedSteps(worker, finding.worker, known);
        std::vector<uint32_t> indices;
        for (uint32_t step = 0; step < worker.steps.size(); ++step) {
            if (finding.pattern ? std::ranges::find(finding.pattern->affected, step) != finding.pattern->affected.end()
                                : affected.contains(step) == finding.rule->isOfSingleSteps())
                indices.push_back(step);
        }
        std::vector<Candidate> found = among(indices, worker, timeline, of, usedCount);
        if (!found.empty() || finding.rule->isOfSingleSteps()) return found;
        // All of it may be in these steps.
        return among({affected.begin(), affected.end()}, worker, timeline, of, usedCount);
    }

    static std::vector<Candidate> among(const std::vector<uint32_t>& indices, const WorkerSummary& worker,
                                        const WorkerTimeline& timeline, const OfFinding& of, size_t usedCount) {
        std::vector<TimeRange> steps;
        for (const uint32_t index : indices) steps.push_back(rangeOf(worker.steps[index]));
        std::vector<Candidate> found = candidatesOf(
            timeline, steps, [&](const Contributor& each) { return of.holds(each); }, usedCount + 1);
        for (Candidate& each : found) each.step = indices[each.step];
        return found;
    }

    /// Returns the collectives in which another rank waits longest, as the kernels of the late rank.
    std::vector<Candidate> collectives(const Finding& finding) {
        const WorkerSummary& late = run_.workers[finding.worker];
        const WorkerTimeline& own = *timelineOf(finding.worker);
        std::vector<TimeRange> steps;
        for (const StepSummary& step : late.steps) steps.push_back(rangeOf(step));
        std::vector<Candidate> found;
        for (uint32_t other = 0; other < run_.workers.size(); ++other) {
            if (other == finding.worker || run_.workers[other].steps.empty()) continue;
            const WorkerTimeline* timeline = timelineOf(other);
            if (timeline == nullptr) continue;
            for (const Candidate& each : candidatesOf(
                     *timeline, steps, [](const Contributor& one) { return one.part == StepPart::WaitingForRanks; },
                     all_.size() + 1))
                if (const std::optional<GpuWork> work = collectiveThatEnds(own, each))
                    found.push_back({each.ns,
                                     each.step,
                                     {std::min(each.range.startNs, work->startNs), work->endNs},
                                     work->event,
                                     false});
        }
        std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::ns);
        return found;
    }

    /// Returns the collective of the late rank that starts last before the other rank's one ends.
    static std::optional<GpuWork> collectiveThatEnds(const WorkerTimeline& own, const Candidate& waiting) {
        std::optional<GpuWork> last;
        for (WorkList::Reader each(own.work()); !each.isAtEnd() && each->startNs < waiting.range.endNs; each.next())
            if (each->part == StepPart::ExposedCommunication && each->endNs > waiting.range.startNs) last = *each;
        return last;
    }

    const Trace& trace_;
    const RunSummary& run_;
    RunWorkers workers_;
    std::span<const Finding> all_;
    std::map<uint32_t, WorkerTimeline> timelines_;
};

}  // namespace

Result<FindingPlace> placeOf(const Trace& trace, const RunSummary& run, const Finding& finding,
                             std::span<const Finding> all) {
    Result<RunWorkers> workers = RunWorkers::of(trace);
    if (!workers) return fail(workers.error());
    return Places(trace, run, std::move(*workers), all).of(finding);
}

}  // namespace lanescope::explain
