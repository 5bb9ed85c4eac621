#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Kernels that repeat: where each repetition begins.
struct KernelPattern {
    std::string kernel;             ///< The one that begins a repetition; empty if none was found.
    std::vector<int64_t> startsNs;  ///< At least three.
    int64_t endNs = 0;  ///< Of the last kernel that is no later than a repetition lasts.
};

/// Finds the steps of a process that has no NVTX ranges for them, in its kernels by start, NCCL's
/// left out. A kernel name divides the run at each of its launches; it is taken for the beginning
/// of a step if at least 70 % of the kernels between its first and last launch stand in pieces
/// about as long (within 5 %) as the piece that most often holds the very same kernels, and at
/// least half of all kernels stand between those launches. Of several names those that divide most
/// finely, and of these the one with the longest pause before it. O(n log n) in the kernels.
KernelPattern findKernelPattern(const Trace& trace, uint32_t process);

}  // namespace lanescope
