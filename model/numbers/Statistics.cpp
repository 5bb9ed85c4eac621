// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/Statistics.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

namespace lanescope {

namespace {

template <class T>
double middle(std::span<T> values) {
    const T upper = upperMedianOf(values);
    if (values.empty() || values.size() % 2 == 1) return static_cast<double>(upper);
    // The lower middle is the largest value that nth_element put below the upper one. Both are
    // halved before they are added, because values of a corrupt file may overflow.
    const auto lower = std::max_element(values.begin(), values.begin() + values.size() / 2);
    return static_cast<double>(*lower) / 2 + static_cast<double>(upper) / 2;
}

constexpr size_t maxExactSamples = 20;
constexpr size_t maxResamples = 2000;
constexpr size_t minResamples = 200;
/// Limit of values drawn in all resamples. Runs with many steps need fewer resamples.
constexpr size_t maxDraws = 20'000'000;
constexpr uint64_t shuffleSeed = 20240229;  ///< Arbitrary, but fixed so that equal files give equal results.

/// Ranks of both samples together, ties at their mean rank, and the tie correction.
struct Ranking {
    std::vector<double> first, second;
    double tieSum = 0;  ///< Sum of t^3 - t over groups of t equal values.
};

Ranking rankingOf(std::span<const int64_t> first, std::span<const int64_t> second) {
    struct Value {
        int64_t value;
        size_t place;  ///< Position in both samples together.
    };
    std::vector<Value> all;
    for (const int64_t value : first) all.push_back({value, all.size()});
    for (const int64_t value : second) all.push_back({value, all.size()});
    std::ranges::sort(all, {}, &Value::value);
    Ranking ranking{std::vector<double>(first.size()), std::vector<double>(second.size())};
    for (size_t begin = 0; begin < all.size();) {
        size_t end = begin;
        while (end < all.size() && all[end].value == all[begin].value) ++end;
        const auto tied = static_cast<double>(end - begin);
        const double rank = static_cast<double>(begin + end + 1) / 2;
        ranking.tieSum += tied * tied * tied - tied;
        for (size_t index = begin; index < end; ++index) {
            const size_t place = all[index].place;
            if (place < first.size())
                ranking.first[place] = rank;
            else
                ranking.second[place - first.size()] = rank;
        }
        begin = end;
    }
    return ranking;
}

/// Returns P(U <= u) if both samples come from one distribution. Counts the orders of m and n
/// values in which the first sample wins no more than u pairs, by the recurrence of Mann and
/// Whitney (1947), N(u; m, n) = N(u - n; m - 1, n) + N(u; m, n - 1).
double exactLowerTail(size_t m, size_t n, size_t u) {
    const size_t upperLimit = m * n;
    // counts[j][v]: orders of i values of the first and j of the second sample, for the current i.
    std::vector<std::vector<double>> counts(n + 1, std::vector<double>(upperLimit + 1));
    for (size_t j = 0; j <= n; ++j) counts[j][0] = 1;
    for (size_t i = 1; i <= m; ++i) {
        std::vector<std::vector<double>> next(n + 1, std::vector<double>(upperLimit + 1));
        next[0][0] = 1;
        for (size_t j = 1; j <= n; ++j)
            for (size_t v = 0; v <= i * j; ++v) next[j][v] = (v >= j ? counts[j][v - j] : 0) + next[j - 1][v];
        counts = std::move(next);
    }
    double below = 0, all = 0;
    for (size_t v = 0; v <= upperLimit; ++v) {
        all += counts[n][v];
        if (v <= u) below += counts[n][v];
    }
    return below / all;
}

/// Normal approximation with corrections for ties and continuity: Lehmann, "Nonparametrics:
/// Statistical Methods Based on Ranks" (1975), section 1.3.
double normalPValue(double u, double m, double n, double tieSum) {
    const double all = m + n;
    const double variance = m * n / 12 * (all + 1 - tieSum / (all * (all - 1)));
    if (variance <= 0) return 1;
    const double distance = std::max(0.0, std::abs(u - m * n / 2) - 0.5);
    return std::erfc(distance / std::sqrt(variance) / std::sqrt(2.0));
}

/// Returns the block length that independent values need, or more the more neighbours correlate; up
/// to half of the values.
size_t blockLength(std::span<const int64_t> values) {
    constexpr double upperLimit = 0.95;
    const double alike = std::clamp(serialCorrelation(values), 0.0, upperLimit);
    const auto count = static_cast<double>(values.size());
    const double length = std::cbrt(count) * std::pow((1 + alike) / (1 - alike), 2.0 / 3);
    return static_cast<size_t>(std::clamp(length, 1.0, std::max(1.0, count / 2)));
}

/// Resamples a sample in blocks and returns only medians.
class MedianResampler {
  public:
    explicit MedianResampler(std::span<const int64_t> values)
        : sorted_(values.begin(), values.end()),
          places_(values.size()),
          counts_(values.size()),
          block_(blockLength(values)) {
        std::vector<uint32_t> order(values.size());
        std::iota(order.begin(), order.end(), uint32_t{0});
        std::ranges::sort(order, {}, [values](uint32_t each) { return values[each]; });
        for (uint32_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
        std::ranges::sort(sorted_);
    }

    /// Returns the median of another resample. O(n): it counts how often each value was drawn.
    double next(std::mt19937_64& random) {
        const size_t count = sorted_.size();
        std::ranges::fill(counts_, 0U);
        for (size_t drawn = 0; drawn < count;) {
            // The standard library's distributions differ between implementations; the bias of a
            // remainder is negligible.
            size_t at = random() % count;
            for (size_t index = 0; index < block_ && drawn < count; ++index, ++drawn) {
                ++counts_[places_[at]];
                if (++at == count) at = 0;
            }
        }
        size_t place = 0, below = counts_[0];
        while (below <= (count - 1) / 2) below += counts_[++place];
        const auto low = static_cast<double>(sorted_[place]);
        while (below <= count / 2) below += counts_[++place];
        return (low + static_cast<double>(sorted_[place])) / 2;
    }

  private:
    std::vector<int64_t> sorted_;
    std::vector<uint32_t> places_;  ///< Position of each value in `sorted_`.
    std::vector<uint32_t> counts_;  ///< Draws of each value of `sorted_`.
    size_t block_;
};

}  // namespace

int64_t saturatingSum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

double medianOf(std::span<int64_t> values) { return middle(values); }
double medianOf(std::span<double> values) { return middle(values); }

Statistics statisticsOf(std::span<int64_t> values) {
    Statistics result;
    if (values.empty()) return result;
    result.count = static_cast<int64_t>(values.size());
    result.minimum = result.maximum = values.front();
    long double sum = 0;  // Used if the total overflows.
    for (const int64_t value : values) {
        result.total = saturatingSum(result.total, value);
        sum += static_cast<long double>(value);
        result.minimum = std::min(result.minimum, value);
        result.maximum = std::max(result.maximum, value);
    }
    const bool isExact =
        result.total > std::numeric_limits<int64_t>::min() && result.total < std::numeric_limits<int64_t>::max();
    result.average = isExact ? static_cast<double>(result.total) / static_cast<double>(result.count)
                             : static_cast<double>(sum / static_cast<long double>(result.count));
    result.median = medianOf(values);
    if (result.count > 1) {
        // Sums squared distances from the mean in a second pass: squares of raw nanoseconds would
        // lose the small differences of large numbers.
        double squares = 0;
        for (const int64_t value : values) {
            const double distance = static_cast<double>(value) - result.average;
            squares += distance * distance;
        }
        result.standardDeviation = std::sqrt(squares / static_cast<double>(result.count - 1));
    }
    return result;
}

std::vector<double> holmAdjusted(std::span<const WeightedTest> tests) {
    std::vector<size_t> order(tests.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t each) { return tests[each].pValue / tests[each].weight; });
    double left = 0;
    for (const WeightedTest& test : tests) left += test.weight;
    std::vector<double> adjusted(tests.size());
    double atLeast = 0;
    for (const size_t index : order) {
        const WeightedTest& test = tests[index];
        atLeast = std::max(atLeast, std::min(1.0, test.pValue * left / test.weight));
        adjusted[index] = atLeast;
        left -= test.weight;
    }
    return adjusted;
}

double studentTWithin(double t, int64_t freedom) {
    const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
    const double square = std::cos(angle) * std::cos(angle);
    const bool isOdd = freedom % 2 == 1;
    double term = isOdd ? std::cos(angle) : 1;
    double sum = freedom == 1 ? 0 : term;
    for (int64_t k = isOdd ? 3 : 2; k < freedom; k += 2) {
        term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
        sum += term;
    }
    return isOdd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

double studentTFor(double share, int64_t freedom) {
    double low = 0, high = 1;
    while (studentTWithin(high, freedom) < share && high < 1e9) high *= 2;
    for (int step = 0; step < 100; ++step) {
        const double middle = (low + high) / 2;
        (studentTWithin(middle, freedom) < share ? low : high) = middle;
    }
    return high;
}

double quantileOf(std::span<const int64_t> values, double share) {
    if (values.empty()) return 0;
    std::vector<int64_t> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    const auto low = static_cast<double>(sorted[below]);
    return low + (place - static_cast<double>(below)) * (static_cast<double>(sorted[above]) - low);
}

RankTest mannWhitney(std::span<const int64_t> first, std::span<const int64_t> second) {
    RankTest test;
    if (first.empty() || second.empty()) return test;
    const Ranking ranking = rankingOf(first, second);
    const auto m = static_cast<double>(first.size());
    const auto n = static_cast<double>(second.size());
    double rankSum = 0;
    for (const double rank : ranking.first) rankSum += rank;
    test.u = rankSum - m * (m + 1) / 2;
    test.isExact = ranking.tieSum == 0 && first.size() <= maxExactSamples && second.size() <= maxExactSamples;
    if (test.isExact) {
        const double lesser = std::min(test.u, m * n - test.u);
        const double tail = exactLowerTail(first.size(), second.size(), static_cast<size_t>(lesser));
        test.pValue = std::min(1.0, 2 * tail);
    } else {
        test.pValue = normalPValue(test.u, m, n, ranking.tieSum);
    }
    return test;
}

double serialCorrelation(std::span<const int64_t> values) {
    if (values.size() < 4) return 0;
    double mean = 0;
    for (const int64_t value : values) mean += static_cast<double>(value) / static_cast<double>(values.size());
    double square = 0, product = 0, before = 0;
    for (const int64_t value : values) {
        const double distance = static_cast<double>(value) - mean;
        square += distance * distance;
        product += distance * before;
        before = distance;
    }
    return square > 0 ? product / square : 0;
}

Interval medianDifferenceInterval(std::span<const int64_t> first, std::span<const int64_t> second) {
    if (first.empty() || second.empty()) return {};
    std::mt19937_64 random(shuffleSeed);
    MedianResampler fromFirst(first), fromSecond(second);
    const size_t resamples = std::clamp(maxDraws / (first.size() + second.size()), minResamples, maxResamples);
    std::vector<double> differences;
    differences.reserve(resamples);
    for (size_t count = 0; count < resamples; ++count) {
        const double firstMedian = fromFirst.next(random);
        differences.push_back(fromSecond.next(random) - firstMedian);
    }
    std::ranges::sort(differences);
    const auto tail = static_cast<size_t>(static_cast<double>(resamples) * 0.025);
    return {differences[tail], differences[differences.size() - 1 - tail]};
}

}  // namespace lanescope
