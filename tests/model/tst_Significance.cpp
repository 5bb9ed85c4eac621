// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/compare/judgeRuns.h"
#include "model/numbers/Statistics.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

using Values = std::vector<int64_t>;

/// P(U <= u) by enumerating every placement of the first sample.
double tailByCounting(size_t m, size_t n, double u) {
    int64_t below = 0, all = 0;
    for (uint32_t chosen = 0; chosen < (1u << (m + n)); ++chosen) {
        if (static_cast<size_t>(__builtin_popcount(chosen)) != m) continue;
        int64_t wins = 0, seconds = 0;
        for (size_t place = 0; place < m + n; ++place) {
            if (chosen >> place & 1)
                wins += seconds;
            else
                ++seconds;
        }
        ++all;
        if (static_cast<double>(wins) <= u) ++below;
    }
    return static_cast<double>(below) / static_cast<double>(all);
}

/// Steps of 10 ms with a spread of 1 %, typical of a quiet run.
Values steadySteps(uint32_t seed, size_t count, int64_t medianNs = 10'000'000) {
    std::mt19937 random(seed);
    Values steps;
    for (size_t index = 0; index < count; ++index)
        steps.push_back(medianNs + static_cast<int64_t>(random() % (medianNs / 50)) - medianNs / 100);
    return steps;
}

bool isNear(double a, double b) { return std::abs(a - b) < 1e-12 + 1e-9 * std::abs(b); }

/// One resample at a time, each sorted: expected result of `medianDifferenceInterval` without its counting.
Interval plainInterval(const Values& first, const Values& second) {
    std::mt19937_64 random(20240229);
    const auto medianOfResample = [&random](const Values& values) {
        const auto count = static_cast<double>(values.size());
        const double alike = std::clamp(serialCorrelation(values), 0.0, 0.95);
        const double length = std::cbrt(count) * std::pow((1 + alike) / (1 - alike), 2.0 / 3);
        const auto block = static_cast<size_t>(std::clamp(length, 1.0, std::max(1.0, count / 2)));
        Values resample;
        while (resample.size() < values.size()) {
            const size_t start = random() % values.size();
            for (size_t index = 0; index < block && resample.size() < values.size(); ++index)
                resample.push_back(values[(start + index) % values.size()]);
        }
        return quantileOf(resample, 0.5);
    };
    std::vector<double> differences;
    for (int round = 0; round < 2000; ++round) {
        const double before = medianOfResample(first);
        differences.push_back(medianOfResample(second) - before);
    }
    std::sort(differences.begin(), differences.end());
    return {differences[50], differences[1949]};
}

}  // namespace

class TestSignificance : public QObject {
    Q_OBJECT

  private slots:
    // Expected values are from SciPy 1.x, scipy.stats.mannwhitneyu.
    void exactProbabilitiesMatchSciPy() {
        const RankTest distinct = mannWhitney(Values{1, 2, 3}, Values{4, 5, 6});
        QVERIFY(distinct.isExact);
        QCOMPARE(distinct.u, 0.0);
        QVERIFY(isNear(distinct.pValue, 0.1));
        const RankTest unequal = mannWhitney(Values{71, 73, 70, 72, 75}, Values{74, 76, 78, 77});
        QCOMPARE(unequal.u, 1.0);
        QVERIFY(isNear(unequal.pValue, 0.031746031746031744));
        const RankTest mixed = mannWhitney(Values{12, 15, 11, 19, 20, 14, 17}, Values{13, 16, 18, 22, 25, 21});
        QCOMPARE(mixed.u, 10.0);
        QVERIFY(isNear(mixed.pValue, 0.13752913752913754));
        Values threes, others;
        for (int64_t value = 0; value < 60; value += 3) threes.push_back(value);
        for (int64_t value = 1; value < 61; value += 3) others.push_back(value + 9);
        const RankTest twenties = mannWhitney(threes, others);
        QVERIFY(twenties.isExact);
        QCOMPARE(twenties.u, 136.0);
        QVERIFY(isNear(twenties.pValue, 0.0859140199856938));
    }

