// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/select/SumTable.h"
#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What a slice is summed up by. O(1).
SumKey sumKeyOf(const Trace& trace, const Lane& lane, uint32_t slice);

/// What one slice comes to within `range`, which it overlaps: the time in the range, and the bytes
/// that would be copied in it at an even pace, rounded to the nearest. O(1).
Sums sumsOfSlice(const Trace& trace, const Lane& lane, uint32_t slice, TimeRange range);

/// Adds the whole slices `[first, end)` one by one. O(slices).
void sumSlices(const Trace& trace, const Lane& lane, uint32_t first, uint32_t end, SumTable& table);

/// Whether a lane has so many slices that sums spare looking at them. O(1).
bool needsSums(const Lane& lane);

/// Sums up a whole lane, of one that needs none nothing; only a part if stopped. O(n).
LaneSums buildLaneSums(const Trace& trace, const Lane& lane, const std::stop_token& stop = {});

/// Adds the whole slices `[first, end)` with the help of `sums`, which are those of the lane:
/// O(log n) lists and two leaves, where lists are kept.
void sumSlices(const Trace& trace, const Lane& lane, const LaneSums& sums, uint32_t first,
               uint32_t end, SumTable& table);

}  // namespace lanescope
