// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"

namespace lanescope {

/// Finds the GPU work of each NCCL call: the work launched in the launch interval that NCCL reported, else within the
/// range of the call. Sets `gpu`, `operationCount` and `sharedBy` of its facts. Requires sorted tables, links and
/// projections. O(n log n). If stopped, the result is incomplete.
void buildNcclWork(Trace& trace, const std::stop_token& stop);

/// Splits the GPU work of each collective into waiting, until the work of the last rank begins, and transfer. Applies
/// to collectives that all ranks of the communicator join and wait for. Sets `waitedNs` of their facts.
/// - The value stays unknown for operations with a root, as some ranks may finish before others
///   begin.
/// - It stays unknown if the trace lacks a rank or its work.
/// - It stays unknown if a rank ends before the last one begins, since clocks or calls are then
///   wrong.
///
/// Requires `buildNcclWork`. O(n log n). If stopped, the result is incomplete.
void buildNcclWaits(Trace& trace, const std::stop_token& stop);

/// Notes ranks whose NCCL Inspector log lacks operations: numbers between those of their own or of other ranks, if they
/// are at least a hundredth. O(n log n) in the operations.
void noteMissingOperations(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
