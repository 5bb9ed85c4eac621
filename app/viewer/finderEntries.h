// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/viewer/FinderEntry.h"

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

class ViewerActions;

/// Every command of the menus that can be done now, with its menu and keys.
std::vector<FinderEntry> commandEntries(const ViewerActions& actions);
/// Appends the tracks of a timeline; choosing one unfolds, scrolls to and lights it.
void addTrackEntries(std::vector<FinderEntry>& entries, views::TimelineView& timeline);

/// The text of a command as it is read: without mnemonics and dots.
QString commandName(const QString& text);

}  // namespace lanescope::viewer
