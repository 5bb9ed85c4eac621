// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "model/compare/RunComparison.h"
#include "model/gate/Condition.h"

namespace lanescope::gate {

/// The two numbers that a test of a condition is about, in nanoseconds, pieces, bytes or GB/s.
struct Measured {
    /// Empty where that side has no such number: no bandwidth of copies that it does not have.
    std::optional<double> baseline, candidate;
    std::string missing;         ///< Why there is nothing on either side; empty if there is.
    bool isUnknownName = false;  ///< Because neither side has anything of the name.
};

/// Looks up the numbers in a pair of workers of the comparison, exact or as they are shown; null
/// has none. What a name that stands for several means is summed; of bandwidths, bytes and
/// durations are. O(contributors).
Measured measureOf(const ConditionTest& test, const compare::RunComparison& comparison,
                   const compare::WorkerComparison* pair);

/// The test asks for a time of the mean step, which is shown in the scale of the comparison.
bool isOfMeanStep(const ConditionTest& test);

}  // namespace lanescope::gate
