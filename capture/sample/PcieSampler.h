// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/machine/NvmlLibrary.h"
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

}  // namespace lanescope::capture
