// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/sourceNames.h"
#include "model/trace/Trace.h"

namespace lanescope {

// Python stacks of a trace. A stack is a row of `Trace::stacks`, and so is each of its frames: that
// of the stack which ends with it. Any thread.

/// The stack without its innermost frame; `noIndex` if there is none. O(1).
uint32_t outerStack(const Trace& trace, uint32_t stack);

/// The frames of a stack, the innermost first, 1024 of them at most. O(frames).
std::vector<uint32_t> framesOf(const Trace& trace, uint32_t stack);

/// The innermost frame in a file of the program's own, neither of Python's library nor of an
/// installed package; the innermost of all if there is none such. O(frames).
uint32_t ownFrame(const Trace& trace, uint32_t stack);

/// "train.py:212 in GPT.forward": a frame without the folders of its file.
std::string frameText(const Trace& trace, uint32_t frame);
/// Where the file of a frame was on the machine that the trace was recorded on, as far as that is
/// known; empty if it has none.
std::string sourceFile(const Trace& trace, uint32_t frame);
/// "train.py:212", or the function where the file is not known.
std::string placeText(const Trace& trace, uint32_t frame);

/// The row of `Trace::graphNodes` of a node of a process; `noIndex` if there is none. O(log n).
uint32_t graphNodeRow(const Trace& trace, uint32_t process, uint64_t node);

/// Two rows of `Trace::stacks` are the same place if these are equal.
struct FramePlace {
    StringIndex function = 0, file = 0;
    uint32_t line = 0;
    auto operator<=>(const FramePlace&) const = default;
};
FramePlace placeOf(const Trace& trace, uint32_t frame);

}  // namespace lanescope
