// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/search/SearchHits.h"
#include "model/trace/Trace.h"
#include "model/trace/healthNotes.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TrackLayout.h"
#include "views/timeline/VisibleRange.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// What the parts of one timeline share: the trace, where one looks, and what is selected. The
/// parts only paint it and change it through the setters here, each of which says what it changed.
/// Times are the trace's own unless they are said to be shared. GUI thread.
class TimelineState : public QObject {
    Q_OBJECT

  public:
    explicit TimelineState(QObject* parent = nullptr);
    ~TimelineState() override;

    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return trace_; }
    bool hasTracks() const { return trace_ && !trace_->tracks.empty(); }
    const Lane& laneAt(LanePosition position) const;
    /// The counter that is drawn in a lane, or null. Of a group that is its first one.
    const CounterSeries* counterAt(LanePosition position) const;
    /// Its number; `noIndex` for a lane of slices. A track of two directions has two lanes.
    uint32_t counterIndexAt(LanePosition position) const;
    // Slices of a lane and values of a counter are selected and hovered alike.
    uint32_t sliceCount(LanePosition position) const;
    TimeRange sliceRange(LanePosition position, uint32_t slice) const;
    /// Invalid for a slice that only sums up others.
    EventRef sliceEvent(LanePosition position, uint32_t slice) const;
    /// The slice at `timeNs`, at most `toleranceNs` away.
    std::optional<uint32_t> sliceAt(LanePosition position, int64_t timeNs,
                                    int64_t toleranceNs) const;
    /// The lane must not be empty.
    uint32_t nearestSlice(LanePosition position, int64_t timeNs) const;

    void setTheme(const Theme& theme);
    const Theme& theme() const { return theme_; }

    /// What the colours of slices tell.
    void setColorMode(ColorMode mode);
    ColorMode colorMode() const { return colorMode_; }
    /// Slices of one name stand out, and others fade: of the name that the pointer rests on, else
    /// of the selected event. 0 for none, or when highlighting is off.
    StringIndex highlightedName() const;
    void setHoveredName(StringIndex name);
    void setHighlighting(bool isOn);
    bool isHighlighting() const { return isHighlighting_; }
    /// Whether a wheel over the tracks scrolls them, and zooms with Ctrl; else it zooms.
    void setWheelScrolling(bool isOn) { isWheelScrolling_ = isOn; }
    bool isWheelScrolling() const { return isWheelScrolling_; }
    /// Whether `histogramWanted` and `listWanted` lead anywhere.
    void setTablesOffered(bool isOn) { hasTables_ = isOn; }
    bool hasTables() const { return hasTables_; }
    /// Where something of the trace went wrong.
    const std::vector<HealthPlace>& healthPlaces() const { return healthPlaces_; }
    /// What a slice is called on its lane; 0 for values of counters and slices that sum up others.
    StringIndex nameAt(LanePosition position, uint32_t slice) const;

    void setVisibleRange(VisibleRange* range);
    VisibleRange* visibleRange() const;
    void setTimeOrigin(int64_t traceTimeNs);
    int64_t timeOrigin() const { return timeOriginNs_; }
    TimeRange visible() const { return visibleRange()->range().shifted(timeOriginNs_); }
    TimeRange limits() const { return visibleRange()->limits().shifted(timeOriginNs_); }
    void setVisible(TimeRange range) { visibleRange()->setRange(range.shifted(-timeOriginNs_)); }
    void zoomAt(int64_t timeNs, double factor);
    TimeScale scale(double width) const { return {visible(), width, 0}; }

    const TrackLayout& layout() const { return layout_; }
    /// Changes the layout in any way and says so once. What that does to folding, order, hidden and
    /// pinned tracks can be taken back.
    void arrange(const std::function<void(TrackLayout&)>& change);
    /// Takes back what was done last to the tracks; false if there is nothing.
    bool undoArrangement();
    /// What was done until now is not to be taken back.
    void forgetArrangements() { undo_.clear(); }
    void setMetrics(const LayoutMetrics& metrics);
    void setFolded(uint32_t track, bool isFolded);
    void revealTrack(uint32_t track);
    /// Shows only tracks with all of these words in title or subtitle; empty for all tracks.
    void setFilterText(const QString& text);
    const QString& filterText() const { return filterText_; }
    /// The track that the commands for tracks and the keys in the labels are about, or `noIndex`.
    uint32_t currentTrack() const { return currentTrack_; }
    void setCurrentTrack(uint32_t track);
    /// By track, the track of another trace that shows the same thing, or `noIndex`. Empty without
    /// another trace.
    void setCounterparts(std::vector<uint32_t> tracks);
    uint32_t counterpartOf(uint32_t track) const;
    /// The timeline that the counterparts are of; null without one.
    void setOther(const TimelineState* other);
    /// Of the part of a counter that is visible, together with what stands beside it to be
    /// compared: the other direction of its link, and its counterparts in the other timeline.
    CounterScale counterScale(LanePosition position) const;
    /// There is another trace, and it has nothing like this track.
    bool isUnmatched(uint32_t track) const;
    /// The colour of the bar beside each track that says whose it is; invalid for none.
    void setMark(const QColor& color);
    const QColor& mark() const { return mark_; }

    void setViewportHeight(int height);
    int viewportHeight() const { return viewportHeight_; }
    int scrollY() const { return scrollY_; }
    int maximumScrollY() const;
    void setScrollY(int y);
    // Pinned rows stay while the others scroll under them: heights on the screen count from the top
    // of the canvas, heights of the layout from the top of all rows.
    /// Pixels at the top of the screen that do not scroll; 0 if they would leave too little room.
    int pinnedHeight() const;
    /// The height on the screen of a height of the layout.
    int toScreenY(int layoutY) const;
    /// The height of the layout that is seen at a height on the screen.
    int toLayoutY(int screenY) const;
    /// A part of the screen whose rows scroll together.
    struct Band {
        std::span<const LayoutRow> rows;
        int scrollY = 0;          ///< To subtract from heights of the layout.
        int top = 0, bottom = 0;  ///< On the screen; nothing of the rows is seen outside.
    };
    /// The rows on a screen of this height: those that scroll, then the pinned ones.
    std::array<Band, 2> bands(int height) const;

    EventRef selectedEvent() const { return selectedEvent_; }
    void setSelectedEvent(EventRef event);
    std::optional<TimeRange> selectedRange() const { return selectedRange_; }
    void setSelectedRange(std::optional<TimeRange> range);
    void setEmptyPlaces(EmptyPlaces places) { emptyPlaces_ = std::move(places); }
    const EmptyPlaces& emptyPlaces() const { return emptyPlaces_; }
    const std::optional<GapMark>& gapMark() const { return gapMark_; }
    void setGapMark(std::optional<GapMark> mark);
    /// What GPUs did is painted in their summaries instead of how busy they were.
    void setGpuParts(GpuParts parts);
    const GpuParts& gpuParts() const { return gpuParts_; }
    std::optional<int64_t> hoverTime() const { return hoverTimeNs_; }
    void setHoverTime(std::optional<int64_t> timeNs);
    /// What a search found, or null.
    const SearchHits* hits() const { return hits_.get(); }
    void setHits(SearchHitsPtr hits);

  signals:
    void traceChanged();
    void themeChanged();
    void viewChanged();    ///< Another visible range, limits or origin.
    void layoutChanged();  ///< Arrangement of the tracks, metrics, scroll limits.
    void currentTrackChanged();
    void scrolled();
    void selectedEventChanged(lanescope::EventRef event);
    void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
    void gapMarkChanged();
    /// The user clicked where nothing is drawn and something is known.
    void emptyPlaceActivated(uint32_t track, int64_t timeNs);
    void hoverTimeChanged();
    // What the menu of a slice asks for, and others know.
    void nameWanted(const QString& name);
    void histogramWanted(lanescope::EventRef event);
    void listWanted(lanescope::EventRef event);
    void hitsChanged();
    void highlightChanged();

  private:
    void publishExtent();
    void afterLayout();
    template <class Change>
    void changeHighlight(const Change& change);

    TracePtr trace_;
    std::vector<HealthPlace> healthPlaces_;
    std::vector<uint32_t> lowerCounters_;  ///< `CounterPairs::lowerOf`.
    Theme theme_ = Theme::light();
    ColorMode colorMode_ = ColorMode::Name;
    bool isHighlighting_ = true;
    bool isWheelScrolling_ = false;
    bool hasTables_ = false;
    StringIndex hoveredName_ = 0;
    StringIndex selectedName_ = 0;
    VisibleRange ownRange_;
    QPointer<VisibleRange> sharedRange_;
    int64_t timeOriginNs_ = 0;
    TrackLayout layout_;
    std::vector<TrackArrangement> undo_;  ///< The latest last.
    std::vector<uint32_t> counterparts_;
    QPointer<const TimelineState> other_;
    QColor mark_;
    QString filterText_;
    uint32_t currentTrack_ = noIndex;
    int viewportHeight_ = 0;
    int scrollY_ = 0;
    EventRef selectedEvent_;
    std::optional<TimeRange> selectedRange_;
    EmptyPlaces emptyPlaces_;
    std::optional<GapMark> gapMark_;
    GpuParts gpuParts_;
    std::optional<int64_t> hoverTimeNs_;
    SearchHitsPtr hits_;
};

}  // namespace lanescope::views
