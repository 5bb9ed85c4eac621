// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope::views {

/// How much room the user gives to the lanes.
enum class RowHeight : uint8_t { Compact, Normal, Tall };

/// Heights and distances of the layout in logical pixels.
struct LayoutMetrics {
    int laneHeight = 20;
    int squeezedLaneHeight = 4;  ///< Of the lanes of a folded track without children.
    int counterHeight = 44;      ///< Of the graph of a counter.
    int headerHeight = 28;       ///< Least height of a row.
    int summaryHeight = 8;       ///< The lane that an open group keeps in its title row.
    int padding = 4;             ///< Above the first and below the last lane of a row.
    int bottomSpace = 24;        ///< Below the last row.
    RowHeight rowHeight = RowHeight::Normal;

    /// For text of this height, so that a name fits into a lane and a title into a row.
    static LayoutMetrics forText(int textHeight, RowHeight rowHeight);
    bool operator==(const LayoutMetrics&) const = default;
};

/// How the user arranged the tracks of a trace, to be kept from run to run. Tracks are called by
/// their path of titles ("GPU 0/Compute, stream 7"), so that an arrangement fits the next recording
/// of the same program too; paths that a trace does not have are passed over.
struct TrackArrangement {
    std::vector<std::string> order;  ///< All tracks from top to bottom; empty for the trace's own.
    std::vector<std::string> hidden;
    std::vector<std::string> pinned;
    std::vector<std::string> folded;    ///< Folded, though the trace would show them open.
    std::vector<std::string> unfolded;  ///< Open, though the trace would show them folded.
    RowHeight height = RowHeight::Normal;

    bool isDefault() const { return *this == TrackArrangement(); }
    bool operator==(const TrackArrangement&) const = default;
};

/// The path of each track. Tracks of one path are told apart by a number ("GPU 0/Compute, stream
/// 7#2"). O(total length).
std::vector<std::string> trackPaths(std::span<const Track> tracks);

/// A compact JSON object; what is as by default is left out.
QByteArray toJson(const TrackArrangement& arrangement);
/// Nothing if `json` is no JSON object. Members of another type than expected are passed over, so
/// that a damaged or newer file loses no more than it must.
std::optional<TrackArrangement> arrangementFromJson(const QByteArray& json);

/// How the tracks of a trace stand until somebody arranges them. As they are in the trace, GPUs
/// that did nothing folded and behind all else. `manyGpus` that
/// worked, or more, stand by the rank that works on them, as do then their processes, and all of
/// them are folded: one line each, low from `manyRows` on, so that a whole machine fits one screen.
/// Where there is no GPU the threads that had a core for longest stand first, and those that had
/// one for a twentieth of that are folded. O(tracks log tracks) and the states of threads.
TrackArrangement firstArrangement(const Trace& trace);
inline constexpr size_t manyGpus = 4;
inline constexpr size_t manyRows = 9;

}  // namespace lanescope::views
