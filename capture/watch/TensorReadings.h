// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capture/log/Records.h"
#include "capture/watch/ProcessProgress.h"

namespace lanescope::capture {

/// Use of the tensor cores of a GPU in some time.
struct TensorUse {
    double activity = 0;  ///< 0 to 1.
    double activeHz = 0;  ///< Activity times SM clock.
    int64_t readNs = 0;   ///< Length of the readings that cover the time.
};

/// Receiver of a sampler's log that keeps the latest readings of tensor activity and SM clock by GPU. Bounded memory
/// for any log. One thread.
class TensorReadings {
  public:
    void operator()(const log::StringRecord& record, std::string_view text);
    void operator()(const log::SampledGpuRecord& record);
    void operator()(const log::CounterRecord& record);
    void operator()(const log::SamplesRecord& record, std::span<const log::SampleValue> values);

    /// Returns the mean of the readings of the GPU with that UUID; nullopt if they do not cover the whole time.
    std::optional<TensorUse> useOf(std::string_view uuid, int64_t startNs, int64_t endNs) const;

  private:
    struct Reading {
        int64_t startNs, endNs;
        double activity, clockHz;
    };
    struct Gpu {
        std::string uuid;
        double clockHz = 0;
        int64_t latestNs = 0;  // Tensor activity is a mean since that reading.
        std::deque<Reading> readings;
    };
    static constexpr size_t maxNames = 1 << 12, maxCounters = 1 << 12, maxReadings = 1 << 10;

    LatestValues<std::string, maxNames> names_;
    std::map<uint32_t, std::pair<uint32_t, bool>> counters_;  // GPU, and true for its clock
    std::map<uint32_t, Gpu> gpus_;
};

}  // namespace lanescope::capture
