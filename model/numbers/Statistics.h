// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanescope {

/// The figures every summary shows of a set of numbers, in the unit of the numbers.
struct Statistics {
    int64_t count = 0;
    int64_t total = 0;  ///< Stays at the largest number there is rather than overflow.
    double average = 0;
    double median = 0;  ///< The middle one; of an even count the mean of the middle two.
    int64_t minimum = 0;
    int64_t maximum = 0;
    double standardDeviation = 0;  ///< Of a sample (n - 1); 0 for fewer than two numbers.
};

/// Sums up `values` and leaves them in another order. All zero for none. O(n); any thread.
Statistics statisticsOf(std::span<int64_t> values);

/// The median alone, as in `Statistics`; reorders `values`. 0 for none. O(n).
double medianOf(std::span<int64_t> values);
double medianOf(std::span<double> values);

/// a + b, at most the largest and at least the smallest number there is.
int64_t saturatingSum(int64_t a, int64_t b);

/// A test among several that are looked at together.
struct WeightedTest {
    double pValue = 1;
    double weight = 1;  ///< Its share of the error that all together may make; greater than 0.
};

/// For each test the level at which it rejects if all of them together shall reject something true
/// no more often than that, however they depend on each other (Holm, "A simple sequentially
/// rejective multiple test procedure", 1979, section 4 for weights). In the order of `tests`, each
/// at most 1. O(n log n).
std::vector<double> holmAdjusted(std::span<const WeightedTest> tests);

/// How much of Student's t distribution lies within -t and t, in [0, 1]. `freedom` is the number of
/// degrees of freedom, at least 1; `t` at least 0. O(freedom); the finite sums for whole degrees of
/// freedom (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).
double studentTWithin(double t, int64_t freedom);

/// The t within which and its negative the share `share` in [0, 1) of the distribution lies: 0.95
/// gives the factor of a 95 % confidence interval. O(freedom).
double studentTFor(double share, int64_t freedom);

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
