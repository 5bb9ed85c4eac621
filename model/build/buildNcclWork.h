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

}  // namespace lanescope
