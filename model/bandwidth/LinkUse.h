// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Traffic from one GPU to another.
struct LinkUse {
    int64_t gpu = noGpuId, peer = noGpuId;
    const GpuConnection* connection = nullptr;  ///< Null if unknown.
    int64_t copyBytes = 0;                      ///< Bytes of memcpys.
    int64_t copyBusyNs = 0;                     ///< Time in which at least one of them ran.
    int64_t copyCount = 0;
    double bestCopyGBps = 0;  ///< Best rate of copies of at least 1 MiB; 0 if there were none.
    std::optional<CopyPeak> peak;
    EventRef largest;  ///< Its copy with most bytes; the first of several.
    EventRef slowest;  ///< Its copy of at least 1 MiB with the lowest rate.

    std::optional<double> meanGBps() const;     ///< Returns the mean while busy.
    std::optional<double> peakPercent() const;  ///< Returns mean over peak.
};

/// Returns every ordered pair of GPUs with known traffic or connection, by GPU and peer. Only
/// traffic in `range` counts. O(copies + pairs^2).
std::vector<LinkUse> linkUse(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

}  // namespace lanescope
