// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanescope {

/// Limit of valid times in nanoseconds: sums and differences of two stay in range.
inline constexpr int64_t maxTimestampNs = int64_t{1} << 61;

/// Half-open interval `[startNs, endNs)`, in nanoseconds from the start of the session.
struct TimeRange {
    int64_t startNs = 0;
    int64_t endNs = 0;

    int64_t durationNs() const { return endNs - startNs; }
    bool isEmpty() const { return endNs <= startNs; }
    bool contains(int64_t timeNs) const { return timeNs >= startNs && timeNs < endNs; }
    bool overlaps(TimeRange other) const { return startNs < other.endNs && other.startNs < endNs; }
    TimeRange intersected(TimeRange other) const {
        TimeRange result{std::max(startNs, other.startNs), std::min(endNs, other.endNs)};
        result.endNs = std::max(result.startNs, result.endNs);
        return result;
    }
    TimeRange united(TimeRange other) const { return {std::min(startNs, other.startNs), std::max(endNs, other.endNs)}; }
    TimeRange shifted(int64_t byNs) const { return {startNs + byNs, endNs + byNs}; }
    bool operator==(const TimeRange&) const = default;
};

}  // namespace lanescope
