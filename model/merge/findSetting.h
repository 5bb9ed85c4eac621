// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/merge/fitLines.h"

namespace lanescope {

/// Where a clock jumps against the others.
struct Jump {
    int64_t afterNs = 0, beforeNs = 0;  ///< Between two moments, by the clock.
    double byNs = 0;
    double sureness = 0;  ///< How many times what jumps by chance.
};

/// The surest jump in what a clock is off from the others, by time; nothing where it is no more
/// than noise, drift or some moments that do not fit. Told are jumps of several times what single
/// moments differ by, that are no nearer to an end of the time than some fifteenth of it: medians
/// of some moments in a row are laid on a line before and on one after, which one of eight of these
/// need not fit. O(n).
std::optional<Jump> findSetting(std::span<const ClockDistance> distances);

}  // namespace lanescope
