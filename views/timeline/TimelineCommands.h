// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/timeline/TimelineState.h"

class QWidget;

namespace lanescope::views {

class PairedRows;
enum class SliceStep : uint8_t;

/// The commands of a timeline, for menus, keys and the widgets around it. With a companion, a
/// command applies to the timeline of the selected event or of the current track, or to both. The
/// current track is the last one clicked or walked to, or that of the selected event. GUI thread.
class TimelineCommands {
  public:
    /// `state` and `canvas` outlive this object. `canvas` is as wide as the visible range.
    TimelineCommands(TimelineState& state, const QWidget& canvas) : state_(state), canvas_(canvas) {}

    /// Adds the timeline whose tracks are shown, too; null for none.
    void setCompanion(TimelineState* companion, PairedRows* rows);
    /// Returns the state of the selected event.
    TimelineState& active() const;

    /// Shows the whole trace.
    void fit() { state_.range().axis().fit(); }
    /// Zooms to the selected range, else to the selected event, else out to everything.
    void zoomToSelection();
    /// Zooms to the selected event, also if a range is selected; does nothing without one.
    void zoomToEvent();
    /// Scrolls nearly a screen of tracks up (-1) or down (+1).
    void scrollPages(int direction);
    void scrollToTop() { state_.scroll().setY(0); }
    void scrollToBottom() { state_.scroll().setY(state_.scroll().maxY()); }
    /// Resets the arrangement of the tracks and the view.
    void restoreDefaults();

    /// Selects the next (+1) or previous (-1) slice of the lane; see `TimelineNavigator`.
    void selectNeighbour(int direction, SliceStep step);
    /// Selects the first (-1) or last (+1) slice of the lane.
    void selectEndOfLane(int direction);
    /// Selects the nearest slice in the lane above (-1) or below (+1).
    void selectAdjacentLane(int direction);
    /// With a companion: selects the same place of the other trace.
    void selectCounterpart();
    /// Selects the effect of the selected event (+1) or its cause (-1).
    void followFlow(int direction);
    /// Selects the time of the selected event or gap as the range; clears the range if it is selected already.
    void selectTimeOfEvent();
    void clearSelection();
    /// Copies the selection to the clipboard; see `copySelection`.
    void copySelected();

    void togglePinnedTrack();
    void hideTrack();
    void moveTrack(int direction);
    /// Folds or unfolds the current track, including its descendants if `isDeep`.
    void toggleFold(bool isDeep);
    void showAllTracks();
    void hideEmptyTracks();
    /// Undoes the last change of folding, order, hidden and pinned tracks.
    void undoArrangement();

    void setColorMode(ColorMode mode);
    /// If true, slices with the name under the pointer, or of the selected one, stand out.
    void setHighlighting(bool isOn);

  private:
    /// Returns the state of the current track.
    TimelineState& trackState() const;

    TimelineState& state_;
    const QWidget& canvas_;
    TimelineState* companion_ = nullptr;
    PairedRows* rows_ = nullptr;
};

}  // namespace lanescope::views
