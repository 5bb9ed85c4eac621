// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/timelineCommands.h"

#include <QCoreApplication>

#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

constexpr double zoomStep = 1.6;
constexpr double panStep = 0.2;  // of what is visible

struct Translated {
    Q_DECLARE_TR_FUNCTIONS(TimelineCommands)
};

QString tr(const char* text) {
    return Translated::tr(text);
}

void zoomMiddle(TimelineView& timeline, double factor) {
    const TimeRange range = timeline.visibleRange()->range();
    timeline.visibleRange()->zoomAt(range.startNs + range.durationNs() / 2, factor);
}

void pan(TimelineView& timeline, double screens) {
    const double visibleNs = double(timeline.visibleRange()->range().durationNs());
    timeline.visibleRange()->pan(static_cast<int64_t>(visibleNs * screens));
}

void stepRowHeight(TimelineView& timeline, int step) {
    const int next = static_cast<int>(timeline.rowHeight()) + step;
    if (next < 0 || next > static_cast<int>(RowHeight::Tall)) return;
    timeline.setRowHeight(static_cast<RowHeight>(next));
}

using Menu = TimelineCommand::Menu;
using View = TimelineView;

std::vector<TimelineCommand> editCommands() {
    return {
        {Menu::Edit,
         tr("&Copy what is selected"),
         {Qt::CTRL | Qt::Key_C},
         [](View& view) { view.copySelected(); },
         {},
         true},
        {Menu::Edit,
         tr("Select the event's time as &range"),
         {Qt::Key_R},
         [](View& view) { view.selectTimeOfEvent(); }},
    };
}

std::vector<TimelineCommand> viewCommands() {
    TimelineCommand wheel{Menu::View, tr("&Wheel scrolls the tracks"), {}, [](View& view) {
                              view.setWheelScrolling(!view.isWheelScrolling());
                          }};
    wheel.startsGroup = true;
    wheel.isOn = [](const View& view) { return view.isWheelScrolling(); };
    return {
        {Menu::View,
         tr("Show the &whole trace"),
         {Qt::CTRL | Qt::Key_0, Qt::Key_0},
         [](View& view) { view.fit(); },
         "fit",
         false,
         true},
        {Menu::View,
         tr("Show what was seen fi&rst"),
         {Qt::ALT | Qt::Key_Home},
         [](View& view) { view.showFirstRange(); },
         {},
         false,
         true},
        {Menu::View,
         tr("Zoom &in"),
         {Qt::Key_W},
         [](View& view) { zoomMiddle(view, zoomStep); },
         "zoom-in"},
        {Menu::View,
         tr("Zoom &out"),
         {Qt::Key_S},
         [](View& view) { zoomMiddle(view, 1 / zoomStep); },
         "zoom-out"},
        {Menu::View,
         tr("Zoom to the &selection"),
         {Qt::Key_F, Qt::CTRL | Qt::Key_Return},
         [](View& view) { view.zoomToSelection(); },
         "zoom-selection"},
        {Menu::View,
         tr("Zoom to the selected &event"),
         {Qt::Key_Return},
         [](View& view) { view.zoomToEvent(); }},
        {Menu::View,
         tr("&Back to the view before"),
         {Qt::Key_Z, Qt::Key_Backspace},
         [](View& view) { view.goBack(); },
         {},
         true},
        {Menu::View,
         tr("For&ward again"),
         {Qt::SHIFT | Qt::Key_Z, Qt::SHIFT | Qt::Key_Backspace},
         [](View& view) { view.goForward(); }},
        {Menu::View,
         tr("Pan &left"),
         {Qt::Key_A},
         [](View& view) { pan(view, -panStep); },
         {},
         true},
        {Menu::View, tr("Pan &right"), {Qt::Key_D}, [](View& view) { pan(view, panStep); }},
        {Menu::View,
         tr("&Clear the selection"),
         {Qt::Key_Escape},
         [](View& view) { view.clearSelection(); }},
        wheel,
    };
}

std::vector<TimelineCommand> goCommands() {
    return {
        {Menu::Go,
         tr("Slice to the &right"),
         {Qt::Key_Right},
         [](View& view) { view.selectNeighbour(1, SliceStep::Visible); }},
        {Menu::Go,
         tr("Slice to the &left"),
         {Qt::Key_Left},
         [](View& view) { view.selectNeighbour(-1, SliceStep::Visible); }},
        {Menu::Go,
         tr("Ne&xt slice, however small"),
         {Qt::Key_Period},
         [](View& view) { view.selectNeighbour(1, SliceStep::Single); }},
        {Menu::Go,
         tr("&Previous slice, however small"),
         {Qt::Key_Comma},
         [](View& view) { view.selectNeighbour(-1, SliceStep::Single); }},
        {Menu::Go,
         tr("&First slice of the lane"),
         {Qt::Key_Home},
         [](View& view) { view.selectEndOfLane(-1); }},
        {Menu::Go,
         tr("L&ast slice of the lane"),
         {Qt::Key_End},
         [](View& view) { view.selectEndOfLane(1); }},
        {Menu::Go,
         tr("Lane &above"),
         {Qt::Key_Up},
         [](View& view) { view.selectAdjacentLane(-1); }},
        {Menu::Go,
         tr("Lane &below"),
         {Qt::Key_Down},
         [](View& view) { view.selectAdjacentLane(1); }},
        {Menu::Go,
         tr("What it &caused"),
         {Qt::Key_E},
         [](View& view) { view.followFlow(1); },
         {},
         true},
        {Menu::Go, tr("What caused &it"), {Qt::Key_Q}, [](View& view) { view.followFlow(-1); }},
        {Menu::Go,
         tr("Same place in the &other run"),
         {Qt::Key_B},
         [](View& view) { view.selectCounterpart(); }},
        {Menu::Go,
         tr("A page of tracks &up"),
         {Qt::Key_PageUp},
         [](View& view) { view.scrollPages(-1); },
         {},
         true},
        {Menu::Go,
         tr("A page of tracks &down"),
         {Qt::Key_PageDown},
         [](View& view) { view.scrollPages(1); }},
        {Menu::Go,
         tr("First track"),
         {Qt::CTRL | Qt::Key_Home},
         [](View& view) { view.scrollToTop(); }},
        {Menu::Go,
         tr("Last track"),
         {Qt::CTRL | Qt::Key_End},
         [](View& view) { view.scrollToBottom(); }},
    };
}

