// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::survive {

constexpr int kernelsPerStep = 6;

/// Starts CUDA in this process. Ends the process with 2 if it cannot.
void beginGpu();
/// Runs the kernels of a step and waits for them.
void runKernels(int step);
/// Starts a kernel that never ends, and does not wait for it.
void startEndlessKernel();

// Of `steadyLoad`: many small things in a row.
constexpr int kernelsPerBatch = 8;
/// One to the GPU, one back.
constexpr int copiesPerBatch = 2;
/// How many bytes each copy of a batch has.
int64_t bytesPerCopy();
/// Starts the kernels and copies of a batch, and waits for none.
void startBatch(int64_t batch);
/// Waits for all that was started.
void waitForBatches();

}  // namespace lanescope::survive
