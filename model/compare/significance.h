#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanescope {

/// The value below which the share `share` of `values` lies, interpolated linearly between
/// neighbours (Hyndman and Fan's type 7, as NumPy and R do by default). 0 for none. O(n log n).
double quantileOf(std::span<const int64_t> values, double share);

/// Outcome of a Mann-Whitney U test.
struct RankTest {
    double u = 0;       ///< Of the first sample: pairs in which it is greater; a tie counts half.
    double pValue = 1;  ///< Two-sided.
    bool isExact = false;
};

/// Whether two samples come from the same distribution, by ranks alone, so that neither their shape
/// nor a few wild values matter. The p value is exact for samples of at most 20 values without ties
/// and without serial correlation; else by the normal approximation with corrections for
/// continuity and ties.
///
/// Neighbouring steps are often alike: a clock that drifts, a second mode that comes and goes. Then
/// a run has less to say than its number of steps suggests, and the variance is multiplied by
/// (1 + r) / (1 - r), where r is the greater lag-1 autocorrelation of the two samples' ranks,
/// if it is beyond chance (2 / sqrt(n)). Values must be in the order of time. p is 1 if a sample is
/// empty. O(n log n), and O(m^2 n^2) for the exact distribution.
RankTest mannWhitney(std::span<const int64_t> first, std::span<const int64_t> second);

struct Interval {
    double low = 0;
    double high = 0;
};

/// 95 % confidence interval of the median of `second` less that of `first`, by the percentiles of
/// 2000 resamples in blocks of neighbours (of the cube root of n values, so that correlation within
/// a run is kept). The same input always gives the same interval. O(n) a resample.
Interval medianDifferenceInterval(std::span<const int64_t> first, std::span<const int64_t> second);

}  // namespace lanescope
