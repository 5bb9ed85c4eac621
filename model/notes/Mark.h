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

/// A place in a trace that somebody wrote something about.
struct Mark {
    std::string id;   ///< 16 hexadecimal digits; the same in every viewer.
    TimeRange range;  ///< In the time of the trace; empty for a moment.
    /// Titles from the outermost track to the one that is meant; empty for all tracks.
    std::vector<std::string> track;
    std::string text;
    uint32_t color = 0;        ///< 0xRRGGBB.
    int64_t changedUtcNs = 0;  ///< When somebody last touched it, since 1970.
    /// A JSON object of the fields that other programs put there, or empty.
    std::string foreign;
    bool operator==(const Mark&) const = default;
};

/// All that is kept about one trace.
struct Notes {
    std::vector<Mark> marks;  ///< By start, then id.
    std::string foreign;      ///< As in `Mark`.
    bool operator==(const Notes&) const = default;
};

/// A mark that is new: with an id of its own, changed now.
Mark newMark(TimeRange range);
/// Nanoseconds since 1970.
int64_t utcNow();
/// By start, then by id.
void sortMarks(std::vector<Mark>& marks);

/// Titles from the outermost track down to `track`, by which a mark finds it again in the same
/// trace.
std::vector<std::string> trackPath(const Trace& trace, uint32_t track);

/// The track with these titles, or `noIndex`. Linear in the tracks.
uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path);

/// Marks as a table: start, duration, track, text.
ReportTable marksTable(std::span<const Mark> marks);

/// Marks as a Markdown table under the title of their trace. What would break the table or is
/// markup stands as text.
std::string marksAsMarkdown(std::span<const Mark> marks, const std::string& title);

/// The track of a mark in one line: "GPU 0 / Compute, stream 7".
std::string trackText(const Mark& mark);

}  // namespace lanescope
