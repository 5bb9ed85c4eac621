#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The copies of one kind: how many, how much, how fast. GB/s is 10^9 bytes a second.
struct BandwidthRow {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind sourceMemory = MemoryKind::Unknown;
    MemoryKind destinationMemory = MemoryKind::Unknown;
    int64_t count = 0;
    int64_t bytes = 0;
    int64_t timeNs = 0;  ///< Summed durations; overlapping copies count each.
    int64_t timedBytes = 0;  ///< Of the copies that took any time at all.
    /// Of single copies: the slowest, the median and the fastest.
    double minimumGBps = 0, medianGBps = 0, maximumGBps = 0;
    /// Timed bytes over summed time.
    double meanGBps() const { return timeNs > 0 ? double(timedBytes) / double(timeNs) : 0.0; }
};

/// One row per (kind, source memory, destination memory), most bytes first. Copies of no duration
/// count in bytes but not in the rates. O(n log n).
std::vector<BandwidthRow> bandwidthByKind(const Trace& trace,
                                          std::optional<TimeRange> range = std::nullopt);

}  // namespace lanescope
