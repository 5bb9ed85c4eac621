// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tests/capture/standin/SimulatedCupti.h"
#include "tests/capture/standin/TrainingPlan.h"

namespace lanescope::standin {

/// SIMULATED: a GPU whose work is made up. Says what it "did" to the stand-in for libcupti, if that
/// is in this process; without it the program runs on unrecorded. Any thread.
class SimulatedGpu {
  public:
    /// Does what cuInit does: calls the library that CUDA_INJECTION64_PATH names.
    static void initializeDriver();
    /// Finds the stand-in for libcupti at `path` and makes one simulated context on one device.
    void begin(const std::string& path, const TrainingPlan& plan);
    /// Moves the plan in time: what comes counts from there. No other thread may be at work.
    void setBase(int64_t baseNs) { plan_.baseNs = baseNs; }

    /// A kernel and the runtime call that launched it; the first of a step is also launched by the
    /// driver.
    void launchKernel(uint32_t correlation, bool alsoDriverCall) const;
    void launchUntimedKernel(uint32_t correlation) const;
    void copy(uint32_t correlation, bool toDevice) const;
    void clear(uint32_t correlation) const;
    void wait(uint32_t correlation) const;
    /// A record of every kind that is not recorded by default, and odd ones: of a kind that nobody
    /// asked for, and a kernel without a name. All of them at `plan.baseNs`, numbered from
    /// `rareCorrelation`.
    void emitRareRecords() const;
    static constexpr uint32_t rareCorrelation = 4'000'000'001;
    /// A call of the kind that programs make all the time and that says nothing.
    void askForDevice() const;

  private:
    void emitCall(uint32_t correlation, uint32_t callbackId, bool isDriver) const;
    void callDriver(uint32_t callbackId, uint32_t correlation,
                    const void* parameters = nullptr) const;
    template <class Activity>
    void emit(const Activity& activity) const {
        if (simulateRecord_) simulateRecord_(&activity);
    }

    TrainingPlan plan_;
    SimulateRecordFunction* simulateRecord_ = nullptr;
    SimulateDriverCallFunction* simulateDriverCall_ = nullptr;
};

}  // namespace lanescope::standin
