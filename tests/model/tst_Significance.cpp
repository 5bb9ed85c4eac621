// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/compare/judgeRuns.h"
#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
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

/// The same values in the slow, obvious way.
Statistics plainly(std::vector<int64_t> values) {
    Statistics result;
    if (values.empty()) return result;
    std::sort(values.begin(), values.end());
    long double sum = 0, squares = 0;
    for (const int64_t value : values) {
        sum += value;
        result.total += value;
    }
    const long double mean = sum / values.size();
    for (const int64_t value : values) squares += (value - mean) * (value - mean);
    result.count = static_cast<int64_t>(values.size());
    result.average = static_cast<double>(mean);
    const size_t half = values.size() / 2;
    result.median = values.size() % 2 == 1 ? static_cast<double>(values[half])
                                           : static_cast<double>((values[half - 1] + values[half]) / 2.0L);
    result.minimum = values.front();
    result.maximum = values.back();
    if (values.size() > 1) result.standardDeviation = static_cast<double>(std::sqrt(squares / (values.size() - 1)));
    return result;
}

bool isRelativelyNear(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

/// Logarithm of the median step of one simulated run.
using Draw = std::function<double(std::mt19937&)>;

Draw normal(double spread) {
    return [spread](std::mt19937& random) { return std::normal_distribution<double>(0, spread)(random); };
}

double twoModes(std::mt19937& random) {
    return (random() % 2 == 0 ? 0 : 0.1) + std::normal_distribution<double>(0, 0.01)(random);
}

double heavyTails(std::mt19937& random) { return 0.02 * std::student_t_distribution<double>(3)(random); }

/// Simulated runs, of which the last `after` take longer by `shift`.
std::vector<double> series(const Draw& draw, std::mt19937& random, size_t runs, size_t after, double shift) {
    std::vector<double> medians;
    for (size_t run = 0; run < runs; ++run)
        medians.push_back(50e6 * std::exp(draw(random) + (run + after >= runs ? shift : 0)));
    return medians;
}

}  // namespace

