// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
    int laneCount = 0;  ///< Drawn lanes.
    bool canFold = false;
    bool isFolded = false;
    bool isHeader = false;  ///< Title of an open group, with at most a summary.
    bool isPinned = false;  ///< Stands above the others, by itself or within a pinned group.
    int depth = 0;          ///< How far to indent; a pinned track begins at 0.
    int bottom() const { return top + height; }
};

/// One line of slices on the screen.
struct LanePosition {
    uint32_t track = 0;
    uint32_t lane = 0;
    bool operator==(const LanePosition&) const = default;
};

/// Which tracks stand at which height: folded, hidden, pinned to the top, filtered and in the order
/// that the user gave them. Knows nothing of time or painting. Every change costs O(tracks).
class TrackLayout {
  public:
    /// Takes over the initial folding. `tracks` must outlive the layout or the next `setTracks`.
    void setTracks(std::span<const Track> tracks);
    /// Between the two, changes are only noted: rows and heights stay as they were until the last
    /// `endChanges`, which lays out once for all of them.
    void beginChanges() { ++openChanges_; }
    void endChanges();
    void setMetrics(const LayoutMetrics& metrics);
    const LayoutMetrics& metrics() const { return metrics_; }
    /// Leaves room above each track's row and below the last, in pixels, for the rows of another
    /// timeline. Tracks beyond the list get none; so do all after `setTracks`.
    /// `pinnedBottom` is where the pinned rows of both end.
    void setSpaces(std::vector<int> above, int below, int pinnedBottom = 0);

    bool isFolded(uint32_t track) const { return track < folded_.size() && folded_[track]; }
    /// True for groups and for tracks of several lanes.
    bool canFold(uint32_t track) const;
    void setFolded(uint32_t track, bool isFolded);
    /// `track` and everything in it.
    void setFoldedWithin(uint32_t track, bool isFolded);
    void setAllFolded(bool isFolded);
    /// Unfolds `track` and everything it stands in, takes them out of hiding, also of what is left
    /// out, and drops a filter that does not let it through. True if that changed anything.
    bool reveal(uint32_t track);

    bool isHidden(uint32_t track) const { return track < hidden_.size() && hidden_[track]; }
    /// Takes a track and everything in it off the screen.
    void setHidden(uint32_t track, bool isHidden);
    /// Hides the tracks that are set here, but for pinned ones and those within hidden ones.
    void hide(const std::vector<bool>& tracks);
    /// Leaves out the tracks that are set here, but for pinned ones: for as long as there is
    /// nothing to see of them. Another list takes its place; empty for none.
    void setLeftOut(std::vector<bool> tracks);
    bool isLeftOut(uint32_t track) const { return track < leftOut_.size() && leftOut_[track]; }
    /// Those hidden by themselves, in their order.
    std::vector<uint32_t> hiddenTracks() const;
    bool isPinned(uint32_t track) const { return track < pinned_.size() && pinned_[track]; }
    /// Moves a track and everything in it above all others.
    void setPinned(uint32_t track, bool isPinned);
    /// Pixels from the top that the pinned rows take.
    int pinnedHeight() const { return pinnedHeight_; }

    /// Shows only the tracks that are set here, with what they stand in and what is in them; the
    /// groups around them are shown open. Pinned tracks stay. Empty for no filter.
    void setFilter(std::vector<bool> matches);
    const std::vector<bool>& filter() const { return filter_; }

    /// All tracks from top to bottom, each group before what is in it.
    std::vector<uint32_t> order() const;
    /// Only the order among siblings counts; tracks that are missing come last. Ignores what is no
    /// track.
    void setOrder(std::span<const uint32_t> order);
    /// The sibling that is shown before (-1) or after (+1) `track`, or `noIndex`.
    uint32_t siblingOf(uint32_t track, int direction) const;
    /// Puts `track` in the place of `sibling`, which makes room. Nothing if they are no siblings.
    void moveTo(uint32_t track, uint32_t sibling);
    bool areSiblings(uint32_t one, uint32_t other) const;
    /// The group that `track` stands in, or `noIndex`.
    uint32_t parentOf(uint32_t track) const;

    TrackArrangement arrangement() const;
    /// All but the height, which is the metrics' affair.
    void setArrangement(const TrackArrangement& arrangement);

    const std::vector<LayoutRow>& rows() const { return rows_; }
    int totalHeight() const { return totalHeight_; }
    /// The rows that touch `[top, bottom)`. O(log rows).
    std::span<const LayoutRow> rowsBetween(int top, int bottom) const;
    /// The row at this height, or null. O(log rows).
    const LayoutRow* rowAt(int y) const;
    /// The row of `track`, or null while hidden. O(1).
    const LayoutRow* rowOf(uint32_t track) const;
    /// The row of `track`, or of the innermost visible group around it. Null only without tracks.
    const LayoutRow* visibleRowOf(uint32_t track) const;
    /// The lane at this height, if there is one.
    std::optional<LanePosition> laneAt(int y) const;
    /// Top of a lane of `row`, in pixels from the top of all rows.
    static int laneTop(const LayoutRow& row, uint32_t lane) {
        return row.top + row.lanesTop + static_cast<int>(lane) * row.laneHeight;
    }

  private:
    struct Walk;
    /// Now, or with the last of the changes.
    void rebuild();
    void layOut();
    void addRows(uint32_t track, int depth, Walk& walk);
    void updateFilter();
    std::vector<uint32_t>& siblingsOf(uint32_t track);
    const std::vector<uint32_t>& siblingsOf(uint32_t track) const;
    LayoutRow makeRow(uint32_t track) const;

    std::span<const Track> tracks_;
    LayoutMetrics metrics_;
    std::vector<std::vector<uint32_t>> children_;  // by track, in order; the last are the top ones
    std::vector<bool> folded_, hidden_, pinned_;
    std::vector<bool> leftOut_;                    // empty: none
    std::vector<bool> filter_;                     // empty: no filter
    std::vector<bool> isLetThrough_, isHeldOpen_;  // what the filter makes of each track
    std::vector<int> spaceAbove_;
    int spaceBelow_ = 0;
    int openChanges_ = 0;
    bool isStale_ = false;
    int sharedPinnedBottom_ = 0;
    int pinnedHeight_ = 0;
    std::vector<LayoutRow> rows_;
    std::vector<int32_t> rowOfTrack_;  // -1 while hidden
    int totalHeight_ = 0;
};

/// Which tracks carry all words of `text` in title and subtitle, whatever their case. O(length of
/// all titles).
std::vector<bool> matchTracks(std::span<const Track> tracks, const QString& text);

}  // namespace lanescope::views
