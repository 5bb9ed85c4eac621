// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/cupti/PmLibrary.h"

namespace lanescope::capture {

/// Which hardware counters of one GPU are sampled, chosen so that all of them fit one pass, and how
/// their raw values become metrics.
class PmMetrics {
  public:
    explicit PmMetrics(const PmLibrary& library) : library_(library) {}
    PmMetrics(const PmMetrics&) = delete;
    PmMetrics& operator=(const PmMetrics&) = delete;
    ~PmMetrics();

    /// Chooses for the GPU of that CUDA number. The first error CUPTI gave if nothing can be had.
    CUptiResult choose(size_t device);

    /// As CUPTI calls them, for its functions.
    std::vector<const char*>& names() { return names_; }
    /// As they are called in a trace: "SMs Active [Throughput %]".
    const std::vector<std::string>& titles() const { return titles_; }
    const std::vector<uint8_t>& configuration() const { return configuration_; }

    /// Puts the metrics of sample `index` of `counterData` into `values`.
    CUptiResult evaluate(const std::vector<uint8_t>& counterData, size_t index,
                         std::vector<double>& values);

  private:
    CUptiResult tryWith(std::vector<const char*>& names, std::vector<uint8_t>& configuration,
                        CUpti_Profiler_Host_Object*& host, size_t& passes) const;
    void forget(CUpti_Profiler_Host_Object* host) const;

    const PmLibrary& library_;
    std::string chip_;
    std::vector<uint8_t> availability_;
    std::vector<const char*> names_;
    std::vector<std::string> titles_;
    std::vector<uint8_t> configuration_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace lanescope::capture
