// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackMenu.h"

#include <algorithm>

#include "model/lod/reduceToPixels.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"

namespace lanescope::views {
namespace {

bool isTrack(const TimelineState& state, uint32_t track) {
    return state.hasTracks() && track < state.trace()->tracks.size();
}

void setFolded(TimelineState& state, uint32_t track, bool isFolded, bool isDeep) {
    state.tracks().arrangeInPlace([&](TrackLayout& layout) {
        isDeep ? layout.setFoldedWithin(track, isFolded) : layout.setFolded(track, isFolded);
    });
}

std::vector<bool> emptyTracksOf(const TimelineState& state) {
    return state.hasTracks() ? emptyTracks(*state.trace(), state.range().visible()) : std::vector<bool>();
}

/// Clears in `isEmpty`, by track of `state`, the tracks with non-empty counterparts and the groups around them.
void keepCounterparts(const TimelineState& state, const std::vector<bool>& isEmptyThere, std::vector<bool>& isEmpty) {
    for (size_t track = isEmpty.size(); track-- > 0;) {
        const uint32_t there = state.tracks().counterpartOf(static_cast<uint32_t>(track));
        if (there < isEmptyThere.size() && !isEmptyThere[there]) isEmpty[track] = false;
        const int32_t parent = state.trace()->tracks[track].parent;
        if (!isEmpty[track] && parent >= 0) isEmpty[static_cast<size_t>(parent)] = false;
    }
}

void hide(TimelineState& state, const std::vector<bool>& tracks) {
    if (!state.hasTracks()) return;
    state.tracks().arrangeInPlace([&](TrackLayout& layout) { layout.hide(tracks); });
    const uint32_t current = state.tracks().current();
    if (!isTrack(state, current) || state.tracks().layout().rowOf(current)) return;
    const LayoutRow* top = state.tracks().layout().rowAt(state.scroll().toLayoutY(0));
    state.tracks().setCurrent(top ? top->track : noIndex);
}

/// Scrolls as little as possible to the row of `track`.
void scrollTrackIntoView(TimelineState& state, uint32_t track) {
    const LayoutRow* row = state.tracks().layout().rowOf(track);
    const int pinned = state.scroll().pinnedHeight();
    if (!row || row->top < pinned) return;
    if (row->top < state.scroll().y() + pinned) {
        state.scroll().setY(row->top - pinned);
    } else if (row->bottom() > state.scroll().y() + state.scroll().viewportHeight()) {
        state.scroll().setY(std::min(row->top - pinned, row->bottom() - state.scroll().viewportHeight()));
    }
}

/// Shows a hidden track again and scrolls to it.
void showTrack(TimelineState& state, uint32_t track) {
    if (!isTrack(state, track)) return;
    state.tracks().reveal(track);
    state.tracks().setCurrent(track);
    scrollTrackIntoView(state, track);
}

constexpr size_t maxListed = 40;
constexpr int maxNameLength = 60;

QString entryText(const Track& track) {
    QString text = toQString(track.title).simplified();
    if (!track.subtitle.empty()) text += ", " + toQString(track.subtitle).simplified();
    return menuText(text);
}

}  // namespace

QString menuText(const QString& name) {
    QString text = name.size() > maxNameLength ? name.left(maxNameLength - 1) + QChar(0x2026) : name;
    return text.replace('&', "&&");
}

void addMenuTitle(QMenu& menu, const QString& text) {
    if (!menu.isEmpty() && !menu.actions().back()->isSeparator()) menu.addSeparator();
    QAction* title = menu.addAction(text);
    title->setEnabled(false);
    title->setFont(strong(menu.font()));
}

void toggleFold(TimelineState& state, uint32_t track, bool isDeep) {
    if (!isTrack(state, track)) return;
    setFolded(state, track, !state.tracks().layout().isFolded(track), isDeep);
}

void togglePinned(TimelineState& state, uint32_t track) {
    if (!isTrack(state, track)) return;
    const bool isPinned = state.tracks().layout().isPinned(track);
    state.tracks().arrangeInPlace([&](TrackLayout& layout) { layout.setPinned(track, !isPinned); });
    if (isPinned) scrollTrackIntoView(state, track);
}

void hideTrack(TimelineState& state, uint32_t track) {
    if (!isTrack(state, track)) return;
    const LayoutRow* row = state.tracks().layout().rowOf(track);
    const int top = row ? row->top : 0;
    state.tracks().arrange([&](TrackLayout& layout) { layout.setHidden(track, true); });
    const LayoutRow* next = state.tracks().layout().rowAt(top);
    state.tracks().setCurrent(next ? next->track : noIndex);
}

void showAllTracks(TimelineState& state) {
    state.tracks().arrangeInPlace([](TrackLayout& layout) {
        for (const uint32_t track : layout.hiddenTracks()) layout.setHidden(track, false);
    });
}

void hideEmptyTracks(TimelineState& state, TimelineState* companion) {
    std::vector<bool> isEmpty = emptyTracksOf(state);
    if (!companion) return hide(state, isEmpty);
    std::vector<bool> isEmptyThere = emptyTracksOf(*companion);
    const std::vector<bool> wasEmpty = isEmpty;
    keepCounterparts(state, isEmptyThere, isEmpty);
    keepCounterparts(*companion, wasEmpty, isEmptyThere);
    hide(state, isEmpty);
    hide(*companion, isEmptyThere);
}

void moveTrack(TimelineState& state, uint32_t track, int direction) {
    if (!isTrack(state, track)) return;
    const uint32_t sibling = state.tracks().layout().siblingOf(track, direction);
    if (sibling == noIndex) return;
    state.tracks().arrange([&](TrackLayout& layout) { layout.moveTo(track, sibling); });
    scrollTrackIntoView(state, track);
}

void stepCurrentTrack(TimelineState& state, int direction) {
    const auto& rows = state.tracks().layout().rows();
    if (rows.empty()) return;
    const LayoutRow* row = state.tracks().layout().visibleRowOf(state.tracks().current());
    if (!row) {
        row = state.tracks().layout().rowAt(state.scroll().toLayoutY(0));
        if (row) state.tracks().setCurrent(row->track);
        return;
    }
    // A track in a folded group is represented by the group.
    const bool isGroupRow = row->track != state.tracks().current();
    const auto index =
        std::clamp<std::ptrdiff_t>(row - rows.data() + (isGroupRow ? 0 : direction), 0, std::ssize(rows) - 1);
    state.tracks().setCurrent(rows[index].track);
    scrollTrackIntoView(state, rows[index].track);
}

void foldOrLeave(TimelineState& state, bool isDeep) {
    const uint32_t track = state.tracks().current();
    if (!isTrack(state, track)) return;
    if (state.tracks().layout().canFold(track) && !state.tracks().layout().isFolded(track))
        return setFolded(state, track, true, isDeep);
    const LayoutRow* group = state.tracks().layout().visibleRowOf(state.tracks().layout().parentOf(track));
    if (!group) return;
    state.tracks().setCurrent(group->track);
    scrollTrackIntoView(state, group->track);
}

void unfoldOrEnter(TimelineState& state, bool isDeep) {
    const uint32_t track = state.tracks().current();
    if (!isTrack(state, track)) return;
    if (state.tracks().layout().canFold(track) && (isDeep || state.tracks().layout().isFolded(track)))
        return setFolded(state, track, false, isDeep);
    const LayoutRow* row = state.tracks().layout().rowOf(track);
    if (!row || row == &state.tracks().layout().rows().back()) return;
    if (const LayoutRow* next = row + 1; next->depth > row->depth) {
        state.tracks().setCurrent(next->track);
        scrollTrackIntoView(state, next->track);
    }
}

TrackMenu::TrackMenu(TimelineState& state, uint32_t track, QWidget* parent) : QMenu(parent) {
    if (state.hasTracks() && track < state.trace()->tracks.size()) addTrackEntries(state, track);
    QMenu* hidden = addMenu(tr("Hidden tracks"));
    addHidden(*hidden, state);
    hidden->setEnabled(!hidden->isEmpty());
    addHeights(state.tracks().layout().metrics().rowHeight);
    addSeparator();
    const auto setAll = [&state](bool isFolded) { state.tracks().setAllFolded(isFolded); };
    addAction(tr("Fold all tracks"), this, [setAll] { setAll(true); });
    addAction(tr("Unfold all tracks"), this, [setAll] { setAll(false); });
}

void TrackMenu::addTrackEntries(TimelineState& state, uint32_t track) {
    const TrackLayout& layout = state.tracks().layout();
    addMenuTitle(*this, entryText(state.trace()->tracks[track]));
    if (layout.canFold(track)) {
        const bool isFolded = layout.isFolded(track);
        addAction(isFolded ? tr("Unfold\tRight") : tr("Fold\tLeft"), this,
                  [&state, track] { toggleFold(state, track, false); });
        addAction(isFolded ? tr("Unfold with all in it\tShift+Right") : tr("Fold with all in it\tShift+Left"), this,
                  [&state, track] { toggleFold(state, track, true); });
    }
    addAction(layout.isPinned(track) ? tr("Unpin\tP") : tr("Pin to the top\tP"), this,
              [&state, track] { togglePinned(state, track); });
    addAction(tr("Hide\tH"), this, [&state, track] { hideTrack(state, track); });
    const auto addMove = [&](const QString& text, int direction) {
        QAction* action = addAction(text, this, [&state, track, direction] { moveTrack(state, track, direction); });
        action->setEnabled(layout.siblingOf(track, direction) != noIndex);
    };
    addMove(tr("Move up\tAlt+Up"), -1);
    addMove(tr("Move down\tAlt+Down"), +1);
    addSeparator();
}

void TrackMenu::addHidden(QMenu& menu, TimelineState& state) {
    const std::vector<uint32_t> hidden = state.tracks().layout().hiddenTracks();
    for (size_t i = 0; i < std::min(hidden.size(), maxListed); ++i) {
        const uint32_t track = hidden[i];
        menu.addAction(entryText(state.trace()->tracks[track]), &menu, [&state, track] { showTrack(state, track); });
    }
    if (hidden.size() > maxListed) menu.addAction(tr("and %1 more").arg(hidden.size() - maxListed))->setEnabled(false);
    if (hidden.empty()) return;
    menu.addSeparator();
    menu.addAction(tr("Show all of them"), &menu, [&state] { showAllTracks(state); });
}

void TrackMenu::addHeights(RowHeight current) {
    QMenu* menu = addMenu(tr("Row height"));
    const std::pair<QString, RowHeight> heights[] = {
        {tr("Compact"), RowHeight::Compact}, {tr("Normal"), RowHeight::Normal}, {tr("Tall"), RowHeight::Tall}};
    for (const auto& [text, height] : heights) {
        QAction* action = menu->addAction(text, this, [this, height = height] { emit rowHeightChosen(height); });
        action->setCheckable(true);
        action->setChecked(height == current);
    }
}

}  // namespace lanescope::views
