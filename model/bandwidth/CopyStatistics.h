// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/trace/EventRef.h"

namespace lanescope {

/// Level of detail by which copies are grouped; each level includes the ones before it.
enum class CopyGrouping : uint8_t {
    Kind,    ///< HtoD, DtoD, memset; PtoP by the two GPUs.
    Memory,  ///< Also by the kinds of memory at both ends.
    Device,  ///< Also by the GPU.
    Size,    ///< As `Memory`, also by size.
};

inline constexpr size_t copyGroupingCount = 4;

/// Size buckets of copies, each four times the previous: below 4 KiB, 4 to 16 KiB ... 256 MiB to 1 GiB, 1 GiB and more.
inline constexpr int sizeBucketCount = 11;
inline constexpr int anySize = -1;
int sizeBucketOf(int64_t bytes);
/// Returns the smallest size in the bucket, and the first that is too large (0 for the last bucket).
int64_t sizeBucketStart(int bucket);
int64_t sizeBucketEnd(int bucket);
/// "< 4 KiB", "4 to 16 KiB", "1 GiB and more".
std::string sizeBucketName(int bucket);

/// Common properties of the copies of a row.
struct CopyGroup {
    bool isMemset = false;
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    /// Indices into `Trace::gpus`; `noIndex` if the grouping does not distinguish them. Equal
    /// except for a copy from one GPU to another.
    uint32_t gpu = noIndex, peer = noIndex;
    int sizeBucket = anySize;
    auto operator<=>(const CopyGroup&) const = default;

    /// "HtoD", "PtoP", "memset".
    std::string_view kindName() const;
    /// Returns the search text for such copies: "memcpy HtoD", "memset".
    std::string searchName() const;
};

/// Returns the kind of host memory of a copy from or to a GPU.
MemoryKind hostSideOf(const CopyGroup& group);

/// Rates of single copies, in GB/s (10^9 bytes per second).
struct CopyRates {
    double minimum = 0, p10 = 0, median = 0, p90 = 0, maximum = 0;
};

/// Returns the rates of single copies; reorders `values`. All 0 for none. O(n): quantiles are selected, not sorted.
CopyRates ratesOf(std::vector<double>& values);

/// Number, bytes and rate of copies. A copy clipped by a selected range counts with the bytes and
/// the time of its part in the range: bytes in proportion to time.
struct CopyStatistics {
    CopyGroup group;
    int64_t count = 0;
    int64_t bytes = 0;
    int64_t busyNs = 0;              ///< Time in which at least one of them ran, on any GPU.
    int64_t summedNs = 0;            ///< Sum of their durations, including overlaps.
    int64_t gpuBusyNs = 0;           ///< As `busyNs`, but per GPU, summed over the GPUs.
    int64_t overlappedNs = 0;        ///< Part of `gpuBusyNs` overlapped with a kernel on the same GPU.
    int64_t unratedCount = 0;        ///< Copies without bytes or time: in the counts, not in the rates.
    int64_t ratedBytes = 0;          ///< Bytes of the others.
    int64_t ratedNs = 0;             ///< Summed durations of the others.
    int64_t clippedCount = 0;        ///< Clipped by an edge of the range.
    std::optional<CopyRates> rates;  ///< Nullopt if no copy has a rate.
    std::optional<CopyPeak> peak;    ///< Nullopt if unknown, or not the same for all GPUs.

    /// Returns `bytes`; nullopt if that is 0 only because none of their sizes is known.
    std::optional<int64_t> knownBytes() const;
    /// Returns bytes over summed time: the mean of the rates weighted by bytes. Nullopt without a rate.
    std::optional<double> meanGBps() const;
    /// Returns mean over peak, in percent; nullopt if one is unknown.
    std::optional<double> peakPercent() const;
    /// Returns why the mean is above the peak, as is possible for small copies; empty if it is not.
    std::string_view whyBeyondPeak() const;
    /// Returns the overlapped share of the busy time, in percent; nullopt for no time.
    std::optional<double> overlappedPercent() const;
};

/// Facts of a single copy, except its place and size.
struct TalliedCopy {
    EventRef event;
    TimeRange when;            ///< The whole copy.
    int64_t partNs = 0;        ///< Its time within the examined range.
    int64_t bytes = 0;         ///< The whole copy.
    uint32_t callNs = 0;       ///< Duration of the launching call; 0 if unknown.
    bool holdsCaller = false;  ///< That call returned after the copy had ended.
};

/// Sums over copies of one kind, from which advice follows.
struct CopyTally {
    int64_t count = 0;
    int64_t tinyCount = 0, tinyGpuNs = 0, tinyCallNs = 0;
    /// Calls that returned after their copies: their waits for earlier work.
    int64_t holdingCount = 0, holdingCallNs = 0, longestHoldNs = 0;
    int64_t slowestPageableNs = 0, longestNs = 0;
    int64_t pinnedBytes = 0, pinnedNs = 0;  ///< Pinned copies large enough to be fast.
    EventRef tinyExample, holdingExample, slowestPageable, longest;

    /// `group` is that of the copy, always of the same kind.
    void add(const CopyGroup& group, const TalliedCopy& copy);
    /// Adds those of copies that began later.
    void append(const CopyTally& later);
};

/// By `MemcpyKind`.
using CopyTallies = std::array<CopyTally, memcpyKindCount>;

}  // namespace lanescope
