// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// Totals of a GPU since its driver was loaded: energy, and the traffic of its NVLinks, in total
/// and per link. Each field is a separate query to the GPU, even if several are in one call. The
/// total, one field, is therefore read continually, and the links only on demand.
class NvmlFields {
  public:
    enum class Group { Energy, LinkSums, Links };

    /// Finds and announces the GPU's fields and writes their first values. Adds missing ones to `absent`.
    void begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    bool isEmpty(Group group) const { return partsOf(group).empty(); }
    /// Reads a group, until `isWantedElsewhere`, if given, returns true. Returns the first result other than success.
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Group group, SampleLog& log,
               const std::function<bool()>& isWantedElsewhere = {});

  private:
    /// Fields queried in one call, and the counter of each.
    struct Part {
        std::vector<NvmlFieldValue> fields;
        std::vector<uint32_t> counters;
    };
    std::vector<Part>& partsOf(Group group) { return parts_[static_cast<size_t>(group)]; }
    const std::vector<Part>& partsOf(Group group) const { return parts_[static_cast<size_t>(group)]; }
    bool addLinks(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, int link, SampleLog& log);
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Part& part, SampleLog& log);
    void write(const Part& part, int64_t askedNs, bool isAnswered, SampleLog& log);

    std::vector<Part> parts_[3];  ///< By group.
    SampleBatch batch_;
};

/// Values of a GPU with calls of their own, one or two values each: utilization, memory, power, temperature and clocks.
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

    /// Finds and announces the GPU's values. Adds missing ones to `absent`.
    void begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    /// Reads a value, if the GPU has it. Returns NVML's result; writes nothing if the GPU is lost.
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Value value, SampleLog& log);

    void markUnknown(Value value, SampleLog& log);

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
