// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Tells screen readers what the parts of a timeline are: the labels a tree, the tracks a chart.
/// May be called any number of times.
void installTimelineAccessibility();

/// What is to be read of the selection: "gemm, 12.3 us at 1.2 ms, Compute, stream 7 of GPU 0"; and
/// of a selected range its length. Without either how to begin.
QString spokenSelection(const TimelineState& state);

/// "Compute, stream 7, PID 721, level 2, folded, pinned"; of a state without a current track how
/// many tracks there are.
QString spokenTrack(const TimelineState& state);

}  // namespace lanescope::views
