#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/nvml/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// The GPU performance metrics that NVML has from Hopper on, without any privilege: averages over
/// at least 100 ms. Asked more often the GPU answers zeros, so the interval is never shorter.
class GpmSampler : public Sampler {
  public:
    static constexpr int64_t shortestPeriodNs = 100'000'000;

    explicit GpmSampler(SampleLog& log) : log_(log) {}
    ~GpmSampler() override;

    const char* source() const override { return "gpm"; }
    const char* title() const override { return "GPM"; }
    bool begin() override;
    bool sample() override;

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        void *before = nullptr, *now = nullptr;  ///< Samples; a value is of the time between two.
        int64_t beforeNs = 0;                    ///< CLOCK_REALTIME; 0: there is none.
        std::vector<uint32_t> counters;          ///< By metric; 0: the GPU does not have it.
    };
    void addCounters(Gpu& gpu);
    void release(Gpu& gpu);
    bool sample(Gpu& gpu);
    /// Whether every metric of the last answer is 0, the management traffic on PCIe included.
    bool isArtefact() const;

    SampleLog& log_;
    std::optional<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    std::vector<NvmlGpmMetrics> answer_;  ///< One; too large for a stack.
    SampleBatch batch_;
};

}  // namespace lanescope
