// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope {

/// How one clock reads by another. O(1).
struct ClockMap {
    int64_t offsetNs = 0;     ///< What the other shows more, at `originNs`.
    int64_t originNs = 0;     ///< By this clock.
    double driftNsPerNs = 0;  ///< How much faster the other runs: 1e-6 is a microsecond a second.

    /// What the other shows when this one shows `timeNs`; no further from 0 than times may be.
    int64_t at(int64_t timeNs) const {
        const auto drifted = static_cast<int64_t>(
            std::llround(static_cast<double>(timeNs - originNs) * driftNsPerNs));
        return std::clamp(timeNs + offsetNs + drifted, -greatestTimeNs, greatestTimeNs);
    }
    TimeRange at(TimeRange range) const { return {at(range.startNs), at(range.endNs)}; }
};

/// Where what a trace names is in one that it becomes a part of.
struct PartPlacement {
    ClockMap clock;                   ///< From its times to those of the whole.
    std::vector<int64_t> globalPids;  ///< Packed id of each of its processes in the whole.
    std::vector<int64_t> gpuIds;      ///< Number of each of its GPUs in the whole.
};

}  // namespace lanescope
