// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tests/capture/standin/SimulatedCupti.h"
#include "tests/capture/standin/TrainingPlan.h"

namespace lanescope::standin {

/// SIMULATED: a GPU with invented work. Reports its work to the libcupti stand-in, if that is in
/// this process; without it the program runs unrecorded. Any thread.
class SimulatedGpu {
  public:
    /// Simulates cuInit: calls the library named by CUDA_INJECTION64_PATH.
    static void initializeDriver();
    /// Finds the libcupti stand-in at `path` and creates one simulated context on one device.
    void begin(const std::string& path, const TrainingPlan& plan);
    /// Moves the plan in time: later work counts from there. No other thread may be active.
    void setBase(int64_t baseNs) { plan_.baseNs = baseNs; }

    /// Launches a kernel by a runtime call; the first of a step also has a driver call.
    void launchKernel(uint32_t correlation, bool alsoDriverCall) const;
    void launchUntimedKernel(uint32_t correlation) const;
    void copy(uint32_t correlation, bool toDevice) const;
    void clear(uint32_t correlation) const;
    void wait(uint32_t correlation) const;
    /// Emits a record of every kind not recorded by default, and odd ones: of an unrequested kind,
    /// and a kernel without a name. All of them at `plan.baseNs`, numbered from `rareCorrelation`.
    void emitRareRecords() const;
    static constexpr uint32_t rareCorrelation = 4'000'000'001;
    void askForDevice() const;

  private:
    void emitCall(uint32_t correlation, uint32_t callbackId, bool isDriver) const;
    void callDriver(uint32_t callbackId, uint32_t correlation, const void* parameters = nullptr) const;
    template <class Activity>
    void emit(const Activity& activity) const {
        if (simulateRecord_) simulateRecord_(&activity);
    }

    TrainingPlan plan_;
    SimulateRecordFunction* simulateRecord_ = nullptr;
    SimulateDriverCallFunction* simulateDriverCall_ = nullptr;
};

}  // namespace lanescope::standin
