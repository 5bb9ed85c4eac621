// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/export/TextSink.h"
#include "model/flame/FlameTree.h"
#include "model/format/TimeRange.h"

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

}  // namespace lanescope
