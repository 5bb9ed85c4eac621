// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: no GPU runs here; a libcupti stand-in reports invented kernels.

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/capture/standin/SimulatedGpu.h"
#include "tests/workloads/survive/gpuWork.h"

namespace lanescope::survive {

namespace {

/// Never destroyed: threads may still use it while the process exits.
standin::SimulatedGpu& gpu() {
    static auto* const it = new standin::SimulatedGpu;
    return *it;
}

int64_t realtimeNs() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::nanoseconds(now).count();
}

standin::TrainingPlan plan() { return {realtimeNs(), 1, 1, kernelsPerStep, 0}; }

}  // namespace

void beginGpu() {
    standin::SimulatedGpu::initializeDriver();
    const char* cupti = std::getenv("LANESCOPE_CUPTI");
    gpu().begin(cupti != nullptr ? cupti : "", plan());
}

void runKernels(int step) {
    const uint32_t first = plan().correlation(0, step, 0);
    gpu().setBase(realtimeNs() - standin::TrainingPlan::startOffsetNs(first));
    for (int kernel = 0; kernel < kernelsPerStep; ++kernel)
        gpu().launchKernel(plan().correlation(0, step, kernel), kernel == 0);
    // Like a program that waits for its kernels.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void startEndlessKernel() {}

int64_t bytesPerCopy() { return static_cast<int64_t>(standin::copyBytes); }

void startBatch(int64_t batch) {
    const auto number = [batch](int index) { return plan().correlation(0, static_cast<int>(batch), index); };
    static_assert(kernelsPerBatch + copiesPerBatch <=
                  kernelsPerStep + standin::TrainingPlan::correlationsPerStepBeyondKernels);
    gpu().setBase(realtimeNs() - standin::TrainingPlan::startOffsetNs(number(0)));
    for (int kernel = 0; kernel < kernelsPerBatch; ++kernel) gpu().launchKernel(number(kernel), false);
    for (int copy = 0; copy < copiesPerBatch; ++copy) gpu().copy(number(kernelsPerBatch + copy), copy == 0);
}

void waitForBatches() {}

}  // namespace lanescope::survive
