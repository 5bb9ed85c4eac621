// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Copies the selection to the clipboard, as text and as tab-separated values for spreadsheets:
/// name, track, start and duration in nanoseconds of the event, or start and duration of the gap or
/// the range. Returns false and does nothing without a selection.
bool copySelection(const TimelineState& state);

/// The place under the pointer: a slice, or an empty place of a track.
struct TimelinePlace {
    uint32_t track = noIndex;
    int64_t timeNs = 0;
    EventRef event;       ///< Invalid for an empty place and for summary slices.
    TimeRange range;      ///< Time of the slice or the idle gap; empty for neither.
    bool isIdle = false;  ///< The empty place has an explanation.
};

/// The commands for a slice, an idle gap or an empty place of the tracks. Each entry shows the key
/// of the same command for the selection.
class SliceMenu : public QMenu {
    Q_OBJECT
  public:
    /// `state` outlives the menu.
    SliceMenu(TimelineState& state, const TimelinePlace& place, QWidget* parent = nullptr);

  private:
    void addSliceEntries();
    void addRangeEntries();
    void addTrackEntries();

    TimelineState& state_;
    TimelinePlace place_;
};

}  // namespace lanescope::views
