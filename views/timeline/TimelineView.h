// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/compare/trackPairs.h"
#include "model/search/SearchHits.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"
#include "views/timeline/TrackArrangement.h"
#include "views/timeline/VisibleRange.h"

class QScrollBar;

namespace lanescope::views {

class EmptyTrackHider;
class KeyMotion;
class LabelColumn;
class OverviewStrip;
class PairedRows;
class TimelineCorner;
class TimelineState;
class TimeRuler;
class TrackCanvas;
class TrackFilterBar;
class ZoomHistory;
enum class ColorMode : uint8_t;
enum class SliceStep : uint8_t;

/// A trace as a zoomable timeline: overview, ruler, track labels and slices. Times in this
/// interface are trace nanoseconds; only `visibleRange()` uses the shared axis.
/// `resources/manual/look.md` describes the mouse and the keys. GUI thread.
class TimelineView : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Shows `trace`, or the empty page for null. Clears selection, hits and folding.
    void setTrace(TracePtr trace);
    const TracePtr& trace() const;

    /// Shares `range` with other views; null restores the view's own. Not owned.
    void setVisibleRange(VisibleRange* range);
    VisibleRange* visibleRange() const;
    /// Sets the trace time at 0 of the shared axis.
    void setTimeOrigin(int64_t traceTimeNs);
    int64_t timeOrigin() const;

    /// Shows the tracks of `other` too, each under its counterpart, folded alike and scrolled
    /// together. `other` keeps its trace, selection and hits and must stay hidden; both share one
    /// visible range. Call again whenever one of the traces changes.
    void setCompanion(TimelineView& other, std::vector<compare::TrackPair> pairs);
    /// Outlines the events of the tracks above in the companion's lanes.
    void setBaselineOverlayVisible(bool isVisible);
    bool isBaselineOverlayVisible() const;
    /// Sets the colour of a bar next to each track; invalid for none.
    void setMark(const QColor& color);
    /// Places widgets between the ruler and the tracks: `strip` as wide as the tracks, `label` left
    /// of it. Takes ownership of both; null removes them.
    void setStrip(QWidget* label, QWidget* strip, int height);
    void setStripHeight(int height);
    /// Sets a child widget of this view that covers it and is included in pictures. Null for none.
    void setOverlay(QWidget* overlay);

    /// Returns the scroll offset of the tracks in pixels.
    int scrollPosition() const;
    void setScrollPosition(int pixels);

    // The geometry for widgets that cover the timeline, in its own coordinates. `placesChanged`
    // reports changes.
    QRect tracksArea() const;
    /// Returns the visible part of the row of a track; that of its group while folded.
    QRect trackArea(uint32_t track) const;
    /// Between the left and the right edge of the tracks, or outside.
    double xOf(int64_t timeNs) const;
    int64_t timeAt(double x) const;
    /// Returns the track at this height of the tracks, or `noIndex`.
    uint32_t trackAt(int y) const;
    /// Returns the track of an event, or `noIndex`.
    uint32_t trackOf(EventRef event) const;

    void setTheme(const Theme& theme);
    const Theme& theme() const;

    /// Sets the source of explanations of empty places.
    void setEmptyPlaces(EmptyPlaces places);
    /// Sets the source of GPU parts, painted in the summaries in the colours of the parts of a
    /// step; null = utilization.
    void setGpuParts(GpuParts parts);
    /// Call when the explanations have changed.
    void refreshEmptyPlaces();
    /// Marks a time range on some tracks until an event is selected; nullopt removes it.
    void setGapMark(std::optional<GapMark> mark);
    bool hasGapMark() const;

    std::optional<TimeRange> selectedRange() const;
    void setSelectedRange(std::optional<TimeRange> range);
    EventRef selectedEvent() const;
    /// Marks `event` and draws its flow events without moving the view; invalid clears.
    void setSelectedEvent(EventRef event);
    /// Selects `event`, unfolds its tracks, and scrolls and zooms so that it is visible and
    /// readable. Events that are on no track are only selected.
    void revealEvent(EventRef event);
    /// Unfolds `track` and scrolls it to the top, as far as the rows below allow.
    void scrollToTrack(uint32_t track);
    /// Does the same and highlights its label for a short time.
    void flashTrack(uint32_t track);
    /// Zooms to a time range with a margin.
    void showRange(TimeRange range);
    /// Pans so that a time is in the middle, and marks it on the ruler.
    void showTime(int64_t timeNs);
    /// Marks these events of the trace on the tracks and in the overview; null clears.
    void setSearchHits(SearchHitsPtr hits);

    void fit();
    /// Zooms to the selected range, else to the selected event, else out to everything.
    void zoomToSelection();
    /// Zooms to the selected event, also if a range is selected; does nothing without one.
    void zoomToEvent();
    void clearSelection();
    /// Selects the time of the selected event or gap as the range; clears the range if it is
    /// selected already.
    void selectTimeOfEvent();
    /// Copies the selection to the clipboard; see `copySelection`.
    void copySelected();
    /// Undoes the last change of folding, order, hidden and pinned tracks.
    void undoArrangement();
    /// Set to true if the owner handles `histogramRequested` and `listRequested`.
    void setTablesOffered(bool isOn);
    /// If true, the wheel scrolls the tracks and zooms with Ctrl; else it zooms.
    void setWheelScrolling(bool isOn);
    bool isWheelScrolling() const;
    /// Go to the previous view, and forward again; see `ZoomHistory`.
    void goBack();
    void goForward();
    bool canGoBack() const;
    bool canGoForward() const;
    /// Lets `change` move the view without a new history entry; see
    /// `ZoomHistory::moveWithoutHistory`.
    void moveWithoutHistory(const std::function<void()>& change);

