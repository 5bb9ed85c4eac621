// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Puts what is selected on the clipboard, as text and as tab-separated values for spreadsheets:
/// name, track, start and duration in nanoseconds of the event, or start and duration of the gap or
/// the range. False, and nothing done, without a selection.
bool copySelection(const TimelineState& state);

}  // namespace lanescope::views
