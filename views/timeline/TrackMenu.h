// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

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
