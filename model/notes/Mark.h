// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Place in a trace with a note of a user.
struct Mark {
    std::string id;   ///< 16 hexadecimal digits; the same in every viewer.
    TimeRange range;  ///< In the time of the trace; empty for a point in time.
    /// Titles from the outermost track to the marked one; empty for all tracks.
    std::vector<std::string> track;
    std::string text;
    uint32_t color = 0;        ///< 0xRRGGBB.
    int64_t changedUtcNs = 0;  ///< Time of the last edit, since 1970.
    /// Fields of other programs as a JSON object, or empty.
    std::string unknownFields;
    bool operator==(const Mark&) const = default;
};

struct Notes {
    std::vector<Mark> marks;    ///< Sorted by start, then id.
    std::string unknownFields;  ///< As in `Mark`.
    bool operator==(const Notes&) const = default;
};

/// Returns a new mark with its own id, edited now.
Mark newMark(TimeRange range);
int64_t utcNow();
void sortMarks(std::vector<Mark>& marks);

/// Returns the titles from the outermost track to `track`, by which a mark finds its track again.
std::vector<std::string> trackPath(const Trace& trace, uint32_t track);

/// Returns the track with these titles, or `noIndex`. Linear in the tracks.
uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path);

/// Returns the marks as a table: start, duration, track, text.
ReportTable marksTable(std::span<const Mark> marks);

/// Returns the marks as a Markdown table under the title of their trace. Markup in texts is escaped.
std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title);

/// Returns the track of a mark in one line: "GPU 0 / Compute, stream 7".
std::string trackText(const Mark& mark);

}  // namespace lanescope
