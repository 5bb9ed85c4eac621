// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "tests/capture/standin/SimulatedCupti.h"

namespace lanescope::standin {

/// SIMULATED: a GPU that runs each launch some time later, by the clock. Calls are numbered in their order over all
/// threads, as by CUPTI, and a kernel's record comes when the kernel ends. Any thread.
class LiveGpu {
  public:
    /// `path` is the libcupti stand-in; `delayUs` passes between a launch and its kernel. `reservesRecordEarly`: a
    /// kernel's record exists with its launch, as CUPTI reserves it, and its end is still in the future. `overtakes`:
    /// of two calls, the second has the lower number, as when threads overtake each other.
    void begin(const std::string& path, int64_t delayUs, bool reservesRecordEarly, bool overtakes);
    /// Launches a kernel whose grid identifies the launcher: y is `step` + 1, z is `thread` + 1.
    void launch(int thread, int step);
    /// Simulates cudaProfilerStart and cudaProfilerStop as seen by the driver.
    void startProfiler();
    void stopProfiler();
    void synchronize();
    /// As `synchronize`, by a call of the driver.
    void waitForContext();

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
    bool reservesRecordEarly_ = false, overtakes_ = false;
    SimulateRecordFunction* simulateRecord_ = nullptr;
    SimulateDriverCallFunction* simulateDriverCall_ = nullptr;
    std::atomic<uint32_t> lastCorrelation_{0};
    std::mutex mutex_;
    std::deque<Kernel> running_;
    int64_t freeNs_ = 0;  ///< End of the last kernel.
};

}  // namespace lanescope::standin
