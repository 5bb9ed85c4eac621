// SPDX-License-Identifier: Apache-2.0
#include "model/values/Statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanescope {

namespace {

template <class T>
double middle(std::span<T> values) {
    if (values.empty()) return 0;
    const auto upper = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), upper, values.end());
    if (values.size() % 2 == 1) return static_cast<double>(*upper);
    // The lower middle is the largest of what nth_element left below the upper one. Halved before
    // they are added: two numbers of a damaged file may be too large for a sum.
    const auto lower = std::max_element(values.begin(), upper);
    return static_cast<double>(*lower) / 2 + static_cast<double>(*upper) / 2;
}

}  // namespace

int64_t saturatingSum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

double medianOf(std::span<int64_t> values) {
    return middle(values);
}
double medianOf(std::span<double> values) {
    return middle(values);
}

Statistics statisticsOf(std::span<int64_t> values) {
    Statistics result;
    if (values.empty()) return result;
    result.count = static_cast<int64_t>(values.size());
    result.minimum = result.maximum = values.front();
    long double sum = 0;  // where the total does not fit any more
    for (const int64_t value : values) {
        result.total = saturatingSum(result.total, value);
        sum += static_cast<long double>(value);
        result.minimum = std::min(result.minimum, value);
        result.maximum = std::max(result.maximum, value);
    }
    const bool isExact = result.total > std::numeric_limits<int64_t>::min() &&
                         result.total < std::numeric_limits<int64_t>::max();
    result.average = isExact ? static_cast<double>(result.total) / static_cast<double>(result.count)
                             : static_cast<double>(sum / static_cast<long double>(result.count));
    result.median = medianOf(values);
    if (result.count > 1) {
        // A second pass over the distances from the mean: squares of raw nanoseconds would lose
        // the small differences between large numbers.
        double squares = 0;
        for (const int64_t value : values) {
            const double distance = static_cast<double>(value) - result.average;
            squares += distance * distance;
        }
        result.standardDeviation = std::sqrt(squares / static_cast<double>(result.count - 1));
    }
    return result;
}

}  // namespace lanescope
