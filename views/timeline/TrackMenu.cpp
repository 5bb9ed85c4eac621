// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackMenu.h"

#include "views/text/toQString.h"
#include "views/timeline/trackCommands.h"

namespace lanescope::views {
namespace {

constexpr size_t mostListed = 40;
constexpr int longestName = 60;

/// A name from a file must neither set a mnemonic nor a key.
QString entryText(const Track& track) {
    QString text = toQString(track.title).simplified();
    if (!track.subtitle.empty()) text += ", " + toQString(track.subtitle).simplified();
    if (text.size() > longestName) text = text.left(longestName - 1) + QChar(0x2026);
    return text.replace('&', "&&");
}

}  // namespace

TrackMenu::TrackMenu(TimelineState& state, uint32_t track, QWidget* parent) : QMenu(parent) {
    if (state.hasTracks() && track < state.trace()->tracks.size()) addTrackEntries(state, track);
    QMenu* hidden = addMenu(tr("Hidden tracks"));
    addHidden(*hidden, state);
    hidden->setEnabled(!hidden->isEmpty());
    addHeights(state.layout().metrics().rowHeight);
    addSeparator();
    const auto setAll = [&state](bool isFolded) {
        state.arrange([=](TrackLayout& layout) { layout.setAllFolded(isFolded); });
    };
    addAction(tr("Fold all tracks"), this, [setAll] { setAll(true); });
    addAction(tr("Unfold all tracks"), this, [setAll] { setAll(false); });
}

void TrackMenu::addTrackEntries(TimelineState& state, uint32_t track) {
    const TrackLayout& layout = state.layout();
    addSection(entryText(state.trace()->tracks[track]));
    if (layout.canFold(track)) {
        const bool isFolded = layout.isFolded(track);
        addAction(isFolded ? tr("Unfold\tRight") : tr("Fold\tLeft"), this,
                  [&state, track] { toggleFold(state, track, false); });
        addAction(isFolded ? tr("Unfold with all in it\tShift+Right")
                           : tr("Fold with all in it\tShift+Left"),
                  this, [&state, track] { toggleFold(state, track, true); });
    }
    addAction(layout.isPinned(track) ? tr("Unpin\tP") : tr("Pin to the top\tP"), this,
              [&state, track] { togglePinned(state, track); });
    addAction(tr("Hide\tH"), this, [&state, track] { hideTrack(state, track); });
    const auto addMove = [&](const QString& text, int direction) {
        QAction* action = addAction(
            text, this, [&state, track, direction] { moveTrack(state, track, direction); });
        action->setEnabled(layout.siblingOf(track, direction) != noIndex);
    };
    addMove(tr("Move up\tAlt+Up"), -1);
    addMove(tr("Move down\tAlt+Down"), +1);
    addSeparator();
}

void TrackMenu::addHidden(QMenu& menu, TimelineState& state) {
    const std::vector<uint32_t> hidden = state.layout().hiddenTracks();
    for (size_t i = 0; i < std::min(hidden.size(), mostListed); ++i) {
        const uint32_t track = hidden[i];
        menu.addAction(entryText(state.trace()->tracks[track]), &menu,
                       [&state, track] { showTrack(state, track); });
    }
    if (hidden.size() > mostListed)
        menu.addAction(tr("and %1 more").arg(hidden.size() - mostListed))->setEnabled(false);
    if (hidden.empty()) return;
    menu.addSeparator();
    menu.addAction(tr("Show all of them"), &menu, [&state] { showAllTracks(state); });
}

void TrackMenu::addHeights(RowHeight current) {
    QMenu* menu = addMenu(tr("Row height"));
    const std::pair<QString, RowHeight> heights[] = {{tr("Compact"), RowHeight::Compact},
                                                     {tr("Normal"), RowHeight::Normal},
                                                     {tr("Tall"), RowHeight::Tall}};
    for (const auto& [text, height] : heights) {
        QAction* action =
            menu->addAction(text, this, [this, height = height] { emit rowHeightChosen(height); });
        action->setCheckable(true);
        action->setChecked(height == current);
    }
}

}  // namespace lanescope::views
