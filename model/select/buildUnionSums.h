// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "model/trace/TraceSums.h"
#include "model/trace/Track.h"

namespace lanescope {

/// Empty for fewer than two lanes; not whole if stopped. O(n lanes).
UnionSums buildUnionSums(std::span<const Lane> lanes, const std::stop_token& stop = {});

/// How long at least one of `lanes` was busy in `range`; `sums` are theirs. O(lanes log n) and some
/// thousand slices.
int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range);

}  // namespace lanescope
