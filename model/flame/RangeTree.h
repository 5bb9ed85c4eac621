// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flame/FlameTree.h"
#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges that are open on each thread of a trace at some time. Any thread.
class OpenRanges {
  public:
    /// `trace` outlives this. Without Python functions, which profilers of PyTorch write as ranges,
    /// if they are not asked for. O(tracks).
    OpenRanges(const Trace& trace, bool hasPythonFunctions);

    /// Rows of `Trace::nvtx`, from outside inwards. O(lanes of the thread * log n).
    std::vector<uint32_t> at(uint32_t thread, int64_t timeNs) const;
    /// The thread with most ranges of the process; `noIndex` if none has any.
    uint32_t leaderOf(uint32_t process) const { return leaderOf_[process]; }

  private:
    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;  ///< By process.
};

/// What ran on GPUs as names of a tree, each text made once. Copies are one by direction, whatever
/// their bytes. Refers to both. One thread.
class WorkNames {
  public:
    WorkNames(const Trace& trace, FlameTree& tree) : trace_(trace), tree_(tree) {}

    /// Its number among the names of the tree.
    uint32_t numberOf(EventRef work);
    FlameTree::Frame frameOf(EventRef work) const;

  private:
    const Trace& trace_;
    FlameTree& tree_;
    MixedMap<uint64_t, uint32_t> known_;
};

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
