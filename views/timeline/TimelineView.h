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

class EmptinessKeeper;
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

/// A trace as a zoomable timeline: overview, ruler, track labels and the slices themselves. Times
/// in this interface are the trace's own nanoseconds; only `visibleRange()` speaks of the shared
/// axis. What the mouse and the keys do stands in `resources/manual/look.md`. GUI thread.
class TimelineView : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Shows `trace`, or the empty page for null. Clears selection, hits and folding.
    void setTrace(TracePtr trace);
    const TracePtr& trace() const;

    /// Shares `range` with other views; null goes back to the view's own one. Not owned.
    void setVisibleRange(VisibleRange* range);
    VisibleRange* visibleRange() const;
    /// The trace time that stands at 0 of the shared axis.
    void setTimeOrigin(int64_t traceTimeNs);
    int64_t timeOrigin() const;

    /// Shows the tracks of `other` too, each under its counterpart, folded alike and scrolled
    /// together. `other` keeps its trace, selection and hits and is to stay hidden; both share one
    /// visible range. To be called again whenever one of the traces is another one.
    void setCompanion(TimelineView& other, std::vector<compare::TrackPair> pairs);
    /// Outlines in the companion's lanes what happened in those above.
    void setGhostVisible(bool isVisible);
    bool isGhostVisible() const;
    /// A bar of this colour stands beside each of the tracks; invalid for none.
    void setMark(const QColor& color);
    /// Puts widgets between the ruler and the tracks: `strip` as wide as the tracks, `label` beside
    /// it. Takes both over; null takes them away.
    void setStrip(QWidget* label, QWidget* strip, int height);
    void setStripHeight(int height);
    /// A widget of this view's that lies over it and belongs into its pictures. Null for none.
    void setOverlay(QWidget* overlay);

    /// Pixels that the tracks are scrolled by.
    int scrollPosition() const;
    void setScrollPosition(int pixels);

    // Where things stand, for widgets that lie over the timeline; in its own coordinates. They say
    // `placesChanged` when that is no longer true.
    QRect tracksArea() const;
    /// The row of a track as far as it can be seen; that of its group while it is folded away.
    QRect trackArea(uint32_t track) const;
    /// Between the left and the right edge of the tracks, or beyond.
    double xOf(int64_t timeNs) const;
    int64_t timeAt(double x) const;
    /// The track at this height of the tracks, or `noIndex`.
    uint32_t trackAt(int y) const;
    /// The track that an event stands on, or `noIndex`.
    uint32_t trackOf(EventRef event) const;

    void setTheme(const Theme& theme);
    const Theme& theme() const;

    /// Tells what is known of places where nothing is drawn.
    void setEmptyPlaces(EmptyPlaces places);
    /// What GPUs did is painted in their summaries, in the colours of the parts of a step; nothing
    /// for how busy they were.
    void setGpuParts(GpuParts parts);
    /// What is told of them is another now.
    void refreshEmptyPlaces();
    /// Marks a stretch of time on some tracks until an event is selected; nothing takes it away.
    void setGapMark(std::optional<GapMark> mark);
    bool hasGapMark() const;

    std::optional<TimeRange> selectedRange() const;
    void setSelectedRange(std::optional<TimeRange> range);
    EventRef selectedEvent() const;
    /// Marks `event` and draws its flow arrows without moving the view; invalid clears.
    void setSelectedEvent(EventRef event);
    /// Selects `event`, unfolds its tracks, scrolls and zooms so that it can be seen and read.
    /// Events that stand on no track are selected only.
    void revealEvent(EventRef event);
    /// Unfolds `track` and puts it at the top, as far as there is enough below it.
    void scrollToTrack(uint32_t track);
    /// The same, and lights its label for a moment.
    void flashTrack(uint32_t track);
    /// Zooms to a range of time, with some room around it.
    void showRange(TimeRange range);
    /// Pans so that a moment stands in the middle, and marks it on the ruler.
    void showMoment(int64_t timeNs);
    /// Marks these events of the trace on the tracks and in the overview; null clears.
    void setSearchHits(SearchHitsPtr hits);

    void fit();
    /// Zooms to the selected range, else to the selected event, else out to everything.
    void zoomToSelection();
    /// Zooms to the selected event, whatever range is selected; does nothing without one.
    void zoomToEvent();
    void clearSelection();
    /// The time of the selected event or gap becomes the selected range; if it is that already,
    /// none is selected any more.
    void selectTimeOfEvent();
    /// Puts what is selected on the clipboard; see `copySelection`.
    void copySelected();
    /// Takes back what was done last to folding, order, hidden and pinned tracks.
    void undoArrangement();
    /// Whether somebody shows what `histogramWanted` and `listWanted` ask for.
    void setTablesOffered(bool isOn);
    /// Whether the wheel scrolls the tracks, and zooms with Ctrl; else it zooms.
    void setWheelScrolling(bool isOn);
    bool isWheelScrolling() const;
    /// To what was seen before, and back again; see `ZoomHistory`.
    void goBack();
    void goForward();
    bool canGoBack() const;
    bool canGoForward() const;
    /// Lets `change` move the view without a place to go back to; see `ZoomHistory::moveAlong`.
    void moveAlong(const std::function<void()>& change);

    /// Selects the next (+1) or previous (-1) slice of the lane; see `TimelineNavigator`.
    void selectNeighbour(int direction, SliceStep step);
    /// Selects the first (-1) or last (+1) slice of the lane.
    void selectEndOfLane(int direction);
    /// Selects the nearest slice in the lane above (-1) or below (+1).
    void selectAdjacentLane(int direction);
    /// With a companion: selects the same place of the other trace.
    void selectCounterpart();
    /// Goes on to what the selected event caused (+1) or back to what caused it (-1).
    void followFlow(int direction);
    /// Nearly a screen of tracks up (-1) or down (+1).
    void scrollPages(int direction);
    void scrollToTop();
    void scrollToBottom();

    /// Zooms to a stretch of time, with room around it, and scrolls to a process.
    void showPlace(TimeRange range, uint32_t process);

    /// What the colours of slices tell.
    ColorMode colorMode() const;
    void setColorMode(ColorMode mode);
    /// Slices of the name under the pointer, or of the selected one, stand out.
    bool isHighlighting() const;
    void setHighlighting(bool isOn);

    void foldAll();
    void unfoldAll();
    /// Puts the keyboard into the line that filters the tracks by name.
    void filterTracks();
    // What the commands for one track do to the current one: the one that was clicked, walked to or
    // holds the selected event.
    void togglePinnedTrack();
    void hideTrack();
    void showAllTracks();
    void hideEmptyTracks();
    /// Leaves out tracks for as long as they have nothing in view. Off at first, and with a
    /// companion, whose tracks stand under their counterparts.
    void setLeavingOutEmpty(bool isOn);
    bool isLeavingOutEmpty() const;
    /// The view has moved, and what is empty in it is about to be left out.
    bool isAboutToArrange() const;
    bool hasCompanion() const { return companion_ != nullptr; }
    void moveTrack(int direction);
    /// Folds or unfolds the current track, with everything in it if `isDeep`.
    void toggleFold(bool isDeep);
    RowHeight rowHeight() const;
    void setRowHeight(RowHeight height);
    /// Takes back all that was done to the tracks, and shows what was seen first.
    void arrangeAsAtFirst();
    /// How the tracks stand until somebody arranges them, unless as in the trace; shows them so.
    void setFirstArrangement(TrackArrangement arrangement);
    const TrackArrangement& firstArrangement() const { return firstArrangement_; }
    /// What is to be seen first, instead of everything there is.
    void setFirstRange(std::optional<TimeRange> range);
    const std::optional<TimeRange>& firstRange() const { return firstRange_; }
    void showFirstRange();
    /// Order, folding and so on of the tracks, to be kept from run to run.
    TrackArrangement arrangement() const;
    void setArrangement(const TrackArrangement& arrangement);

    /// Paints the timeline as it stands into `size` logical pixels, without hover. For pictures.
    void renderTo(QPainter* painter, QSize size);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    /// The user or `revealEvent` chose another event; invalid when cleared.
    void eventSelected(lanescope::EventRef event);
    void selectedRangeChanged(std::optional<lanescope::TimeRange> range);
    /// The user clicked an empty place that something is told of.
    void emptyPlaceActivated(uint32_t track, int64_t timeNs);
    // From the menu of a slice: to search for a name, to see how long and when all of that name
    // ran, to see an event in the list of events.
    void nameWanted(const QString& name);
    void histogramWanted(lanescope::EventRef event);
    void listWanted(lanescope::EventRef event);
    /// The mark of a gap came or went.
    void gapMarkChanged();
    /// `canGoBack` or `canGoForward` may be another.
    void historyChanged();
    /// Another range, size, folding or scroll position.
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
    /// Where the parts stand in a view of this size; the same on the screen and in a picture.
    struct Areas {
        QRect corner, filter, overview, ruler, stripLabel, strip, labels, canvas, scrollBar;
    };
    Areas areasFor(QSize size) const;
    /// Of which trace the keys speak.
    TimelineState& active() const;
    /// Which trace's current track the commands are about.
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
    EmptinessKeeper* emptiness_;
    TimelineState* companion_ = nullptr;
    PairedRows* rows_ = nullptr;
    QWidget* stripLabel_ = nullptr;
    QWidget* strip_ = nullptr;
    QWidget* overlay_ = nullptr;
    std::optional<TimeRange> firstRange_;
    TrackArrangement firstArrangement_;
    int stripHeight_ = 0;
    std::optional<int> labelWidth_;  ///< What it was dragged to.
};

}  // namespace lanescope::views
