// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// How the baseline's mean step becomes the candidate's: which bars stand between the two, in which
/// order, and what is put together. A chart only draws them.
struct WaterfallBars {
    struct Bar {
        std::string label;             ///< "exposed communication", "3 other parts".
        std::optional<StepPart> part;  ///< Nothing for what is put together.
        int64_t fromNs = 0, toNs = 0;  ///< It begins where the one before it ends.
        int64_t lostNs() const { return toNs - fromNs; }
    };
    int64_t baselineNs = 0, candidateNs = 0;
    std::vector<Bar> bars;  ///< Weightiest first; what is put together comes last.
    DurationScale scale;    ///< Of all its numbers.

    /// The lowest and the highest end of a bar.
    int64_t lowestNs() const;
    int64_t highestNs() const;
};

/// A bar for each part that changed: the `mostBars` weightiest, each of at least a hundredth of all
/// changes. The rest is put together, unless it is one part or cancels itself out.
WaterfallBars waterfallBars(const WorkerComparison& pair, size_t mostBars = 7);

}  // namespace lanescope::compare
