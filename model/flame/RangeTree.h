// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flame/makeFlame.h"
#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

/// Names of GPU work in a tree, each made once. Copies are named by direction. Refers to trace and tree. One thread.
class WorkNames {
  public:
    WorkNames(const Trace& trace, FlameTree& tree) : trace_(trace), tree_(tree) {}

    /// Returns the number among the names of the tree.
    uint32_t numberOf(EventRef work);
    FlameTree::Frame frameOf(EventRef work) const;

  private:
    const Trace& trace_;
    FlameTree& tree_;
    MixedMap<uint64_t, uint32_t> known_;
};

/// Tree of time on GPUs by steps, ranges, operators and work.
///
/// Work is below the ranges that were open on the launching thread. Some threads launch for another thread: PyTorch's
/// autograd, a thread with a lent stack, a thread without ranges. Their ranges are below those of the thread with the
/// steps of the process, else of the thread with most ranges. Ranges of other threads are below the step of that
/// thread. Steps that are no single range are frames of their own.
struct RangeTree {
    /// Counts of a frame other than its time, including its child frames.
    struct Counts {
        /// Pieces of work, or ranges that launched some.
        int64_t calls = 0;
        int64_t inStepsNs = 0;  ///< Time of work of the steps that `steps` counts.
    };
    FlameTree tree;              ///< Arranged.
    std::vector<Counts> counts;  ///< By node.
    /// Steps as in `explain`, counted once per GPU; within the range of time if there is one.
    int64_t steps = 0;
    /// Pieces of work that were added to an outer frame because of the limits of frames and depth.
    int64_t gathered = 0;

    static constexpr uint32_t maxNodes = 1u << 16, maxDepth = 64;
};

struct RangeTreeOptions {
    std::optional<TimeRange> range = {};  ///< Only the part of each piece of work inside counts.
    std::string stepName = {};            ///< As `StepSelection::rangeName`.
    bool hasPythonFunctions = true;       ///< Includes Python functions, which PyTorch's profilers write as ranges.
};

/// O(n log n) in the events, and O(work * nesting depth * log n). Any thread.
RangeTree makeRangeTree(const Trace& trace, const RangeTreeOptions& options = {});

}  // namespace lanescope
