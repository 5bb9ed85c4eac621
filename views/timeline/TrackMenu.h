// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

// What the user can do to one track, by menu, key or mouse. Each does nothing if `track` is no
// track of the state.

/// Folds or unfolds, with everything in it if `isDeep`.
void toggleFold(TimelineState& state, uint32_t track, bool isDeep);
void togglePinned(TimelineState& state, uint32_t track);
/// Hides the track; the row that takes its place becomes the current one.
void hideTrack(TimelineState& state, uint32_t track);
/// Shows a hidden track again and scrolls to it.
void showTrack(TimelineState& state, uint32_t track);
void showAllTracks(TimelineState& state);
/// Hides all tracks that have nothing in the visible range, so that the others come together; of
/// two tracks that are counterparts both or none. `companion` may be null.
void hideEmptyTracks(TimelineState& state, TimelineState* companion);
/// Past the next sibling above (-1) or below (+1), and keeps it on the screen.
void moveTrack(TimelineState& state, uint32_t track, int direction);

/// Makes the row above (-1) or below (+1) the current one; the first that can be seen if there is
/// none yet.
void stepCurrentTrack(TimelineState& state, int direction);
/// As in a tree: left folds or goes to the group, right unfolds or goes into it.
void foldOrLeave(TimelineState& state, bool isDeep);
void unfoldOrEnter(TimelineState& state, bool isDeep);
/// Scrolls as little as needed for the row of `track`.
void scrollTrackIntoView(TimelineState& state, uint32_t track);

/// What can be done to one track and to all of them, for the labels. Each entry names the key that
/// does the same.
class TrackMenu : public QMenu {
    Q_OBJECT

  public:
    /// `state` outlives the menu. `track` may be `noIndex`: then only what concerns all tracks.
    TrackMenu(TimelineState& state, uint32_t track, QWidget* parent = nullptr);

    /// Fills `menu` with the hidden tracks, each to be shown again, and all of them.
    static void addHidden(QMenu& menu, TimelineState& state);

  signals:
    void rowHeightChosen(lanescope::views::RowHeight height);

  private:
    void addTrackEntries(TimelineState& state, uint32_t track);
    void addHeights(RowHeight current);
};

}  // namespace lanescope::views
