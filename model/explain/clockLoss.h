// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::explain {

/// Minimum slowdown against a GPU's highest clock while throttled. NVML reports steps of 15 MHz; they vary at work.
inline constexpr double minClockLoss = 0.03;

/// Slowdown of a GPU in the steps of a worker because its clocks were throttled.
struct ClockLoss {
    uint64_t reasons = 0;   ///< The causes, of `throttleReasons`.
    double heldShare = 0;   ///< Throttled share of the time of the steps.
    int64_t smClockHz = 0;  ///< Mean while throttled.
    int64_t highestHz = 0;  ///< Highest clock of that GPU in the whole run.
    /// Mean of the other GPUs of that name in their steps; 0 without any.
    int64_t othersHz = 0;
    /// Share of the steps lost against the higher of these clocks: an estimate, for work in proportion to the clock.
    double lostShare = 0;
    /// The longest time in the steps with the same reasons; empty if unknown.
    TimeRange longest;

    /// Returns the reference clock.
    int64_t referenceHz() const { return highestHz > othersHz ? highestHz : othersHz; }
};

/// Returns the clock loss of a worker. Nullopt if reasons or clocks were not recorded, or if none slowed the GPU by
/// `minClockLoss`. The power cap alone does not count: a GPU that works hard reaches it. O(workers * reasons).
std::optional<ClockLoss> clockLossOf(const analysis::RunSummary& run, uint32_t worker);

/// Returns "rank 1, GPU 1 has its clocks held down for 84.0 % of the time of the steps ...", for a
/// cost of `time`, "3.100 ms of a step (4.2 %)".
std::string clockSentence(const analysis::RunSummary& run, uint32_t worker, const std::string& time);

/// Returns how far the clocks of a worker's GPU are below the highest seen because of its power cap, which is no fault;
/// empty if it is not there, or if the difference is below `minClockLoss`.
std::string powerCapSentence(const analysis::RunSummary& run, uint32_t worker);

/// Returns the share of the time of the steps that the power cap costs, estimated as in `ClockLoss`; 0 if unknown.
double powerCapShare(const analysis::RunSummary& run, uint32_t worker);

/// Returns " Meanwhile a limit of 2 cores held its processes back ...", and how threads lacked
/// cores, with a leading space; empty if there was nothing, or if it was not recorded.
std::string coresSentence(const analysis::RunSummary& run, uint32_t worker);

}  // namespace lanescope::explain
