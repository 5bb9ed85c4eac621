// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace lanescope {

/// Summary figures of a set of numbers, in their unit.
struct Statistics {
    int64_t count = 0;
    int64_t total = 0;  ///< Saturates instead of overflowing.
    double average = 0;
    double median = 0;  ///< Mean of the middle two for an even count.
    int64_t minimum = 0;
    int64_t maximum = 0;
    double standardDeviation = 0;  ///< Sample deviation (n - 1); 0 for fewer than two numbers.
};

/// Computes the figures and reorders `values`. All zero for an empty set. O(n); any thread.
Statistics statisticsOf(std::span<int64_t> values);

/// Returns the median as in `Statistics`; reorders `values`. 0 for an empty set. O(n).
double medianOf(std::span<int64_t> values);
double medianOf(std::span<double> values);

/// Returns the middle value, the greater one of two; 0 for an empty set. O(n).
template <class Values>
auto upperMedianOf(Values values) {
    const auto middle = std::begin(values) + static_cast<std::ptrdiff_t>(std::size(values) / 2);
    std::nth_element(std::begin(values), middle, std::end(values));
    return std::size(values) > 0 ? *middle : typename Values::value_type{};
}

/// Returns a + b, clamped to the range of int64_t.
int64_t saturatingSum(int64_t a, int64_t b);

/// Test of a family of tests that are evaluated together.
struct WeightedTest {
    double pValue = 1;
    double weight = 1;  ///< Share of the family's error level; greater than 0.
};

/// Returns the adjusted p-value of each test, which controls the family-wise error rate under any
/// dependence (Holm, "A simple sequentially rejective multiple test procedure", 1979, section 4 for
/// weights). In the order of `tests`, each at most 1. O(n log n).
std::vector<double> holmAdjusted(std::span<const WeightedTest> tests);

/// Returns the probability of Student's t distribution between -t and t, in [0, 1]. `freedom` (degrees of freedom) is
/// at least 1, `t` at least 0. O(freedom), by the finite sums for whole degrees of freedom (Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).
double studentTWithin(double t, int64_t freedom);

/// Returns the t for which [-t, t] has the probability `share` in [0, 1): 0.95 gives the factor of
/// a 95 % confidence interval. O(freedom).
double studentTFor(double share, int64_t freedom);

/// Returns the `share` quantile of `values`, interpolated linearly (Hyndman and Fan's type 7, the
/// default of NumPy and R). 0 for an empty set. O(n log n).
double quantileOf(std::span<const int64_t> values, double share);

/// Result of a Mann-Whitney U test.
struct RankTest {
    double u = 0;       ///< U of the first sample: pairs in which it is greater; a tie counts half.
    double pValue = 1;  ///< Two-sided.
    bool isExact = false;
};

/// Tests if two samples come from the same distribution, by ranks alone, so that neither shape nor
/// outliers matter. The p value is exact for samples of at most 20 values without ties, else by the
/// normal approximation with corrections for continuity and ties. p is 1 if a sample is empty. O(n
/// log n), and O(m^2 n^2) for the exact distribution. Same results as SciPy's `mannwhitneyu`.
RankTest mannWhitney(std::span<const int64_t> first, std::span<const int64_t> second);

struct Interval {
    double low = 0;
    double high = 0;
};

/// Returns the correlation of each value with its predecessor, in [-1, 1]; 0 for fewer than four or all equal values.
/// Neighbouring steps often correlate because of clock drift or a second mode. O(n).
double serialCorrelation(std::span<const int64_t> values);

/// Returns the 95 % confidence interval of the median of `second` minus that of `first`, by the percentiles of 2000
/// resamples (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). More than 10,000 values
/// together get fewer resamples, at least 200, which suffice then. Resamples consist of blocks of neighbours, longer
/// with higher correlation (moving blocks, Kuensch 1989), because dependent values carry less information. The values
/// must be in order of time. Deterministic. O(n) per resample.
Interval medianDifferenceInterval(std::span<const int64_t> first, std::span<const int64_t> second);

}  // namespace lanescope
