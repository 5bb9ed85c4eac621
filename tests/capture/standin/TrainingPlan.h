// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::standin {

/// SIMULATED: the stand-in training as arithmetic, so that a test can compute every expected
/// record. Nothing here happened on a GPU.
struct TrainingPlan {
    int64_t baseNs = 0;
    int threads = 1, steps = 10, kernelsPerStep = 6, untimedKernels = 0;

    static constexpr uint32_t correlationsPerThread = 100'000'000;
    static constexpr int correlationsPerStepBeyondKernels = 4;  // two memcpys, a memset, a wait

    int correlationsPerStep() const { return kernelsPerStep + correlationsPerStepBeyondKernels; }
    /// Returns the correlation of the `index`-th operation (kernels first) of a thread's step. Never 0.
    uint32_t correlation(int thread, int step, int index) const {
        return static_cast<uint32_t>(thread) * correlationsPerThread +
               static_cast<uint32_t>(step * correlationsPerStep() + index) + 1;
    }
    static int64_t startOffsetNs(uint32_t correlation) { return int64_t{correlation % correlationsPerThread} * 2'000; }
    static int64_t durationNs(uint32_t correlation) { return 500 + correlation % 1'000; }
    static uint32_t stream(uint32_t correlation) { return 7 + correlation / correlationsPerThread; }

    int64_t kernels() const { return int64_t{threads} * steps * kernelsPerStep + untimedKernels; }
    int64_t memcpys() const { return int64_t{threads} * steps * 2; }
    int64_t memsets() const { return int64_t{threads} * steps; }
    int64_t waits() const { return int64_t{threads} * steps; }
    /// Returns the number of driver calls for every kernel, memcpy, memset and wait, which are recorded by default.
    int64_t driverCalls() const { return int64_t{threads} * steps * correlationsPerStep(); }
    /// Returns the number of recorded calls of kernels and memcpys with `api=all`; a step's first kernel counts twice.
    int64_t allCallsOfWork() const { return int64_t{threads} * steps * (kernelsPerStep + 2 + 1); }
};

inline constexpr const char* kernelNames[] = {
    "_Z9simulatedPfi", "_ZN3sim4gemmILi128EEEvPKfS2_Pf", "simulated_flash_attention",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "_Z8optimizePff"};
inline const char* kernelName(uint32_t correlation) { return kernelNames[correlation % 5]; }

inline constexpr uint64_t copyBytes = 1u << 20;
inline constexpr uint64_t communicatorHash = 0xfeedfacecafebeefu;

/// Layout of the payload of NCCL's AllReduce ranges.
struct AllReducePayload {
    uint64_t communicator;
    uint64_t bytes;
    int32_t operation;
};

}  // namespace lanescope::standin
