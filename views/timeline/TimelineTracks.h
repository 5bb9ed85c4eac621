// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/Track.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// Reads the lanes of a trace: the slices of a lane and the values of a counter alike. Without
/// tracks, only `trace`, `hasTracks` and `trackOf` may be called.
class TraceLanes {
  public:
    void setTrace(TracePtr trace);
    const TracePtr& trace() const { return trace_; }
    bool hasTracks() const { return trace_ && !trace_->tracks.empty(); }
    /// Returns the track of an event, or `noIndex`.
    uint32_t trackOf(EventRef event) const { return trace_ && event.isValid() ? trace_->locate(event).track : noIndex; }

    const Lane& laneAt(LanePosition position) const { return trace_->tracks[position.track].lanes[position.lane]; }
    /// Returns the counter drawn in a lane, or null. For a group, its first one.
    const CounterSeries* counterAt(LanePosition position) const;
    /// Returns its number; `noIndex` for a lane of slices. A track of two directions has two lanes.
    uint32_t counterIndexAt(LanePosition position) const;
    uint32_t sliceCount(LanePosition position) const;
    TimeRange sliceRange(LanePosition position, uint32_t slice) const;
    /// Invalid for a summary slice.
    EventRef sliceEvent(LanePosition position, uint32_t slice) const;
    /// Returns the name of a slice on its lane; 0 for counter values and summary slices.
    StringIndex nameAt(LanePosition position, uint32_t slice) const;
    /// Returns the slice at `timeNs`, at most `toleranceNs` away.
    std::optional<uint32_t> sliceAt(LanePosition position, int64_t timeNs, int64_t toleranceNs) const;
    /// Returns the slice of the lane nearest to `timeNs`. The lane must not be empty.
    uint32_t nearestSlice(LanePosition position, int64_t timeNs) const;

  private:
    TracePtr trace_;
    std::vector<uint32_t> lowerCounters_;  ///< `CounterPairs::lowerOf`.
};

/// The vertical scroll position of the rows of a layout. Pinned rows stay while the others scroll under them: screen
/// heights count from the top of the canvas, layout heights from the top of all rows. In pixels. GUI thread.
class TrackScroll : public QObject {
    Q_OBJECT
  public:
    /// `layout` outlives this.
    explicit TrackScroll(const TrackLayout& layout) : layout_(layout) {}

    void setViewportHeight(int height);
    int viewportHeight() const { return viewportHeight_; }
    int y() const { return y_; }
    int maxY() const { return std::max(0, layout_.totalHeight() - viewportHeight_) + room_; }
    /// Clamps to `maxY`.
    void setY(int y);
    /// Goes to `y` even if that leaves room below the last row, until the next scrolling upwards.
    void keepY(int y);
    /// Goes to the top without a signal, for another trace.
    void reset() { y_ = room_ = 0; }
    /// Sets the height of the pointer on the screen; nullopt if it is not over the rows.
    void setPointerY(std::optional<int> y);
    const std::optional<int>& pointerY() const { return pointerY_; }

    /// Returns the height of the pinned part; 0 if it would leave too little room.
    int pinnedHeight() const;
    int toScreenY(int layoutY) const { return layoutY < pinnedHeight() ? layoutY : layoutY - y_; }
    int toLayoutY(int screenY) const { return screenY < pinnedHeight() ? screenY : screenY + y_; }
    /// A part of the screen whose rows scroll together.
    struct Band {
        std::span<const LayoutRow> rows;
        int scrollY = 0;          ///< To subtract from layout heights.
        int top = 0, bottom = 0;  ///< On the screen; rows are clipped to this.
    };
    /// Returns the bands of a screen of this height: the scrolling rows, then the pinned ones.
    std::array<Band, 2> bands(int height) const;

  signals:
    void scrolled();
    void viewportChanged();
    void pointerLeft();

  private:
    const TrackLayout& layout_;
    int viewportHeight_ = 0;
    int y_ = 0;
    int room_ = 0;  ///< Below the last row, beyond the usual.
    std::optional<int> pointerY_;
};

