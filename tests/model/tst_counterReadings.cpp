// SPDX-License-Identifier: Apache-2.0
#include "model/text/formatValue.h"
#include "model/trace/counterReadings.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

CounterSeries seriesOf(CounterUnit unit, const std::vector<int64_t>& timesMs, const std::vector<double>& values,
                       int64_t endMs, bool isMeanOfInterval = true) {
    CounterSeries series;
    series.unit = unit;
    series.isMeanOfInterval = isMeanOfInterval;
    LargeVector<int64_t> timesNs;
    for (const int64_t each : timesMs) timesNs.push_back(each * ms);
    series.set(timesNs, LargeVector<double>(values.begin(), values.end()), endMs * ms);
    return series;
}

constexpr TimeRange whole{0, 10'000 * ms};

}  // namespace

class TestCounterReadings : public QObject {
    Q_OBJECT

  private slots:
    void meanOverALongIntervalIsNoPeak() {
        const CounterSeries activity = seriesOf(CounterUnit::Percent, {0, 400, 800, 4900}, {2, 3, 13.3, 1}, 5000);
        QCOMPARE(peakText(activity, whole), "mean 13.3 % over " + formatDuration(4100 * ms));
        QCOMPARE(shortPeakText(activity, whole), "13.3 % over " + formatDuration(4100 * ms));
        QCOMPARE(meanOver(activity, 2), std::optional<int64_t>(4100 * ms));
        QCOMPARE(medianReadingNs(activity), 400 * ms);
    }

    void firstLongValueMatchesPlainLoop() {
        const CounterSeries series = seriesOf(CounterUnit::Count, {10, 20, 20, 35, 90}, {1, 2, 3, 4, 5}, 120);
        for (int64_t at = 0; at <= 130; ++at) {
            uint32_t plain = 0;
            while (plain < series.size() && series.rangeOf(plain).endNs <= at * ms) ++plain;
            QCOMPARE(firstInEffectAfter(series, at * ms), plain);
        }
        QCOMPARE(firstInEffectAfter(CounterSeries(), 5), 0u);
    }

    void shortValueIsAPeak() {
        const CounterSeries fine = seriesOf(CounterUnit::BytesPerSecond, {0, 10, 20, 3000}, {1e9, 5e9, 2e9, 1e9}, 3010);
        QCOMPARE(peakText(fine, whole).substr(0, 5), std::string("peak "));
        QVERIFY(!meanOver(fine, 1));
        QVERIFY(meanOver(fine, 2));  // this value took three seconds, and is not the maximum
        QVERIFY(isMomentary(fine, {0, 4000 * ms}, 5e9));
        QVERIFY(!isMomentary(fine, {0, 4000 * ms}, 2e9));
        QVERIFY(!isMomentary(fine, {30 * ms, 4000 * ms}, 5e9));  // at another time
        const CounterSeries memory = seriesOf(CounterUnit::Bytes, {0, 5000}, {1e9, 2e9}, 9000);
        QVERIFY(!meanOver(memory, 1));  // memory in use applies to every moment
        const CounterSeries computed = seriesOf(CounterUnit::BytesPerSecond, {0, 5000}, {1e9, 2e9}, 9000, false);
        QVERIFY(!meanOver(computed, 1));  // power is an instantaneous reading
        const CounterSeries still = seriesOf(CounterUnit::Percent, {0, 5000}, {0, 7}, 5100);
        QVERIFY(!meanOver(still, 0));  // zero applies to every moment
    }

    void invisiblePeakIsNone() {
        const CounterSeries process = seriesOf(CounterUnit::Percent, {0, 100, 200, 300}, {1072, 110, 90, 95}, 400);
        QCOMPARE(peakText(process, whole), std::string("peak 1072.0 %"));
        QCOMPARE(peakText(process, {100 * ms, 400 * ms}), std::string("peak 110.0 %"));
        QCOMPARE(shortPeakText(process, {200 * ms, 400 * ms}), std::string("95.0 %"));
        QCOMPARE(peakText(process, {500 * ms, 600 * ms}), std::string("unknown"));
    }

    void readingThatFillsTheViewHasNoShape() {
        const CounterSeries activity = seriesOf(CounterUnit::Percent, {0, 100, 200}, {2, 3, 4}, 300);
        QVERIFY(!meanOver(activity, 1));
        QVERIFY(!meanOver(activity, 1, 1000 * ms));
        QCOMPARE(meanOver(activity, 1, 150 * ms), std::optional<int64_t>(100 * ms));
    }

    void withoutReadingsNothingIsKnown() {
        QCOMPARE(peakText(seriesOf(CounterUnit::Percent, {}, {}, 0), whole), std::string("unknown"));
        QCOMPARE(medianReadingNs(seriesOf(CounterUnit::Percent, {0}, {1}, 1)), int64_t{0});
    }
};

LANESCOPE_TEST(TestCounterReadings, NoApplication)
#include "tst_counterReadings.moc"
