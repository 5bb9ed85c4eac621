#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/nvml/NvmlLibrary.h"
#include "capture/sample/NvmlFields.h"
#include "capture/sample/Pace.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// What NVML tells of the GPUs: how busy, how much memory, power, clocks, and what each NVLink has
/// carried. Values that a GPU does not have are left out and named once. A question to a GPU costs
/// from 20 us to some ms, so the dear ones are asked seldom; see `Pace`.
class NvmlSampler : public Sampler {
  public:
    /// Values that change slowly or are dear to ask for are read more seldom than `periodNs`.
    NvmlSampler(SampleLog& log, int64_t periodNs) : log_(log), periodNs_(periodNs) {}

    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML"; }
    bool begin() override;
    bool sample() override;
    void sampleMoment() override;
    void end() override { sampleMoment(); }

  private:
    /// One value that is one call; the order is that of the kinds of `pace_`.
    enum class Value {
        Utilization,  ///< Fills two counters, as Memory does.
        Memory,
        Power,
        Temperature,
        SmClock,
        MemoryClock,
        ThrottleReasons,
    };
    struct Reading {
        Value value;
        uint32_t counter;
        uint32_t second;  ///< 0: there is none.
    };
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        bool isLost = false;
        std::vector<Reading> readings;
        NvmlFields fields;
        bool tellsProcesses = false;
    };

    bool sayWhyNot(int result);
    void describe(Gpu& gpu);
    void addReadings(Gpu& gpu, std::vector<std::string>& absent);
    int read(const Gpu& gpu, const Reading& reading, SampleBatch& batch) const;
    void sampleReadings(int64_t nowNs);
    void sampleFields(int64_t nowNs);
    void sampleProcesses(Gpu& gpu);
    bool noticeLoss(Gpu& gpu, int result);
    std::string nameOfProcess(unsigned pid) const;

    SampleLog& log_;
    const int64_t periodNs_;
    Pace pace_;
    std::optional<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    SampleBatch batch_;
    std::vector<NvmlProcess> processes_;
    bool hasSampled_ = false;
};

}  // namespace lanescope
