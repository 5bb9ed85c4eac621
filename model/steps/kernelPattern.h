// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/WorkRows.h"

namespace lanescope {

/// Kernels that repeat: where each repetition begins.
struct KernelPattern {
    /// The one that begins a repetition, or "CUDA graph 3"; empty if none was found.
    std::string kernel;
    std::vector<int64_t> startsNs;  ///< At least three.
    int64_t endNs = 0;  ///< Of the last kernel that is no later than a repetition lasts.
};

/// Finds the steps of a worker that has no NVTX ranges for them by the rhythm of its work: kernels,
/// without NCCL's, and graphs that were recorded as a whole, by start. Each name divides the
/// work at its launches, three times or more, and five where a piece has fewer than twenty of them.
/// Good dividers leave at most half of all work before their first and
/// after their last launch, and at least 70 % of what is between stands in pieces about as long
/// (within 5 %) as the piece that most often holds the very same names, which must be at least half
/// of all pieces. Of the best dividers, within a tenth, the one that divides most finely, of these
/// the one with the longest pause before it, begins the steps. Where nothing divides all of the
/// work, the last half of it is looked at, then the last quarter: what a program tries and tunes
/// before it starts may be most of what it launches. Pieces unlike the others at the beginning are
/// no steps. O(n log n) in the work.
KernelPattern findKernelPattern(const Trace& trace, const WorkRows::OfWorker& rows);

}  // namespace lanescope
