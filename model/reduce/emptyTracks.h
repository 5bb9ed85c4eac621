// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// By track: whether there is nothing to see of it within `range`, neither of its own nor in the
/// tracks below it. A counter that is 0 or unknown all the time is nothing to see; what was not
/// recorded is. O(lanes * log slices).
std::vector<bool> emptyTracks(const Trace& trace, TimeRange range);

}  // namespace lanescope
