// SPDX-License-Identifier: Apache-2.0
#include "model/trace/CounterSeries.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

CounterSeries make(const LargeVector<int64_t>& timesNs, const LargeVector<double>& values, int64_t endNs) {
    CounterSeries series;
    series.set(timesNs, values, endNs);
    return series;
}

/// One column by testing every sample for overlap with the column.
CounterColumn plainColumn(const CounterSeries& series, TimeRange range, int width, int column) {
    CounterColumn result;
    const long double nsPerColumn = static_cast<long double>(range.durationNs()) / width;
    const long double left = range.startNs + nsPerColumn * column;
    const long double right = range.startNs + nsPerColumn * (column + 1);
    for (uint32_t sample = 0; sample < series.size(); ++sample) {
        const TimeRange held = series.rangeOf(sample);
        const double value = series.value(sample);
        if (held.startNs >= right || held.endNs <= left || std::isnan(value)) continue;
        result.minimum = result.hasValue ? std::min(result.minimum, value) : value;
        result.maximum = result.hasValue ? std::max(result.maximum, value) : value;
        result.hasValue = true;
    }
    return result;
}

}  // namespace

class tst_CounterSeries : public QObject {
    Q_OBJECT

  private slots:
    void valueLastsUntilTheNext() {
        const CounterSeries series = make({10, 20, 40}, {1, 5, 2}, 100);
        QVERIFY(!series.sampleAt(9));
        QCOMPARE(*series.sampleAt(10), 0u);
        QCOMPARE(*series.sampleAt(39), 1u);
        QCOMPARE(*series.sampleAt(99), 2u);
        QVERIFY(!series.sampleAt(100));
        QCOMPARE(series.rangeOf(1), (TimeRange{20, 40}));
        QCOMPARE(series.rangeOf(2), (TimeRange{40, 100}));
        QCOMPARE(series.minimum(), 1.0);
        QCOMPARE(series.maximum(), 5.0);
    }

    void lastOfSeveralValuesAtOneTimeCounts() {
        const CounterSeries series = make({10, 10, 10, 5}, {1, 2, 3, 4}, 0);
        QCOMPARE(series.size(), 1u);
        QCOMPARE(series.value(0), 4.0);
        QCOMPARE(series.endNs(), 11);
    }

    void unknownIntervalsStayEmpty() {
        const CounterSeries series = make({0, 10, 20}, {3, unknown, 4}, 30);
        QVERIFY(!series.sampleAt(15));
        const auto columns = series.extremesAt({0, 30}, 3);
        QCOMPARE(columns[0], (CounterColumn{true, 3, 3}));
        QVERIFY(!columns[1].hasValue);
        QCOMPARE(columns[2], (CounterColumn{true, 4, 4}));
        QVERIFY(!make({0}, {unknown}, 10).extremesIn({0, 10}).hasValue);
    }

