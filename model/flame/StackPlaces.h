// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/flame/FlameTree.h"
#include "model/flame/makeFlame.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Where each stack of a trace stands in a tree, below one of its frames. A stack is its caller's
/// and one frame more, so each frame is looked at once, however deep the stacks are. Refers to
/// both.
class StackPlaces {
  public:
    StackPlaces(const Trace& trace, FlameBase base, FlameTree& tree, uint32_t root = 0)
        : trace_(trace), base_(base), tree_(tree), root_(root) {}

    /// `noIndex` stands for no stack at all.
    uint32_t of(uint32_t stack);

  private:
    uint32_t within(uint32_t outer, uint32_t frame);
    std::string nameOf(uint32_t frame, std::string_view file) const;

    const Trace& trace_;
    FlameBase base_;
    FlameTree& tree_;
    uint32_t root_;
    std::unordered_map<uint32_t, uint32_t> places_;
};

}  // namespace lanescope
