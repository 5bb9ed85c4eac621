// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QObject>
#include <QPointer>
#include <vector>

#include "model/trace/healthNotes.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineRange.h"
#include "views/timeline/TimelineSelection.h"
#include "views/timeline/TimelineTracks.h"
#include "views/timeline/TraceLanes.h"

namespace lanescope::views {

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
    explicit TimelineState(QObject* parent = nullptr);

    /// Shows `trace`, or nothing for null. Clears selection, hits, arrangement and defaults.
    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return lanes_.trace(); }
    bool hasTracks() const { return lanes_.hasTracks(); }
    const TraceLanes& lanes() const { return lanes_; }
    /// Returns the places of problems in the trace.
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
