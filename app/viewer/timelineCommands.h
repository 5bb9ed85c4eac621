// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>
#include <vector>

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

/// Something that menus, keys and the finder do to a timeline.
struct TimelineCommand {
    enum class Menu { Edit, View, Go, Tracks, Colour };
    Menu menu = Menu::View;
    QString text;  ///< With a mnemonic.
    QList<QKeySequence> keys;
    std::function<void(views::TimelineView&)> run;
    QString icon = {};          ///< Also in the tool bar if it has one.
    bool startsGroup = false;   ///< A line stands before it in the menu.
    bool isEverywhere = false;  ///< Its keys work wherever the keyboard is in the window.
    /// Whether a check mark stands before it; empty for what is done and over.
    std::function<bool(const views::TimelineView&)> isOn = {};
    bool isChoice = false;  ///< One of those of its menu that exclude each other.
};

/// All of them in the order of the menus. Keys that are no part of this list do nothing but what
/// the manual (`resources/manual/look.md`) says of single widgets.
std::vector<TimelineCommand> timelineCommands();

}  // namespace lanescope::viewer
