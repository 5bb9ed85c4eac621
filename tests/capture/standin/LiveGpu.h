// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "tests/capture/standin/SimulatedCupti.h"

namespace lanescope::standin {

/// SIMULATED: a GPU that runs what is launched a while later, by the clock. Calls are numbered in
/// their order over all threads, as CUPTI numbers them, and a kernel's record comes when the kernel
/// is done. Any thread.
class LiveGpu {
  public:
    /// `path` is the stand-in for libcupti; `delayUs` passes between a launch and its kernel.
    /// `tellsEarly`: a kernel's record is there with its launch, as CUPTI reserves it, and has an
    /// end that is still to come. `overtakes`: of two calls the second has the lower number, as
    /// when threads overtake each other.
    void begin(const std::string& path, int64_t delayUs, bool tellsEarly, bool overtakes);
    /// Launches a kernel whose grid says who launched it: y is `step` + 1, z is `thread` + 1.
    void launch(int thread, int step);
    /// cudaProfilerStart and cudaProfilerStop, as the driver sees them.
    void startProfiler();
    void stopProfiler();
    /// Waits until all kernels are done.
    void synchronize();

  private:
    struct Kernel {
        int64_t startNs;
        uint32_t correlation;
        int thread, step;
    };
    void emitDue();
    void emit(const Kernel& kernel) const;
    uint32_t nextCorrelation();
    void callDriver(uint32_t callbackId, uint32_t correlation);

    int64_t delayNs_ = 0;
    bool tellsEarly_ = false, overtakes_ = false;
    SimulateRecordFunction* simulateRecord_ = nullptr;
    SimulateDriverCallFunction* simulateDriverCall_ = nullptr;
    std::atomic<uint32_t> lastCorrelation_{0};
    std::mutex mutex_;
    std::deque<Kernel> running_;
};

}  // namespace lanescope::standin
