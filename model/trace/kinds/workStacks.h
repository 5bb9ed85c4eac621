// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// The Python stacks of events: of one, and of all work on GPUs. Any thread.

/// The line by which an event is told that is a call or launched by one: "train.py:212 in
/// GPT.forward", or "called from train.py:212 in step" where another thread's stack is lent to it.
/// Empty if it is not known. O(frames + log n).
std::string pythonLine(const Trace& trace, EventRef event);

/// Work on a GPU, and what launched it.
struct LaunchedWork {
    EventRef work;
    TimeRange times;
    uint32_t gpu = noIndex;    ///< Index into `Trace::gpus`.
    uint32_t call = noIndex;   ///< Row of `Trace::apiCalls`; `noIndex` if it is not known.
    uint32_t stack = noIndex;  ///< That of the call.
    bool isStackLent = false;  ///< As `ApiTable::isStackLent`.
};

/// Visits all work, by kind and start. O(calls and work).
void forEachLaunchedWork(const Trace& trace, const std::function<void(const LaunchedWork&)>& visit);

/// For each row of `Trace::stacks` the frame that stands for it where there is one line for it
/// (`ownFrame`), the same for all whose line is the same. O(stacks log stacks).
std::vector<uint32_t> ownPlaces(const Trace& trace);

}  // namespace lanescope
