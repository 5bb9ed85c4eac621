// SPDX-License-Identifier: Apache-2.0
#include "model/causality/StepReplay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/numbers/Statistics.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::causality {

namespace {

using Node = CausalGraph::Node;

size_t countWithin(const Column<int64_t>& starts, TimeRange range) {
    const auto at = [&](int64_t timeNs) { return std::ranges::lower_bound(starts, timeNs); };
    return static_cast<size_t>(at(range.endNs) - at(range.startNs));
}

size_t eventsWithin(const Trace& trace, TimeRange range) {
    return countWithin(trace.apiCalls.startNs, range) + countWithin(trace.kernels.startNs, range) +
           countWithin(trace.memcpys.startNs, range) + countWithin(trace.memsets.startNs, range) +
           countWithin(trace.graphs.startNs, range);
}

/// Minimum number of replayed steps. Fewer steps begin and end in the middle of work.
constexpr size_t minSteps = 6;

/// Returns the steps around the middle one with at most that many events, at least one step.
std::vector<TimeRange> middleSteps(const Trace& trace, const std::vector<TimeRange>& steps, size_t maxEvents) {
    if (steps.empty()) return {};
    size_t first = steps.size() / 2, end = first + 1, events = eventsWithin(trace, steps[first]);
    while (first > 0 || end < steps.size()) {
        const bool isBefore = end == steps.size() || (first > 0 && steps.size() / 2 - first < end - steps.size() / 2);
        const size_t next = isBefore ? first - 1 : end;
        events += eventsWithin(trace, steps[next]);
        if (events > maxEvents) break;
        isBefore ? --first : ++end;
    }
    return {steps.begin() + static_cast<std::ptrdiff_t>(first), steps.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

StepReplay::StepReplay(const CausalInput& input, const ReplayedWorker& worker, size_t maxEvents)
    : trace_(input.trace), selectedSteps_(worker.steps.size()) {
    const std::vector<TimeRange> steps = middleSteps(trace_, worker.steps, maxEvents);
    if (steps.empty()) return;
    // Calls before the first step launch its work, and work before it ends where it starts.
    constexpr int64_t maxTimeNs = int64_t{1} << 60;  // of a sound trace
    if (steps.front().startNs < -maxTimeNs || steps.back().endNs > maxTimeNs) return;
    const int64_t leadNs = steps.front().durationNs();
    window_ = {steps.front().startNs - leadNs, steps.back().endNs + 1};
    if (window_.startNs < -maxTimeNs || window_.endNs > maxTimeNs) return;
    // Steps of any size, and what comes before them.
    if (eventsWithin(trace_, window_) > 2 * maxEvents) return;
    graph_ = buildCausalGraph(input, window_);
    unchangedNs_ = graph_.replay();
    // For each edge of a step the work of the worker that ends last before it.
    std::vector<int64_t> edges;
    for (const TimeRange& step : steps) edges.insert(edges.end(), {step.startNs, step.endNs});
    std::vector<Node> lastBefore(edges.size(), noIndex);
    for (Node node = 0; node < graph_.size(); ++node) {
        const uint32_t stream = streamOf(trace_, graph_.event[node]);
        if (stream == noIndex || trace_.streams[stream].process != worker.process ||
            trace_.streams[stream].gpu != worker.gpu)
            continue;
        const auto edge = std::ranges::lower_bound(edges, graph_.endNs[node]);
        if (edge == edges.end()) continue;
        Node& last = lastBefore[static_cast<size_t>(edge - edges.begin())];
        if (last == noIndex || graph_.endNs[node] >= graph_.endNs[last]) last = node;
    }
    for (size_t edge = 1; edge < edges.size(); ++edge)
        if (lastBefore[edge] == noIndex) lastBefore[edge] = lastBefore[edge - 1];
    double recordedNs = 0, replayedNs = 0;
    // A pause before a step belongs to none. The first step may follow skipped ones.
    const auto pauseNs = [&](size_t step) {
        const Node before = lastBefore[2 * step];
        return before == noIndex ? INT64_MAX : steps[step].startNs - graph_.endNs[before];
    };
    int64_t maxPauseNs = -1;
    for (size_t step = 1; step < steps.size(); ++step)
        if (steps[step - 1].endNs == steps[step].startNs && pauseNs(step) != INT64_MAX)
            maxPauseNs = std::max(maxPauseNs, pauseNs(step));
    const auto follows = [&](size_t step) {
        return step > 0 ? steps[step - 1].endNs == steps[step].startNs : pauseNs(0) <= maxPauseNs;
    };
    size_t following = 0;
    for (size_t step = 0; step < steps.size(); ++step) following += follows(step);
    for (size_t step = 0; step < steps.size(); ++step) {
        if (2 * following >= steps.size() && !follows(step)) continue;
        const Step found{lastBefore[2 * step], lastBefore[2 * step + 1]};
        if (found.before == noIndex || found.last == noIndex || found.before == found.last) continue;
        steps_.push_back(found);
        recordedNs += static_cast<double>(graph_.endNs[found.last] - graph_.endNs[found.before]);
        replayedNs += static_cast<double>(unchangedNs_[found.last] - unchangedNs_[found.before]);
    }
    if (steps_.empty() || recordedNs <= 0) return;
    recordedNs_ = recordedNs / static_cast<double>(steps_.size());
    error_ = replayedNs / recordedNs - 1;
    findPath();
}

void StepReplay::findPath() {
    const int64_t fromNs = unchangedNs_[steps_.front().before];
    std::map<std::pair<uint32_t, int>, PathShare> shares;
    const auto add = [&](uint32_t group, std::optional<EdgeKind> delay, int64_t startNs, int64_t endNs) {
        const int64_t ns = endNs - std::max(startNs, fromNs);
        if (ns <= 0) return;
        PathShare& share = shares[{group, delay ? static_cast<int>(*delay) : -1}];
        share.group = group;
        share.delay = delay;
        share.ns += ns;
        ++share.count;
    };
    int64_t unknownNs = 0;
    const auto parts = graph_.pathTo(steps_.back().last, unchangedNs_, {}, fromNs);
    for (const CausalGraph::PathPart& part : parts) {
        const uint32_t group = graph_.group[part.node];
        add(group, std::nullopt, part.startNs, part.endNs);
        if (graph_.groups[group].isUnknown) unknownNs += part.endNs - std::max(part.startNs, fromNs);
        if (part.edge != SIZE_MAX)
            add(group, graph_.edgeKind[part.edge], unchangedNs_[graph_.from[part.edge]], part.startNs);
    }
    for (const auto& [key, share] : shares) path_.push_back(share);
    std::ranges::stable_sort(path_, std::greater(), &PathShare::ns);
    const auto wholeNs = static_cast<double>(unchangedNs_[steps_.back().last] - fromNs);
    unknownShare_ = wholeNs > 0 ? static_cast<double>(unknownNs) / wholeNs : 0;
}

std::string StepReplay::stepsText() const {
    return fmt::format("{}{} step{}", steps_.size(),
                       steps_.size() == selectedSteps_ ? "" : fmt::format(" of {}", selectedSteps_),
                       selectedSteps_ == 1 ? "" : "s");
}

std::string StepReplay::refusal() const {
    if (steps_.empty()) return "No step has GPU work with recorded causes.";
    if (steps_.size() < minSteps)
        return fmt::format(
            "Too few steps ({}) for a forecast: the lead of the CPU over the GPU is unknown. Choose {} or more.",
            steps_.size(), minSteps);
    const double unexplained = std::abs(error_) + unknownShare_;
    if (unexplained <= maxUnexplained) return {};
    return fmt::format("The recorded causes do not explain this step: {:.1f} % unexplained on the {}.",
                       100 * unexplained, unknownShare_ > std::abs(error_) ? "main thread" : "GPU");
}

Forecast StepReplay::forecast(std::span<const Change> changes) const {
    Forecast made{recordedNs_, recordedNs_};
    if (steps_.empty()) return made;
    const Scales scales = scalesOf(trace_, graph_, changes);
    const std::vector<int64_t> ends = graph_.replay(scales.ofGroup);
    // The lead of a thread over the GPU changes during the first steps.
    const size_t first = steps_.size() >= minSteps ? steps_.size() / 2 : 0;
    std::vector<int64_t> differences;
    for (size_t step = first; step < steps_.size(); ++step) {
        const auto [before, last] = steps_[step];
        differences.push_back(ends[last] - ends[before] - (unchangedNs_[last] - unchangedNs_[before]));
    }
    const Statistics statistics = statisticsOf(differences);
    made.stepNs = recordedNs_ + statistics.average;
    if (statistics.count > 1)
        made.marginNs = studentTFor(0.95, statistics.count - 1) * statistics.standardDeviation /
                        std::sqrt(static_cast<double>(statistics.count));
    made.marginNs += std::abs(error_) * made.stepNs;
    return made;
}

}  // namespace lanescope::causality
