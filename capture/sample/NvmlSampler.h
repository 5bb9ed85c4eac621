// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/NvmlReadings.h"
#include "capture/sample/Pace.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

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
    std::optional<NvmlLibrary> nvml_;
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
    bool noticeLoss(Gpu& gpu, int result);
    void reportPeriods(int64_t nowNs);
    std::string nameOfProcess(unsigned pid) const;

    SampleLog& log_;
    const int64_t periodNs_;
    Pace pace_;
    std::optional<NvmlLibrary> nvml_;
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
