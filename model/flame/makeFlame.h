// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/export/exportTrace.h"
#include "model/flame/FlameTree.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Grouping of time on GPUs.
enum class FlameBase : uint8_t {
    Lines,      ///< Launching Python stacks, separate by line.
    Functions,  ///< Launching Python stacks, merged by function.
    Ranges,     ///< Launching steps, NVTX ranges and operators (`RangeTree`).
    Modules,    ///< Modules of a PyTorch model (`WorkModules`).
};

/// Returns "GPU time by Python line".
std::string_view describe(FlameBase base);

/// Returns true if the trace has data for the grouping.
bool hasBase(const Trace& trace, FlameBase base);

/// Returns the arranged tree of time on GPUs; with a range, of the parts of work inside. Work
/// launched for another thread's stack is below the name of its thread in brackets; for `Ranges`
/// its place is that of `RangeTree`. O(stacks + work), for `Ranges` as `makeRangeTree`. Any thread.
FlameTree makeFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

/// Writes a frame of a tree (0 for all) with its child frames as folded text for flame graph tools. Each path with time
/// of its own is a line: its frames from the outermost inwards, separated by semicolons, then a blank and nanoseconds.
/// Names are `printable`, with colons for semicolons. Lines are sorted by text. O(n log n) and the length of the text.
void writeFolded(const FlameTree& tree, uint32_t root, const TextSink& sink);

/// Frame of each stack of a trace in a tree, below a given frame. A stack is its caller's stack plus one frame, so each
/// frame is visited once, however deep the stacks are. Refers to trace and tree.
class StackPlaces {
  public:
    StackPlaces(const Trace& trace, FlameBase base, FlameTree& tree, uint32_t root = 0)
        : trace_(trace), base_(base), tree_(tree), root_(root) {}

    /// `noIndex` means no stack.
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

/// Returns the arranged tree of thread times: processes, threads, stacks. Stacks come from CPU samples while running,
/// else from thread state samples. Time not running is in a last frame named after the state in brackets: "[GIL]".
/// `base` selects lines or functions; `Ranges` means functions. O(states and frames). Any thread.
FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

}  // namespace lanescope
