// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flame/FlameTree.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Time on GPUs over steps, ranges, operators and what ran: one tree.
///
/// A piece of work stands below the ranges that were open on the thread that launched it. Of a
/// thread that launches for another - PyTorch's autograd, one whose stack is lent to it, one
/// without ranges - these stand below those of the thread with the steps of its process, else with
/// most ranges; of any other thread below the step that this one is in. Steps without ranges, and
/// of several, are frames of their own.
struct RangeTree {
    /// What is known of a frame beside its time, with all that is in it.
    struct Counts {
        /// How often: pieces of work, or ranges that launched some.
        int64_t calls = 0;
        int64_t inStepsNs = 0;  ///< Of work that belongs to the steps that `steps` counts.
    };
    FlameTree tree;              ///< Arranged.
    std::vector<Counts> counts;  ///< By node.
    /// Steps that `explain` tells of, each on each of its GPUs; of a range of time those within it.
    int64_t steps = 0;
    /// Pieces of work that stand in a frame further out, as there are too many frames or too deep.
    int64_t gathered = 0;

    static constexpr uint32_t mostNodes = 1u << 16, deepest = 64;
};

/// What a tree is made of.
struct RangeTreeOptions {
    std::optional<TimeRange> range = {};  ///< What of each piece of work lies in it counts.
    std::string stepName = {};            ///< As `StepSelection::rangeName`.
    bool hasPythonFunctions = true;       ///< Which profilers of PyTorch write as ranges.
};

/// O(n log n) in the events, and O(work * ranges within each other * log n). Any thread.
RangeTree makeRangeTree(const Trace& trace, const RangeTreeOptions& options = {});

}  // namespace lanescope