std::vector<TimelineCommand> colourCommands() {
    const auto colorBy = [](const QString& text, Qt::Key key, ColorMode mode) {
        TimelineCommand command{
            Menu::Colour, text, {Qt::CTRL | key}, [mode](View& view) { view.setColorMode(mode); }};
        command.isChoice = true;
        command.isOn = [mode](const View& view) { return view.colorMode() == mode; };
        return command;
    };
    TimelineCommand highlight{
        Menu::Colour, tr("&Highlight slices of one name"),
        {Qt::Key_X},  [](View& view) { view.setHighlighting(!view.isHighlighting()); },
        {},           true};
    highlight.isOn = [](const View& view) { return view.isHighlighting(); };
    return {colorBy(tr("By &name"), Qt::Key_1, ColorMode::Name),
            colorBy(tr("By &kind"), Qt::Key_2, ColorMode::Kind),
            colorBy(tr("By &stream"), Qt::Key_3, ColorMode::Stream),
            colorBy(tr("By NCCL &operation"), Qt::Key_4, ColorMode::NcclOperation),
            colorBy(tr("By Python &line"), Qt::Key_5, ColorMode::PythonLine),
            colorBy(tr("By Python &function"), Qt::Key_6, ColorMode::PythonFunction),
            highlight};
}

std::vector<TimelineCommand> trackCommands() {
    TimelineCommand leaveOut{
        Menu::Tracks, tr("Leave &out what is empty in view"), {}, [](View& view) {
            view.setLeavingOutEmpty(!view.isLeavingOutEmpty());
        }};
    leaveOut.isOn = [](const View& view) { return view.isLeavingOutEmpty(); };
    return {
        {Menu::Tracks,
         tr("&Filter by name…"),
         {Qt::Key_T, Qt::CTRL | Qt::SHIFT | Qt::Key_T},
         [](View& view) { view.filterTracks(); }},
        {Menu::Tracks,
         tr("&Pin or unpin"),
         {Qt::Key_P},
         [](View& view) { view.togglePinnedTrack(); },
         {},
         true},
        {Menu::Tracks, tr("&Hide"), {Qt::Key_H}, [](View& view) { view.hideTrack(); }},
        {Menu::Tracks,
         tr("Hide all that are &empty in view"),
         {Qt::CTRL | Qt::Key_H},
         [](View& view) { view.hideEmptyTracks(); }},
        leaveOut,
        {Menu::Tracks,
         tr("&Show all hidden tracks"),
         {Qt::SHIFT | Qt::Key_H},
         [](View& view) { view.showAllTracks(); }},
        {Menu::Tracks,
         tr("Move &up"),
         {Qt::ALT | Qt::Key_Up},
         [](View& view) { view.moveTrack(-1); }},
        {Menu::Tracks,
         tr("Move &down"),
         {Qt::ALT | Qt::Key_Down},
         [](View& view) { view.moveTrack(1); }},
        {Menu::Tracks,
         tr("Fold or &unfold"),
         {Qt::Key_Space},
         [](View& view) { view.toggleFold(false); },
         {},
         true},
        {Menu::Tracks,
         tr("Fold or unfold with every&thing in it"),
         {Qt::SHIFT | Qt::Key_Space},
         [](View& view) { view.toggleFold(true); }},
        {Menu::Tracks,
         tr("Fold &all tracks"),
         {Qt::CTRL | Qt::SHIFT | Qt::Key_F},
         [](View& view) { view.foldAll(); },
         {},
         false,
         true},
        {Menu::Tracks,
         tr("U&nfold all tracks"),
         {Qt::CTRL | Qt::SHIFT | Qt::Key_E},
         [](View& view) { view.unfoldAll(); },
         {},
         false,
         true},
        {Menu::Tracks,
         tr("Un&do what was done to the tracks"),
         {Qt::Key_U},
         [](View& view) { view.undoArrangement(); },
         {},
         true},
        {Menu::Tracks, tr("Arran&ge as at first"), {}, [](View& view) { view.arrangeAsAtFirst(); }},
        {Menu::Tracks,
         tr("&Taller rows"),
         {Qt::CTRL | Qt::Key_Plus, Qt::CTRL | Qt::Key_Equal},
         [](View& view) { stepRowHeight(view, 1); },
         {},
         true,
         true},
        {Menu::Tracks,
         tr("&Lower rows"),
         {Qt::CTRL | Qt::Key_Minus},
         [](View& view) { stepRowHeight(view, -1); },
         {},
         false,
         true},
    };
}

}  // namespace

std::vector<TimelineCommand> timelineCommands() {
    std::vector<TimelineCommand> commands;
    for (auto& part :
         {editCommands(), viewCommands(), goCommands(), trackCommands(), colourCommands()})
        commands.insert(commands.end(), part.begin(), part.end());
    return commands;
}

}  // namespace lanescope::viewer
