// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

/// Adds modulo 2^64: durations of a corrupt file may be arbitrary, and must not cause undefined behaviour.
constexpr int64_t wrappingSum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrappingDifference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// Pixels of equal width over a range of time, with edges moved to a grid. Pixel `p` is from `edge(p)` to `edge(p +
/// 1)`, multiples of 2^`shift()` ns, which is at most half a pixel and at least 1 ns. A finer grid would change nothing
/// visible. Edges move right by less than a grid step, the first one left, so the pixels cover the whole range. Lanes
/// are counted into buckets on such a grid (`LaneTiles`), so queries between two edges are exact.
class PixelGrid {
  public:
    /// At most one pixel per nanosecond; the range must not be empty. O(pixels).
    PixelGrid(TimeRange range, int pixelWidth);

    int shift() const { return shift_; }
    int pixelCount() const { return static_cast<int>(edges_.size()) - 1; }
    int64_t edge(int index) const { return edges_[static_cast<size_t>(index)]; }

  private:
    int shift_ = 0;
    std::vector<int64_t> edges_;
};

/// Reads a lane's edges from left to right for drawing: from its tiles if fine enough, else from the slices.
class LaneEdges {
  public:
    /// All requested edges must be multiples of 2^`gridShift` ns between the two times.
    LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs);

    /// Returns the state at `timeNs`, which never decreases between calls. O(1) from tiles, else O(log(slices since)).
    LaneEdge at(int64_t timeNs);

    /// Longest slice that starts between two edges, with its appearance.
    struct Widest {
        SliceCategory category = SliceCategory::Busy;
        StringIndex name = 0;
    };
    /// `from` and `to` are the states at the two times; at least one slice must start between them.
    Widest widest(int64_t fromNs, int64_t toNs, const LaneEdge& from, const LaneEdge& to);
    Widest describe(uint32_t slice) const;

  private:
    void decodeSlices(int64_t firstNs, int64_t lastNs);
    bool isDecoded(uint32_t slice) const { return slice - firstDecoded_ < startNs_.size(); }
    int64_t startNs(uint32_t slice) const {
        return isDecoded(slice) ? startNs_[slice - firstDecoded_] : lane_.startNs[slice];
    }
    int64_t durationNs(uint32_t slice) const {
        return isDecoded(slice) ? durationNs_[slice - firstDecoded_] : lane_.durationNs[slice];
    }
    void moveTo(uint32_t slice);

    const Lane& lane_;
    const LaneTiles::Level* level_;  ///< Null if slices are read.
    uint32_t slice_ = 0;             ///< Slice at which the last search ended.
    int64_t busyNs_ = 0;             ///< Total duration of the slices before it.
    uint32_t firstDecoded_ = 0;      ///< Index in the lane of the first slice below.
    std::vector<int64_t> startNs_, durationNs_;
    size_t firstBucket_ = 0;  ///< Index in the level of the first bucket below.
    std::vector<int64_t> longestNs_;
};

/// Rectangle to draw: one slice, or a run of slices within one pixel.
struct PixelSlice {
    float left = 0;           ///< Pixels from the left edge of the range.
    float right = 0;          ///< At least `left + 1`.
    uint32_t firstSlice = 0;  ///< Index into the lane.
    uint32_t sliceCount = 0;  ///< 1: the slice itself. More: a run, drawn by its `coverage`.
    /// Busy share of the rectangle over all slices; exact except for a minimum that keeps zero-duration slices visible.
    float coverage = 1;
    // Category of the longest slice that starts in it, the first of equal ones; see `widestOf`.
    SliceCategory category = SliceCategory::Busy;
    StringIndex name = 0;
};

/// Returns the rectangles of `lane` over `range` in `pixelWidth` pixels, left to right. Pixel edges
/// are those of `PixelGrid`; below one nanosecond per pixel, pixels share a nanosecond.
///
/// - Each pixel that contains a slice is covered by exactly one rectangle, however short and many
///   the slices are.
/// - If two or more slices start in a pixel, the rectangle is that pixel and contains them all.
/// - All other rectangles are single slices, from the pixel of their start to the last pixel that
///   they touch and in which no other slice starts.
///
/// Lanes with tiles use those of the right size. O(pixels), else O(pixels * log slices).
std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth);

/// Several lanes over one range share its `grid`, which must have at most one pixel per nanosecond.
std::vector<PixelSlice> reduceToPixels(const Lane& lane, const PixelGrid& grid);

/// Returns the longest slice that starts in a rectangle, which it looks like; the first of equals. O(log slices).
uint32_t widestOf(const Lane& lane, const PixelSlice& rectangle);

/// Returns the slice at a point in time, or `size()` if there is none within `toleranceNs`. O(log slices).
uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs = 0);

/// Returns by track: true if nothing is visible within `range`, neither its own slices nor those of its children. A
/// counter that is always 0 or unknown counts as empty; unrecorded time does not. O(lanes * log slices).
std::vector<bool> emptyTracks(const Trace& trace, TimeRange range);

}  // namespace lanescope
