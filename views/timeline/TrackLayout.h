#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope {

/// Heights and distances of the layout in logical pixels.
struct LayoutMetrics {
    int laneHeight = 20;
    int squeezedLaneHeight = 4;  ///< Of the lanes of a folded track without children.
    int counterHeight = 44;      ///< Of the graph of a counter.
    int headerHeight = 28;       ///< Least height of a row.
    int summaryHeight = 8;       ///< The lane that an open group keeps in its title row.
    int padding = 4;             ///< Above the first and below the last lane of a row.
    int bottomSpace = 24;        ///< Below the last row.
    bool operator==(const LayoutMetrics&) const = default;
};

/// A track that can be scrolled to: not hidden in a folded one.
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
    int bottom() const { return top + height; }
};

/// One line of slices on the screen.
struct LanePosition {
    uint32_t track = 0;
    uint32_t lane = 0;
    bool operator==(const LanePosition&) const = default;
};

/// Which tracks stand at which height, with folding. Knows nothing of time or painting.
class TrackLayout {
  public:
    /// Takes over the initial folding. `tracks` must outlive the layout or the next `setTracks`.
    void setTracks(std::span<const Track> tracks);
    void setMetrics(const LayoutMetrics& metrics);
    const LayoutMetrics& metrics() const { return metrics_; }
    /// Leaves room above each track's row and below the last, in pixels, for the rows of another
    /// timeline. Tracks beyond the list get none; so do all after `setTracks`.
    void setSpaces(std::vector<int> above, int below);

    bool isFolded(uint32_t track) const { return track < folded_.size() && folded_[track]; }
    /// True for groups and for tracks of several lanes.
    bool canFold(uint32_t track) const;
    void setFolded(uint32_t track, bool isFolded);
    void setAllFolded(bool isFolded);
    /// Unfolds `track` and everything it stands in. True if that changed anything.
    bool reveal(uint32_t track);

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
    void rebuild();
    LayoutRow makeRow(uint32_t track) const;

    std::span<const Track> tracks_;
    LayoutMetrics metrics_;
    std::vector<bool> folded_;
    std::vector<bool> isParent_;
    std::vector<int> spaceAbove_;
    int spaceBelow_ = 0;
    std::vector<LayoutRow> rows_;
    std::vector<int32_t> rowOfTrack_;  // -1 while hidden
    int totalHeight_ = 0;
};

}  // namespace lanescope
