// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/cupti/PmClock.h"
#include "capture/cupti/PmLibrary.h"

namespace lanescope::capture {

/// Hardware counters sampled on one GPU, chosen so that all of them fit one pass, and the
/// conversion of their raw values to metrics.
class PmMetrics {
  public:
    explicit PmMetrics(const PmLibrary& library) : library_(library) {}
    PmMetrics(const PmMetrics&) = delete;
    PmMetrics& operator=(const PmMetrics&) = delete;
    ~PmMetrics();

    /// Chooses metrics for the GPU with that CUDA number. Returns CUPTI's first error if no metric is available.
    CUptiResult choose(size_t device);

    std::vector<const char*>& names() { return names_; }
    /// Returns the names in a trace, for example "SMs Active [Throughput %]".
    const std::vector<std::string>& titles() const { return titles_; }
    const std::vector<uint8_t>& configuration() const { return configuration_; }

    /// Puts the metrics of sample `index` of `counterData` into `values`.
    CUptiResult evaluate(const std::vector<uint8_t>& counterData, size_t index, std::vector<double>& values);

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

/// One GPU whose hardware counters are sampled. Needs no CUDA context. One thread.
class PmGpu {
  public:
    PmGpu(const PmLibrary& library, uint32_t device) : library_(library), device_(device), metrics_(library) {}

    /// Chooses metrics, which takes 0.5 s, and returns CUPTI's result. `takePeriodNs` is the time
    /// between calls of `take`.
    CUptiResult prepare(double hz, int64_t takePeriodNs);
    /// Starts sampling. From here on, `take` must be called before the GPU's buffer is full.
    CUptiResult start();
    /// Reads the samples since the last call: `1 + metrics` words per sample, as in the log. Clears `words` first. If
    /// samples are missing, a sample with NaN metrics ends where the next one begins.
    CUptiResult take(std::vector<uint64_t>& words);
    void stop();

    uint32_t device() const { return device_; }
    const std::vector<std::string>& titles() const { return metrics_.titles(); }
    const PmClock& clock() const { return clock_; }
    uint64_t taken() const { return taken_; }
    /// Returns the number of missing samples, computed from the times of the others.
    uint64_t lost() const { return lost_; }
    /// Returns the number of overflows of the GPU's sample buffer.
    uint64_t overflows() const { return overflows_; }

  private:
    CUptiResult configure(double hz, int64_t takePeriodNs);
    CUptiResult makeReady();
    CUptiResult endOf(size_t index, int64_t& endNs) const;
    CUptiResult makeRoom(int64_t nowNs);
    void noticeGap(int64_t endNs, std::vector<uint64_t>& words);
    CUptiResult decodeOnce(std::vector<uint64_t>& words, bool& isMore, bool& overflowed);
    CUptiResult firstNew(size_t completed, size_t& first);

    const PmLibrary& library_;
    const uint32_t device_;
    PmMetrics metrics_;
    PmClock clock_;
    CUpti_PmSampling_Object* sampling_ = nullptr;
    std::vector<uint8_t> counterData_;
    uint32_t room_ = 0;        ///< Maximum number of samples in `counterData_`.
    uint32_t expected_ = 0;    ///< Samples of one decoding.
    size_t done_ = 0;          ///< Samples in `counterData_` that were taken already.
    int64_t doneEndNs_ = 0;    ///< End of the last of them.
    bool isReady_ = false;     ///< `counterData_` can be decoded into.
    bool isFresh_ = false;     ///< `counterData_` was not used since its initialization.
    bool isAppending_ = true;  ///< A decoding continues after the former one.
    std::vector<double> values_;
    int64_t periodNs_ = 1;
    int64_t decodedNs_ = 0;  ///< Time of the last decoding, CLOCK_REALTIME.
    int64_t lastEndNs_ = 0;  ///< End of the last sample that was taken; 0: none was.
    uint64_t taken_ = 0, lost_ = 0, overflows_ = 0;
    int64_t startedNs_ = 0;
    bool isFirst_ = true;  ///< The first sample covers an interval that began before sampling did.
};

}  // namespace lanescope::capture
