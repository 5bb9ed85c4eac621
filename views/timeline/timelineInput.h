// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

class QWheelEvent;

namespace lanescope::views {

/// What every part with a time axis does with the wheel: zoom at the pointer, pan with Shift or a
/// horizontal wheel. `scale` is that part's own axis.
void zoomOrPan(const QWheelEvent& event, TimelineState& state, const TimeScale& scale);

/// How far the pointer may tremble and still click.
inline constexpr int clickTolerance = 4;

}  // namespace lanescope::views