    void approximateProbabilitiesMatchSciPy() {
        const RankTest tied = mannWhitney(Values{10, 12, 12, 13, 15, 15, 15, 18, 20, 21},
                                          Values{12, 15, 16, 16, 17, 18, 19, 22, 23, 25, 25});
        QVERIFY(!tied.isExact);
        QCOMPARE(tied.u, 26.0);
        QVERIFY(isNear(tied.pValue, 0.04358301231269765));
        Values first, second;
        for (int64_t index = 0; index < 40; ++index) first.push_back(index * 7 % 53);
        for (int64_t index = 0; index < 35; ++index) second.push_back(index * 11 % 59 + 6);
        const RankTest large = mannWhitney(first, second);
        QVERIFY(!large.isExact);
        QCOMPARE(large.u, 491.0);
        QVERIFY(isNear(large.pValue, 0.02678587919092786));
    }

    void exactTailMatchesEnumeration() {
        std::mt19937 random(3);
        for (int round = 0; round < 30; ++round) {
            Values all(3 + random() % 8);
            std::iota(all.begin(), all.end(), int64_t{0});
            std::shuffle(all.begin(), all.end(), random);
            const size_t m = 1 + random() % (all.size() - 1);
            const Values first(all.begin(), all.begin() + static_cast<ptrdiff_t>(m));
            const Values second(all.begin() + static_cast<ptrdiff_t>(m), all.end());
            const RankTest test = mannWhitney(first, second);
            const double lesser = std::min(test.u, static_cast<double>(first.size() * second.size()) - test.u);
            const double expected = std::min(1.0, 2 * tailByCounting(first.size(), second.size(), lesser));
            QVERIFY(isNear(test.pValue, expected));
        }
    }

    void emptySampleIsNotSignificant() {
        QCOMPARE(mannWhitney(Values{}, Values{1, 2}).pValue, 1.0);
        QCOMPARE(mannWhitney(Values{5, 5, 5}, Values{5, 5}).pValue, 1.0);
        const Interval none = medianDifferenceInterval(Values{}, Values{1});
        QCOMPARE(none.low, 0.0);
        QCOMPARE(none.high, 0.0);
    }

    void quantilesMatchNumPy() {
        const Values values{4, 1, 9, 16, 25};
        QCOMPARE(quantileOf(values, 0.25), 4.0);
        QCOMPARE(quantileOf(values, 0.5), 9.0);
        QVERIFY(isNear(quantileOf(values, 0.95), 23.2));
        QCOMPARE(quantileOf(Values{}, 0.5), 0.0);
        QCOMPARE(quantileOf(Values{7}, 0.95), 7.0);
    }

