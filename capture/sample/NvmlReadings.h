// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// What a GPU tells in calls of their own, one or two values each: how busy it is, its memory,
/// power, temperature and clocks.
class NvmlReadings {
  public:
    enum class Value {
        Utilization,  ///< Fills two counters, as Memory does.
        Memory,
        Power,
        Temperature,
        SmClock,
        MemoryClock,
        ThrottleReasons,
    };
    static constexpr size_t valueCount = static_cast<size_t>(Value::ThrottleReasons) + 1;

    /// Finds what the GPU has and announces it; what it has not goes into `absent`.
    void begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    /// Reads a value, if the GPU has it. NVML's answer; nothing is written if the GPU is lost.
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Value value,
               SampleLog& log);

    /// Says that a value is unknown from now on.
    void tellUnknown(Value value, SampleLog& log);

  private:
    struct Reading {
        Value value;
        uint32_t counter;
        uint32_t second;  ///< 0: there is none.
    };
    static int read(const NvmlFunctions& nvml, NvmlFunctions::Device device, const Reading& reading,
                    SampleBatch& batch);

    std::vector<Reading> readings_;
    SampleBatch batch_;
};

}  // namespace lanescope::capture
