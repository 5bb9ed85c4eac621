// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/reduce/PixelGrid.h"
#include "model/trace/Track.h"

namespace lanescope {

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

}  // namespace lanescope
