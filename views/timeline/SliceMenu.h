// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>
#include <optional>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Puts what is selected on the clipboard, as text and as tab-separated values for spreadsheets:
/// name, track, start and duration in nanoseconds of the event, or start and duration of the gap or
/// the range. False, and nothing done, without a selection.
bool copySelection(const TimelineState& state);

/// What the pointer is on: a slice, or an empty place of a track.
struct TimelinePlace {
    uint32_t track = noIndex;
    int64_t timeNs = 0;
    EventRef event;       ///< Invalid for an empty place and for slices that sum up others.
    TimeRange range;      ///< Of the slice or of the idle gap; empty for neither.
    bool isIdle = false;  ///< Something is told of the empty place.
};

/// What can be done to a slice, an idle gap or an empty place, for the tracks. Each entry names the
/// key that does the same to what is selected.
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
