// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Finds the GPU work of each NCCL call: what was launched where NCCL said that it launched, else
/// what was launched inside the call's range. Fills `gpu`, `operationCount` and `sharedBy` of its
/// facts. Needs sorted tables, links and projections. O(n log n).
/// Stopped, it leaves work out.
void buildNcclWork(Trace& trace, const std::stop_token& stop);

/// Divides the GPU work of each collective that all ranks of its communicator take part in, and all
/// of them wait for: until the last rank's begins it waits, then data moves. Fills `waitedNs` of
/// its facts; it stays unknown for operations with a root, which some ranks may finish before
/// others begin, where the trace lacks a rank or the work of one, and where a rank ends before the
/// last one begins, so that clocks or calls cannot be right. Needs `buildNcclWork`. O(n log n).
/// Stopped, it leaves calls out.
void buildNcclWaits(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
