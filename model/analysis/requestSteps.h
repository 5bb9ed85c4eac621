// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
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

/// Groups units into steps if they are parts of something larger, in all workers alike:
///
/// - weights are updated in every n-th unit only: optimizer kernels run there, as with accumulated gradients;
/// - the numbers in the names of ranges begin again after every n-th, as those of layers.
///
/// Ranges that the program calls steps or requests stay as they are. Units before the first and after the last whole
/// step are skipped. O(n log n) in the kernels.
void groupParts(const Trace& trace, RunSteps& run);

/// Times at which the optimizer kernels of a run were launched.
class WeightUpdates {
  public:
    /// O(n) in the kernels.
    explicit WeightUpdates(const Trace& trace);
    /// Returns the share of the marks of a process in which weights are updated. O(n log n) in the marks.
    double shareOf(const StepMarks& marks) const;

  private:
    std::vector<std::vector<int64_t>> timesNs_;  ///< By process, ascending.
};

/// Returns true if a trace shows training: a range, kernel or thread named like the backward pass or an optimizer, or a
/// collective that sums gradients (AllReduce, ReduceScatter). O(ranges + calls of NCCL + launch configurations).
bool isTraining(const Trace& trace);

/// Returns true if a name means requests: one of its words is request, query or req.
bool isRequestName(std::string_view pattern);
/// Returns true for such ranges in a trace without training.
bool areRequestsNamed(const Trace& trace, std::string_view pattern);

/// Marks steps as requests of a server if samples between them show that:
///
/// - nothing is trained (`isTraining`), and they are not called steps, iterations or batches,
/// - the launching thread waited for input or to be woken for most of the time between the last work of one and the
///   first of the next, and for at least a tenth of all time, not in a data loader,
/// - meanwhile the rest of the program also waited, and did not prepare the next,
/// - they come irregularly, as events from outside do.
///
/// In doubt they stay steps. Each request then ends with its work. O(n log n) in the GPU work.
void markRequests(const Trace& trace, RunSteps& run);

}  // namespace lanescope
