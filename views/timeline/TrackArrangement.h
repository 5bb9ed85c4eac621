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

/// The user's choice of the row height. `Fitted` is the largest at which the rows of the default arrangement fit.
enum class RowHeight : uint8_t { Compact, Normal, Tall, Fitted };

/// The folded groups that show the names of their ranges in a second lane.
enum class Previews : uint8_t { None, Gpus, All };

/// Heights and distances of the layout in logical pixels.
struct LayoutMetrics {
    int laneHeight = 20;
    int squeezedLaneHeight = 4;               ///< Lanes of a folded track without children.
    int counterHeight = 44;                   ///< Graph of a counter.
    int headerHeight = 28;                    ///< Min height of a row.
    int summaryHeight = 8;                    ///< The lane of an open group in its title row.
    int padding = 4;                          ///< Above the first and below the last lane of a row.
    int titleHeight = 24;                     ///< Row of a title without lanes.
    int bottomSpace = 24;                     ///< Below the last row.
    RowHeight rowHeight = RowHeight::Normal;  ///< Never `Fitted`.
    Previews previews = Previews::None;

    /// Returns metrics for text of this height: a name fits into a lane and a title into a row.
    static LayoutMetrics forText(int textHeight, RowHeight rowHeight, Previews previews = Previews::None);
    bool operator==(const LayoutMetrics&) const = default;
};

/// The user's arrangement of the tracks of a trace, stored for later runs. Tracks are identified by
/// their path of titles ("GPU 0/Compute, stream 7"), so that an arrangement fits the next recording
/// of the same program too. Paths missing in a trace are ignored.
struct TrackArrangement {
    std::vector<std::string> order = {};  ///< All tracks from top to bottom; empty for the trace's own.
    std::vector<std::string> hidden = {};
    std::vector<std::string> pinned = {};
    std::vector<std::string> folded = {};    ///< Folded, although open by default.
    std::vector<std::string> unfolded = {};  ///< Open, although folded by default.
    RowHeight height = RowHeight::Normal;

    bool isDefault() const { return *this == TrackArrangement(); }
    bool operator==(const TrackArrangement&) const = default;
};

/// Returns the path of each track. Tracks with the same path get a number ("GPU 0/Compute, stream
/// 7#2"). O(total length).
std::vector<std::string> trackPaths(std::span<const Track> tracks);

/// Returns a compact JSON object without default values.
QByteArray toJson(const TrackArrangement& arrangement);
/// Returns nullopt if `json` is not a JSON object. Ignores members of an unexpected type, so that a
/// corrupt or newer file loses as little as possible.
std::optional<TrackArrangement> arrangementFromJson(const QByteArray& json);

/// Returns the default arrangement of the tracks of a trace: its own order, with idle GPUs folded and last. From
/// `manyGpus` working GPUs on, GPUs and their processes are sorted by rank and folded, with rows as high as fit the
/// window. Processes without calls and ranges are folded to their counters. Without a GPU, the threads with the most
/// CPU time come first, and those below a twentieth of it are folded. O(tracks log tracks) and the states of threads.
TrackArrangement firstArrangement(const Trace& trace);
inline constexpr size_t manyGpus = 4;

}  // namespace lanescope::views
