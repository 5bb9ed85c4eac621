// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// A row of slices that tells what a thread did: its states, calls that it waited in, or its stack
/// as a flame, by looks or samples. Slices nest or do not touch; they stand by start, outer ones
/// first.
struct ThreadRow {
    struct Slice {
        TimeRange times;
        StringIndex name = 0;
        uint32_t depth = 0;  ///< How many others it is in.
        EventRef event;      ///< The state, or one of those that the function was seen in.
    };
    uint32_t thread = 0;
    bool isStack = false;
    std::string name;  ///< "MainThread: stack".
    std::vector<Slice> slices;
};

/// Calls `visit(const ThreadRow&)` for each that a trace has, one after the other, as the timeline
/// has them. O(n log n) in the slices of each.
template <class Visit>
void forEachThreadRow(const Trace& trace, Visit&& visit);

/// The rows of a track of states or of a stack; none of any other.
std::vector<ThreadRow> threadRows(const Trace& trace, const Track& track);

/// What is told of a state beside its name: the call that it waits in, the line, and who has the
/// GIL; pairs of a name and a text.
std::vector<std::pair<const char*, std::string>> threadStateFacts(const Trace& trace, uint32_t row);

template <class Visit>
void forEachThreadRow(const Trace& trace, Visit&& visit) {
    for (const Track& track : trace.tracks)
        for (const ThreadRow& row : threadRows(trace, track)) visit(row);
}

}  // namespace lanescope
