// SPDX-License-Identifier: Apache-2.0
#include "model/compare/coreWaits.h"

#include <algorithm>
#include <vector>

#include "model/values/Statistics.h"

namespace lanescope::compare {

namespace {

/// Of the time of the steps. Every thread waits for a core now and then.
constexpr double leastWaitShare = 0.01;

/// How much of a range lies in steps.
int64_t inSteps(TimeRange range, std::span<const TimeRange> steps) {
    int64_t sumNs = 0;
    auto step = std::ranges::partition_point(
        steps, [&](const TimeRange& each) { return each.endNs <= range.startNs; });
    for (; step != steps.end() && step->startNs < range.endNs; ++step)
        sumNs += step->intersected(range).durationNs();
    return sumNs;
}

}  // namespace

std::optional<CoreWaits> coreWaits(const Trace& trace, uint32_t process,
                                   std::span<const TimeRange> steps) {
    const CpuStateTable& states = trace.cpuStates;
    std::vector<double> waitedNs(trace.threads.size());
    bool isKnown = false;
    for (uint32_t row = 0; row < states.size(); ++row) {
        const uint32_t thread = states.thread[row];
        const TimeRange range{states.startNs[row], states.endNs[row]};
        if (trace.threads[thread].process != process || range.isEmpty()) continue;
        const auto lengthNs = static_cast<double>(range.durationNs());
        const double share = static_cast<double>(inSteps(range, steps)) / lengthNs;
        isKnown |= share > 0;
        // A file may say of a thread that it waited for longer than there was time.
        waitedNs[thread] +=
            share * std::clamp(static_cast<double>(states.delayNs[row]), 0.0, lengthNs);
    }
    if (!isKnown) return std::nullopt;
    double allNs = 0;
    for (const TimeRange& step : steps) allNs += static_cast<double>(step.durationNs());
    CoreWaits waits;
    for (const double ns : waitedNs) {
        if (ns < leastWaitShare * allNs) continue;
        ++waits.threads;
        waits.ns = saturatingSum(waits.ns, static_cast<int64_t>(ns));
    }
    return waits;
}

}  // namespace lanescope::compare
