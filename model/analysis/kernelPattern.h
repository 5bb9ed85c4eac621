// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"

namespace lanescope {

/// Size of repetitions to find, if larger ones contain smaller ones.
enum class RepetitionSize : uint8_t { Steps, Smallest };

/// Repeating kernels: the start of each repetition.
struct KernelPattern {
    /// The first kernel of a repetition, or "CUDA graph 3"; empty if none was found.
    std::string kernel;
    std::vector<int64_t> startsNs;  ///< At least three.
    int64_t endNs = 0;              ///< End of the last kernel within the length of a repetition.
    std::string part;               ///< First kernel of a smaller repetition within each; empty if there is none.
    int64_t partsPerStep = 1;       ///< Number of these in a repetition.
};

/// Returns true for kernels that update weights: those of PyTorch's optimizers.
bool isOptimizerKernel(std::string_view name);

/// Finds the steps of a worker without NVTX ranges by the period of its work: kernels, without NCCL's, and graphs
/// recorded as a whole, by start. O(n log n) in the work.
///
/// Each name divides the work at its launches, at least three, or five if a piece has fewer than twenty. A good divider
/// leaves at most half of all work before its first and after its last launch. At least 70 % of the work between is in
/// pieces about as long (within 5 %) as the piece that most often has the same names, which must be at least half of
/// all pieces. Among the best dividers, within a tenth, the one with the most pieces begins the steps, then the one
/// with the longest pause before it.
///
/// Kernels of one launch of a graph are one piece of work. If at least three other kernels or copies come once in every
/// n-th piece, such as those before and after the layers of a model, the n pieces together are the step. Not if the
/// pieces update weights or have copies from or to the host, as steps between two reports do.
///
/// If nothing divides all of the work, the last half of it is examined, then the last quarter: a program's trials and
/// tuning before the start may be most of its launches. Dissimilar pieces at the beginning are no steps.
KernelPattern findKernelPattern(const Trace& trace, const WorkRows::WorkerRows& rows, const LaunchRows& calls,
                                RepetitionSize size = RepetitionSize::Steps);

}  // namespace lanescope
