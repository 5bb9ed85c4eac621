#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Track.h"

namespace lanescope {

/// A rectangle to draw: one slice at least a pixel wide, or a run of slices too small to tell
/// apart.
struct PixelSlice {
    float left = 0;           ///< Pixels from the left edge of the range; clipped to it.
    float right = 0;          ///< At least `left + 1`.
    uint32_t firstSlice = 0;  ///< Index into the lane.
    uint32_t sliceCount = 0;  ///< 1: this very slice. More: a run, drawn by its `coverage`.
    float coverage = 1;       ///< Busy share of the rectangle, in (0, 1].
    SliceCategory category = SliceCategory::Busy;  ///< Of the widest slice looked at.
};

/// The picture of `lane` over `range` in `pixelWidth` pixels: at most two rectangles a pixel
/// however many slices lie there, left to right, covering no pixel twice. Nothing is dropped: a
/// slice of 1 ns still marks its pixel. O(pixels * log slices).
std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth);

/// The slice under a point of time, or `size()` if there is none within `toleranceNs`. O(log
/// slices).
uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs = 0);

}  // namespace lanescope
