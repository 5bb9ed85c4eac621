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

/// PCIe throughput of GPUs without GPM. NVML measures it over 20 ms, in which its call blocks; so
/// it is asked seldom, and on a thread of its own.
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

/// What NVML tells of the GPUs: how busy, how much memory, power, clocks, and what each NVLink has
/// carried. Values that a GPU does not have are left out and named once. A question to a GPU costs
/// from 20 us to some ms, so the dear ones are asked seldom, of all GPUs one after the other; see
/// `Pace`.
class NvmlSampler : public Sampler {
  public:
    /// What all questions together may take of a core.
    static constexpr double shareOfCore = 0.0028;

    /// Values that change slowly or are dear to ask for are read more seldom than `periodNs`.
    NvmlSampler(SampleLog& log, int64_t periodNs)
        : log_(log), periodNs_(periodNs), pace_(shareOfCore, periodNs) {}

    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML"; }
    bool begin() override;
    /// Makes one question that is due, so that a moment need not wait for all.
    bool sample() override;
    int64_t dueNs() const override { return pace_.nextDueNs(); }
    int64_t sampleMoment(const std::function<bool()>& isWantedElsewhere) override;
    void end() override;

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        bool isLost = false;
        NvmlReadings readings;
        NvmlFields fields;
        bool tellsProcesses = false;
    };

    bool sayWhyNot(int result);
    void describe(Gpu& gpu);
    void sayWhatIsAbsent() const;
    void ask(size_t query);
    void tellWhatIsOld(int64_t nowNs);
    void ask(Gpu& gpu, size_t query);
    void sampleGroup(NvmlFields::Group group, const std::function<bool()>& isWantedElsewhere = {});
    int sampleProcesses(Gpu& gpu);
    bool noticeLoss(Gpu& gpu, int result);
    void sayHowOften(int64_t nowNs);
    std::string nameOfProcess(unsigned pid) const;

    SampleLog& log_;
    const int64_t periodNs_;
    Pace pace_;
    std::optional<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    std::map<std::string, std::vector<int>> absent_;  ///< By what is not told, whose.
    std::vector<int> splitGpus_;                      ///< By MIG.
    std::vector<NvmlProcess> processes_;
    /// When each of `NvmlReadings` was read last, CLOCK_MONOTONIC; 0: not, or it is unknown by now.
    std::array<int64_t, NvmlReadings::valueCount> readNs_{};
    int64_t energyReadNs_ = 0, linksReadNs_ = 0;  ///< At moments, CLOCK_MONOTONIC.
    int64_t saidNs_ = 0;                          ///< When `sayHowOften` last did.
    std::string said_;
};

}  // namespace lanescope::capture
