// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/text/ReportTable.h"
#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What the slices of one name come to within a range. Of a slice that reaches out of the range the
/// part within it counts, and of its bytes the same share.
struct NameStatistics {
    SumKey key;
    Sums sums;
    double meanNs() const { return double(sums.totalNs) / double(sums.count); }
};

/// Copies of one kind between memories of two kinds, or memsets.
struct CopyTotals {
    SumKey key;
    Sums sums;
    /// 10^9 bytes a second, over the summed durations, without what took no time; 0 if nothing took
    /// any.
    double meanGBps() const {
        const int64_t timedBytes = sums.bytes - sums.untimedBytes;
        return sums.totalNs > 0 ? double(timedBytes) / double(sums.totalNs) : 0.0;
    }
};

/// How long something was busy: at least one slice of it ran.
struct BusyStatistics {
    uint32_t track = 0;  ///< A GPU, a stream, a process or a thread.
    int64_t busyNs = 0;
};

/// What lies in a range of time.
struct SelectionStatistics {
    TimeRange range;
    std::vector<BusyStatistics> busy;   ///< In the order of the tracks.
    std::vector<NameStatistics> names;  ///< All but copies and memsets, greatest total first.
    std::vector<CopyTotals> copies;     ///< Most bytes first.
};

/// What `key` stands for: "ampere_sgemm", "HtoD pinned → device", "memset device".
std::string nameOf(const Trace& trace, SumKey key);

/// Counts and sums up what happened in `range`, on `tracks` (numbers of `Trace::tracks`; without
/// their children) or everywhere. Slices that found no lane are on no track and do not count.
/// O(log n) and at most some thousand slices a lane with the `sums` of the trace; without them the
/// answer is the same and takes longer. Any thread.
SelectionStatistics selectionStatistics(
    const Trace& trace, const TraceSums& sums, TimeRange range,
    std::optional<std::span<const uint32_t>> tracks = std::nullopt);

/// The names that took the most time, at most `most` of each kind: what, name, share of the range,
/// total, count, mean, shortest, longest.
ReportTable selectedNames(const Trace& trace, const SelectionStatistics& statistics, size_t most);

/// The copies and memsets: kind, memories, GB/s, bytes, count, time.
ReportTable selectedCopies(const SelectionStatistics& statistics);

/// "12.5 ms selected: GPU 0 busy 83 %, GPU 1 busy 79 %".
std::string selectionHeadline(const Trace& trace, const SelectionStatistics& statistics);

}  // namespace lanescope
