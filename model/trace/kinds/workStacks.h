// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// The Python stacks of events: of one, and of all work on GPUs. Any thread.

/// Where something was called in Python.
struct PythonPlace {
    uint32_t stack = noIndex;  ///< Row of `Trace::stacks`; `noIndex` if it is not known.
    bool isLent = false;       ///< As `ApiTable::isStackLent`.
    bool isCaptured = false;   ///< When the kernel's CUDA graph was captured, not when it ran.
};

/// The place of a range, of a call, or of what a call launched; of a kernel that a CUDA graph
/// launched that of its node, and if that is not known that of the graph's launch. O(log n).
PythonPlace pythonPlace(const Trace& trace, EventRef event);

/// The row of `Trace::graphNodes` that launched a kernel; `noIndex` if there is none. O(log n).
uint32_t graphNodeOf(const Trace& trace, EventRef kernel);

/// The line by which an event of that kind is told: "train.py:212 in GPT.forward"; "called from
/// train.py:212 in step" where another thread's stack is lent to it; "called at capture:
/// train.py:88 in forward". Empty if it is not known. O(frames + log n).
std::string pythonLine(const Trace& trace, EventRef event);

/// Work on a GPU, and what launched it.
struct LaunchedWork {
    EventRef work;
    TimeRange times;
    uint32_t gpu = noIndex;   ///< Index into `Trace::gpus`.
    uint32_t call = noIndex;  ///< Row of `Trace::apiCalls`; `noIndex` if it is not known.
    PythonPlace place = {};
    uint32_t thread = noIndex;  ///< That called there: the call's, or that which captured.
};

/// Visits all work, by kind and start. O(calls and work).
void forEachLaunchedWork(const Trace& trace, const std::function<void(const LaunchedWork&)>& visit);

/// For each row of `Trace::stacks` the frame that stands for it where there is one line for it
/// (`ownFrame`), the same for all whose line is the same. O(stacks log stacks).
std::vector<uint32_t> ownPlaces(const Trace& trace);

/// What is asked of the Python stacks that led to events, as it is typed: "line:train.py:212",
/// "file:data.py", "function:forward". No matter the case.
struct StackTerm {
    enum class Part : uint8_t {
        Line,      ///< A line of a file: the end of its path and the number, or one of both.
        File,      ///< A part of the path of a file.
        Function,  ///< A part of the name of a function.
    };
    Part part = Part::Function;
    std::string text;   ///< In small letters; of a line the path, which may be empty.
    uint32_t line = 0;  ///< Of a line; 0 for any.
    bool operator==(const StackTerm&) const = default;
};

/// Typed text, parted into terms on stacks and the rest, with a blank between its words.
struct TypedTerms {
    std::vector<StackTerm> stack;
    std::string rest;
};

/// Takes the terms out of what was typed, wherever they stand; what a term asks for may stand in
/// quotes, with blanks in it. A word that only looks like one ("function::call", "file:") stays
/// among the rest. O(length).
TypedTerms splitTerms(std::string_view typed);

/// Which stacks of a trace have, for each of some terms, a frame that it is about. Any thread.
class StackFilter {
  public:
    /// `trace` outlives this. O(stacks * terms).
    StackFilter(const Trace& trace, const std::vector<StackTerm>& terms);

    /// Whether it lets a stack through; all if there are no terms, else not `noIndex`.
    bool holds(uint32_t stack) const { return isAny_ || (stack < holds_.size() && holds_[stack]); }
    /// The same for an event by its stack, as it is told of it (`pythonPlace`). O(log n).
    bool holds(EventRef event) const;
    bool isAny() const { return isAny_; }

  private:
    const Trace& trace_;
    bool isAny_;
    std::vector<bool> holds_;  ///< By stack.
};

}  // namespace lanescope
