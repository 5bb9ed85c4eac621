// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns `text` quoted and escaped; valid UTF-8 for any content.
std::string jsonString(std::string_view text);

/// Returns microseconds with three decimals, so that no nanosecond is lost: "1.250".
std::string microseconds(int64_t ns);

/// A row of slices with the activity of a thread: its states, calls that it waited in, or its stack
/// as a flame, by samples. Slices nest or do not touch; sorted by start, outer ones first.
struct ThreadRow {
    struct Slice {
        TimeRange times;
        StringIndex name = 0;
        uint32_t depth = 0;  ///< Nesting depth.
        EventRef event;      ///< The state, or one of those in which the function was seen.
    };
    uint32_t thread = 0;
    bool isStack = false;
    std::string name;  ///< "MainThread: stack".
    std::vector<Slice> slices = {};
};

/// Calls `visit(const ThreadRow&)` for each row of a trace, in the order of the timeline. O(n log
/// n) in the slices of each.
void forEachThreadRow(const Trace& trace, auto&& visit);

/// Returns the rows of a track of states or of a stack; empty for any other.
std::vector<ThreadRow> threadRows(const Trace& trace, const Track& track);

/// Returns attributes of a state except its name: the call that it waits in, the line, and the
/// holder of the GIL; pairs of a name and a text.
std::vector<std::pair<const char*, std::string>> threadStateFacts(const Trace& trace, uint32_t row);

void forEachThreadRow(const Trace& trace, auto&& visit) {
    for (const Track& track : trace.tracks)
        for (const ThreadRow& row : threadRows(trace, track)) visit(row);
}

/// Rows of slices in a trace for another viewer. Slices of one row (one tid) must nest or not
/// touch, else viewers draw them wrong. Overlapping slices thus get additional rows: "Stream 7
/// (2)". GPU work never nests, calls and push/pop ranges do.
class ExportRows {
  public:
    static constexpr uint32_t noTid = 0xffffffff;
    /// A row; `tid` is `noTid` for events without room.
    struct Row {
        int64_t pid = 0;
        uint32_t tid = 0;
    };
    struct NamedRow {
        Row row;
        std::string name;
    };

    /// O(n log n) in the events.
    explicit ExportRows(const Trace& trace);

    /// Returns the row of an API call, push/pop range or GPU operation. O(1).
    Row rowOf(EventRef event) const;
    /// Returns the row of a thread's events that are not slices: marks and start/end ranges.
    Row rowOfThread(uint32_t thread) const;
    static int64_t pidOfGpu(uint32_t gpu);
    /// Returns its PID, or a unique number for hosts after the first.
    static int64_t pidOf(const Process& process);
    /// Returns every row except those of whole processes.
    const std::vector<NamedRow>& names() const { return names_; }

  private:
    void placeCpu();
    void placeGpu();
    uint32_t& tidOf(EventRef event) { return tids_[static_cast<size_t>(event.kind())][event.row()]; }

    const Trace& trace_;
    /// By kind and row.
    std::array<std::vector<uint32_t>, EventRef::kindLimit> tids_;
    std::vector<NamedRow> names_;
};

}  // namespace lanescope
