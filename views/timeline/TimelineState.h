// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QObject>
#include <QPointer>
#include <memory>
#include <optional>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/search/findEvents.h"
#include "model/trace/healthNotes.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineTracks.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// The visible time range, and the only place that clamps it. Several timelines may share one, each
/// with its own time origin, and then zoom and pan together. Times are nanoseconds on the shared
/// axis: trace time minus the view's origin. GUI thread.
class VisibleRange : public QObject {
    Q_OBJECT
  public:
    static constexpr int64_t minVisibleNs = 10;

    using QObject::QObject;

    TimeRange range() const { return range_; }
    /// Returns the union of all extents with a small margin.
    TimeRange limits() const { return limits_; }
    bool isFitted() const { return range_ == limits_; }

    /// Shows `range`, moved and clipped to the limits, widened to `minVisibleNs`.
    void setRange(TimeRange range);
    /// A factor above 1 zooms in. `timeNs` keeps its place on the screen unless a limit is hit.
    void zoomAt(int64_t timeNs, double factor);
    /// Positive: towards later. Stops at the limits without changing the duration.
    void pan(int64_t byNs);
    /// Shows all extents.
    void fit() { setRange(limits_); }

    /// Sets the extent of one of the sharing views. If everything was visible before, everything is
    /// visible afterwards. An empty extent withdraws it, as does the destruction of `owner`.
    void setExtent(const QObject* owner, TimeRange extent);

  signals:
    void changed(lanescope::TimeRange range);
    void limitsChanged(lanescope::TimeRange limits);

  private:
    struct Extent {
        const QObject* owner;
        TimeRange range;
    };
    TimeRange clamped(TimeRange range) const;
    void updateLimits();

    std::vector<Extent> extents_;
    TimeRange limits_{0, minVisibleNs};
    TimeRange range_{0, minVisibleNs};
};

/// The visible part of a timeline in trace time. Several timelines may share one axis, each with
/// its own origin. GUI thread.
class TimelineRange : public QObject {
    Q_OBJECT
  public:
    explicit TimelineRange(QObject* parent = nullptr);
    ~TimelineRange() override;

    /// Shares `axis` with other timelines; null restores the timeline's own. Not owned.
    void setAxis(VisibleRange* axis);
    /// Times of the axis are trace time minus the origin.
    VisibleRange& axis() const { return sharedAxis_ ? *sharedAxis_ : const_cast<VisibleRange&>(ownAxis_); }
    /// Sets the trace time at 0 of the axis.
    void setOrigin(int64_t traceTimeNs);
    int64_t origin() const { return originNs_; }
    /// Sets the range of the trace; empty without one.
    void setExtent(TimeRange range);

    TimeRange visible() const { return axis().range().shifted(originNs_); }
    TimeRange limits() const { return axis().limits().shifted(originNs_); }
    void setVisible(TimeRange range) { axis().setRange(range.shifted(-originNs_)); }
    void zoomAt(int64_t timeNs, double factor) { axis().zoomAt(timeNs - originNs_, factor); }
    /// Shows a range with a margin, in the part of the view that nothing covers.
    void zoomTo(TimeRange range);
    /// Sets the shares of the view, from its left and its right edge, that a panel covers. Nothing moves.
    void setCovered(double leftShare, double rightShare);
    TimeScale scale(double width) const { return {visible(), width, 0}; }

    /// Sets the range to begin with in place of the whole trace.
    void setDefaultRange(std::optional<TimeRange> range) { default_ = range; }
    const std::optional<TimeRange>& defaultRange() const { return default_; }
    void showDefaultRange() { default_ ? zoomTo(*default_) : axis().fit(); }

  signals:
    /// Emitted on a change of the visible range, limits or origin.
    void changed();

  private:
    void publishExtent() { axis().setExtent(this, extent_.shifted(-originNs_)); }

    VisibleRange ownAxis_;
    QPointer<VisibleRange> sharedAxis_;
    TimeRange extent_;
    int64_t originNs_ = 0;
    double coveredLeft_ = 0, coveredRight_ = 0;
    std::optional<TimeRange> default_;
};

struct CriticalPath;