    /// Selects the next (+1) or previous (-1) slice of the lane; see `TimelineNavigator`.
    void selectNeighbour(int direction, SliceStep step);
    /// Selects the first (-1) or last (+1) slice of the lane.
    void selectEndOfLane(int direction);
    /// Selects the nearest slice in the lane above (-1) or below (+1).
    void selectAdjacentLane(int direction);
    /// With a companion: selects the same place of the other trace.
    void selectCounterpart();
    /// Selects the effect of the selected event (+1) or its cause (-1).
    void followFlow(int direction);
    /// Scrolls nearly a screen of tracks up (-1) or down (+1).
    void scrollPages(int direction);
    void scrollToTop();
    void scrollToBottom();

    /// Zooms to a time range with a margin, and scrolls to a process.
    void showPlace(TimeRange range, uint32_t process);

    /// Returns the meaning of the slice colours.
    ColorMode colorMode() const;
    void setColorMode(ColorMode mode);
    /// Returns true if slices with the name under the pointer, or of the selected one, stand out.
    bool isHighlighting() const;
    void setHighlighting(bool isOn);

    void foldAll();
    void unfoldAll();
    /// Sets the keyboard focus to the track filter.
    void filterTracks();
    // Commands for the current track: the last one clicked or walked to, or that of the selected
    // event.
    void togglePinnedTrack();
    void hideTrack();
    void showAllTracks();
    void hideEmptyTracks();
    /// Hides tracks while they have no visible events. Off at first, and with a companion, whose
    /// tracks are placed under their counterparts.
    void setHidingEmpty(bool isOn);
    bool isHidingEmpty() const;
    /// Returns true if the view has moved and empty tracks are about to be hidden.
    bool isAboutToArrange() const;
    bool hasCompanion() const { return companion_ != nullptr; }
    void moveTrack(int direction);
    /// Folds or unfolds the current track, including its descendants if `isDeep`.
    void toggleFold(bool isDeep);
    RowHeight rowHeight() const;
    void setRowHeight(RowHeight height);
    /// Resets the arrangement of the tracks and the view.
    void arrangeAsAtFirst();
    /// Sets and shows the default arrangement of the tracks, if not that of the trace.
    void setFirstArrangement(TrackArrangement arrangement);
    const TrackArrangement& firstArrangement() const { return firstArrangement_; }
    /// Sets the default view in place of the whole trace.
    void setFirstRange(std::optional<TimeRange> range);
    const std::optional<TimeRange>& firstRange() const { return firstRange_; }
    void showFirstRange();
    /// Returns order, folding and so on of the tracks, to be stored for later runs.
    TrackArrangement arrangement() const;
    void setArrangement(const TrackArrangement& arrangement);

    /// Paints the timeline as shown into `size` logical pixels, without hover. For pictures.
    void renderTo(QPainter* painter, QSize size);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    /// Emitted when the user or `revealEvent` chose another event; invalid when cleared.
    void eventSelected(lanescope::EventRef event);
    void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
    /// Emitted when the user clicked an empty place with an explanation.
    void emptyPlaceActivated(uint32_t track, int64_t timeNs);
    // From the menu of a slice: search for a name, show durations and times of all events of that
    // name, show an event in the list of events.
    void nameRequested(const QString& name);
    void histogramRequested(lanescope::EventRef event);
    void listRequested(lanescope::EventRef event);
    /// Emitted when the gap mark was set or removed.
    void gapMarkChanged();
    /// Emitted when `canGoBack` or `canGoForward` may have changed.
    void historyChanged();
    /// Emitted on a change of range, size, folding or scroll position.
    void placesChanged();

  protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    /// The geometry of the parts in a view of this size; the same on the screen and in a picture.
    struct Areas {
        QRect corner, filter, overview, ruler, stripLabel, strip, labels, canvas, scrollBar;
    };
    Areas areasFor(QSize size) const;
    /// Returns the state that keys apply to.
    TimelineState& active() const;
    /// Returns the state with the current track for commands.
    TimelineState& trackState() const;
    void arrange();
    void takeArrangement(const TrackArrangement& arrangement);
    void updateMetrics();
    void updateScrollBar();
    void styleScrollBar();

    std::unique_ptr<TimelineState> state_;
    TimelineCorner* corner_;
    TrackFilterBar* filter_;
    OverviewStrip* overview_;
    TimeRuler* ruler_;
    LabelColumn* labels_;
    TrackCanvas* canvas_;
    QScrollBar* scrollBar_;
    KeyMotion* motion_;
    ZoomHistory* history_;
    EmptyTrackHider* emptiness_;
    TimelineState* companion_ = nullptr;
    PairedRows* rows_ = nullptr;
    QWidget* stripLabel_ = nullptr;
    QWidget* strip_ = nullptr;
    QWidget* overlay_ = nullptr;
    std::optional<TimeRange> firstRange_;
    TrackArrangement firstArrangement_;
    int stripHeight_ = 0;
    std::optional<int> labelWidth_;  ///< The width dragged by the user.
};

}  // namespace lanescope::views
