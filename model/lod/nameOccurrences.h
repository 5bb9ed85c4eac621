// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Everything of one name and kind in a trace: when it ran, and how long.
struct NameOccurrences {
    std::string name;
    EventKind kind = EventKind::Kernel;
    /// By start. Of what is drawn in parts, as a collective that waited, the part of that name.
    std::vector<EventRef> events;
    std::vector<int64_t> startNs, durationNs;  ///< Of each of them.
    int64_t totalNs = 0;
    int64_t shortestNs = 0, medianNs = 0, longestNs = 0;  ///< 0 of nothing.

    bool isEmpty() const { return events.empty(); }
    /// The one that took longest, the first of equals; nothing must not be asked.
    size_t longest() const;
};

/// What is called as `event` is, all over the trace. Slices that found no lane are not among them.
/// Empty for an event that stands on no lane. O(n); not all if stopped.
NameOccurrences occurrencesOf(const Trace& trace, EventRef event, const std::stop_token& stop = {});

/// How many of them take how long, in stretches of equal width from the shortest to the longest;
/// where the longest takes more than twenty times the shortest, of equal ratio.
struct DurationHistogram {
    struct Bar {
        int64_t fromNs = 0, untilNs = 0;  ///< The last one holds the longest, too.
        int64_t count = 0;
        size_t longest = 0;  ///< Index of the longest among them; means nothing without any.
    };
    bool isLogarithmic = false;
    std::vector<Bar> bars;
    int64_t mostInOne = 0;
};

/// In `barCount` bars; fewer if times of so many nanoseconds do not differ, none of nothing. O(n).
DurationHistogram durationHistogram(const NameOccurrences& occurrences, size_t barCount);

}  // namespace lanescope
