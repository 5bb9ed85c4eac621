// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/PairedRows.h"

#include <QScopedValueRollback>
#include <algorithm>

#include "views/timeline/TimelineNavigator.h"

namespace lanescope::views {

PairedRows::PairedRows(TimelineState& first, TimelineState& second, std::vector<compare::TrackPair> pairs,
                       QObject* parent)
    : QObject(parent), first_(first), second_(second), pairs_(std::move(pairs)) {
    std::vector<uint32_t> ofFirst(first_.hasTracks() ? first_.trace()->tracks.size() : 0, noIndex);
    std::vector<uint32_t> ofSecond(second_.hasTracks() ? second_.trace()->tracks.size() : 0, noIndex);
    for (const compare::TrackPair& pair : pairs_) {
        if (pair.baseline < ofFirst.size()) ofFirst[pair.baseline] = pair.candidate;
        if (pair.candidate < ofSecond.size()) ofSecond[pair.candidate] = pair.baseline;
    }
    first_.tracks().setCounterparts(std::move(ofFirst));
    second_.tracks().setCounterparts(std::move(ofSecond));
    first_.setOther(&second_);
    second_.setOther(&first_);
    joinTrees();
    follow(first_, second_);
    connect(&first_.tracks(), &TimelineTracks::changed, this, [this] { follow(first_, second_); });
    connect(&second_.tracks(), &TimelineTracks::changed, this, [this] { follow(second_, first_); });
    connect(&first_.scroll(), &TrackScroll::scrolled, this, [this] { second_.scroll().setY(first_.scroll().y()); });
    connect(&second_.scroll(), &TrackScroll::scrolled, this, [this] { first_.scroll().setY(second_.scroll().y()); });
}

void PairedRows::selectCounterpart() {
    TimelineState& from = active();
    TimelineState& to = &from == &first_ ? second_ : first_;
    if (!from.selection().event().isValid() || !to.hasTracks()) return;
    const SliceLocation at = from.trace()->locate(from.selection().event());
    const uint32_t track = at.isValid() ? from.tracks().counterpartOf(at.track) : noIndex;
    if (track == noIndex || at.lane >= to.trace()->tracks[track].lanes.size()) return;
    const TimeRange range = from.trace()->rangeOf(from.selection().event());
    const int64_t axisNs = range.startNs + range.durationNs() / 2 - from.range().origin();
    TimelineNavigator(to).selectNearest({track, at.lane}, axisNs + to.range().origin());
}

void PairedRows::joinTrees() {
    children_.assign(pairs_.size() + 1, {});
    std::vector<uint32_t> pairOf[2];
    const TimelineState* const sides[] = {&first_, &second_};
    for (const int side : {0, 1}) {
        pairOf[side].assign(sides[side]->hasTracks() ? sides[side]->trace()->tracks.size() : 0, noIndex);
        for (uint32_t pair = 0; pair < pairs_.size(); ++pair) {
            const uint32_t track = trackOf(pair, side == 0);
            if (track < pairOf[side].size()) pairOf[side][track] = pair;
        }
    }
    for (uint32_t pair = 0; pair < pairs_.size(); ++pair) {
        uint32_t parentPair = noIndex;
        for (const int side : {0, 1}) {
            const uint32_t parent = sides[side]->tracks().layout().parentOf(trackOf(pair, side == 0));
            if (parent < pairOf[side].size()) parentPair = std::min(parentPair, pairOf[side][parent]);
        }
        children_[parentPair < pair ? parentPair : pairs_.size()].push_back(pair);
    }
}

std::vector<uint32_t> PairedRows::preOrder() const {
    std::vector<uint32_t> order;
    std::vector<uint32_t> open(children_.back().rbegin(), children_.back().rend());
    while (!open.empty()) {
        const uint32_t pair = open.back();
        open.pop_back();
        order.push_back(pair);
        open.insert(open.end(), children_[pair].rbegin(), children_[pair].rend());
    }
    return order;
}

void PairedRows::follow(TimelineState& changed, TimelineState& other) {
    if (isArranging_) return;
    const QScopedValueRollback guard(isArranging_, true);
    const bool isFirst = &changed == &first_;
    orderLike(changed.tracks().layout(), isFirst);
    std::vector<uint32_t> order;
    for (const uint32_t pair : preOrder())
        if (const uint32_t track = trackOf(pair, !isFirst); track != noIndex) order.push_back(track);
    other.tracks().arrange([&](TrackLayout& layout) {
        layout.setMetrics(changed.tracks().layout().metrics());
        copyMarks(changed.tracks().layout(), layout, isFirst);
        if (layout.order() != order) layout.setOrder(order);
    });
    other.tracks().setFilterText(changed.tracks().filterText());
    joinFilters();
    arrange();
}

void PairedRows::copyMarks(const TrackLayout& from, TrackLayout& to, bool isFirst) const {
    for (uint32_t pair = 0; pair < pairs_.size(); ++pair) {
        const uint32_t track = trackOf(pair, isFirst);
        const uint32_t counterpart = trackOf(pair, !isFirst);
        if (track == noIndex || counterpart == noIndex) continue;
        if (from.canFold(track) && to.canFold(counterpart)) to.setFolded(counterpart, from.isFolded(track));
        to.setHidden(counterpart, from.isHidden(track));
        to.setPinned(counterpart, from.isPinned(track));
    }
}

void PairedRows::orderLike(const TrackLayout& changed, bool isFirst) {
    const std::vector<uint32_t> order = changed.order();
    std::vector<uint32_t> rank(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    for (std::vector<uint32_t>& siblings : children_) {
        // A track that exists only on the other side stays after the sibling that it follows there.
        std::vector<std::pair<int64_t, uint32_t>> ranked;
        int64_t last = -1;
        for (const uint32_t pair : siblings) {
            const uint32_t track = trackOf(pair, isFirst);
            if (track < rank.size()) last = rank[track];
            ranked.emplace_back(last, pair);
        }
        std::ranges::stable_sort(ranked, {}, &std::pair<int64_t, uint32_t>::first);
        for (size_t i = 0; i < siblings.size(); ++i) siblings[i] = ranked[i].second;
    }
}

void PairedRows::joinFilters() {
    std::vector<bool> first = first_.tracks().layout().filter();
    std::vector<bool> second = second_.tracks().layout().filter();
    if (first.empty() && second.empty()) return;
    for (const compare::TrackPair& pair : pairs_) {
        if (pair.baseline >= first.size() || pair.candidate >= second.size()) continue;
        const bool isMatch = first[pair.baseline] || second[pair.candidate];
        first[pair.baseline] = second[pair.candidate] = isMatch;
    }
    first_.tracks().arrange([&](TrackLayout& layout) { layout.setFilter(std::move(first)); });
    second_.tracks().arrange([&](TrackLayout& layout) { layout.setFilter(std::move(second)); });
}

void PairedRows::arrange() {
    std::vector<int> aboveFirst(first_.hasTracks() ? first_.trace()->tracks.size() : 0, 0);
    std::vector<int> aboveSecond(second_.hasTracks() ? second_.trace()->tracks.size() : 0, 0);
    int top = 0, firstBottom = 0, secondBottom = 0;
    const auto place = [&top](const TimelineState& state, uint32_t track, std::vector<int>& above, int& bottom,
                              bool isPinned) {
        const LayoutRow* row = state.tracks().layout().rowOf(track);
        if (!row || row->isPinned != isPinned || track >= above.size()) return;
        above[track] = top - bottom;
        top += row->height;
        bottom = top;
    };
    const std::vector<uint32_t> order = preOrder();
    const auto placeAll = [&](bool isPinned) {
        for (const uint32_t pair : order) {
            place(first_, pairs_[pair].baseline, aboveFirst, firstBottom, isPinned);
            place(second_, pairs_[pair].candidate, aboveSecond, secondBottom, isPinned);
        }
    };
    placeAll(true);
    const int pinnedBottom = firstBottom = secondBottom = top;
    placeAll(false);
    first_.tracks().arrange(
        [&](TrackLayout& layout) { layout.setSpaces(std::move(aboveFirst), top - firstBottom, pinnedBottom); });
    second_.tracks().arrange(
        [&](TrackLayout& layout) { layout.setSpaces(std::move(aboveSecond), top - secondBottom, pinnedBottom); });
    second_.scroll().setY(first_.scroll().y());
}

}  // namespace lanescope::views
