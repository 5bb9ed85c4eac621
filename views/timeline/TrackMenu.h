// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// Starts a group of entries with a title that cannot be chosen; without a line at the top of a menu. Styled menus do
/// not show the texts of `QMenu::addSection`.
void addMenuTitle(QMenu& menu, const QString& text);

/// Returns a name from a file as the text of an entry, which must set neither a mnemonic nor a shortcut.
QString menuText(const QString& name);

// User commands for one track, by menu, key or mouse. Each does nothing if `track` is not a track of the state.

/// Folds or unfolds, including the descendants if `isDeep`.
void toggleFold(TimelineState& state, uint32_t track, bool isDeep);
void togglePinned(TimelineState& state, uint32_t track);
/// Hides the track; the row that takes its place becomes the current one.
void hideTrack(TimelineState& state, uint32_t track);
void showAllTracks(TimelineState& state);
/// Hides all tracks without events in the visible range; of two counterparts both or none. `companion` may be null.
void hideEmptyTracks(TimelineState& state, TimelineState* companion);
/// Moves the track past the next sibling above (-1) or below (+1), and keeps it visible.
void moveTrack(TimelineState& state, uint32_t track, int direction);

/// Makes the row above (-1) or below (+1) the current one; the first visible one if there is none yet.
void stepCurrentTrack(TimelineState& state, int direction);
/// Works as in a tree: left folds or goes to the group, right unfolds or goes into it.
void foldOrLeave(TimelineState& state, bool isDeep);
void unfoldOrEnter(TimelineState& state, bool isDeep);

/// The commands for one track and for all tracks, for the labels. Each entry shows its key.
class TrackMenu : public QMenu {
    Q_OBJECT
  public:
    /// `state` outlives the menu. If `track` is `noIndex`, contains only the commands for all tracks.
    TrackMenu(TimelineState& state, uint32_t track, QWidget* parent = nullptr);

    /// Fills `menu` with the hidden tracks, to show one or all of them again.
    static void addHidden(QMenu& menu, TimelineState& state);

  signals:
    void rowHeightChosen(lanescope::views::RowHeight height);

  private:
    void addTrackEntries(TimelineState& state, uint32_t track);
    void addHeights(RowHeight current);
};

}  // namespace lanescope::views
