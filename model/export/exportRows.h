// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// `text` quoted and escaped, valid UTF-8 whatever it holds.
std::string jsonString(std::string_view text);

/// Microseconds with three decimals, so that no nanosecond is lost: "1.250".
std::string microseconds(int64_t ns);

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

/// Where slices stand in a Chrome trace. Slices of one row (one tid) must nest or not touch at all,
/// else viewers draw them wrong; so what overlaps goes to further rows: "Stream 7 (2)". GPU work
/// never nests, calls and push/pop ranges do.
class ChromeRows {
  public:
    static constexpr uint32_t noTid = 0xffffffff;
    /// A row of the Chrome trace; `tid` is `noTid` for what finds no room.
    struct Row {
        int64_t pid = 0;
        uint32_t tid = 0;
    };
    struct NamedRow {
        Row row;
        std::string name;
    };

    /// O(n log n) in the events.
    explicit ChromeRows(const Trace& trace);

    /// Of an API call, push/pop range or GPU operation. O(1).
    Row rowOf(EventRef event) const;
    /// Of what a thread does outside of slices: marks and start/end ranges.
    Row rowOfThread(uint32_t thread) const;
    static int64_t pidOfGpu(uint32_t gpu);
    /// Its PID; of hosts beyond the first one that tells them apart.
    static int64_t pidOf(const Process& process);
    /// Every row but those of processes as a whole.
    const std::vector<NamedRow>& names() const { return names_; }

  private:
    void placeCpu();
    void placeGpu();
    uint32_t& tidOf(EventRef event);

    const Trace& trace_;
    /// By kind and row.
    std::array<std::vector<uint32_t>, EventRef::kindLimit> tids_;
    std::vector<NamedRow> names_;
};

}  // namespace lanescope
