// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"

namespace lanescope {

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

}  // namespace lanescope
