// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QKeyEvent;

namespace lanescope::views {

class TimelineView;

/// Does what a key that is pressed once means to a timeline; see `resources/manual/look.md`.
/// False for keys that mean nothing, among them those that move the view while they are held.
bool handleTimelineKey(TimelineView& view, const QKeyEvent& event);

}  // namespace lanescope::views
