// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

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

bool isNear(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

}  // namespace

class TestStatistics : public QObject {
    Q_OBJECT

  private slots:
    void statisticsMatchPlainLoop() {
        std::mt19937_64 random(7);
        for (int round = 0; round < 300; ++round) {
            // Few distinct numbers in odd rounds, so that equal ones meet around the median.
            const int64_t limit = round % 2 ? 5 : int64_t{10'000'000'000};
            std::vector<int64_t> values(random() % 60);
            for (int64_t& value : values) value = static_cast<int64_t>(random() % limit);
            const Statistics expected = plainly(values);
            const Statistics actual = statisticsOf(values);
            QCOMPARE(actual.count, expected.count);
            QCOMPARE(actual.total, expected.total);
            QCOMPARE(actual.minimum, expected.minimum);
            QCOMPARE(actual.maximum, expected.maximum);
            QVERIFY(isNear(actual.average, expected.average));
            QVERIFY(isNear(actual.median, expected.median));
            QVERIFY(isNear(actual.standardDeviation, expected.standardDeviation));
        }
    }

    void medianOfAnEvenCountIsAveraged() {
        std::vector<int64_t> values{40, 10, 30, 20};
        QCOMPARE(medianOf(values), 25.0);
    }

    void singleNumberHasNoDeviation() {
        std::vector<int64_t> values{42};
        const Statistics figures = statisticsOf(values);
        QCOMPARE(figures.standardDeviation, 0.0);
        QCOMPARE(figures.median, 42.0);
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
};

LANESCOPE_TEST(TestStatistics, NoApplication)
#include "tst_Statistics.moc"
