// SPDX-License-Identifier: Apache-2.0
#include "model/explain/steadySteps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/values/Statistics.h"

namespace lanescope::explain {

using namespace compare;

std::optional<TimeRange> steadySteps(const RunSummary& run) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex || run.source == StepSource::WholeRun) return std::nullopt;
    const std::vector<StepSummary>& steps = run.workers[critical].steps;
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : steps) wallNs.push_back(step.wallNs);
    const double medianNs = medianOf(wallNs);
    const auto farOff = [&](size_t step) {
        return std::abs(static_cast<double>(steps[step].wallNs) - medianNs);
    };
    const size_t count = std::min(steadyStepCount, steps.size());
    double offNs = 0;
    for (size_t step = 0; step < count; ++step) offNs += farOff(step);
    double leastNs = offNs;
    size_t best = 0;
    for (size_t first = 1; first + count <= steps.size(); ++first) {
        offNs += farOff(first + count - 1) - farOff(first - 1);
        // A hair less is the same: the sums are rounded.
        if (offNs >= leastNs * (1 - 1e-9)) continue;
        leastNs = offNs;
        best = first;
    }
    const StepSummary& last = steps[best + count - 1];
    const TimeRange range{steps[best].startNs, last.startNs + last.wallNs};
    return range.isEmpty() ? std::nullopt : std::optional(range);
}

}  // namespace lanescope::explain
