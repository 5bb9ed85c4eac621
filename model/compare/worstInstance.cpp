// SPDX-License-Identifier: Apache-2.0
#include "model/compare/worstInstance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/analysis/GpuWork.h"
#include "model/analysis/IdleCauses.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::compare {

using namespace analysis;
namespace {

/// Step and time of a piece of GPU work.
struct Piece {
    size_t step;
    int64_t startNs, endNs;
};

/// Returns the worker's process and GPU in its trace; `noIndex` if missing.
WorkerId workerOf(const InstanceSide& side) {
    WorkerId worker{noIndex, noIndex, noIndex};
    for (uint32_t process = 0; process < side.trace.processes.size(); ++process)
        if (side.trace.processes[process].pid == side.worker.pid) worker.process = process;
    for (uint32_t gpu = 0; gpu < side.trace.gpus.size(); ++gpu)
        if (side.trace.gpus[gpu].id == side.worker.gpuId) worker.gpu = gpu;
    return worker;
}

/// Returns the pieces of one contributor, by start, in the compared steps. If there are none on
/// that path, those of that name on any path: a name may match across different paths.
std::vector<Piece> piecesOf(const InstanceSide& side, const InstanceQuery& query, const ContributorName& name,
                            const std::string& path) {
    std::vector<Piece> pieces, onOtherPaths;
    const WorkerId worker = workerOf(side);
    const Result<RunSteps> run = findSteps(side.trace, side.selection);
    if (name.empty() || !run) return pieces;
    const auto steps = std::ranges::find_if(run->workers, [&worker](const WorkerSteps& each) {
        return each.process == worker.process && each.gpu == worker.gpu;
    });
    if (steps == run->workers.end()) return pieces;
    const RunContext context(side.trace, *run);
    ContributorTable table;
    const WorkList work = workOf(context, analysis::workerOf(*steps), table);
    for (WorkList::Reader reader(work); !reader.isAtEnd(); reader.next()) {
        const GpuWork& each = *reader;
        const Contributor& contributor = table.contributors()[each.contributor];
        if (contributor.kind != query.kind || contributor.name != name) continue;
        const uint32_t step = steps->stepOf(each.startNs, launchedNs(context, each));
        if (step == noIndex) continue;
        (contributor.path == path ? pieces : onOtherPaths).push_back({step, each.startNs, each.endNs});
    }
    std::vector<Piece>& found = pieces.empty() ? onOtherPaths : pieces;
    // A copy for the next step may run before the last of this one.
    std::ranges::stable_sort(found, {}, &Piece::step);
    return std::move(found);
}

/// Returns the row of `table` with exactly this time on the GPU of the worker.
template <class Table>
EventRef eventIn(const Trace& trace, const Table& table, EventKind kind, const WorkerId& worker, const Piece& piece) {
    auto at = std::ranges::lower_bound(table.startNs, piece.startNs);
    for (; at != table.startNs.end() && *at == piece.startNs; ++at) {
        const auto row = static_cast<uint32_t>(at - table.startNs.begin());
        const Stream& stream = trace.streams[table.stream[row]];
        if (table.endNs[row] == piece.endNs && stream.process == worker.process && stream.gpu == worker.gpu)
            return EventRef(kind, row);
    }
    return {};
}

EventRef eventOf(const InstanceSide& side, ContributorKind kind, const Piece* piece) {
    if (!piece) return {};
    const WorkerId worker = workerOf(side);
    switch (kind) {
        case ContributorKind::Copy: return eventIn(side.trace, side.trace.memcpys, EventKind::Memcpy, worker, *piece);
        case ContributorKind::Memset: return eventIn(side.trace, side.trace.memsets, EventKind::Memset, worker, *piece);
        case ContributorKind::Kernel:
        case ContributorKind::Collective:
            return eventIn(side.trace, side.trace.kernels, EventKind::Kernel, worker, *piece);
        case ContributorKind::Graph: return eventIn(side.trace, side.trace.graphs, EventKind::Graph, worker, *piece);
        case ContributorKind::Idle:
        case ContributorKind::Others: break;
    }
    return {};
}

WorstInstance worstStep(const InstanceSide& baseline, const InstanceSide& candidate, StepPart part) {
    WorstInstance worst;
    const size_t count = std::min(baseline.worker.steps.size(), candidate.worker.steps.size());
    for (size_t step = 0; step < count; ++step) {
        const int64_t lostNs = candidate.worker.steps[step].parts[part] - baseline.worker.steps[step].parts[part];
        if (worst.isFound && lostNs <= worst.lostNs) continue;
        worst.isFound = true;
        worst.step = step;
        worst.lostNs = lostNs;
    }
    return worst;
}

/// Returns the longest gap in a step with the wanted first cause: by part, name and path, or less of these.
const IdleGap* longestGap(const IdleGaps& gaps, size_t worker, TimeRange step, const InstanceQuery& query,
                          const ContributorName& name, const std::string& path) {
    const IdleGap* longest = nullptr;
    std::pair<int, int64_t> best{0, 0};
    for (const IdleGap& gap : gaps.gapsOf(worker)) {
        const int64_t startNs = std::max(gap.range.startNs, step.startNs);
        const int64_t endNs = std::min(gap.range.endNs, step.endNs);
        if (startNs >= endNs) continue;
        for (const GapCause& cause : gaps.whyIdle(worker, {startNs, endNs})) {
            if (cause.part != query.part) continue;
            const bool isNamed = cause.name == name || cause.name.idle.withoutState() == name.idle;
            const int likeness = cause.path != path ? 1 : !isNamed ? 2 : 3;
            const std::pair own(likeness, cause.ns);
            if (own <= best) continue;
            best = own;
            longest = &gap;
        }
    }
    return longest;
}

/// Finds the gap of `query` in one step of a run.
void addGap(const InstanceSide& side, size_t step, const InstanceQuery& query, const ContributorName& name,
            const std::string& path, EventRef& event, TimeRange& range) {
    if (name.empty() || step >= side.worker.steps.size()) return;
    const Result<IdleGaps> gaps = IdleGaps::of(side.trace, side.selection);
    if (!gaps) return;
    const WorkerId wanted = workerOf(side);
    const StepSummary& there = side.worker.steps[step];
    for (size_t worker = 0; worker < gaps->workerCount(); ++worker) {
        if (gaps->processOf(worker) != wanted.process || gaps->gpuOf(worker) != wanted.gpu) continue;
        const IdleGap* gap =
            longestGap(*gaps, worker, {there.startNs, there.startNs + there.wallNs}, query, name, path);
        if (!gap) return;
        event = gap->next;
        range = gap->range;
    }
}

WorstInstance worstIdle(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query) {
    WorstInstance worst = worstStep(baseline, candidate, query.part);
    if (!worst.isFound || query.kind != ContributorKind::Idle) return worst;
    addGap(baseline, worst.step, query, query.baselineName, query.baselinePath, worst.baseline, worst.baselineGap);
    addGap(candidate, worst.step, query, query.candidateName, query.candidatePath, worst.candidate, worst.candidateGap);
    return worst;
}

TimeRange rangeOf(const StepSummary& step) { return {step.startNs, step.startNs + step.wallNs}; }

/// Returns the longest kernel, copy or memset of the worker that begins within `range`.
EventRef longestWork(const InstanceSide& side, TimeRange range) {
    EventRef longest;
    int64_t longestNs = -1;
    const auto search = [&](const auto& table, EventKind kind) {
        const auto first = std::ranges::lower_bound(table.startNs, range.startNs);
        for (auto at = first; at != table.startNs.end() && *at < range.endNs; ++at) {
            const auto row = static_cast<uint32_t>(at - table.startNs.begin());
            const Stream& stream = side.trace.streams[table.stream[row]];
            const int64_t ns = table.endNs[row] - table.startNs[row];
            if (ns <= longestNs || stream.gpu >= side.trace.gpus.size() ||
                stream.process >= side.trace.processes.size() || side.trace.gpus[stream.gpu].id != side.worker.gpuId ||
                side.trace.processes[stream.process].pid != side.worker.pid)
                continue;
            longestNs = ns;
            longest = EventRef(kind, row);
        }
    };
    search(side.trace.kernels, EventKind::Kernel);
    search(side.trace.memcpys, EventKind::Memcpy);
    search(side.trace.memsets, EventKind::Memset);
    search(side.trace.graphs, EventKind::Graph);
    return longest;
}

EvidenceSide stepOf(const InstanceSide& side, size_t step) {
    if (step >= side.worker.steps.size()) return {};
    const TimeRange range = rangeOf(side.worker.steps[step]);
    return {step, range, longestWork(side, range)};
}

EvidenceSide medianStep(const InstanceSide& side) {
    const std::vector<int64_t> wallNs = side.worker.wallTimes();
    if (wallNs.empty()) return {};
    const double median = quantileOf(wallNs, 0.5);
    const auto nearest = std::ranges::min_element(
        wallNs, {}, [&](int64_t each) { return std::abs(static_cast<double>(each) - median); });
    return stepOf(side, static_cast<size_t>(nearest - wallNs.begin()));
}

Evidence evidenceOfCause(const InstanceQuery& query, const InstanceSide& baseline, const InstanceSide& candidate) {
    const WorstInstance worst = worstInstance(baseline, candidate, query);
    if (!worst.isFound) return {};
    const auto sideOf = [&](const InstanceSide& side, EventRef event, TimeRange gap) {
        if (!event.isValid()) {
            EvidenceSide there = stepOf(side, worst.step);
            there.event = {};  // this run has nothing like it
            return there;
        }
        return EvidenceSide{worst.step, gap.durationNs() > 0 ? gap : side.trace.rangeOf(event), event};
    };
    return {sideOf(baseline, worst.baseline, worst.baselineGap),
            sideOf(candidate, worst.candidate, worst.candidateGap)};
}

Evidence evidenceOfStep(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate) {
    const std::vector<StepSummary>& steps = (clause.isCandidate ? candidate : baseline).worker.steps;
    for (size_t step = 0; step < steps.size(); ++step)
        if (steps[step].number == clause.number) return {stepOf(baseline, step), stepOf(candidate, step)};
    return {};
}

}  // namespace

WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query) {
    if (query.kind == ContributorKind::Idle || query.kind == ContributorKind::Others)
        return worstIdle(baseline, candidate, query);
    const std::vector<Piece> before = piecesOf(baseline, query, query.baselineName, query.baselinePath);
    const std::vector<Piece> after = piecesOf(candidate, query, query.candidateName, query.candidatePath);
    WorstInstance worst;
    const Piece* worstBefore = nullptr;
    const Piece* worstAfter = nullptr;
    const auto consider = [&](const Piece* a, const Piece* b) {
        const int64_t lostNs = (b ? b->endNs - b->startNs : 0) - (a ? a->endNs - a->startNs : 0);
        if (worst.isFound && lostNs <= worst.lostNs) return;
        worst.isFound = true;
        worst.lostNs = lostNs;
        worst.step = b ? b->step : a->step;
        worstBefore = a;
        worstAfter = b;
    };
    size_t i = 0, j = 0;
    while (i < before.size() || j < after.size()) {
        const bool hasBefore = i < before.size() && (j == after.size() || before[i].step <= after[j].step);
        const bool hasAfter = j < after.size() && (i == before.size() || after[j].step <= before[i].step);
        consider(hasBefore ? &before[i] : nullptr, hasAfter ? &after[j] : nullptr);
        i += hasBefore ? 1 : 0;
        j += hasAfter ? 1 : 0;
    }
    worst.baseline = eventOf(baseline, query.kind, worstBefore);
    worst.candidate = eventOf(candidate, query.kind, worstAfter);
    return worst;
}

std::string_view identifier(ClauseKind kind) { return enumText(kind, {"words", "step", "cause", "single"}); }

Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate) {
    if (clause.kind == ClauseKind::Step) return {medianStep(baseline), medianStep(candidate)};
    if (clause.kind == ClauseKind::Single) return evidenceOfStep(clause, baseline, candidate);
    if (clause.query) return evidenceOfCause(*clause.query, baseline, candidate);
    return {};
}

}  // namespace lanescope::compare
