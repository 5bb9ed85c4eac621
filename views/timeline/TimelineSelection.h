// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <optional>

#include "model/search/SearchHits.h"
#include "views/timeline/EmptyPlace.h"
#include "views/timeline/TimelineTracks.h"
#include "views/timeline/TraceLanes.h"

namespace lanescope::views {

/// The parts of a timeline that stand out: the selected event and range, the marked gap, the
/// search hits, the time under the pointer and the highlighted name. In trace time. GUI thread.
class TimelineSelection : public QObject {
    Q_OBJECT

  public:
    /// Both outlive this. The track of a selected event becomes the current one.
    TimelineSelection(const TraceLanes& lanes, TimelineTracks& tracks) : lanes_(lanes), tracks_(tracks) {}

    /// Clears everything, for another trace.
    void clear();
    EventRef event() const { return event_; }
    /// Selects an event and removes the gap mark; invalid clears.
    void setEvent(EventRef event);
    std::optional<TimeRange> range() const { return range_; }
    /// An empty range clears, too.
    void setRange(std::optional<TimeRange> range);
    const std::optional<GapMark>& gapMark() const { return gapMark_; }
    /// Marks a time range on some tracks until an event is selected; nullopt removes it.
    void setGapMark(std::optional<GapMark> mark);
    /// Returns the search hits, or null.
    const SearchHits* hits() const { return hits_.get(); }
    /// Marks these events of the trace on the tracks and in the overview; null clears.
    void setHits(SearchHitsPtr hits);
    std::optional<int64_t> hoverTime() const { return hoverTimeNs_; }
    void setHoverTime(std::optional<int64_t> timeNs);

    /// Returns the name whose slices stand out while others fade: that under the resting pointer,
    /// else that of the selected event. 0 for none or if highlighting is off.
    StringIndex highlightedName() const;
    void setHoveredName(StringIndex name);
    void setHighlighting(bool isOn);
    bool isHighlighting() const { return isHighlighting_; }

  signals:
    void eventChanged(lanescope::EventRef event);
    void rangeChanged(std::optional<lanescope::TimeRange> range);
    void gapMarkChanged();
    void hitsChanged();
    void hoverTimeChanged();
    void highlightChanged();

  private:
    template <class Change>
    void changeHighlight(const Change& change);

    const TraceLanes& lanes_;
    TimelineTracks& tracks_;
    EventRef event_;
    std::optional<TimeRange> range_;
    std::optional<GapMark> gapMark_;
    SearchHitsPtr hits_;
    std::optional<int64_t> hoverTimeNs_;
    StringIndex hoveredName_ = 0;
    StringIndex selectedName_ = 0;
    bool isHighlighting_ = true;
};

}  // namespace lanescope::views
