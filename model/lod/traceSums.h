// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

struct SliceRun {
    uint32_t first = 0, end = 0;
    bool isEmpty() const { return first >= end; }
};

/// Returns the slices of `lane` that overlap `range`, including zero-duration ones inside. Empty
/// for an empty range. O(log n).
SliceRun slicesIn(const Lane& lane, TimeRange range);

/// Returns the busy time of the lane in `range`. O(log n).
int64_t busyTime(const Lane& lane, TimeRange range);

/// Returns empty sums for fewer than two lanes; incomplete if stopped. O(n lanes).
UnionSums buildUnionSums(std::span<const Lane> lanes, const std::stop_token& stop = {});

/// Returns the time in `range` during which at least one of `lanes` was busy; `sums` are theirs.
/// O(lanes log n) and some thousand slices.
int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range);

/// Returns true if the slices of a track are events themselves, neither summaries nor values of a counter.
bool holdsEvents(TrackKind kind);

/// Builds `Trace::sums` on that many threads; incomplete if stopped. O(n).
TraceSums buildTraceSums(const Trace& trace, unsigned threads = 1, const std::stop_token& stop = {});

}  // namespace lanescope
