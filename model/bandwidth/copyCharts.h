// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/bandwidth/CopyIndex.h"

namespace lanescope {

/// What copies are laid out by from left to right.
enum class CopyAxis : uint8_t { Time, Size };

/// The places that a chart can tell apart.
struct CopyGrid {
    CopyAxis across = CopyAxis::Time;
    int columns = 300;
    int rows = 100;
};

/// The copies of one group that lie in one place of a chart.
struct CopyCell {
    CopyPoint largest;  ///< The one with the most bytes, of several the first.
    int64_t count = 0;
};

/// From the slowest to the fastest copy. Rates that differ by a large factor want a logarithmic
/// scale: in a linear one everything but the fastest would lie on the floor.
struct RateExtent {
    double leastGBps = 0, mostGBps = 0;  ///< Both 0 if there is no copy with a rate.
    bool isEmpty() const { return mostGBps <= 0; }
    bool isLogarithmic() const;
    /// Where a rate stands between the least (0) and the greatest (1).
    double shareOf(double gigabytesPerSecond) const;
};

struct CopyCells {
    std::vector<CopyGroup> groups;  ///< `CopyPoint::group` counts in these.
    std::vector<CopyCell> cells;    ///< By group, then from left to right.
    RateExtent rates;
    int64_t leastBytes = 0, mostBytes = 0;
    int64_t copyCount = 0;  ///< All that have a rate.
};

/// The copies with a rate, at most one cell for each group and place of the grid. Every copy is in
/// exactly one cell. Time from left to right is the range of the query, or that of the trace; sizes
/// and rates are logarithmic, or rates linear if they lie close together. O(k + groups * places)
/// for the k copies in the range.
CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid);

/// The copies of one group that are about as fast.
struct RateBin {
    uint32_t group = 0;
    int bin = 0;
    int64_t count = 0;
    int64_t bytes = 0;
    CopyPoint largest;
};

/// How many copies were how fast.
struct RateHistogram {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int binCount = 0;
    std::vector<RateBin> bins;  ///< By bin, then by group; none that is empty.
    /// The rate at which a bin begins; at `binCount`, where the last one ends.
    double binStart(int bin) const;
};

/// Bins are equally wide on the scale that `RateExtent` asks for. O(k + groups * bins).
RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount);

}  // namespace lanescope
