#include "views/timeline/PairedRows.h"

#include <QScopedValueRollback>

#include "views/timeline/TimelineNavigator.h"

namespace lanescope {

PairedRows::PairedRows(TimelineState& first, TimelineState& second, std::vector<TrackPair> pairs,
                       QObject* parent)
    : QObject(parent), first_(first), second_(second), pairs_(std::move(pairs)) {
    std::vector<uint32_t> ofFirst(first_.hasTracks() ? first_.trace()->tracks.size() : 0, noIndex);
    std::vector<uint32_t> ofSecond(second_.hasTracks() ? second_.trace()->tracks.size() : 0,
                                   noIndex);
    for (const TrackPair& pair : pairs_) {
        if (pair.baseline < ofFirst.size()) ofFirst[pair.baseline] = pair.candidate;
        if (pair.candidate < ofSecond.size()) ofSecond[pair.candidate] = pair.baseline;
    }
    first_.setCounterparts(std::move(ofFirst));
    second_.setCounterparts(std::move(ofSecond));
    follow(first_, second_);
    connect(&first_, &TimelineState::layoutChanged, this, [this] { follow(first_, second_); });
    connect(&second_, &TimelineState::layoutChanged, this, [this] { follow(second_, first_); });
    connect(&first_, &TimelineState::scrolled, this,
            [this] { second_.setScrollY(first_.scrollY()); });
    connect(&second_, &TimelineState::scrolled, this,
            [this] { first_.setScrollY(second_.scrollY()); });
}

TimelineState& PairedRows::active() const {
    return second_.selectedEvent().isValid() ? second_ : first_;
}

void PairedRows::selectCounterpart() {
    TimelineState& from = active();
    TimelineState& to = &from == &first_ ? second_ : first_;
    if (!from.selectedEvent().isValid() || !to.hasTracks()) return;
    const SliceLocation at = from.trace()->locate(from.selectedEvent());
    const uint32_t track = at.isValid() ? from.counterpartOf(at.track) : noIndex;
    if (track == noIndex || at.lane >= to.trace()->tracks[track].lanes.size()) return;
    const TimeRange range = from.trace()->rangeOf(from.selectedEvent());
    const int64_t axisNs = range.startNs + range.durationNs() / 2 - from.timeOrigin();
    TimelineNavigator(to).selectNearest({track, at.lane}, axisNs + to.timeOrigin());
}

void PairedRows::follow(TimelineState& changed, TimelineState& other) {
    if (isArranging_) return;
    const QScopedValueRollback guard(isArranging_, true);
    const bool isFirst = &changed == &first_;
    for (const TrackPair& pair : pairs_) {
        if (pair.baseline == noIndex || pair.candidate == noIndex) continue;
        const uint32_t track = isFirst ? pair.baseline : pair.candidate;
        const uint32_t counterpart = isFirst ? pair.candidate : pair.baseline;
        const bool isFolded = changed.layout().isFolded(track);
        if (other.layout().canFold(counterpart) && changed.layout().canFold(track) &&
            other.layout().isFolded(counterpart) != isFolded)
            other.setFolded(counterpart, isFolded);
    }
    arrange();
}

void PairedRows::arrange() {
    std::vector<int> aboveFirst(first_.hasTracks() ? first_.trace()->tracks.size() : 0, 0);
    std::vector<int> aboveSecond(second_.hasTracks() ? second_.trace()->tracks.size() : 0, 0);
    int top = 0, firstBottom = 0, secondBottom = 0;
    const auto place = [&top](const TimelineState& state, uint32_t track, std::vector<int>& above,
                              int& bottom) {
        const LayoutRow* row = state.layout().rowOf(track);
        if (!row || track >= above.size()) return;
        above[track] = top - bottom;
        top += row->height;
        bottom = top;
    };
    for (const TrackPair& pair : pairs_) {
        place(first_, pair.baseline, aboveFirst, firstBottom);
        place(second_, pair.candidate, aboveSecond, secondBottom);
    }
    first_.setSpaces(std::move(aboveFirst), top - firstBottom);
    second_.setSpaces(std::move(aboveSecond), top - secondBottom);
    second_.setScrollY(first_.scrollY());
}

}  // namespace lanescope
