// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// What led to what. Work on a GPU is launched by a call; and where a stream was told to wait for an
// event, its next work depends on the last work that another stream was given before that event was
// recorded. The backward of an operator of PyTorch ran since that had run. All are O(log n) in the
// trace and linear in the answer, which is in order of start.

/// The work of other streams that this work had to wait for.
std::vector<EventRef> awaitedWork(const Trace& trace, EventRef work);
/// The work of other streams that had to wait for this work.
std::vector<EventRef> waitingWork(const Trace& trace, EventRef work);

/// The operators whose backward this operator is, and those that are its backward; at most some
/// hundreds. Of an operator as it is on the GPU the same.
std::vector<EventRef> forwardOf(const Trace& trace, EventRef range);
std::vector<EventRef> backwardOf(const Trace& trace, EventRef range);

/// The rows of `Trace::backwards` in which this row of `Trace::nvtx` is the one or the other;
/// first those in which it is the forward.
std::vector<uint32_t> pairsOf(const Trace& trace, uint32_t nvtx);

/// The work on GPUs by which the ranks that the trace has did one collective: of that which `work`
/// is of, in order of start, this one among it. Nothing if it is of none, NCCL gave it no number,
/// or no other rank is found among some ten thousand calls before and after.
std::vector<EventRef> collectiveOf(const Trace& trace, EventRef work);

/// The call that launched this work, then the work that it waited for; of an operator its forward.
std::vector<EventRef> causesOf(const Trace& trace, EventRef event);
/// The work that this call launched, or that waited for this work; of an operator its backward.
std::vector<EventRef> causedBy(const Trace& trace, EventRef event);

}  // namespace lanescope
