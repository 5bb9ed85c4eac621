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

/// The shared state of the parts of one timeline: the trace, the view, and the selection. The parts
/// only paint it and change it through the setters here, each of which emits its change. Times are
/// trace time unless stated otherwise. GUI thread.
class TimelineState : public QObject {
    Q_OBJECT

  public:
    explicit TimelineState(QObject* parent = nullptr);
    ~TimelineState() override;

    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return trace_; }
    bool hasTracks() const { return trace_ && !trace_->tracks.empty(); }
    const Lane& laneAt(LanePosition position) const;
    /// Returns the counter drawn in a lane, or null. For a group, its first one.
    const CounterSeries* counterAt(LanePosition position) const;
    /// Returns its number; `noIndex` for a lane of slices. A track of two directions has two lanes.
    uint32_t counterIndexAt(LanePosition position) const;
    // Slices of a lane and values of a counter are selected and hovered alike.
    uint32_t sliceCount(LanePosition position) const;
    TimeRange sliceRange(LanePosition position, uint32_t slice) const;
    /// Invalid for a summary slice.
    EventRef sliceEvent(LanePosition position, uint32_t slice) const;
    /// Returns the slice at `timeNs`, at most `toleranceNs` away.
    std::optional<uint32_t> sliceAt(LanePosition position, int64_t timeNs,
                                    int64_t toleranceNs) const;
    /// The lane must not be empty.
    uint32_t nearestSlice(LanePosition position, int64_t timeNs) const;

    void setTheme(const Theme& theme);
    const Theme& theme() const { return theme_; }

    /// Sets the meaning of the slice colours.
    void setColorMode(ColorMode mode);
    ColorMode colorMode() const { return colorMode_; }
    /// Returns the name whose slices stand out while others fade: that under the resting pointer,
    /// else that of the selected event. 0 for none or if highlighting is off.
    StringIndex highlightedName() const;
    void setHoveredName(StringIndex name);
    void setHighlighting(bool isOn);
    bool isHighlighting() const { return isHighlighting_; }
    /// If true, the wheel over the tracks scrolls them and zooms with Ctrl; else it zooms.
    void setWheelScrolling(bool isOn) { isWheelScrolling_ = isOn; }
    bool isWheelScrolling() const { return isWheelScrolling_; }
    /// Enables `histogramRequested` and `listRequested`.
    void setTablesOffered(bool isOn) { hasTables_ = isOn; }
    bool hasTables() const { return hasTables_; }
    /// Returns the places of problems in the trace.
    const std::vector<HealthPlace>& healthPlaces() const { return healthPlaces_; }
    /// Returns the name of a slice on its lane; 0 for counter values and summary slices.
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
    /// Changes the layout and emits one signal. Changes of folding, order, hidden and pinned tracks
    /// can be undone.
    void arrange(const std::function<void(TrackLayout&)>& change);
    /// Undoes the last change of the arrangement; returns false if there is none.
    bool undoArrangement();
    /// Clears the undo steps.
    void forgetArrangements() { undo_.clear(); }
    void setMetrics(const LayoutMetrics& metrics);
    void setFolded(uint32_t track, bool isFolded);
    void revealTrack(uint32_t track);
    /// Shows only tracks with all of these words in title or subtitle; empty for all tracks.
    void setFilterText(const QString& text);
    const QString& filterText() const { return filterText_; }
    /// Returns the track that track commands and label keys apply to, or `noIndex`.
    uint32_t currentTrack() const { return currentTrack_; }
    void setCurrentTrack(uint32_t track);
    /// Sets, by track, the counterpart in another trace, or `noIndex`. Empty without another trace.
    void setCounterparts(std::vector<uint32_t> tracks);
    uint32_t counterpartOf(uint32_t track) const;
    /// Sets the timeline of the counterparts; null without one.
    void setOther(const TimelineState* other);
    /// Returns the scale for the visible part of a counter together with the counters to compare:
    /// the other direction of its link, and its counterparts in the other timeline.
    CounterScale counterScale(LanePosition position) const;
    /// Returns true if another trace exists without a counterpart of this track.
    bool isUnmatched(uint32_t track) const;
    /// Sets the colour of the bar next to each track that identifies its trace; invalid for none.
    void setMark(const QColor& color);
    const QColor& mark() const { return mark_; }

    void setViewportHeight(int height);
    int viewportHeight() const { return viewportHeight_; }
    int scrollY() const { return scrollY_; }
    int maxScrollY() const;
    void setScrollY(int y);
    // Pinned rows stay while the others scroll under them: screen heights count from the top of the
    // canvas, layout heights from the top of all rows.
    /// Returns the height in pixels of the pinned part; 0 if it would leave too little room.
    int pinnedHeight() const;
    /// Converts a layout height to a screen height.
    int toScreenY(int layoutY) const;
    /// Converts a screen height to a layout height.
    int toLayoutY(int screenY) const;
    /// A part of the screen whose rows scroll together.
    struct Band {
        std::span<const LayoutRow> rows;
        int scrollY = 0;          ///< To subtract from layout heights.
        int top = 0, bottom = 0;  ///< On the screen; rows are clipped to this.
    };
    /// Returns the bands of a screen of this height: the scrolling rows, then the pinned ones.
    std::array<Band, 2> bands(int height) const;

    EventRef selectedEvent() const { return selectedEvent_; }
    void setSelectedEvent(EventRef event);
    std::optional<TimeRange> selectedRange() const { return selectedRange_; }
    void setSelectedRange(std::optional<TimeRange> range);
    void setEmptyPlaces(EmptyPlaces places) { emptyPlaces_ = std::move(places); }
    const EmptyPlaces& emptyPlaces() const { return emptyPlaces_; }
    const std::optional<GapMark>& gapMark() const { return gapMark_; }
    void setGapMark(std::optional<GapMark> mark);
    /// Sets the source of GPU parts; summaries of GPUs then show the parts instead of utilization.
    void setGpuParts(GpuParts parts);
    const GpuParts& gpuParts() const { return gpuParts_; }
    std::optional<int64_t> hoverTime() const { return hoverTimeNs_; }
    void setHoverTime(std::optional<int64_t> timeNs);
    /// Returns the search hits, or null.
    const SearchHits* hits() const { return hits_.get(); }
    void setHits(SearchHitsPtr hits);

  signals:
    void traceChanged();
    void themeChanged();
    void viewChanged();    ///< Emitted on a change of the visible range, limits or origin.
    void layoutChanged();  ///< Emitted on a change of the arrangement, metrics or scroll limits.
    void currentTrackChanged();
    void scrolled();
    void selectedEventChanged(lanescope::EventRef event);
    void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
    void gapMarkChanged();
    /// Emitted when the user clicked an empty place with an explanation.
    void emptyPlaceActivated(uint32_t track, int64_t timeNs);
    void hoverTimeChanged();
    // Requests of the slice menu that others handle.
    void nameRequested(const QString& name);
    void histogramRequested(lanescope::EventRef event);
    void listRequested(lanescope::EventRef event);
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
