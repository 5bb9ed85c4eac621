// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Registers the roles of the parts of a timeline for screen readers: the labels are a tree, the
/// tracks a chart. May be called repeatedly.
void installTimelineAccessibility();

/// Describes the selection: "gemm, 12.3 us at 1.2 ms, Compute, stream 7 of GPU 0", or the length of
/// a selected range. Without either, describes how to begin.
QString spokenSelection(const TimelineState& state);

/// Describes the current track: "Compute, stream 7, PID 721, level 2, folded, pinned"; without one,
/// the number of tracks.
QString spokenTrack(const TimelineState& state);

}  // namespace lanescope::views
