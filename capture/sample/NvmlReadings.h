// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// What a GPU counts since its driver was loaded: energy, and what its NVLinks carried, all
/// together and each. Each field is a question to the GPU of its own, however many are asked in one
/// call; so the sum, which is one, is asked again and again, and the links only for a reason.
class NvmlFields {
  public:
    enum class Group { Energy, LinkSums, Links };

    /// Finds what the GPU has, announces it and writes its first values; what it has not goes into
    /// `absent`.
    void begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    bool isEmpty(Group group) const { return partsOf(group).empty(); }
    /// Reads a group, up to where `isWantedElsewhere`, if given, says yes. The first answer that
    /// was no success.
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Group group, SampleLog& log,
               const std::function<bool()>& isWantedElsewhere = {});

  private:
    /// Fields that are asked for in one call, and the counter of each.
    struct Part {
        std::vector<NvmlFieldValue> fields;
        std::vector<uint32_t> counters;
    };
    std::vector<Part>& partsOf(Group group) { return parts_[static_cast<size_t>(group)]; }
    const std::vector<Part>& partsOf(Group group) const {
        return parts_[static_cast<size_t>(group)];
    }
    bool addLinks(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, int link,
                  SampleLog& log);
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Part& part, SampleLog& log);
    void write(const Part& part, int64_t askedNs, bool isAnswered, SampleLog& log);

    std::vector<Part> parts_[3];  ///< By group.
    SampleBatch batch_;
};

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
