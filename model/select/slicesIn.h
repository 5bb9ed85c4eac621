// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace lanescope
