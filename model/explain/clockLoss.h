// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::explain {

/// How much slower a GPU ran in the steps of a worker because something held its clocks down.
struct ClockLoss {
    uint64_t reasons = 0;   ///< Those that did, of `throttleReasons`.
    double heldShare = 0;   ///< Of the time of the steps.
    int64_t smClockHz = 0;  ///< Mean while they did.
    int64_t highestHz = 0;  ///< At which that GPU was seen in the whole run.
    /// Mean of the other GPUs of that name in the steps of theirs; 0 without any.
    int64_t othersHz = 0;
    /// Of the time of the steps, had they run at the higher of these two meanwhile: an estimate,
    /// and of work that is as much slower as the clock.
    double lostShare = 0;
    /// The longest time in the steps in which the same reasons did; empty if not known.
    TimeRange longest;

    /// What they are measured by.
    int64_t referenceHz() const { return highestHz > othersHz ? highestHz : othersHz; }
};

/// Nothing where no reason was read, no clock, or where none of them slowed it down by
/// `leastClockLoss`. Its power cap alone is none: a GPU that works hard stands at it. O(workers *
/// reasons).
std::optional<ClockLoss> clockLossOf(const analysis::RunSummary& run, uint32_t worker);

/// "rank 1, GPU 1 has its clocks held down for 84.0 % of the time of the steps ...", of what costs
/// `time`, "3.100 ms of a step (4.2 %)".
std::string clockSentence(const analysis::RunSummary& run, uint32_t worker,
                          const std::string& time);

/// How far the clocks of a worker's GPU are below the highest seen because it stands at its power
/// cap, which is no fault; empty where it does not, or by less than `leastClockLoss`.
std::string powerCapSentence(const analysis::RunSummary& run, uint32_t worker);

/// " Meanwhile a limit of 2 cores held its processes back ...", and how threads lacked cores, with
/// the blank before it; empty where none did, or where nobody read that.
std::string coresSentence(const analysis::RunSummary& run, uint32_t worker);

}  // namespace lanescope::explain
