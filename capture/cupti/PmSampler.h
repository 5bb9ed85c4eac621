// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "capture/cupti/ParallelTurns.h"
#include "capture/cupti/PmGpu.h"
#include "capture/cupti/PmLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope::capture {

/// Samples the hardware counters of all GPUs that this process can see and writes what came since
/// the last time with each call of `sample`. At high rates a GPU takes half of a core, so each has
/// a thread of its own then.
class PmSampler : public Sampler {
  public:
    /// `takePeriodNs` is how often `sample` will be called.
    PmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
              std::vector<std::filesystem::path> folders)
        : log_(log), hz_(hz), takePeriodNs_(takePeriodNs), folders_(std::move(folders)) {}

    const char* source() const override { return "pm"; }
    const char* title() const override { return "CUPTI PM sampling"; }
    bool begin() override;
    bool sample() override;
    int64_t elsewhereCpuNs() const override { return turns_ ? turns_->cpuNs() : 0; }
    void end() override;

  private:
    using Refusals = std::map<CUptiResult, std::vector<uint32_t>>;  ///< By answer, of devices.

    void sayWhyNot(const Refusals& refusals);
    /// One of the GPUs, and what is decoded of it.
    struct Sampled {
        std::unique_ptr<PmGpu> gpu;
        std::vector<uint64_t> words;
        CUptiResult result = CUPTI_SUCCESS;
    };
    void take(Sampled& sampled);
    void sayWhatIsLost();

    SampleLog& log_;
    const double hz_;
    const int64_t takePeriodNs_;
    const std::vector<std::filesystem::path> folders_;
    PmLibrary library_;
    std::vector<Sampled> gpus_;
    std::unique_ptr<ParallelTurns> turns_;  ///< Null: all GPUs in turn.
};

}  // namespace lanescope::capture
