// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "capture/sample/SamplerThread.h"

namespace lanescope::capture {

/// Totals of a GPU since its driver was loaded: energy, and the traffic of its NVLinks, in total
/// and per link. Each field is a separate query to the GPU, even if several are in one call. The
/// total, one field, is therefore read continually, and the links only on demand.
class NvmlFields {
  public:
    enum class Group { Energy, LinkSums, Links };

    /// Finds and announces the GPU's fields and writes their first values. Adds missing ones to `absent`.
    void begin(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    /// Reads a group, until `isWantedElsewhere`, if given, returns true. Returns the first result other than success.
    int sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Group group, SampleLog& log,
               const std::function<bool()>& isWantedElsewhere = {});

  private:
    /// Fields queried in one call, and the counter of each.
    struct Part {
        std::vector<NvmlFieldValue> fields;
        std::vector<uint32_t> counters;
    };
    std::vector<Part>& partsOf(Group group) { return parts_[static_cast<size_t>(group)]; }
    bool addLinks(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, int link, SampleLog& log);
    int sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Part& part, SampleLog& log);
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
    void begin(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    /// Reads a value, if the GPU has it. Returns NVML's result; writes nothing if the GPU is lost.
    int sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Value value, SampleLog& log);

    void markUnknown(Value value, SampleLog& log);

  private:
    struct Reading {
        Value value;
        uint32_t counter;
        uint32_t second;  ///< 0: there is none.
    };
    static int read(const NvmlLibrary& nvml, NvmlLibrary::Device device, const Reading& reading, SampleBatch& batch);

    std::vector<Reading> readings_;
    SampleBatch batch_;
};

/// Sampler of the PCIe throughput of GPUs without GPM. NVML measures it over 20 ms, in which its
/// call blocks, so it runs rarely and on a thread of its own.
class PcieSampler : public Sampler {
  public:
    static constexpr int64_t periodNs = 1'000'000'000;

    explicit PcieSampler(SampleLog& log) : log_(log) {}

    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML's PCIe throughput"; }
    bool begin() override;
    bool sample() override;

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        uint32_t counters[2] = {};  ///< Transmitted and received.
    };
    SampleLog& log_;
    std::unique_ptr<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    SampleBatch batch_;
};

/// Sampler of NVML's values for the GPUs: utilization, memory, power, clocks, and the traffic of
/// each NVLink. Values that a GPU lacks are skipped and reported once. A query to a GPU costs from
/// 20 us to some ms, so expensive ones are rare, for all GPUs one after the other; see `Pace`.
class NvmlSampler : public Sampler {
  public:
    /// Maximum share of a core for all queries together.
    static constexpr double shareOfCore = 0.0028;

    /// Values that change slowly or are expensive to query are read more rarely than `periodNs`.
    NvmlSampler(SampleLog& log, int64_t periodNs) : log_(log), periodNs_(periodNs), pace_(shareOfCore, periodNs) {}

    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML"; }
    bool begin() override;
    /// Runs one due query, so that an event reading need not wait for all.
    bool sample() override;
    int64_t dueNs() const override { return pace_.nextDueNs(); }
    int64_t sampleTime(const std::function<bool()>& isWantedElsewhere) override;
    void end() override;

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        bool isLost = false;
        NvmlReadings readings;
        NvmlFields fields;
        bool hasProcesses = false;
    };

    bool reportFailure(int result);
    void describe(Gpu& gpu);
    void reportAbsent() const;
    void ask(size_t query);
    void expireOldValues(int64_t nowNs);
    void ask(Gpu& gpu, size_t query);
    void sampleGroup(NvmlFields::Group group, const std::function<bool()>& isWantedElsewhere = {});
    int sampleProcesses(Gpu& gpu);
    void noticeLoss(Gpu& gpu, int result);
    void reportPeriods(int64_t nowNs);
    std::string nameOfProcess(unsigned pid) const;

    SampleLog& log_;
    const int64_t periodNs_;
    Pace pace_;
    std::unique_ptr<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    std::map<std::string, std::vector<int>> absent_;  ///< GPUs by missing item.
    std::vector<int> splitGpus_;                      ///< GPUs in MIG mode.
    std::vector<NvmlProcess> processes_;
    /// Last reading of each value of `NvmlReadings`, CLOCK_MONOTONIC; 0: none, or unknown by now.
    std::array<int64_t, NvmlReadings::valueCount> readNs_{};
    int64_t energyReadNs_ = 0, linksReadNs_ = 0;  ///< Last event readings, CLOCK_MONOTONIC.
    int64_t reportedNs_ = 0;                      ///< Last report of `reportPeriods`.
    std::string reported_;
};

}  // namespace lanescope::capture
