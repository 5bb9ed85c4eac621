// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/format/factNames.h"
#include "model/trace/Trace.h"

namespace lanescope {

// Python stacks of a trace. A stack is a row of `Trace::stacks`, and a frame is the row of the
// stack that ends with it. Any thread.

/// Returns the stack without its innermost frame; `noIndex` if there is none. O(1).
uint32_t outerStack(const Trace& trace, uint32_t stack);

/// Returns the frames of a stack, innermost first, at most 1024. O(frames).
std::vector<uint32_t> framesOf(const Trace& trace, uint32_t stack);

/// Returns the innermost frame in a file of the program, not in Python's library or an installed
/// package; else the innermost of all. O(frames).
uint32_t ownFrame(const Trace& trace, uint32_t stack);

/// A frame without the folders of its file, equal for its counterpart in another run.
struct FrameRef {
    std::string file;  ///< Empty if unknown.
    uint32_t line = 0;
    std::string function;

    bool isEmpty() const { return file.empty() && function.empty(); }
    /// Returns "train.py:212 in GPT.forward".
    std::string text() const;
    auto operator<=>(const FrameRef&) const = default;
};
FrameRef frameRef(const Trace& trace, uint32_t frame);

/// Returns `frameRef(...).text()`.
std::string frameText(const Trace& trace, uint32_t frame);
/// Returns "train.py:212", or the function if the file is unknown.
std::string placeText(const Trace& trace, uint32_t frame);

/// Returns the row of `Trace::graphNodes` of a node of a process; `noIndex` if none. O(log n).
uint32_t graphNodeRow(const Trace& trace, uint32_t process, uint64_t node);

/// Returns the row of the captured node of which a row of `Trace::graphNodes` is a copy, or itself; `noIndex` if
/// unknown. O(copies * log n).
uint32_t capturedNode(const Trace& trace, uint32_t row);

/// Key of a source position: equal for equal places in `Trace::stacks`.
struct FramePlace {
    StringIndex function = 0, file = 0;
    uint32_t line = 0;
    auto operator<=>(const FramePlace&) const = default;
};
FramePlace placeOf(const Trace& trace, uint32_t frame);

}  // namespace lanescope
