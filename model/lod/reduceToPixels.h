// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

/// Sums modulo 2^64: durations in a damaged file may be any, and theirs must only be harmless.
constexpr int64_t wrappingSum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrappingDifference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// Pixels of equal width over a range of time, their edges moved to a grid: pixel `p` reaches from
/// `edge(p)` to `edge(p + 1)`, which are multiples of 2^`shift()` ns, at most half a pixel and at
/// least 1 ns: a finer grid moves nothing that can be seen, and asks for more buckets. Edges move
/// to the right by less than a step of the grid, the first to the left, so that the pixels hold the
/// whole range. A lane is counted into buckets between such multiples (`LaneTiles`), so what is
/// asked between two edges has an exact answer.
class PixelGrid {
  public:
    /// At most one pixel a nanosecond; the range must not be empty. O(pixels).
    PixelGrid(TimeRange range, int pixelWidth);

    int shift() const { return shift_; }
    int pixelCount() const { return static_cast<int>(edges_.size()) - 1; }
    int64_t edge(int index) const { return edges_[static_cast<size_t>(index)]; }

  private:
    int shift_ = 0;
    std::vector<int64_t> edges_;
};

/// Answers what a picture asks of a lane, edge by edge from left to right: from its tiles where
/// these are fine enough, else from the slices.
class LaneEdges {
  public:
    /// The edges asked for will be multiples of 2^`gridShift` ns between the two times.
    LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs);

    /// What is known at `timeNs`, not less than asked for before. O(1) from tiles, else
    /// O(log(slices since)).
    LaneEdge at(int64_t timeNs);

    /// The longest of the slices that start between two edges, with what to draw it as.
    struct Widest {
        SliceCategory category = SliceCategory::Busy;
        StringIndex name = 0;
    };
    /// `from` and `to` are answers for the two times; at least one slice must start between.
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
    const LaneTiles::Level* level_;  ///< Null: from the slices.
    uint32_t slice_ = 0;             ///< Where the last search ended,
    int64_t busyNs_ = 0;             ///< and the summed duration of the slices before.
    uint32_t firstDecoded_ = 0;      ///< Of the slices below, index in the lane.
    std::vector<int64_t> startNs_, durationNs_;
    size_t firstBucket_ = 0;  ///< Of the buckets below, index in the level.
    std::vector<int64_t> widestNs_;
};

/// A rectangle to draw: one slice, or a run of slices within one pixel.
struct PixelSlice {
    float left = 0;           ///< Pixels from the left edge of the range.
    float right = 0;          ///< At least `left + 1`.
    uint32_t firstSlice = 0;  ///< Index into the lane.
    uint32_t sliceCount = 0;  ///< 1: this very slice. More: a run, drawn by its `coverage`.
    /// Busy share of the rectangle, of whatever slices; exact but for a least value, so that even
    /// a slice of no length shows.
    float coverage = 1;
    // Of the longest of those that start in it, of equals the first; see `widestOf`.
    SliceCategory category = SliceCategory::Busy;
    StringIndex name = 0;
};

/// The picture of `lane` over `range` in `pixelWidth` pixels, left to right. The edges of pixels
/// are those of `PixelGrid`; below one nanosecond a pixel, pixels share a nanosecond.
///
/// - Each pixel that a slice lies in is covered by exactly one rectangle, however short the slice
///   is and however many there are.
/// - Where two or more slices start in a pixel, the rectangle is that pixel and holds them all.
/// - All other rectangles are single slices, from the pixel that the slice starts in to the last
///   that it reaches into and in which no other starts.
///
/// Lanes with tiles answer from those of the right size. O(pixels), else O(pixels * log slices).
std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth);

/// Pictures of several lanes over one range share its `grid`; it must have at most one pixel a
/// nanosecond.
std::vector<PixelSlice> reduceToPixels(const Lane& lane, const PixelGrid& grid);

/// The longest of the slices that start in a rectangle, of equals the first: the one it is drawn
/// as. O(log slices).
uint32_t widestOf(const Lane& lane, const PixelSlice& rectangle);

/// The slice under a point of time, or `size()` if there is none within `toleranceNs`. O(log
/// slices).
uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs = 0);

/// By track: whether there is nothing to see of it within `range`, neither of its own nor in the
/// tracks below it. A counter that is 0 or unknown all the time is nothing to see; what was not
/// recorded is. O(lanes * log slices).
std::vector<bool> emptyTracks(const Trace& trace, TimeRange range);

}  // namespace lanescope
