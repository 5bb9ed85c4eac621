// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// Dependencies between events: calls launch GPU work; a stream that waits for a CUDA event depends
// on the last work submitted to the recording stream before; PyTorch's backward operators depend on
// their forward. All are O(log n) in the trace and linear in the result, which is sorted by start.

/// Returns the work of other streams that this work waited for.
std::vector<EventRef> awaitedWork(const Trace& trace, EventRef work);
/// Returns the work of other streams that waited for this work.
std::vector<EventRef> waitingWork(const Trace& trace, EventRef work);

/// Return the forward operators of this backward operator, and the backward operators of this
/// forward one; at most some hundreds. Projections to the GPU are accepted too.
std::vector<EventRef> forwardOf(const Trace& trace, EventRef range);
std::vector<EventRef> backwardOf(const Trace& trace, EventRef range);

/// Returns the rows of `Trace::backwards` that contain this row of `Trace::nvtx`, as forward first, then as backward.
std::vector<uint32_t> pairsOf(const Trace& trace, uint32_t nvtx);

/// Returns the GPU work of all ranks in the trace for the collective of `work`, including `work`,
/// sorted by start. Empty if `work` is no collective, NCCL gave it no number, or no other rank is
/// found within about ten thousand calls on each side.
std::vector<EventRef> collectiveOf(const Trace& trace, EventRef work);

/// Returns the call that launched this work, then the work that it waited for; for an operator its forward.
std::vector<EventRef> causesOf(const Trace& trace, EventRef event);
/// Returns the work that this call launched, or that waited for this work; for an operator its backward.
std::vector<EventRef> causedBy(const Trace& trace, EventRef event);

}  // namespace lanescope
