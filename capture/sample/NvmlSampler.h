#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/nvml/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// What NVML tells of the GPUs: how busy, how much memory, power, clocks, and what each NVLink has
/// carried. Values that a GPU does not have are left out and named once.
class NvmlSampler : public Sampler {
  public:
    explicit NvmlSampler(SampleLog& log) : log_(log) {}

    const char* source() const override { return "nvml"; }
    const char* title() const override { return "NVML"; }
    bool begin() override;
    bool sample() override;
    void sampleMoment() override;

  private:
    /// One value that is one call: what it is, and how it is asked for.
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
        std::vector<NvmlFieldValue> fields;   ///< Energy and links, asked for in one call.
        std::vector<uint32_t> fieldCounters;  ///< As many.
        bool tellsProcesses = false;
    };

    bool sayWhyNot(int result);
    void describe(Gpu& gpu);
    void addReadings(Gpu& gpu, std::vector<std::string>& absent);
    void addFields(Gpu& gpu, std::vector<std::string>& absent);
    uint32_t addCounter(const Gpu& gpu, const char* name, const char* title, const char* unit,
                        log::CounterMeaning meaning = log::CounterMeaning::Gauge);
    int read(const Gpu& gpu, const Reading& reading, SampleBatch& batch) const;
    void sampleFields(Gpu& gpu);
    void sampleProcesses(Gpu& gpu);
    bool noticeLoss(Gpu& gpu, int result);
    std::string nameOfProcess(unsigned pid) const;

    SampleLog& log_;
    std::optional<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    SampleBatch batch_;
    std::vector<NvmlProcess> processes_;
    int64_t nextProcessesNs_ = 0;
};

}  // namespace lanescope
