#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Finds the GPU work of each NCCL call: what was launched where NCCL said that it launched, else
/// what was launched inside the call's range. Fills `gpu`, `operationCount` and `sharedBy` of its
/// facts. Needs sorted tables, links and projections. O(n log n).
void buildNcclWork(Trace& trace);

}  // namespace lanescope
