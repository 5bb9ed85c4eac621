// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/bandwidth/CopyGroup.h"

namespace lanescope {

/// Rates of single copies, in GB/s (10^9 bytes a second).
struct CopyRates {
    double minimum = 0, p10 = 0, median = 0, p90 = 0, maximum = 0;
};

/// Of single copies; reorders `values`. All 0 for none. O(n): quantiles are selected, not sorted.
CopyRates ratesOf(std::vector<double>& values);

/// How many copies, how much, how fast. A copy that a selected range cuts counts with the bytes
/// and the time of its part in the range: bytes in proportion to time.
struct CopyStatistics {
    CopyGroup group;
    int64_t count = 0;
    int64_t bytes = 0;
    int64_t busyNs = 0;              ///< While at least one of them ran, on whatever GPU.
    int64_t summedNs = 0;            ///< Their durations; those that overlap count each.
    int64_t gpuBusyNs = 0;           ///< As `busyNs`, but for each GPU, summed over the GPUs.
    int64_t overlappedNs = 0;        ///< Of `gpuBusyNs`, beside a kernel on the same GPU.
    int64_t unratedCount = 0;        ///< No bytes, or no time: in the counts, not in the rates.
    int64_t ratedBytes = 0;          ///< Bytes of the others.
    int64_t ratedNs = 0;             ///< Summed durations of the others.
    int64_t cutCount = 0;            ///< Cut by an edge of the range.
    std::optional<CopyRates> rates;  ///< Nothing if no copy has a rate.
    std::optional<CopyPeak> peak;    ///< Nothing if unknown, or not the same for all GPUs.

    /// `bytes`; nothing where that is 0 only because the size of none of them is known.
    std::optional<int64_t> knownBytes() const;
    /// Bytes over summed time: the mean of the rates in which each byte counts alike. Nothing
    /// where there is no rate.
    std::optional<double> meanGBps() const;
    /// Mean over peak, in percent; nothing where one is unknown.
    std::optional<double> peakPercent() const;
    /// Why the mean is above the peak, as it can be for small copies; empty if it is not.
    std::string_view whyBeyondPeak() const;
    /// Share of the busy time beside kernels, in percent; nothing for no time.
    std::optional<double> overlappedPercent() const;
};

}  // namespace lanescope