    void intervalContainsTheDifferenceAndIsReproducible() {
        const Values before = steadySteps(1, 40);
        const Values after = steadySteps(2, 40, 11'000'000);
        const Interval interval = medianDifferenceInterval(before, after);
        const double difference = quantileOf(after, 0.5) - quantileOf(before, 0.5);
        QVERIFY(interval.low <= difference && difference <= interval.high);
        QVERIFY(interval.low > 800'000 && interval.high < 1'200'000);
        const Interval again = medianDifferenceInterval(before, after);
        QCOMPARE(again.low, interval.low);
        QCOMPARE(again.high, interval.high);
    }

    void intervalMatchesPlainResampling() {
        std::mt19937 random(7);
        for (const size_t count : {1, 2, 5, 23, 24, 61}) {
            Values first, second;
            for (size_t index = 0; index < count; ++index) first.push_back(random() % 40);
            for (size_t index = 0; index < count + 3; ++index) second.push_back(random() % 50);
            const Interval interval = medianDifferenceInterval(first, second);
            const Interval expected = plainInterval(first, second);
            QCOMPARE(interval.low, expected.low);
            QCOMPARE(interval.high, expected.high);
        }
    }

    void manyStepsNeedNoMoreDraws() {
        const Values before = steadySteps(1, 200'000);
        const Values after = steadySteps(2, 200'000, 11'000'000);
        const Interval interval = medianDifferenceInterval(before, after);
        QVERIFY(interval.low > 900'000 && interval.high < 1'100'000);
    }

    void autocorrelationWidensTheInterval() {
        Values shuffled, sorted;
        for (int64_t index = 0; index < 64; ++index) {
            shuffled.push_back(1000 + index * 37 % 64);
            sorted.push_back(1000 + index);
        }
        QVERIFY(serialCorrelation(sorted) > 0.8);
        QVERIFY(serialCorrelation(shuffled) < 0.3);
        const auto width = [](const Values& values) {
            const Interval interval = medianDifferenceInterval(values, values);
            return interval.high - interval.low;
        };
        QVERIFY(width(sorted) > 1.3 * width(shuffled));
    }

    void identicalRunsAreWithinNoise() {
        for (uint32_t seed = 0; seed < 200; ++seed) {
            const Claim claim = judgeSteps(steadySteps(seed * 2, 10 + seed % 50), steadySteps(seed * 2 + 1, 30));
            QCOMPARE(claim.outcome, Outcome::Alike);
        }
    }

    void bimodalAndDriftingRunsAreNoChange() {
        // A run that alternates between two speeds, sampled at other moments.
        Values first, second, rising, falling;
        for (int64_t index = 0; index < 60; ++index) {
            const int64_t jitter = index * 7919 % 40'000;
            first.push_back((index / 10 % 2 == 0 ? 10'000'000 : 10'800'000) + jitter);
            second.push_back((index / 15 % 2 == 1 ? 10'000'000 : 10'800'000) + jitter);
            rising.push_back(10'000'000 + index * 10'000 + jitter);
            falling.push_back(10'700'000 - index * 10'000 + jitter);
        }
        QCOMPARE(judgeSteps(first, second).outcome, Outcome::Alike);
        QCOMPARE(judgeSteps(rising, falling).outcome, Outcome::Alike);
    }

    void clearDifferenceIsClaimed() {
        const Claim slower = judgeSteps(steadySteps(5, 9), steadySteps(6, 9, 11'000'000));
        QCOMPARE(slower.outcome, Outcome::Longer);
        QVERIFY(slower.pValue < 0.001 && slower.lowNs > 0);
        QVERIFY(slower.percent > 8 && slower.percent < 12);
        QCOMPARE(judgeSteps(steadySteps(6, 9, 11'000'000), steadySteps(5, 9)).outcome, Outcome::Shorter);
    }

    void negligibleDifferenceIsNoise() {
        Values before, after;
        for (int64_t index = 0; index < 100; ++index) {
            before.push_back(10'000'000 + index);
            after.push_back(10'050'000 + index);  // half a percent, far beyond the spread
        }
        const Claim claim = judgeSteps(before, after);
        QVERIFY(claim.pValue < 0.001);
        QCOMPARE(claim.outcome, Outcome::Alike);
    }

    void fewStepsClaimNothing() {
        QCOMPARE(judgeSteps(Values{10, 11, 12}, Values{20, 21, 22, 23}).outcome, Outcome::TooFewSteps);
        QCOMPARE(judgeSteps(Values{}, Values{1, 2, 3, 4}).outcome, Outcome::Nothing);
    }

    void sharesSumToTheTotal() {
        std::mt19937_64 random(9);
        for (int round = 0; round < 500; ++round) {
            Values values(1 + random() % 12);
            for (int64_t& value : values) value = static_cast<int64_t>(random() % 1000);
            const auto count = static_cast<int64_t>(1 + random() % 9);
            const int64_t all = std::accumulate(values.begin(), values.end(), int64_t{0});
            const int64_t mean = (all + count / 2) / count;
            const Values shares = shareOut(values, count, mean);
            QCOMPARE(std::accumulate(shares.begin(), shares.end(), int64_t{0}), mean);
            for (size_t index = 0; index < values.size(); ++index)
                QVERIFY(shares[index] == values[index] / count || shares[index] == values[index] / count + 1);
        }
    }
};

LANESCOPE_TEST(TestSignificance, NoApplication)
#include "tst_Significance.moc"
