// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

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

/// Returns all events of the trace with the name of `event`, without events on no lane. Empty if
/// `event` is on no lane. O(n); incomplete if stopped.
NameOccurrences occurrencesOf(const Trace& trace, EventRef event, const std::stop_token& stop = {});

/// Histogram of durations in intervals of equal width from the shortest to the longest; of equal
/// ratio if the longest is more than twenty times the shortest.
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

}  // namespace lanescope
