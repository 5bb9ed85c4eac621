// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "model/format/TimeRange.h"

namespace lanescope::views {

/// Maps a stretch of time to the pixels `[left, left + width)` and back. Plain arithmetic, nothing
/// is clamped; a scale of no width or no duration maps everything to its left edge or its start.
struct TimeScale {
    TimeRange range;
    double width = 0;
    double left = 0;

    double nsPerPixel() const {
        return width > 0 ? static_cast<double>(range.durationNs()) / width : 0.0;
    }
    double toX(int64_t timeNs) const {
        if (range.isEmpty()) return left;
        // The difference first: it is exact, and small enough to stay so as a double.
        return left + static_cast<double>(timeNs - range.startNs) * width /
                          static_cast<double>(range.durationNs());
    }
    int64_t toTimeNs(double x) const {
        return range.startNs + static_cast<int64_t>(std::floor((x - left) * nsPerPixel()));
    }
    /// How long `pixels` are.
    int64_t spanNs(double pixels) const { return std::llround(pixels * nsPerPixel()); }
};

}  // namespace lanescope::views
