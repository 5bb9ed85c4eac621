// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trace/Track.h"
#include "views/timeline/LayoutMetrics.h"

namespace lanescope::views {

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

}  // namespace lanescope::views
