// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope::compare {

/// A step of the candidate and the baseline's step at the same position among the compared steps.
struct StepDifference {
    int64_t number = 0;  ///< Number of the candidate's step.
    std::string name;
    int64_t baselineStartNs = 0, baselineNs = 0;
    int64_t candidateStartNs = 0, candidateNs = 0;
    int64_t lostInAllNs = 0;  ///< Time lost by this step and all before it.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// Returns as many differences as both workers have steps. Linear.
std::vector<StepDifference> stepDifferences(const analysis::WorkerSummary& baseline,
                                            const analysis::WorkerSummary& candidate);

/// Statistics of a counter over a range of time.
struct CounterAmount {
    bool hasValue = false;  ///< If false, the other members mean nothing.
    double minimum = 0;
    double maximum = 0;
    double mean = 0;   ///< Weighted by the duration of each value.
    EventRef highest;  ///< The sample with the greatest value.
};

/// A counter of the baseline and the same one of the candidate.
struct CounterDifference {
    std::string name;   ///< "Device memory".
    std::string owner;  ///< "GPU 0", "rank 1", "GPU 0, link 3"; empty for the machine.
    CounterUnit unit = CounterUnit::Count;
    CounterAmount baseline, candidate;
    /// Percent of the baseline's mean; 0 if that is 0 or a side has no value.
    double changePercent() const;
};

/// Returns the counters of both runs in these ranges, largest change first. Counters of one name are paired by GPU
/// number, rank, link and sampler. Counters without a value on both sides are omitted. Linear in the samples of the
/// ranges and quadratic in the number of counters; any thread.
std::vector<CounterDifference> counterDifferences(const Trace& baseline, TimeRange baselineRange,
                                                  const Trace& candidate, TimeRange candidateRange);

}  // namespace lanescope::compare
