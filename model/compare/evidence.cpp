// SPDX-License-Identifier: Apache-2.0
#include "model/compare/evidence.h"

#include <algorithm>
#include <cmath>

#include "model/values/significance.h"

namespace lanescope::compare {

namespace {

TimeRange rangeOf(const StepSummary& step) {
    return {step.startNs, step.startNs + step.wallNs};
}

/// The longest kernel, copy or memset of the worker that begins within `range`.
EventRef longestWork(const InstanceSide& side, TimeRange range) {
    EventRef longest;
    int64_t longestNs = -1;
    const auto look = [&](const auto& table, EventKind kind) {
        const auto first =
            std::lower_bound(table.startNs.begin(), table.startNs.end(), range.startNs);
        for (auto at = first; at != table.startNs.end() && *at < range.endNs; ++at) {
            const auto row = static_cast<uint32_t>(at - table.startNs.begin());
            const Stream& stream = side.trace.streams[table.stream[row]];
            const int64_t ns = table.endNs[row] - table.startNs[row];
            if (ns <= longestNs || stream.gpu >= side.trace.gpus.size() ||
                stream.process >= side.trace.processes.size() ||
                side.trace.gpus[stream.gpu].id != side.worker.gpuId ||
                side.trace.processes[stream.process].pid != side.worker.pid)
                continue;
            longestNs = ns;
            longest = EventRef(kind, row);
        }
    };
    look(side.trace.kernels, EventKind::Kernel);
    look(side.trace.memcpys, EventKind::Memcpy);
    look(side.trace.memsets, EventKind::Memset);
    look(side.trace.graphs, EventKind::Graph);
    return longest;
}

EvidenceSide stepOf(const InstanceSide& side, size_t step) {
    if (step >= side.worker.steps.size()) return {};
    const TimeRange range = rangeOf(side.worker.steps[step]);
    return {step, range, longestWork(side, range)};
}

EvidenceSide medianStep(const InstanceSide& side) {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : side.worker.steps) wallNs.push_back(step.wallNs);
    if (wallNs.empty()) return {};
    const double median = quantileOf(wallNs, 0.5);
    const auto nearest = std::min_element(wallNs.begin(), wallNs.end(), [&](int64_t a, int64_t b) {
        return std::abs(static_cast<double>(a) - median) <
               std::abs(static_cast<double>(b) - median);
    });
    return stepOf(side, static_cast<size_t>(nearest - wallNs.begin()));
}

Evidence evidenceOfCause(const InstanceQuery& query, const InstanceSide& baseline,
                         const InstanceSide& candidate) {
    const WorstInstance worst = worstInstance(baseline, candidate, query);
    if (!worst.isFound) return {};
    const auto sideOf = [&](const InstanceSide& side, EventRef event, TimeRange gap) {
        if (!event.isValid()) {
            EvidenceSide there = stepOf(side, worst.step);
            there.event = {};  // this run has nothing of it
            return there;
        }
        return EvidenceSide{worst.step, gap.durationNs() > 0 ? gap : side.trace.rangeOf(event),
                            event};
    };
    return {sideOf(baseline, worst.baseline, worst.baselineGap),
            sideOf(candidate, worst.candidate, worst.candidateGap)};
}

Evidence evidenceOfStep(const Clause& clause, const InstanceSide& baseline,
                        const InstanceSide& candidate) {
    const std::vector<StepSummary>& steps =
        (clause.isCandidate ? candidate : baseline).worker.steps;
    for (size_t step = 0; step < steps.size(); ++step)
        if (steps[step].number == clause.number)
            return {stepOf(baseline, step), stepOf(candidate, step)};
    return {};
}

}  // namespace

std::string_view identifier(ClauseKind kind) {
    switch (kind) {
        case ClauseKind::Step:
            return "step";
        case ClauseKind::Cause:
            return "cause";
        case ClauseKind::Single:
            return "single";
        case ClauseKind::Words:
            break;
    }
    return "words";
}

Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline,
                    const InstanceSide& candidate) {
    if (clause.kind == ClauseKind::Step) return {medianStep(baseline), medianStep(candidate)};
    if (clause.kind == ClauseKind::Single) return evidenceOfStep(clause, baseline, candidate);
    if (clause.query) return evidenceOfCause(*clause.query, baseline, candidate);
    return {};
}

}  // namespace lanescope::compare
