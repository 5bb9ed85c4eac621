// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Time on GPUs over what it was spent for: frames within frames, from outside inwards, and what
/// ran as the innermost. Frames of one name at one place are one.
class FlameTree {
  public:
    struct Node {
        std::string name;
        int64_t totalNs = 0;  ///< With all that is in it.
        uint32_t parent = noIndex;
        uint32_t depth = 0;  ///< 0 of the root, which is all.
        std::vector<uint32_t> children;
    };

    FlameTree();
    /// Adds time to a path of frames. O(frames * log of what is beside them).
    void add(const std::vector<std::string>& frames, int64_t ns);
    /// The longest first among siblings. Call once all is added. O(n log n).
    void sort();

    /// The root stands first, and parents before their children.
    const std::vector<Node>& nodes() const { return nodes_; }
    uint32_t depth() const;
    int64_t totalNs() const { return nodes_.front().totalNs; }

  private:
    std::vector<Node> nodes_;
    std::map<std::pair<uint32_t, std::string>, uint32_t> childOf_;
};

/// Over the Python stacks that launched the work (`export --format folded`).
FlameTree flameOfStacks(const Trace& trace);

/// Over the ranges that were open on the thread that launched the work, digits as '#': step,
/// operator, kernel. A thread without any then has those of the thread of its process with most
/// ranges, as the one of PyTorch's autograd. O(work * ranges within each other * log n).
FlameTree flameOfRanges(const Trace& trace);

}  // namespace lanescope
