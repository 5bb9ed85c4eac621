// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::survive {

constexpr int kernelsPerStep = 6;

/// Starts CUDA in this process. Exits with 2 if it cannot.
void beginGpu();
/// Runs the kernels of a step and waits for them.
void runKernels(int step);
void startEndlessKernel();

// Work of `steadyLoad`: many small operations in a row.
constexpr int kernelsPerBatch = 8;
/// One to the GPU, one back.
constexpr int copiesPerBatch = 2;
/// Returns the bytes of each copy of a batch.
int64_t bytesPerCopy();
/// Starts the kernels and copies of a batch without waiting.
void startBatch(int64_t batch);
void waitForBatches();

}  // namespace lanescope::survive
