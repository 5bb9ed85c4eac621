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

/// By how much copies are told apart; each level tells all that the ones before it do.
enum class CopyGrouping : uint8_t {
    Kind,    ///< HtoD, DtoD, memset; PtoP by the two GPUs.
    Memory,  ///< And by the kinds of memory at both ends.
    Device,  ///< And by the GPU.
    Size,    ///< `Memory`, and by size.
};

inline constexpr size_t copyGroupingCount = 4;

/// Sizes of copies fall into buckets, each four times the one before: below 4 KiB, 4 to 16 KiB ...
/// 256 MiB to 1 GiB, 1 GiB and more.
inline constexpr int sizeBucketCount = 11;
inline constexpr int anySize = -1;
int sizeBucketOf(int64_t bytes);
/// Smallest size in the bucket, and the first that is too large (0 for the last, which has none).
int64_t sizeBucketStart(int bucket);
int64_t sizeBucketEnd(int bucket);
/// "< 4 KiB", "4 to 16 KiB", "1 GiB and more".
std::string sizeBucketName(int bucket);

/// What the copies of a row have in common.
struct CopyGroup {
    bool isMemset = false;
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    /// Indices into `Trace::gpus`; `noIndex` where the grouping does not tell them apart. Equal
    /// unless it is a copy from one GPU to another.
    uint32_t gpu = noIndex, peer = noIndex;
    int sizeBucket = anySize;
    auto operator<=>(const CopyGroup&) const = default;

    /// "HtoD", "PtoP", "memset".
    std::string_view kindName() const;
    /// By what a search finds such copies: "memcpy HtoD", "memset".
    std::string searchName() const;
};

/// The kind of memory on the host's side of a copy from or to a GPU.
MemoryKind hostSideOf(const CopyGroup& group);

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

/// What a single copy tells beside its place and size.
struct TalliedCopy {
    EventRef event;
    TimeRange when;            ///< As a whole.
    int64_t partNs = 0;        ///< Of its time, in the range that is looked at.
    int64_t bytes = 0;         ///< As a whole.
    uint32_t callNs = 0;       ///< How long the call that launched it took; 0 if unknown.
    bool holdsCaller = false;  ///< That call returned after the copy had ended.
};

/// What copies of one kind tell together, from which follows what could be better.
struct CopyTally {
    int64_t count = 0;
    int64_t tinyCount = 0, tinyGpuNs = 0, tinyCallNs = 0;
    /// Of calls that returned after their copies: how long they waited for what came before.
    int64_t holdingCount = 0, holdingCallNs = 0, longestHoldNs = 0;
    int64_t slowestPageableNs = 0, longestNs = 0;
    int64_t pinnedBytes = 0, pinnedNs = 0;  ///< Of pinned copies large enough to be fast.
    EventRef tinyExample, holdingExample, slowestPageable, longest;

    /// `group` is that of the copy, of the same kind each time.
    void add(const CopyGroup& group, const TalliedCopy& copy);
    /// Adds those of copies that began later.
    void append(const CopyTally& later);
};

/// By `MemcpyKind`.
using CopyTallies = std::array<CopyTally, memcpyKindCount>;

}  // namespace lanescope
