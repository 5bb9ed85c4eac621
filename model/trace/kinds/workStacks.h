// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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

}  // namespace lanescope
