// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QThreadPool>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/lod/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"
#include "views/timeline/TrackArrangement.h"

namespace lanescope::views {

/// A track that can be scrolled to: neither hidden nor within a folded one.
struct LayoutRow {
    uint32_t track = 0;  ///< Index into the tracks.
    int top = 0;         ///< Pixels from the top of all rows.
    int height = 0;
    int lanesTop = 0;  ///< Pixels from `top` to the first lane.
    int laneHeight = 0;
    int laneCount = 0;  ///< Drawn lanes of the track itself.
    /// A track within the folded one whose first lane is drawn below; `noIndex` for none.
    uint32_t preview = noIndex;
    int previewTop = 0;  ///< Pixels from `top`.
    int previewHeight = 0;
    bool canFold = false;
    bool isFolded = false;
    bool isHeader = false;  ///< Title of an open group, with at most a summary.
    bool isPinned = false;  ///< Above the others, itself or as part of a pinned group.
    int depth = 0;          ///< Indentation level; a pinned track begins at 0.
    int bottom() const { return top + height; }
};

/// One line of slices on the screen.
struct LanePosition {
    uint32_t track = 0;
    uint32_t lane = 0;
    bool operator==(const LanePosition&) const = default;
};

/// The place of a lane, in pixels from the top of all rows.
struct LaneArea {
    int top = 0;
    int height = 0;
};

/// The heights of all tracks: folded, hidden, pinned to the top, filtered and in the user's order.
/// Independent of time and painting. Every change costs O(tracks).
class TrackLayout {
  public:
    /// Resets to the initial folding. `tracks` must outlive the layout or the next `setTracks`.
    void setTracks(std::span<const Track> tracks);
    /// Between the two, changes are only recorded: rows and heights stay as they were until the
    /// last `endChanges`, which lays out once for all of them.
    void beginChanges() { ++openChanges_; }
    void endChanges();
    void setMetrics(const LayoutMetrics& metrics);
    const LayoutMetrics& metrics() const { return metrics_; }
    /// Reserves space above each track's row and below the last, in pixels, for the rows of another timeline. Tracks
    /// beyond the list get none; so do all after `setTracks`. `pinnedBottom` is the bottom of the pinned rows of both.
    void setSpaces(std::vector<int> above, int below, int pinnedBottom = 0);

    bool isFolded(uint32_t track) const { return track < folded_.size() && folded_[track]; }
    /// Returns true for groups and for tracks of several lanes.
    bool canFold(uint32_t track) const;
    void setFolded(uint32_t track, bool isFolded);
    /// Folds or unfolds `track` and its descendants.
    void setFoldedWithin(uint32_t track, bool isFolded);
    void setAllFolded(bool isFolded);
    /// Makes `track` visible: unfolds it and its ancestors, clears their hiding (including empty
    /// tracks), and clears a filter that excludes it. Returns true if anything changed.
    bool reveal(uint32_t track);

    bool isHidden(uint32_t track) const { return track < hidden_.size() && hidden_[track]; }
    /// Hides or shows a track and its descendants.
    void setHidden(uint32_t track, bool isHidden);
    /// Hides the tracks set here, except pinned ones and those within hidden ones.
    void hide(const std::vector<bool>& tracks);
    /// Omits the tracks set here, except pinned ones, until the next list; for tracks without
    /// visible events. Empty for none.
    void setOmitted(std::vector<bool> tracks);
    bool isOmitted(uint32_t track) const { return track < omitted_.size() && omitted_[track]; }
    /// Returns the tracks hidden by themselves, in their order.
    std::vector<uint32_t> hiddenTracks() const;
    bool isPinned(uint32_t track) const { return track < pinned_.size() && pinned_[track]; }
    /// Moves a track and its descendants above all others.
    void setPinned(uint32_t track, bool isPinned);
    /// Returns the height of the pinned rows in pixels.
    int pinnedHeight() const { return pinnedHeight_; }

    /// Shows only the tracks set here, with their ancestors and descendants; the groups around them
    /// are shown open. Pinned tracks stay. Empty for no filter.
    void setFilter(std::vector<bool> matches);
    const std::vector<bool>& filter() const { return filter_; }

    /// Returns all tracks from top to bottom, each group before its members.
    std::vector<uint32_t> order() const;
    /// Only the order among siblings counts; missing tracks come last. Ignores invalid tracks.
    void setOrder(std::span<const uint32_t> order);
    /// Returns the sibling shown above (-1) or below (+1) `track`, or `noIndex`.
    uint32_t siblingOf(uint32_t track, int direction) const;
    /// Moves `track` to the place of `sibling`, which makes room. Does nothing unless they are siblings.
    void moveTo(uint32_t track, uint32_t sibling);
    bool areSiblings(uint32_t one, uint32_t other) const;
    /// Returns the group of `track`, or `noIndex`.
    uint32_t parentOf(uint32_t track) const;

    TrackArrangement arrangement() const;
    /// All but the height, which belongs to the metrics.
    void setArrangement(const TrackArrangement& arrangement);

