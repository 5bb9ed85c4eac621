// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

/// Slices `[first, end)` of a lane.
struct SliceRun {
    uint32_t first = 0, end = 0;
    bool isEmpty() const { return first >= end; }
};

/// The slices of `lane` that overlap `range`; of those of no length the ones that lie in it. None
/// for an empty range. O(log n).
SliceRun slicesIn(const Lane& lane, TimeRange range);

/// How long the lane was busy in `range`. O(log n).
int64_t busyTime(const Lane& lane, TimeRange range);

/// Empty for fewer than two lanes; not whole if stopped. O(n lanes).
UnionSums buildUnionSums(std::span<const Lane> lanes, const std::stop_token& stop = {});

/// How long at least one of `lanes` was busy in `range`; `sums` are theirs. O(lanes log n) and some
/// thousand slices.
int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range);

/// Whether the slices of a track are events themselves, no sum of others and no values of a
/// counter.
bool holdsEvents(TrackKind kind);

/// Sums up the tracks of a trace, on as many threads; not all if stopped. O(n). `Trace::sums` are
/// these.
TraceSums buildTraceSums(const Trace& trace, unsigned threads = 1,
                         const std::stop_token& stop = {});

}  // namespace lanescope