    void valueOfOneNanosecondIsVisible() {
        const CounterSeries series = make({0, 500'000'000, 500'000'001}, {1, 9, 1}, 1'000'000'000);
        const auto columns = series.extremesAt({0, 1'000'000'000}, 100);
        QCOMPARE(columns[50], (CounterColumn{true, 1, 9}));
        QCOMPARE(columns[49], (CounterColumn{true, 1, 1}));
        QCOMPARE(columns[51], (CounterColumn{true, 1, 1}));
    }

    void emptySeriesHasNoValues() {
        const CounterSeries series = make({}, {}, 10);
        QVERIFY(series.isEmpty());
        QVERIFY(!series.sampleAt(0));
        for (const CounterColumn& column : series.extremesAt({0, 10}, 5)) QVERIFY(!column.hasValue);
        QVERIFY(make({1}, {1}, 5).extremesAt({0, 10}, 0).empty());
        QVERIFY(!make({1}, {1}, 5).extremesIn({10, 10}).hasValue);
    }

    void findsTheNearestSample() {
        const CounterSeries series = make({10, 20, 40}, {1, 5, 2}, 100);
        QCOMPARE(series.nearestSample(-100), 0u);
        QCOMPARE(series.nearestSample(16), 1u);
        QCOMPARE(series.nearestSample(15), 0u);
        QCOMPARE(series.nearestSample(1000), 2u);
    }

    void matchesPlainLoop() {
        std::mt19937 random(7);
        const auto below = [&](int64_t limit) { return std::uniform_int_distribution<int64_t>(0, limit - 1)(random); };
        for (int round = 0; round < 400; ++round) {
            LargeVector<int64_t> times;
            LargeVector<double> values;
            const int64_t span = int64_t{1} << (2 + below(40));
            for (int64_t count = below(60); count >= 0; --count) times.push_back(below(span));
            std::sort(times.begin(), times.end());
            for (size_t i = 0; i < times.size(); ++i)
                values.push_back(below(8) == 0 ? unknown : static_cast<double>(below(1000)));
            const CounterSeries series = make(times, values, below(span));
            const int64_t from = below(span) - span / 4;
            const TimeRange range{from, from + 1 + below(span)};
            const int width = 1 + static_cast<int>(below(50));
            const auto columns = series.extremesAt(range, width);
            QCOMPARE(columns.size(), static_cast<size_t>(width));
            for (int column = 0; column < width; ++column)
                QVERIFY2(columns[static_cast<size_t>(column)] == plainColumn(series, range, width, column),
                         qPrintable(QString("round %1, column %2").arg(round).arg(column)));
            QCOMPARE(series.extremesIn(range), plainColumn(series, range, 1, 0));
        }
    }

    /// Columns with many values lose nothing and draw each value near its place.
    void keepsCrowdedValuesWithinAPixel() {
        std::mt19937 random(11);
        const auto below = [&](int64_t limit) { return std::uniform_int_distribution<int64_t>(0, limit - 1)(random); };
        for (int round = 0; round < 60; ++round) {
            // Bursts, some of them dense, and long pauses.
            LargeVector<int64_t> times{below(1000)};
            LargeVector<double> values;
            const int64_t count = 500 + below(20'000);
            const int64_t pauseNs = int64_t{1} << below(20);
            while (static_cast<int64_t>(times.size()) < count)
                times.push_back(times.back() + 1 + (below(200) == 0 ? below(pauseNs) : below(20)));
            for (size_t i = 0; i < times.size(); ++i)
                values.push_back(below(8) == 0 ? unknown : static_cast<double>(below(1'000'000)));
            const CounterSeries series = make(times, values, times.back() + 1 + below(pauseNs));
            const int64_t spanNs = series.endNs() - times.front();
            const int64_t fromNs = times.front() + below(spanNs) / 4 - spanNs / 8;
            const TimeRange range{fromNs, fromNs + spanNs / 2 + 1 + below(spanNs)};
            const int width = static_cast<int>(std::min<int64_t>(1 + below(6), range.durationNs()));
            const auto columns = series.extremesAt(range, width);
            const long double nsPerColumn = static_cast<long double>(range.durationNs()) / width;
            for (int column = 0; column < width; ++column) {
                const CounterColumn& shown = columns[static_cast<size_t>(column)];
                if (!shown.hasValue) continue;
                const auto leftNs = static_cast<int64_t>(std::floor(nsPerColumn * column));
                const auto rightNs = static_cast<int64_t>(std::ceil(nsPerColumn * (column + 1.5L)));
                const CounterColumn near = plainColumn(series, {range.startNs + leftNs, range.startNs + rightNs}, 1, 0);
                QVERIFY(near.hasValue && near.minimum <= shown.minimum && near.maximum >= shown.maximum);
            }
            for (uint32_t sample = 0; sample < series.size(); ++sample) {
                const double value = series.value(sample);
                if (!range.contains(series.timeNs(sample)) || std::isnan(value)) continue;
                const auto own =
                    static_cast<int>(static_cast<long double>(series.timeNs(sample) - range.startNs) / nsPerColumn);
                bool isShown = false;
                for (int column = std::max(0, own - 1); column <= std::min(own, width - 1); ++column) {
                    const CounterColumn& shown = columns[static_cast<size_t>(column)];
                    isShown |= shown.hasValue && shown.minimum <= value && value <= shown.maximum;
                }
                QVERIFY2(isShown, qPrintable(QString("round %1, %2").arg(round).arg(sample)));
            }
            QCOMPARE(series.extremesIn(range), plainColumn(series, range, 1, 0));
        }
    }

    void worksAtTheEdgesOfTime() {
        constexpr int64_t far = int64_t{1} << 61;
        const CounterSeries series = make({-far, far}, {1, 2}, far + 10);
        const auto columns = series.extremesAt({-far, far + 10}, 1000);
        QCOMPARE(columns.front(), (CounterColumn{true, 1, 1}));
        QCOMPARE(columns.back(), (CounterColumn{true, 1, 2}));
    }

    void formatsValuesInTheirUnit() {
        QCOMPARE(formatCounter(1536.0 * 1024 * 1024, CounterUnit::Bytes), "1.50 GiB");
        QCOMPARE(formatCounter(395e9, CounterUnit::BytesPerSecond), "395 GB/s");
        QCOMPARE(formatCounter(0, CounterUnit::BytesPerSecond), "0 B/s");
        QCOMPARE(formatCounter(1, CounterUnit::BytesPerSecond), "1 B/s");
        QCOMPARE(formatCounter(2'500, CounterUnit::BytesPerSecond), "2.5 kB/s");
        QCOMPARE(formatCounter(42.1e6, CounterUnit::BytesPerSecond), "42.1 MB/s");
        QCOMPARE(formatCounter(98.76, CounterUnit::Percent), "98.8 %");
        QCOMPARE(formatCounter(1234, CounterUnit::Count), "1,234");
        QCOMPARE(formatCounter(unknown, CounterUnit::Bytes), "unknown");
        QVERIFY(!formatCounter(1e300, CounterUnit::Bytes).empty());
    }
};

LANESCOPE_TEST(tst_CounterSeries, NoApplication)
#include "tst_CounterSeries.moc"
