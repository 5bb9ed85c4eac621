// SPDX-License-Identifier: Apache-2.0
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
/// nor a few wild values matter. The p value is exact for samples of at most 20 values without
/// ties, else by the normal approximation with corrections for continuity and ties. p is 1 if a
/// sample is empty. O(n log n), and O(m^2 n^2) for the exact distribution; the same figures as
/// SciPy's `mannwhitneyu` gives.
RankTest mannWhitney(std::span<const int64_t> first, std::span<const int64_t> second);

struct Interval {
    double low = 0;
    double high = 0;
};

/// Correlation of each value with the one before, in [-1, 1]; 0 for fewer than four values and for
/// values that are all equal. Steps are often like their neighbours: a clock that drifts, a second
/// mode that comes and goes. O(n).
double serialCorrelation(std::span<const int64_t> values);

/// 95 % confidence interval of the median of `second` less that of `first`, by the percentiles of
/// 2000 resamples (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13);
/// of more than 10,000 values together fewer, at least 200, which then say as much. Resamples are
/// put together from blocks of neighbours, the longer the more neighbours are alike (moving blocks,
/// Kuensch 1989): values that are not independent say less than their number. The values must be in
/// the order of time. The same input always gives the same interval. O(n) a resample.
Interval medianDifferenceInterval(std::span<const int64_t> first, std::span<const int64_t> second);

}  // namespace lanescope
