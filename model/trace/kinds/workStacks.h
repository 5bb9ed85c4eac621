// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// Python stacks of single events, and of all GPU work. Any thread.

/// Python stack of a call.
struct PythonPlace {
    uint32_t stack = noIndex;  ///< Row of `Trace::stacks`; `noIndex` if unknown.
    bool isLent = false;       ///< As `ApiTable::isStackLent`.
    bool isCaptured = false;   ///< The stack is that of the capture of the kernel's CUDA graph, not of its launch.
};

/// Returns the place of a range, a call, or the call that launched the work. For a kernel of a CUDA
/// graph that is the place of its node, or if unknown of the graph's launch. O(log n).
PythonPlace pythonPlace(const Trace& trace, EventRef event);

/// Returns the row of `Trace::graphNodes` that launched a kernel; `noIndex` if none. O(log n).
uint32_t graphNodeOf(const Trace& trace, EventRef kernel);

/// Returns the display line of an event's place: "train.py:212 in GPT.forward"; "called from train.py:212 in step" for
/// another thread's stack; "called at capture: train.py:88 in forward". Empty if unknown. O(frames + log n).
std::string pythonLine(const Trace& trace, EventRef event);

struct LaunchedWork {
    EventRef work;
    TimeRange times;
    uint32_t gpu = noIndex;   ///< Index into `Trace::gpus`.
    uint32_t call = noIndex;  ///< Row of `Trace::apiCalls`; `noIndex` if unknown.
    PythonPlace place = {};
    uint32_t thread = noIndex;  ///< Calling thread: that of the call, or that of the capture.
    uint32_t node = noIndex;    ///< Row of `Trace::graphNodes`: the captured node of a kernel in a graph.
};

/// Returns a piece of work with the call that launched it; of a call or a range its own place. O(log n).
LaunchedWork launchedWork(const Trace& trace, EventRef work);

/// Visits all work, by kind and start. O(calls and work).
void forEachLaunchedWork(const Trace& trace, const std::function<void(const LaunchedWork&)>& visit);

/// Returns for each row of `Trace::stacks` the frame that represents it on one line (`ownFrame`),
/// the same for all stacks with the same line. O(stacks log stacks).
std::vector<uint32_t> ownPlaces(const Trace& trace);

class WorkModules;

/// Search term for the Python stacks of events, as typed: "line:train.py:212", "file:data.py",
/// "function:forward", "module:layers.3". Case-insensitive.
struct StackTerm {
    enum class Part : uint8_t {
        Line,      ///< Line of a file: the end of its path, the number, or both.
        File,      ///< Part of the path of a file.
        Function,  ///< Part of the name of a function.
        Module,    ///< Part of the path of a module, or its class (`WorkModules`).
    };
    Part part = Part::Function;
    std::string text;   ///< Lower case; for a line the path, which may be empty.
    uint32_t line = 0;  ///< For a line; 0 for any.
    bool operator==(const StackTerm&) const = default;
};

/// Typed text, split into stack terms and the rest, whose words are separated by blanks.
struct TypedTerms {
    std::vector<StackTerm> stack;
    std::string rest;
};

/// Extracts the stack terms from typed text; values may be quoted and contain blanks. Words that
/// only resemble a term ("function::call", "file:") stay in the rest. O(length).
TypedTerms splitTerms(std::string_view typed);

/// Stacks of a trace that have a matching frame, and events with a matching module, for each term. One thread.
class StackFilter {
  public:
    /// `trace` must outlive the filter. O(stacks * terms).
    StackFilter(const Trace& trace, const std::vector<StackTerm>& terms);
    ~StackFilter();

    /// Returns true if the stack of an event (`pythonPlace`) and its module pass; without a stack only without such
    /// terms. O(log n).
    bool holds(EventRef event) const;
    bool isAny() const { return isAny_; }

  private:
    const Trace& trace_;
    bool isAny_, isAnyStack_ = true;
    std::vector<bool> holds_;
    std::vector<std::string> modules_;  ///< Lower case.
    std::unique_ptr<WorkModules> modulesOf_;
};

}  // namespace lanescope