class tst_Significance : public QObject {
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
            QVERIFY(isNear(test.pValue, std::min(1.0, 2 * tailByCounting(first.size(), second.size(), lesser))));
        }
    }

    void emptySampleIsNotSignificant() {
        QCOMPARE(mannWhitney(Values{}, Values{1, 2}).pValue, 1.0);
        QCOMPARE(mannWhitney(Values{5, 5, 5}, Values{5, 5}).pValue, 1.0);
        const Interval none = medianDifferenceInterval(Values{}, Values{1});
        QCOMPARE(test::listed(none.low, none.high), "0 | 0");
    }

    void quantilesMatchNumPy() {
        const Values values{4, 1, 9, 16, 25};
        QCOMPARE(test::listed(quantileOf(values, 0.25), quantileOf(values, 0.5)), "4 | 9");
        QVERIFY(isNear(quantileOf(values, 0.95), 23.2));
        QCOMPARE(test::listed(quantileOf(Values{}, 0.5), quantileOf(Values{7}, 0.95)), "0 | 7");
    }

    void intervalContainsTheDifferenceAndIsReproducible() {
        const Values before = steadySteps(1, 40), after = steadySteps(2, 40, 11'000'000);
        const Interval interval = medianDifferenceInterval(before, after);
        const double difference = quantileOf(after, 0.5) - quantileOf(before, 0.5);
        QVERIFY(interval.low <= difference && difference <= interval.high);
        QVERIFY(interval.low > 800'000 && interval.high < 1'200'000);
        const Interval again = medianDifferenceInterval(before, after);
        QCOMPARE(test::listed(again.low, again.high), test::listed(interval.low, interval.high));
    }

    void intervalMatchesPlainResampling() {
        std::mt19937 random(7);
        for (const size_t count : {1, 2, 5, 23, 24, 61}) {
            Values first, second;
            for (size_t index = 0; index < count; ++index) first.push_back(random() % 40);
            for (size_t index = 0; index < count + 3; ++index) second.push_back(random() % 50);
            const Interval interval = medianDifferenceInterval(first, second);
            const Interval expected = plainInterval(first, second);
            QCOMPARE(test::listed(interval.low, interval.high), test::listed(expected.low, expected.high));
        }
    }

    void manyStepsNeedNoMoreDraws() {
        const Values before = steadySteps(1, 200'000), after = steadySteps(2, 200'000, 11'000'000);
        const Interval interval = medianDifferenceInterval(before, after);
        QVERIFY(interval.low > 900'000 && interval.high < 1'100'000);
    }

    void autocorrelationWidensTheInterval() {
        Values shuffled, sorted;
        for (int64_t index = 0; index < 64; ++index) {
            shuffled.push_back(1000 + index * 37 % 64);
            sorted.push_back(1000 + index);
        }
        QVERIFY(serialCorrelation(sorted) > 0.8 && serialCorrelation(shuffled) < 0.3);
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
        // A run that alternates between two speeds, sampled at other times.
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
        QVERIFY(slower.pValue < 0.001 && slower.lowNs > 0 && slower.percent > 8 && slower.percent < 12);
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
            const int64_t mean = (std::accumulate(values.begin(), values.end(), int64_t{0}) + count / 2) / count;
            const Values shares = shareOut(values, count, mean);
            QCOMPARE(std::accumulate(shares.begin(), shares.end(), int64_t{0}), mean);
            for (size_t index = 0; index < values.size(); ++index)
                QVERIFY(shares[index] == values[index] / count || shares[index] == values[index] / count + 1);
        }
    }

    void statisticsMatchPlainLoop() {
        std::mt19937_64 random(7);
        for (int round = 0; round < 300; ++round) {
            // Few distinct numbers in odd rounds, so that equal ones meet around the median.
            const int64_t limit = round % 2 ? 5 : int64_t{10'000'000'000};
            std::vector<int64_t> values(random() % 60);
            for (int64_t& value : values) value = static_cast<int64_t>(random() % limit);
            const Statistics expected = plainly(values), actual = statisticsOf(values);
            QCOMPARE(test::listed(actual.count, actual.total), test::listed(expected.count, expected.total));
            QCOMPARE(test::listed(actual.minimum, actual.maximum), test::listed(expected.minimum, expected.maximum));
            QVERIFY(isRelativelyNear(actual.average, expected.average));
            QVERIFY(isRelativelyNear(actual.median, expected.median));
            QVERIFY(isRelativelyNear(actual.standardDeviation, expected.standardDeviation));
        }
    }

    void medianOfAnEvenCountIsAveraged() {
        std::vector<int64_t> values{40, 10, 30, 20};
        QCOMPARE(medianOf(values), 25.0);
    }

    void singleNumberHasNoDeviation() {
        std::vector<int64_t> values{42};
        const Statistics figures = statisticsOf(values);
        QCOMPARE(test::listed(figures.standardDeviation, figures.median), "0 | 42");
    }

    void smallDifferencesOfLargeNumbersAreKept() {
        const int64_t base = 4'000'000'000'000'000'000;
        std::vector<int64_t> values{base, base + 1024};
        QCOMPARE(medianOf(values), static_cast<double>(base + 512));
    }

    void sumsNeverOverflow() {
        const int64_t most = std::numeric_limits<int64_t>::max();
        std::vector<int64_t> values{most, most, 1};
        QCOMPARE(statisticsOf(values).total, most);
        // A total that overflows is still covered by the mean, which lies between the extremes.
        QCOMPARE(statisticsOf(values).average, static_cast<double>(most) / 3 * 2);
        std::vector<int64_t> equal{most / 2, most / 2, most / 2};
        QCOMPARE(statisticsOf(equal).average, static_cast<double>(most / 2));
        QCOMPARE(saturatingSum(std::numeric_limits<int64_t>::min(), -1), std::numeric_limits<int64_t>::min());
    }

    void groupsAreInOrderOfAppearance() {
        GroupedValues groups;
        groups.add(7, 1);
        groups.add(7, 2);
        groups.add(3, 10);
        groups.add(7, 3);
        QCOMPARE(groups.groups().size(), size_t{2});
        QCOMPARE(groups.groups()[0].key, uint64_t{7});
        QCOMPARE(groups.groups()[0].values, (std::vector<int64_t>{1, 2, 3}));
        QCOMPARE(groups.groups()[1].values, (std::vector<int64_t>{10}));
    }

    void levelChangeIsFound() {
        const std::vector<double> medians{50, 50.4, 49.8, 50.1, 50.3, 49.9, 50.2, 55, 55.3, 54.8, 55.1, 55.2};
        const auto change = test::orFail(latestChange(medians));
        QCOMPARE(change.first, size_t{7});
        QVERIFY(std::abs(change.percent - 10) < 0.5);
        QVERIFY(change.pValue < 0.025);
        QCOMPARE(latestChange(medians)->pValue, change.pValue);
    }

    void latestOfSeveralChangesIsReported() {
        std::mt19937 random(3);
        std::vector<double> medians = series(normal(0.005), random, 24, 12, std::log(1.1));
        for (const double each : series(normal(0.005), random, 12, 0, 0)) medians.push_back(each);
        const auto change = test::orFail(latestChange(medians));
        QCOMPARE(change.first, size_t{24});
        QVERIFY(change.percent < -5);
    }

    void oneDeviatingRunIsNoChange() {
        QVERIFY(!latestChange(std::vector<double>{50, 50, 51, 50, 50, 51, 50, 51, 50, 50, 51, 90}));
        QVERIFY(!latestChange(std::vector<double>{50, 80, 80}) && !latestChange({}));
        QVERIFY(!latestChange(std::vector<double>(20, 50.0)));
    }

    /// Less than 1 % is irrelevant, however certain.
    void tinyChangeIsNone() {
        std::vector<double> medians(10, 50.0);
        medians.resize(20, 50.2);
        QVERIFY(!latestChange(medians));
        std::fill(medians.begin() + 10, medians.end(), 51.0);
        QVERIFY(latestChange(medians));
    }

    void varyingRunsHaveNoChange_data() {
        const test::Rows<Draw, int> row;
        for (const int runs : {8, 12, 21}) {
            row(QString::asprintf("normal, %d runs", runs), normal(0.02), runs);
            row(QString::asprintf("two modes, %d runs", runs), Draw(twoModes), runs);
            row(QString::asprintf("heavy tails, %d runs", runs), Draw(heavyTails), runs);
        }
    }
    void varyingRunsHaveNoChange() {
        const auto [draw, runs] = test::row<Draw, int>();
        std::mt19937 random(11);
        constexpr int times = 2000;
        int found = 0;
        for (int time = 0; time < times; ++time)
            found += latestChange(series(draw, random, size_t(runs), 0, 0)) ? 1 : 0;
        qInfo("%s: a change in %.3f of 2,000 without", QTest::currentDataTag(), double(found) / times);
        QVERIFY(double(found) / times <= 0.035);
    }

    void runIsComparedWithItsLevel() {
        const auto level = [](size_t count, std::optional<size_t> first) {
            std::optional<ChangePoint> change;
            if (first) change = ChangePoint{*first, 5, 0.01};
            const Stretch found = levelOf(count, change, 3);
            return std::pair(found.begin, found.end);
        };
        using Pair = std::pair<size_t, size_t>;
        QCOMPARE(test::listed(level(10, std::nullopt), level(10, 6)), test::listed(Pair(0, 10), Pair(6, 10)));
        QCOMPARE(level(10, 7), Pair(7, 10));
        QCOMPARE(level(10, 8), Pair(0, 8));  // Two runs since the change are too few for a spread.
        QCOMPARE(test::listed(level(10, 9), level(4, 2)), test::listed(Pair(0, 9), Pair(0, 4)));
    }

    void ordinaryRunIsRarelyAnOutlier_data() { varyingRunsHaveNoChange_data(); }

    /// Also if a level change is found by mistake and the run is compared with fewer runs.
    void ordinaryRunIsRarelyAnOutlier() {
        const auto [draw, runs] = test::row<Draw, int>();
        std::mt19937 random(13);
        constexpr int times = 2000;
        int claimed = 0;
        for (int time = 0; time < times; ++time) {
            const std::vector<double> medians = series(draw, random, size_t(runs), 0, 0);
            const Stretch level = levelOf(medians.size() - 1, latestChange(medians), 3);
            const auto at = [&](size_t place) { return medians.begin() + std::ptrdiff_t(place); };
            const Claim claim = judgeRuns({{at(level.begin), at(level.end)}, {medians.back()}, {}});
            claimed += claim.outcome != Outcome::WithinNoise ? 1 : 0;
        }
        qInfo("%s: slower or faster in %.3f of 2,000 without a change", QTest::currentDataTag(),
              double(claimed) / times);
        // One run is no mean of several, so that heavy tails matter.
        QVERIFY(double(claimed) / times <= (QString(QTest::currentDataTag()).startsWith("heavy") ? 0.085 : 0.065));
    }

    void changesOfVaryingRunsAreFound_data() {
        const test::Rows<int, int, double> row;
        row("5 %, 5 of 21", 5, 5, 0.8);
        row("5 %, 10 of 21", 5, 10, 0.9);
        row("10 %, 3 of 21", 10, 3, 0.95);
        row("10 %, 10 of 21", 10, 10, 0.99);
    }
    void changesOfVaryingRunsAreFound() {
        const auto [percent, after, least] = test::row<int, int, double>();
        std::mt19937 random(12);
        constexpr int times = 400;
        int found = 0, near = 0;
        for (int time = 0; time < times; ++time) {
            const auto change =
                latestChange(series(normal(0.02), random, 21, size_t(after), std::log1p(percent / 100.0)));
            found += change ? 1 : 0;
            near += change && std::abs(int(change->first) - (21 - after)) <= 1 ? 1 : 0;
        }
        qInfo("%s, runs that spread by 2 %%: found in %.3f, within a run of its place in %.3f", QTest::currentDataTag(),
              double(found) / times, double(near) / times);
        QVERIFY(double(found) / times >= least);
    }
};

LANESCOPE_TEST(tst_Significance, NoApplication)
#include "tst_Significance.moc"
