// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/roofline/operatorWork.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

/// Calls of operators with equal work, process, GPU and Python line.
struct ShapedGroup {
    OperatorWork work;
    std::string_view precision;  ///< Number format in the kernels: "tf32" for fp32 operands that are multiplied so.
                                 ///< Empty if unknown.
    uint32_t process = 0, gpu = 0;
    uint32_t frame = noIndex;   ///< Row of `Trace::stacks` that represents the line; `noIndex` if unknown.
    bool isLent = false;        ///< As `PythonPlace`.
    bool isRecomputed = false;  ///< A forward that a checkpointed backward repeats.
    EventRef kernel;            ///< The longest kernel of all.

    /// Returns all operations of a call.
    double executedFlops() const { return work.flops + work.recomputed; }
    /// Returns those of a call that count for MFU; 0 for a repeated forward.
    double modelFlops() const { return isRecomputed || !work.isModelWork() ? 0 : work.flops; }
    /// Returns those that count for HFU only.
    double repeatedFlops() const { return !work.isModelWork() ? 0 : isRecomputed ? executedFlops() : work.recomputed; }
};

/// One call with GPU work. A call in a captured CUDA graph counts once per replay.
struct ShapedCall {
    uint32_t group = 0;
    int64_t launchedNs = 0;  ///< Start of its first launching CUDA call.
    TimeRange onGpu;         ///< From the start of its first kernel to the end of its last.
    int64_t kernelNs = 0;    ///< Summed durations of its kernels.
};

/// Calls of PyTorch operators with known work, by start on the GPU, and their groups.
struct ShapedCalls {
    std::vector<ShapedGroup> groups;
    std::vector<ShapedCall> calls;
    /// Rows of kernels with known work, ascending: of such calls and of operators that multiply no matrices.
    std::vector<uint32_t> knownKernels;

    bool isEmpty() const { return calls.empty(); }
};

/// Returns true if some range reports shapes. O(ranges).
bool reportsShapes(const Trace& trace);

/// Finds the calls: for each kernel the innermost operator around its launch or capture. O((ranges + kernels) log n).
ShapedCalls shapedCalls(const Trace& trace);

/// Returns "model.py:88 in forward", "called from train.py:12 in step" for another thread's; empty if unknown.
std::string placeOf(const Trace& trace, const ShapedGroup& group);

}  // namespace lanescope
