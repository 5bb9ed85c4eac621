// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns a simulated trace of a training with all memory data: one process on one GPU that runs CUDA graphs,
/// allocates and frees device and pinned memory, and moves managed memory with page faults; it records in two windows
/// and has losses in the second. Deterministic. Nothing in it was measured on a GPU.
TracePtr simulatedMemory();

}  // namespace lanescope
