// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/analysis/WorkerLaunches.h"
#include "model/analysis/stepRanges.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// A loop of the program, by the Python lines of its launches.
struct PythonLoop {
    /// The repeated line, or function without lines, that launches most of an iteration's work: "train.py:33 in train".
    std::string line;
    std::vector<StepMarks> processes;  ///< An iteration each, from its first launch to its last.
    size_t count = 0;                  ///< Iterations of the process with most.
    int64_t gpuNs = 0;                 ///< GPU time that the iterations launched.
    int64_t firstNs = 0;
    bool isLate = false;  ///< Continues until half of the work is launched.
    int depth = 0;        ///< Frames around the loop.
};

/// Loops of a run and the model calls within which it does not look for any.
struct PythonLoops {
    std::vector<PythonLoop> loops;  ///< The main loop and those around and within it, outermost first.
    /// Function of a model's only call, which launched most work ("GPT.forward"): what repeats is part of it. Or empty.
    std::string onlyCall;
};

/// Finds the loops whose iterations launch most of the GPU work, by the Python stacks of launching calls, or by the
/// Python functions around them.
///
/// Within a frame, consecutive launches from the same line through the same function are one visit. A loop is a frame
/// with at least three visits of one line, which alternates with others; a function that is called again and again from
/// one line has the loop's alternating lines itself. Frames within the call of a module (of PyTorch, Flax, Keras) are
/// not searched: what repeats there are layers. Iterations launch similarly much. An iteration lasts to the last launch
/// of the lines that most iterations have, so an evaluation or a checkpoint at its end is no part of it.
/// O(launches * frames outside modules + stacks).
PythonLoops findPythonLoops(const Trace& trace, const std::vector<WorkerLaunches>& launches);

}  // namespace lanescope
