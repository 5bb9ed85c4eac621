// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What went from one GPU to another.
struct LinkUse {
    int64_t gpu = noGpuId, peer = noGpuId;
    const GpuConnection* connection = nullptr;  ///< Null if the trace does not tell.
    int64_t copyBytes = 0;                      ///< Of memcpys.
    int64_t copyBusyNs = 0;                     ///< While at least one of them ran.
    int64_t copyCount = 0;
    double bestCopyGBps = 0;  ///< Of copies of at least 1 MiB; 0 if there were none.
    std::optional<CopyPeak> peak;
    EventRef largest;  ///< Of its copies the one with most bytes; of several the first.
    EventRef slowest;  ///< Of those of at least 1 MiB the one with the least rate.

    std::optional<double> meanGBps() const;     ///< While busy.
    std::optional<double> peakPercent() const;  ///< Mean over peak.
};

/// Every ordered pair of GPUs of which something is known, by GPU and peer. Only what happens in
/// `range` counts. O(copies + pairs^2).
std::vector<LinkUse> linkUse(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

}  // namespace lanescope
