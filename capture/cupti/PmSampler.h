#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "capture/cupti/PmGpu.h"
#include "capture/cupti/PmLibrary.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"

namespace lanescope {

/// Samples the hardware counters of all GPUs that this process can see and writes what came since
/// the last time with each call of `sample`.
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
    void end() override;

  private:
    using Refusals = std::map<CUptiResult, std::vector<uint32_t>>;  ///< By answer, of devices.

    void sayWhyNot(const Refusals& refusals);
    bool take(PmGpu& gpu);

    SampleLog& log_;
    const double hz_;
    const int64_t takePeriodNs_;
    const std::vector<std::filesystem::path> folders_;
    PmLibrary library_;
    std::vector<std::unique_ptr<PmGpu>> gpus_;
    std::vector<uint64_t> words_;
};

}  // namespace lanescope
