// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

class QWheelEvent;

namespace lanescope::views {

/// What every part with a time axis does with the wheel: zoom at the pointer, pan with Shift or a
/// horizontal wheel. `scale` is that part's own axis. Where `scrollsTracks`, it scrolls them if the
/// user wants that (`TimelineState::isWheelScrolling`), and zooms with Ctrl.
void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale,
               bool scrollsTracks = false);

/// How far the pointer may tremble and still click.
inline constexpr int clickTolerance = 4;

}  // namespace lanescope::views
