#pragma once

#include <cstdint>
#include <span>

#include "model/trace/Column.h"
#include "model/trace/Track.h"

namespace lanescope {

/// How long at least one of several lanes was busy, noted at some moments, so that the time between
/// any two comes from few slices. A single lane needs none: `Lane::busyBefore` says it.
struct UnionSums {
    /// Slices, of all lanes together, from one moment to the next.
    static constexpr uint32_t slicesPerMoment = 1024;

    Column<int64_t> timeNs;  ///< Ascending.
    Column<int64_t> busyNs;  ///< Busy time before that moment.
};

/// Empty for fewer than two lanes. O(n lanes).
UnionSums buildUnionSums(std::span<const Lane> lanes);

/// How long at least one of `lanes` was busy in `range`; `sums` are theirs. O(lanes log n) and some
/// thousand slices.
int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range);

}  // namespace lanescope
