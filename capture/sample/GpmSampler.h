// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
#include "capture/sample/Pace.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

/// Sampler of the GPU performance metrics that NVML provides from Hopper on, without any privilege: averages over at
/// least 100 ms. For shorter intervals the GPU returns zeros, so the interval is never shorter.
class GpmSampler : public Sampler {
  public:
    static constexpr int64_t minPeriodNs = 100'000'000;

    /// Maximum share of a core. The sampler slows down to keep to it, but not below its minimum
    /// rate. A reading of eight GPUs takes a few ms once the driver is awake.
    static constexpr double shareOfCore = 0.0008;
    static constexpr int64_t maxPeriodNs = 1'000'000'000;

    GpmSampler(SampleLog& log, int64_t periodNs) : log_(log), pace_(shareOfCore, periodNs) {
        pace_.add("GPM", periodNs, 1, maxPeriodNs);
    }
    ~GpmSampler() override;

    const char* source() const override { return "gpm"; }
    const char* title() const override { return "GPM"; }
    bool begin() override;
    bool sample() override;
    int64_t dueNs() const override { return pace_.nextDueNs(); }
    void end() override { log_.property(facts::samplerIntervalsGpm, pace_.describe()); }
    int64_t slackNs() const override { return 0; }  // An early sample after a late one is lost.

  private:
    struct Gpu {
        NvmlLibrary::Device device = nullptr;
        int index = 0;
        void *before = nullptr, *now = nullptr;  ///< Samples; a value covers the time between two.
        int64_t beforeNs = 0;                    ///< CLOCK_REALTIME; 0: there is none.
        std::vector<uint32_t> counters;          ///< By metric; 0: the GPU does not have it.
    };
    void addCounters(Gpu& gpu);
    void release(Gpu& gpu);
    bool sample(Gpu& gpu);
    /// Returns true if every metric of the last answer is 0, including the management traffic on PCIe.
    bool isArtefact() const;

    SampleLog& log_;
    Pace pace_;
    std::optional<NvmlLibrary> nvml_;
    std::vector<Gpu> gpus_;
    std::vector<NvmlGpmMetrics> answer_;  ///< One element; too large for a stack.
    SampleBatch batch_;
};

}  // namespace lanescope::capture
