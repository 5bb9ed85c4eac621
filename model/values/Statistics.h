// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace lanescope
