// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TimelineSelection.h"

#include <utility>

namespace lanescope::views {

void TimelineSelection::clear() {
    setEvent({});
    setRange(std::nullopt);
    setHoverTime(std::nullopt);
    setHits(nullptr);
    setGapMark(std::nullopt);
    setHoveredName(0);
}

void TimelineSelection::setEvent(EventRef event) {
    if (event == event_) return;
    event_ = event;
    const SliceLocation at = lanes_.trace() && event.isValid() ? lanes_.trace()->locate(event) : SliceLocation();
    if (at.isValid()) tracks_.setCurrent(at.track);
    changeHighlight([&] { selectedName_ = at.isValid() ? lanes_.nameAt({at.track, at.lane}, at.slice) : 0; });
    if (event.isValid()) setGapMark(std::nullopt);
    emit eventChanged(event);
}

void TimelineSelection::setRange(std::optional<TimeRange> range) {
    if (range && range->isEmpty()) range.reset();
    if (range == range_) return;
    range_ = range;
    emit rangeChanged(range);
}

void TimelineSelection::setGapMark(std::optional<GapMark> mark) {
    if (!mark && !gapMark_) return;
    gapMark_ = std::move(mark);
    emit gapMarkChanged();
}

void TimelineSelection::setHits(SearchHitsPtr hits) {
    if (hits && hits->isEmpty()) hits.reset();
    if (hits == hits_) return;
    hits_ = std::move(hits);
    emit hitsChanged();
}

void TimelineSelection::setHoverTime(std::optional<int64_t> timeNs) {
    if (timeNs == hoverTimeNs_) return;
    hoverTimeNs_ = timeNs;
    emit hoverTimeChanged();
}

StringIndex TimelineSelection::highlightedName() const {
    if (!isHighlighting_) return 0;
    return hoveredName_ != 0 ? hoveredName_ : selectedName_;
}

void TimelineSelection::setHoveredName(StringIndex name) {
    changeHighlight([&] { hoveredName_ = name; });
}

void TimelineSelection::setHighlighting(bool isOn) {
    changeHighlight([&] { isHighlighting_ = isOn; });
}

template <class Change>
void TimelineSelection::changeHighlight(const Change& change) {
    const StringIndex before = highlightedName();
    change();
    if (highlightedName() != before) emit highlightChanged();
}

}  // namespace lanescope::views
