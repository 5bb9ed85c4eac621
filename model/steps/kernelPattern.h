// SPDX-License-Identifier: Apache-2.0
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
/// left out. Each kernel name divides the run at its launches. Good dividers leave at most half of
/// all kernels before their first and after their last launch, and at least 70 % of those between
/// stand in pieces about as long (within 5 %) as the piece that most often holds the very same
/// kernels, which must be at least half of all pieces. Of the best dividers, within a tenth, the
/// one that divides most finely, of these the one with the longest pause before it, begins the
/// steps. O(n log n) in the kernels.
KernelPattern findKernelPattern(const Trace& trace, uint32_t process);

}  // namespace lanescope
