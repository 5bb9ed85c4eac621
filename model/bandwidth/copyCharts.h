// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/bandwidth/CopyIndex.h"

namespace lanescope {

/// Horizontal axis of a chart of copies.
enum class CopyAxis : uint8_t { Time, Size };

/// Resolution of a chart.
struct CopyGrid {
    CopyAxis across = CopyAxis::Time;
    int columns = 300;
    int rows = 100;
};

/// The copies of one group in one place of a chart.
struct CopyCell {
    CopyPoint largest;  ///< The one with the most bytes, the first of several.
    int64_t count = 0;
};

/// From the slowest to the fastest copy. Rates that differ by a large factor need a logarithmic scale.
struct RateExtent {
    double minGBps = 0, maxGBps = 0;  ///< Both 0 if there is no copy with a rate.
    bool isEmpty() const { return maxGBps <= 0; }
    bool isLogarithmic() const;
    /// Returns the position of a rate between the minimum (0) and the maximum (1).
    double shareOf(double gigabytesPerSecond) const;
};

struct CopyCells {
    std::vector<CopyGroup> groups;  ///< Indexed by `CopyPoint::group`.
    std::vector<CopyCell> cells;    ///< By group, then from left to right.
    RateExtent rates;
    int64_t minBytes = 0, maxBytes = 0;
    int64_t copyCount = 0;  ///< Number of copies with a rate.
};

/// Returns the copies with a rate, at most one cell for each group and place of the grid. Every copy is in exactly one
/// cell. The time axis is the range of the query, or that of the trace. Sizes and rates are logarithmic, or rates
/// linear if they are close together. O(k + groups * places) for the k copies in the range.
CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid);

/// The copies of one group with about the same rate.
struct RateBin {
    uint32_t group = 0;
    int bin = 0;
    int64_t count = 0;
    int64_t bytes = 0;
    CopyPoint largest;
};

/// Number of copies by rate.
struct RateHistogram {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int binCount = 0;
    std::vector<RateBin> bins;  ///< By bin, then by group; without empty ones.
    /// Returns the rate at the start of a bin; for `binCount` the end of the last.
    double binStart(int bin) const;
};

/// Returns bins of equal width on the scale of `RateExtent`. O(k + groups * bins).
RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount);

}  // namespace lanescope
