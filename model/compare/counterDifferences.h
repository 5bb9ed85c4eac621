// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope::compare {

/// A step of the candidate against the step of the baseline that stands in its place: the first
/// compared against the first compared, and so on.
struct StepDifference {
    int64_t number = 0;  ///< Of the candidate's step.
    std::string name;
    int64_t baselineStartNs = 0, baselineNs = 0;
    int64_t candidateStartNs = 0, candidateNs = 0;
    int64_t lostInAllNs = 0;  ///< By this step and all before it.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// As many as both workers have. Linear.
std::vector<StepDifference> stepDifferences(const analysis::WorkerSummary& baseline,
                                            const analysis::WorkerSummary& candidate);

/// What a counter showed in a stretch of time.
struct CounterAmount {
    bool hasValue = false;  ///< Otherwise the others mean nothing.
    double minimum = 0;
    double maximum = 0;
    double mean = 0;   ///< By how long each value held.
    EventRef highest;  ///< The sample with the greatest value.
};

/// A counter of the baseline and the same one of the candidate.
struct CounterDifference {
    std::string name;   ///< "Device memory".
    std::string owner;  ///< "GPU 0", "rank 1", "GPU 0, link 3"; empty for the machine.
    CounterUnit unit = CounterUnit::Count;
    CounterAmount baseline, candidate;
    /// Percent of the baseline's mean; 0 where that is 0 or a side has no value.
    double changePercent() const;
};

/// The counters of both runs in these stretches, greatest change first; counters of one name pair
/// by GPU number, rank, link and sampler. Those without a value on both sides are left out. Linear
/// in the samples of the stretches and quadratic in the number of counters; any thread.
std::vector<CounterDifference> counterDifferences(const Trace& baseline, TimeRange baselineRange,
                                                  const Trace& candidate, TimeRange candidateRange);

}  // namespace lanescope::compare