/// Returns a range around the middle of `range`, which is this share of it.
TimeRange withMargins(TimeRange range, double share);

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
    /// Returns the shown critical path, or null.
    const std::shared_ptr<const CriticalPath>& path() const { return path_; }
    void setPath(std::shared_ptr<const CriticalPath> path);
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
    void pathChanged();
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
    std::shared_ptr<const CriticalPath> path_;
    std::optional<int64_t> hoverTimeNs_;
    StringIndex hoveredName_ = 0;
    StringIndex selectedName_ = 0;
    bool isHighlighting_ = true;
};

/// The user's choices for a timeline: how it looks and what the wheel does. GUI thread.
class TimelineOptions : public QObject {
    Q_OBJECT
  public:
    void setTheme(const Theme& theme);
    const Theme& theme() const { return theme_; }
    /// Sets the meaning of the slice colours.
    void setColorMode(ColorMode mode);
    ColorMode colorMode() const { return colorMode_; }
    /// Sets the colour of the bar next to each track that identifies its trace; invalid for none.
    void setMark(const QColor& color);
    const QColor& mark() const { return mark_; }
    /// If true, the wheel over the tracks scrolls them and zooms with Ctrl; else it zooms.
    void setWheelScrolling(bool isOn) { isWheelScrolling_ = isOn; }
    bool isWheelScrolling() const { return isWheelScrolling_; }

  signals:
    void changed();  ///< Emitted on a change of theme, colours or mark.

  private:
    Theme theme_ = Theme::light();
    ColorMode colorMode_ = ColorMode::Name;
    QColor mark_;
    bool isWheelScrolling_ = false;
};

/// The state that the parts of one timeline share: the trace and what is known about it, and one object each for the
/// visible range, the tracks, the selection and the options. The parts only paint the state and change it through
/// setters, each of which emits its change. Times are trace time. GUI thread.
class TimelineState : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;

    /// Shows `trace`, or nothing for null. Clears selection, hits, arrangement and defaults.
    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return lanes_.trace(); }
    bool hasTracks() const { return lanes_.hasTracks(); }
    const TraceLanes& lanes() const { return lanes_; }
    const std::vector<WarningPlace>& healthPlaces() const { return healthPlaces_; }

    TimelineRange& range() { return range_; }
    const TimelineRange& range() const { return range_; }
    TimelineTracks& tracks() { return tracks_; }
    const TimelineTracks& tracks() const { return tracks_; }
    TrackScroll& scroll() { return tracks_.scroll(); }
    const TrackScroll& scroll() const { return tracks_.scroll(); }
    TimelineSelection& selection() { return selection_; }
    const TimelineSelection& selection() const { return selection_; }
    TimelineOptions& options() { return options_; }
    const TimelineOptions& options() const { return options_; }

    /// Sets the source of explanations of empty places.
    void setEmptyPlaces(EmptyPlaces places) { emptyPlaces_ = std::move(places); }
    const EmptyPlaces& emptyPlaces() const { return emptyPlaces_; }
    /// Sets the source of GPU parts, painted in the summaries in the colours of the parts of a
    /// step; null = utilization.
    void setGpuParts(GpuParts parts);
    const GpuParts& gpuParts() const { return gpuParts_; }
    /// Enables `histogramRequested` and `listRequested`.
    void setTablesOffered(bool isOn) { hasTables_ = isOn; }
    bool hasTables() const { return hasTables_; }

    /// Sets the timeline of the counterparts; null without one.
    void setOther(const TimelineState* other) { other_ = other; }
    /// Returns the scale for the visible part of a counter together with the counters to compare:
    /// the other direction of its link, and its counterparts in the other timeline.
    CounterScale counterScale(LanePosition position) const;

  signals:
    void traceChanged();
    void gpuPartsChanged();
    /// Emitted when the user clicked an empty place with an explanation.
    void emptyPlaceActivated(uint32_t track, int64_t timeNs);
    // From the menu of a slice: search for a name, show durations and times of all events of that
    // name, show an event in the list of events.
    void nameRequested(const QString& name);
    void histogramRequested(lanescope::EventRef event);
    void listRequested(lanescope::EventRef event);

  private:
    TraceLanes lanes_;
    std::vector<WarningPlace> healthPlaces_;
    TimelineRange range_;
    TimelineTracks tracks_;
    TimelineSelection selection_{lanes_, tracks_};
    TimelineOptions options_;
    EmptyPlaces emptyPlaces_;
    GpuParts gpuParts_;
    bool hasTables_ = false;
    QPointer<const TimelineState> other_;
};

}  // namespace lanescope::views
