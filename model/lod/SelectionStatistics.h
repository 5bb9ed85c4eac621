// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/text/ReportTable.h"
#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Events of one name and kind in a trace, with their times.
struct NameOccurrences {
    std::string name;
    EventKind kind = EventKind::Kernel;
    /// By start. If an event is drawn in parts, such as a collective with a wait, its part of that name counts.
    std::vector<EventRef> events;
    std::vector<int64_t> startNs, durationNs;  ///< One of each per event.
    int64_t totalNs = 0;
    int64_t minNs = 0, medianNs = 0, maxNs = 0;  ///< 0 if there are no events.

    bool isEmpty() const { return events.empty(); }
    /// Returns the longest event, the first of equal ones; there must be an event.
    size_t longest() const;
};

/// Returns all events on lanes with the name of `event`. Empty if it is on no lane. O(n); incomplete if stopped.
NameOccurrences occurrencesOf(const Trace& trace, EventRef event, const std::stop_token& stop = {});

/// Histogram of durations in intervals of equal width; of equal ratio if the longest is over twenty times the shortest.
struct DurationHistogram {
    struct Bar {
        int64_t fromNs = 0, untilNs = 0;  ///< The last interval includes the longest.
        int64_t count = 0;
        size_t longest = 0;  ///< Index of the longest among them; undefined if there are none.
    };
    bool isLogarithmic = false;
    std::vector<Bar> bars;
    int64_t maxBarCount = 0;
};

/// Returns `barCount` bars, or fewer if their edges in nanoseconds coincide; none without events. O(n).
DurationHistogram durationHistogram(const NameOccurrences& occurrences, size_t barCount);

/// Totals of the slices of one name within a range. A slice across an edge counts with its part inside and that share
/// of its bytes.
struct NameStatistics {
    SumKey key;
    Sums sums;
    double meanNs() const { return double(sums.totalNs) / double(sums.count); }
};

/// Totals of copies of one kind between two kinds of memory, or of memsets.
struct CopyTotals {
    SumKey key;
    Sums sums;
    /// Returns 10^9 bytes per second over the total duration, without copies of zero duration; 0 if all are.
    double meanGBps() const {
        const int64_t timedBytes = sums.bytes - sums.untimedBytes;
        return sums.totalNs > 0 ? double(timedBytes) / double(sums.totalNs) : 0.0;
    }
};

/// Time during which at least one slice of a track ran.
struct BusyStatistics {
    uint32_t track = 0;  ///< GPU, stream, process or thread.
    int64_t busyNs = 0;
};

struct SelectionStatistics {
    TimeRange range;
    std::vector<BusyStatistics> busy;   ///< In the order of the tracks.
    std::vector<NameStatistics> names;  ///< All but copies and memsets, largest total first.
    std::vector<CopyTotals> copies;     ///< Most bytes first.
};

/// Returns the label of `key`: "ampere_sgemm", "HtoD pinned → device", "memset device".
std::string nameOf(const Trace& trace, SumKey key);

/// Counts and sums the slices in `range`, on `tracks` (numbers of `Trace::tracks`, without their children) or on all.
/// Events without a lane are not counted. With the `sums` of the trace it reads O(log n) lists and at most some
/// thousand slices per lane; without them the result is the same but slower. Any thread.
SelectionStatistics selectionStatistics(const Trace& trace, const TraceSums& sums, TimeRange range,
                                        std::optional<std::span<const uint32_t>> tracks = std::nullopt);

/// Returns up to `maxNames` names of each kind: kind, name, share, total, count, mean, shortest, longest.
ReportTable selectedNames(const Trace& trace, const SelectionStatistics& statistics, size_t maxNames);

/// Returns the copies and memsets: kind, memories, GB/s, bytes, count, time.
ReportTable selectedCopies(const SelectionStatistics& statistics);

/// Returns "12.5 ms selected: GPU 0 busy 83 %, GPU 1 busy 79 %".
std::string selectionHeadline(const Trace& trace, const SelectionStatistics& statistics);

}  // namespace lanescope
