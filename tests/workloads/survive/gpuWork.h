// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::survive {

constexpr int kernelsPerStep = 6;

/// Starts CUDA in this process. Ends the process with 2 if it cannot.
void beginGpu();
/// Runs the kernels of a step and waits for them.
void runKernels(int step);
/// Starts a kernel that never ends, and does not wait for it.
void startEndlessKernel();

}  // namespace lanescope::survive