/// The arrangement of the tracks of a timeline: folding, order, hidden and pinned tracks, filter,
/// row height, the current track and the counterparts in another timeline. GUI thread.
class TimelineTracks : public QObject {
    Q_OBJECT
  public:
    explicit TimelineTracks(QObject* parent = nullptr);

    /// Resets everything but the row height. `tracks` must outlive this or the next `setTracks`.
    /// Call `arrange` afterwards to emit the change.
    void setTracks(std::span<const Track> tracks);
    const TrackLayout& layout() const { return layout_; }
    TrackScroll& scroll() { return scroll_; }
    const TrackScroll& scroll() const { return scroll_; }

    /// Changes the layout and emits one signal. Changes of folding, order, hidden and pinned tracks can be undone.
    void arrange(const std::function<void(TrackLayout&)>& change);
    /// Does the same, but the row under the pointer, else the first visible one that stays, keeps its place on the
    /// screen.
    void arrangeInPlace(const std::function<void(TrackLayout&)>& change);
    /// A row by its path, and its place on the screen.
    struct RowPlace {
        std::string path;
        int screenY = 0;
    };
    /// Returns the rows that must not move, the best first, for `keepPlace` after another trace of the same program.
    std::vector<RowPlace> fixedPlaces() const;
    /// Scrolls the first of these rows that exists to its place.
    void keepPlaces(const std::vector<RowPlace>& places);
    /// Undoes the last change of the arrangement; returns false if there is none.
    bool undo();
    void setFolded(uint32_t track, bool isFolded);
    void setAllFolded(bool isFolded);
    void reveal(uint32_t track);
    /// Shows only tracks that `matchTracks` finds; empty for all tracks.
    void setFilterText(const QString& text);
    const QString& filterText() const { return filterText_; }

    /// Returns order, folding and so on of the tracks, to be stored for later runs.
    TrackArrangement arrangement() const;
    /// Also clears the undo steps.
    void setArrangement(const TrackArrangement& arrangement);
    /// Sets and shows the default arrangement of the tracks, if not that of the trace.
    void setDefaultArrangement(TrackArrangement arrangement);
    const TrackArrangement& defaultArrangement() const { return default_; }
    /// Returns to the default arrangement; can be undone.
    void restoreDefault() { apply(default_); }

    /// Sets the height of a line of text, which the heights of rows depend on.
    void setTextHeight(int pixels);
    /// `Fitted` follows the height of the window until the user changes the arrangement. While the pointer is over
    /// the rows, only as far as the row under it can stay.
    void setRowHeight(RowHeight height);
    /// Returns the height in use, never `Fitted`.
    RowHeight rowHeight() const { return layout_.metrics().rowHeight; }

    /// Returns the track that track commands and label keys apply to, or `noIndex`.
    uint32_t current() const { return current_; }
    void setCurrent(uint32_t track);

    /// Sets, by track, the counterpart in another trace, or `noIndex`. Empty without another trace.
    void setCounterparts(std::vector<uint32_t> tracks);
    uint32_t counterpartOf(uint32_t track) const;
    /// Returns true if another trace exists without a counterpart of this track.
    bool isUnmatched(uint32_t track) const;

  signals:
    void changed();  ///< Emitted on a change of the arrangement, heights or scroll limits.
    void currentChanged();

  private:
    void apply(const TrackArrangement& arrangement);
    void emitChange();
    /// Chooses the largest rows that fit the window, if these follow it and the row under the pointer can stay.
    void followWindow();
    /// Returns the metrics of the largest rows that fit the window.
    LayoutMetrics fittingMetrics() const;
    bool isDefaultArrangement() const;
    /// Returns the row that must not move, given the layout before a change; null for none.
    const LayoutRow* fixedRow() const;
    void setMetrics(const LayoutMetrics& metrics);

    std::span<const Track> tracks_;
    TrackLayout layout_;
    TrackScroll scroll_{layout_};
    std::vector<TrackArrangement> undo_;  ///< The latest last.
    TrackArrangement default_;
    QString filterText_;
    int textHeight_ = 0;
    bool isFitted_ = false;
    bool isFitPending_ = false;  ///< Until the pointer leaves.
    uint32_t current_ = noIndex;
    std::vector<uint32_t> counterparts_;
};

}  // namespace lanescope::views
