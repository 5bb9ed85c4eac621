// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// A simulated trace of a training with all that can be said of memory: one process on one GPU that
/// runs CUDA graphs, allocates and frees device and pinned memory, and moves managed memory with
/// page faults; it records in two windows and loses something in the second. The same each time.
/// Nothing in it was measured on a GPU.
TracePtr simulatedMemory();

}  // namespace lanescope
