// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunContext.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/StepSelection.h"
#include "model/causality/StepReplay.h"
#include "model/format/Result.h"

namespace lanescope::analysis {

/// Returns the replay of a worker's steps, at most `maxEvents` calls and pieces of work. `places` are the `ownPlaces`
/// of the trace. O(n log n).
causality::StepReplay replaySteps(const RunContext& run, std::span<const uint32_t> places, const WorkerSteps& worker,
                                  size_t maxEvents = causality::StepReplay::defaultMaxEvents);

/// Returns the steps of a worker of the run's summary; null if there are none.
const WorkerSteps* stepsOf(const Trace& trace, const RunSteps& steps, const WorkerSummary& worker);

/// Returns the times of a replay's critical path by process, part, name and line, largest first: sums of all its steps.
/// O(groups).
std::vector<PathTime> pathTimes(const Trace& trace, const causality::StepReplay& replay);

/// Replay of the critical worker of a run, which `explain` is about.
struct ReplayedRun {
    std::string worker;  ///< "rank 1, GPU 1".
    causality::StepReplay replay;
};
/// Fails as `summarizeRun` does, and if the run has no steps. `trace` must outlive the result. `known` is its summary
/// with this selection, or null. O(n log n).
Result<ReplayedRun> replayRun(const Trace& trace, const StepSelection& selection = {},
                              const RunSummary* known = nullptr);

/// Growth from each interval of a run to the next one, in which some calls take longer.
struct SlowedSteps {
    std::vector<int64_t> growthsNs;  ///< Growth of the mean step, by pair of intervals.
    std::vector<int64_t> addedNs;    ///< Growth of the time in these calls, by pair.
    /// Host code of the process per step, summed over the pairs with known host code.
    double plainHostNs = 0, slowedHostNs = 0;
    /// Returns the host code in slowed intervals, relative to the others; nullopt if unknown.
    std::optional<double> hostFactor() const {
        return plainHostNs > 0 ? std::optional(slowedHostNs / plainHostNs) : std::nullopt;
    }
};
/// Adds the pairs of an own recording. Intervals of `periodNs`, which is above 0, begin in 1970, and each second one is
/// slowed. A step counts if it is launched and ends in the second half of an interval: in the first, queues fill or
/// drain. Host code is that of `graph`, which has the steps within `window`. O((calls + nodes) log steps).
void addSlowedSteps(const Trace& trace, const WorkerSteps& worker, const causality::CausalGraph& graph,
                    TimeRange window, const std::set<std::string_view>& calls, int64_t periodNs, SlowedSteps& pairs);

/// Means of pairs of intervals.
struct MeasuredGrowth {
    int64_t pairs = 0;
    double growthNs = 0, addedNs = 0;
    double marginNs = 0;       ///< Half of the 95 % interval of the growth, if each pair got the same time.
    double slopeMarginNs = 0;  ///< If pairs with more added time grow more.
};
/// O(n).
MeasuredGrowth measuredGrowth(const SlowedSteps& pairs);

}  // namespace lanescope::analysis
