// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/RangeDrag.h"

#include <algorithm>

namespace lanescope::views {

void RangeDrag::moveTo(int64_t timeNs) {
    const TimeRange range{std::min(anchorNs_, timeNs), std::max(anchorNs_, timeNs)};
    state_.setSelectedRange(range.intersected(state_.limits()));
}

}  // namespace lanescope::views
