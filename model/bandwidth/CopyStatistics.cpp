// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyStatistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

constexpr int minBucketShift = 12;  // 4 KiB
constexpr int shiftsPerBucket = 2;

/// "4 KiB": bounds are powers of two and need no fraction.
std::string boundName(int64_t bytes) {
    if (bytes >= int64_t{1} << 30) return fmt::format("{} GiB", bytes >> 30);
    if (bytes >= int64_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
    return fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

int sizeBucketOf(int64_t bytes) {
    if (bytes < int64_t{1} << minBucketShift) return 0;
    const int width = std::bit_width(static_cast<uint64_t>(bytes)) - 1;
    return std::min((width - minBucketShift) / shiftsPerBucket + 1, sizeBucketCount - 1);
}

int64_t sizeBucketStart(int bucket) {
    return bucket <= 0 ? 0 : int64_t{1} << (minBucketShift + shiftsPerBucket * (bucket - 1));
}

int64_t sizeBucketEnd(int bucket) { return bucket >= sizeBucketCount - 1 ? 0 : sizeBucketStart(bucket + 1); }

std::string sizeBucketName(int bucket) {
    if (bucket == anySize) return {};
    if (bucket <= 0) return "< 4 KiB";
    if (bucket >= sizeBucketCount - 1) return boundName(sizeBucketStart(bucket)) + " and more";
    return fmt::format("{} to {}", boundName(sizeBucketStart(bucket)), boundName(sizeBucketEnd(bucket)));
}

MemoryKind hostSideOf(const CopyGroup& group) {
    const bool isFromGpu = group.kind == MemcpyKind::DtoH || group.kind == MemcpyKind::AtoH;
    return isFromGpu ? group.destination : group.source;
}

std::string_view CopyGroup::kindName() const { return isMemset ? std::string_view("memset") : name(kind); }

std::string CopyGroup::searchName() const { return isMemset ? std::string(kindName()) : lanescope::searchName(kind); }

namespace {

/// Returns the value below which `share` of the values in `[first, last)` are, interpolated between
/// neighbours. Values left of its position are smaller, values right of it greater.
double quantile(std::vector<double>& values, size_t first, size_t last, double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(place);
    const double fraction = place - static_cast<double>(low);
    const auto at = [&](size_t index) { return values.begin() + static_cast<ptrdiff_t>(index); };
    std::nth_element(at(first), at(low), at(last));
    const double value = *at(low);
    if (fraction == 0 || low + 1 >= values.size()) return value;
    const double next = *std::min_element(at(low + 1), at(last));
    return value + fraction * (next - value);
}

std::optional<double> percent(double part, double whole) {
    if (!(whole > 0)) return std::nullopt;
    return 100 * part / whole;
}

/// A larger excess is no rounding error.
constexpr double beyondPeakPercent = 100.5;

}  // namespace

CopyRates ratesOf(std::vector<double>& values) {
    if (values.empty()) return {};
    CopyRates rates;
    const size_t count = values.size();
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    rates.minimum = *least;
    rates.maximum = *greatest;
    rates.median = quantile(values, 0, count, 0.5);
    // After the median every value is on its side of it.
    const auto middle = static_cast<size_t>(0.5 * static_cast<double>(count - 1));
    rates.p10 = quantile(values, 0, std::min(middle + 2, count), 0.1);
    rates.p90 = quantile(values, middle, count, 0.9);
    return rates;
}

std::optional<int64_t> CopyStatistics::knownBytes() const {
    if (bytes == 0 && count > 0 && unratedCount == count) return std::nullopt;
    return bytes;
}

std::optional<double> CopyStatistics::meanGBps() const {
    if (!rates || ratedNs <= 0) return std::nullopt;
    return static_cast<double>(ratedBytes) / static_cast<double>(ratedNs);
}

std::optional<double> CopyStatistics::peakPercent() const {
    const std::optional<double> mean = meanGBps();
    if (!mean || !peak) return std::nullopt;
    return percent(*mean, peak->gigabytesPerSecond);
}

std::string_view CopyStatistics::whyBeyondPeak() const {
    const std::optional<double> share = peakPercent();
    if (!share || *share <= beyondPeakPercent) return {};
    switch (peak->link) {
        case LinkKind::Dram: return "served by the L2 cache of the GPU, which is faster than the memory of the peak";
        case LinkKind::HostCopy: return "faster than the large copies that measured the peak";
        case LinkKind::Pcie:
        case LinkKind::NvLink: break;
    }
    return "so small that buffers accept them before the link has carried them";
}

std::optional<double> CopyStatistics::overlappedPercent() const {
    return percent(static_cast<double>(overlappedNs), static_cast<double>(gpuBusyNs));
}

namespace {

constexpr int64_t tinyBytes = 4096;
/// Copies of at least this size show the speed of their kind of memory.
constexpr int64_t largeBytes = 1 << 20;

}  // namespace

void CopyTally::add(const CopyGroup& group, const TalliedCopy& copy) {
    ++count;
    if (copy.partNs > longestNs) {
        longestNs = copy.partNs;
        longest = copy.event;
    }
    const bool isDtoH = group.kind == MemcpyKind::DtoH;
    const bool holds = isDtoH && copy.holdsCaller;
    if (copy.bytes < tinyBytes) {
        if (!tinyExample.isValid()) tinyExample = copy.event;
        ++tinyCount;
        tinyGpuNs = saturatingSum(tinyGpuNs, copy.partNs);
        // A call that waits for the GPU takes as long as the GPU does, however small the copy.
        if (!holds) tinyCallNs = saturatingSum(tinyCallNs, copy.callNs);
    }
    // The time of the copy itself is no wait for the work before it.
    const int64_t waitedNs = copy.callNs - copy.when.durationNs();
    if (holds && waitedNs > 0) {
        ++holdingCount;
        holdingCallNs = saturatingSum(holdingCallNs, waitedNs);
        if (waitedNs >= longestHoldNs) {
            longestHoldNs = waitedNs;
            holdingExample = copy.event;
        }
    }
    if (group.kind != MemcpyKind::HtoD && !isDtoH) return;
    const MemoryKind host = hostSideOf(group);
    if (host == MemoryKind::Pageable && copy.partNs > slowestPageableNs) {
        slowestPageableNs = copy.partNs;
        slowestPageable = copy.event;
    }
    if (host == MemoryKind::Pinned && copy.bytes >= largeBytes && copy.when.durationNs() > 0) {
        pinnedBytes = saturatingSum(pinnedBytes, copy.bytes);
        pinnedNs = saturatingSum(pinnedNs, copy.when.durationNs());
    }
}

void CopyTally::append(const CopyTally& later) {
    count += later.count;
    if (!tinyExample.isValid()) tinyExample = later.tinyExample;
    tinyCount += later.tinyCount;
    tinyGpuNs = saturatingSum(tinyGpuNs, later.tinyGpuNs);
    tinyCallNs = saturatingSum(tinyCallNs, later.tinyCallNs);
    if (later.longestNs > longestNs) {
        longestNs = later.longestNs;
        longest = later.longest;
    }
    holdingCount += later.holdingCount;
    holdingCallNs = saturatingSum(holdingCallNs, later.holdingCallNs);
    if (later.holdingCount > 0 && later.longestHoldNs >= longestHoldNs) {
        longestHoldNs = later.longestHoldNs;
        holdingExample = later.holdingExample;
    }
    if (later.slowestPageableNs > slowestPageableNs) {
        slowestPageableNs = later.slowestPageableNs;
        slowestPageable = later.slowestPageable;
    }
    pinnedBytes = saturatingSum(pinnedBytes, later.pinnedBytes);
    pinnedNs = saturatingSum(pinnedNs, later.pinnedNs);
}

}  // namespace lanescope