    const std::vector<LayoutRow>& rows() const { return rows_; }
    int totalHeight() const { return totalHeight_; }
    /// Returns the rows that touch `[top, bottom)`. O(log rows).
    std::span<const LayoutRow> rowsBetween(int top, int bottom) const;
    /// Returns the row at this height, or null. O(log rows).
    const LayoutRow* rowAt(int y) const;
    /// Returns the row of `track`, or null while hidden. O(1).
    const LayoutRow* rowOf(uint32_t track) const;
    /// Returns the row of `track`, or of the innermost visible group around it. Null only without tracks.
    const LayoutRow* visibleRowOf(uint32_t track) const;
    /// Returns the lane at this height, or nullopt.
    std::optional<LanePosition> laneAt(int y) const;
    /// Returns the place of a lane, in its own row or as a preview; nullopt while invisible. O(1).
    std::optional<LaneArea> areaOf(LanePosition lane) const;
    /// Calls `visit` with the position and the place of each lane that is drawn in `row`.
    template <class Visit>
    static void forEachLane(const LayoutRow& row, const Visit& visit) {
        for (int lane = 0; lane < row.laneCount; ++lane)
            visit(LanePosition{row.track, static_cast<uint32_t>(lane)},
                  LaneArea{laneTop(row, static_cast<uint32_t>(lane)), row.laneHeight});
        if (row.preview != noIndex)
            visit(LanePosition{row.preview, 0}, LaneArea{row.top + row.previewTop, row.previewHeight});
    }
    /// Returns the top of a lane of `row`, in pixels from the top of all rows.
    static int laneTop(const LayoutRow& row, uint32_t lane) {
        return row.top + row.lanesTop + static_cast<int>(lane) * row.laneHeight;
    }

  private:
    struct Walk;
    /// Rebuilds at once, or at the last `endChanges`.
    void rebuild();
    void layOut();
    void addRows(uint32_t track, int depth, Walk& walk);
    void updateFilter();
    /// Returns the index of a track's siblings in `children_`.
    size_t groupOf(uint32_t track) const { return std::min<size_t>(parentOf(track), tracks_.size()); }
    LayoutRow makeRow(uint32_t track) const;
    void findPreviews();
    bool showsPreview(uint32_t track) const;

    std::span<const Track> tracks_;
    LayoutMetrics metrics_;
    std::vector<std::vector<uint32_t>> children_;  // by track, in order; the last are the top ones
    std::vector<bool> folded_, hidden_, pinned_;
    std::vector<bool> omitted_;                      // empty: none
    std::vector<bool> filter_;                       // empty: no filter
    std::vector<bool> passesFilter_, isForcedOpen_;  // the result of the filter per track
    std::vector<int> spaceAbove_;
    int spaceBelow_ = 0;
    int openChanges_ = 0;
    bool isStale_ = false;
    int sharedPinnedBottom_ = 0;
    int pinnedHeight_ = 0;
    std::vector<LayoutRow> rows_;
    std::vector<int32_t> rowOfTrack_;    // -1 while hidden
    std::vector<int32_t> rowOfPreview_;  // by the track of the lane; -1 for none
    std::vector<uint32_t> previews_;     // by group: the track that represents it, or `noIndex`
    int totalHeight_ = 0;
};

/// Returns which tracks contain all words of `text` in title and subtitle, ignoring case. A word before a number is a
/// key: "rank 2" matches this rank, not rank 20 nor stream 2 of another rank. A word that no number
/// follows in any title is no key: "h200 132" matches "NVIDIA H200, 132 SMs". O(length of all titles).
std::vector<bool> matchTracks(std::span<const Track> tracks, const QString& text);

/// Runs small pieces of work on the calling thread and on a few free helper threads, which are kept for the next time.
/// A busy machine costs nothing: the caller never waits for a helper that has not begun.
class SharedWork {
  public:
    SharedWork();

    /// Calls `work` once with each number below `count`, in parallel on several threads, and
    /// returns when all calls have ended. A call that threw (out of memory in another thread) is
    /// repeated on this thread; its exception is then passed on.
    void run(size_t count, const std::function<void(size_t)>& work);

  private:
    QThreadPool pool_;
};

/// The rectangles of each lane for one visible range and width. Only requested lanes are reduced,
/// and the result is cached for scrolling, folding, hovering and selecting.
class TrackGeometry {
  public:
    void setTrace(TracePtr trace);
    /// Clears the cache if either differs from before. `pixelWidth` is in device pixels.
    void setView(TimeRange range, int pixelWidth);
    /// Reduces these lanes and counters, unless cached, on several threads: to be fetched one by one afterwards.
    void prepare(std::span<const LanePosition> lanes, std::span<const uint32_t> counters);
    /// Returns the slices of a lane from left to right, in device pixels. Valid until the view or the trace changes.
    const std::vector<PixelSlice>& rectangles(LanePosition lane);
    /// Returns the values of a counter per device pixel. Valid as long as `rectangles`.
    const std::vector<CounterColumn>& columns(uint32_t counter);
    /// Returns the rectangle of a lane at device pixel `x`, or null.
    const PixelSlice* rectangleAt(LanePosition lane, float x);
    size_t cachedLaneCount() const { return rectangles_.size(); }

  private:
    bool isReady() const { return trace_ && pixelWidth_ > 0; }
    std::vector<PixelSlice> reduced(LanePosition lane) const;

    TracePtr trace_;
    TimeRange range_;
    int pixelWidth_ = 0;
    std::optional<PixelGrid> grid_;                                     ///< Unset for pixels below a nanosecond.
    std::unordered_map<uint64_t, std::vector<PixelSlice>> rectangles_;  // by track and lane
    std::unordered_map<uint32_t, std::vector<CounterColumn>> columns_;  // by counter
    SharedWork sharedWork_;
};

}  // namespace lanescope::views
