// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/export/TextSink.h"
#include "model/flame/FlameTree.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What time on GPUs is laid over.
enum class FlameBase : uint8_t {
    Lines,      ///< The Python stacks that launched it, each line of a function apart.
    Functions,  ///< The same, whatever the line.
    Ranges,     ///< Steps, NVTX ranges and operators that launched it (`RangeTree`).
};

/// "time on GPUs over Python lines".
std::string_view describe(FlameBase base);

/// Whether a trace has what time is to be laid over.
bool hasBase(const Trace& trace, FlameBase base);

/// Time on GPUs as a tree, arranged. Of a range of time what of each piece of work lies in it. Work
/// that was launched for another thread's stack stands under the name of its thread in brackets; of
/// ranges it stands where `RangeTree` says. O(stacks + work), of ranges as `makeRangeTree`. Any
/// thread.
FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

/// Writes a frame of a tree (0 for all) and what is in it as folded text, which makers of flame
/// graphs take: a line for each path with time of its own, its frames from the outermost inwards
/// with semicolons between them, a blank and nanoseconds. Names are `printable`, with colons for
/// semicolons. Lines come in the order of their text.
/// O(n log n) and the length of the text.
void writeFolded(const FlameTree& tree, uint32_t root, const TextSink& sink);

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

/// What threads did as a tree, arranged: each process, in it each thread, in that its stacks, by
/// samples where it was sampled while it ran, else by looks. Time that it did not run stands in a
/// last frame in brackets, called as the state is: "[GIL]". `base` says whether lines are told
/// apart; of `Ranges` functions are. O(states and frames). Any thread.
FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

}  // namespace lanescope
