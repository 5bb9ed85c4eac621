// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/LinkUse.h"
#include "model/text/formatValue.h"
#include "model/trace/CounterSeries.h"
#include "model/trace/counterReadings.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"

using namespace lanescope;

namespace {

CounterSeries series(const char* key, uint32_t gpu, int32_t link = -1) {
    CounterSeries made;
    made.key = key;
    made.source = "nvml";
    made.unit = CounterUnit::BytesPerSecond;
    made.gpu = gpu;
    made.link = link;
    return made;
}

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

constexpr int64_t second = 1'000'000'000;
constexpr long double nothing = std::numeric_limits<long double>::quiet_NaN();

CounterValues valuesOf(CounterMeaning meaning, CounterUnit unit, LargeVector<long double> values, int wrapBits = 0) {
    CounterSamples samples{.meaning = meaning, .unit = unit, .wrapBits = wrapBits};
    for (size_t i = 0; i < values.size(); ++i) samples.timesNs.push_back(int64_t(i) * second);
    samples.values = std::move(values);
    return counterValues(std::move(samples));
}

CounterValues bytes(LargeVector<long double> values, int wrapBits = 0) {
    return valuesOf(CounterMeaning::Cumulative, CounterUnit::Bytes, std::move(values), wrapBits);
}

}  // namespace

class tst_Counters : public QObject {
    Q_OBJECT

  private slots:
    void bothDirectionsOfALinkArePaired() {
        const CounterPairs pairs = counterPairs({series("nvlink.rx", 0, 3), series("nvlink.tx", 1, 3),
                                                 series("nvlink.tx", 0, 3), series("nvlink.tx", 0, 4)});
        QCOMPARE(pairs.lowerOf, (std::vector<uint32_t>{noIndex, noIndex, 0, noIndex}));
        QCOMPARE(pairs.upperOf, (std::vector<uint32_t>{2, noIndex, noIndex, noIndex}));
    }

    void readAndWriteArePairedAndUnitsAreNotMixed() {
        std::vector<CounterSeries> counters{series("disk.write", noIndex), series("disk.read", noIndex)};
        QCOMPARE(counterPairs(counters).upperOf[0], 1u);
        counters[0].unit = CounterUnit::Bytes;
        QCOMPARE(counterPairs(counters).upperOf[0], noIndex);
    }

    void duplicateDirectionIsPairedOnce() {
        const CounterPairs pairs = counterPairs({series("pcie.tx", 0), series("pcie.tx", 0), series("pcie.rx", 0)});
        QCOMPARE(pairs.lowerOf, (std::vector<uint32_t>{2, noIndex, noIndex}));
        QCOMPARE(pairs.upperOf[2], 0u);
    }

    void pairOfOneCounterReportsTheSame() {
        std::vector<CounterSeries> counters{series("pcie.tx", 0),
                                            series("pcie.tx", 0),
                                            series("pcie.rx", 0),
                                            series("pcie.rx", 0),
                                            series("pcie.rx", 1),
                                            series("nvlink.rx", 0, 3),
                                            series("nvlink.tx", 0, 3),
                                            series("disk.write", 0),
                                            series("disk.tx", 0),
                                            series(".rx", 0),
                                            series("", 0)};
        const TracePtr machine = simulatedMachine();
        for (const CounterSeries& each : machine->counters) {
            counters.emplace_back();
            counters.back().key = each.key;
            counters.back().source = each.source;
            counters.back().device = each.device;
            counters.back().unit = each.unit;
            counters.back().link = each.link;
        }
        const CounterPairs pairs = counterPairs(counters);
        for (uint32_t counter = 0; counter < counters.size(); ++counter)
            QCOMPARE(upperCounterOf(counters, counter), pairs.upperOf[counter]);
        QCOMPARE(pairs.upperOf[2], 0u);
        // "Written" does not pair with "sent".
        QCOMPARE(pairs.upperOf[7], noIndex);
    }

    void eachCounterHasOnePlaceOnTheTimeline() {
        const TracePtr trace = simulatedMachine();
        const CounterPairs pairs = counterPairs(trace->counters);
        std::set<uint32_t> shown;
        for (const Track& track : trace->tracks) {
            if (track.kind != TrackKind::Counter && track.kind != TrackKind::CounterStates) continue;
            QVERIFY(shown.insert(track.subject).second);
            const uint32_t lower = pairs.lowerOf[track.subject];
            QCOMPARE(track.lanes.size(), size_t(lower == noIndex ? 1 : 2));
            if (lower != noIndex) QVERIFY(shown.insert(lower).second);
        }
        QCOMPARE(shown.size(), trace->counters.size());
    }

    void lowerCounterValuesAreInTheSecondLane() {
        const TracePtr trace = simulatedMachine();
        const CounterPairs pairs = counterPairs(trace->counters);
        int found = 0;
        for (uint32_t counter = 0; counter < trace->counters.size(); ++counter) {
            if (pairs.upperOf[counter] == noIndex) continue;
            const SliceLocation place = trace->locate(trace->sampleEvent(counter, 5));
            QCOMPARE(trace->tracks[place.track].subject, pairs.upperOf[counter]);
            QCOMPARE(test::listed(place.lane, place.slice), "1 | 5");
            ++found;
        }
        QVERIFY(found > 10);
    }

    void valueLastsUntilTheNext() {
        const CounterSeries series = make({10, 20, 40}, {1, 5, 2}, 100);
        QVERIFY(!series.sampleAt(9));
        QCOMPARE(test::listed(*series.sampleAt(10), *series.sampleAt(39), *series.sampleAt(99)), "0 | 1 | 2");
        QVERIFY(!series.sampleAt(100));
        QCOMPARE(series.rangeOf(1), (TimeRange{20, 40}));
        QCOMPARE(series.rangeOf(2), (TimeRange{40, 100}));
        QCOMPARE(test::listed(series.minimum(), series.maximum()), "1 | 5");
    }

    void lastOfSeveralValuesAtOneTimeCounts() {
        const CounterSeries series = make({10, 10, 10, 5}, {1, 2, 3, 4}, 0);
        QCOMPARE(test::listed(series.size(), series.value(0), series.endNs()), "1 | 4 | 11");
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
        QVERIFY(series.isEmpty() && !series.sampleAt(0));
        for (const CounterColumn& column : series.extremesAt({0, 10}, 5)) QVERIFY(!column.hasValue);
        QVERIFY(make({1}, {1}, 5).extremesAt({0, 10}, 0).empty());
        QVERIFY(!make({1}, {1}, 5).extremesIn({10, 10}).hasValue);
    }

    void findsTheNearestSample() {
        const CounterSeries series = make({10, 20, 40}, {1, 5, 2}, 100);
        QCOMPARE(test::listed(series.nearestSample(-100), series.nearestSample(16)), "0 | 1");
        QCOMPARE(test::listed(series.nearestSample(15), series.nearestSample(1000)), "0 | 2");
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
            const int64_t count = 500 + below(20'000), pauseNs = int64_t{1} << below(20);
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
        QVERIFY(isMomentary(fine, {0, 4000 * ms}, 5e9) && !isMomentary(fine, {0, 4000 * ms}, 2e9));
        QVERIFY(!isMomentary(fine, {30 * ms, 4000 * ms}, 5e9));  // at another time
        const CounterSeries memory = seriesOf(CounterUnit::Bytes, {0, 5000}, {1e9, 2e9}, 9000);
        QVERIFY(!meanOver(memory, 1));  // memory in use applies at all times
        const CounterSeries computed = seriesOf(CounterUnit::BytesPerSecond, {0, 5000}, {1e9, 2e9}, 9000, false);
        QVERIFY(!meanOver(computed, 1));  // power is an instantaneous reading
        const CounterSeries still = seriesOf(CounterUnit::Percent, {0, 5000}, {0, 7}, 5100);
        QVERIFY(!meanOver(still, 0));  // zero applies at all times
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
        QVERIFY(!meanOver(activity, 1) && !meanOver(activity, 1, 1000 * ms));
        QCOMPARE(meanOver(activity, 1, 150 * ms), std::optional<int64_t>(100 * ms));
    }

    void withoutReadingsNothingIsKnown() {
        QCOMPARE(peakText(seriesOf(CounterUnit::Percent, {}, {}, 0), whole), std::string("unknown"));
        QCOMPARE(medianReadingNs(seriesOf(CounterUnit::Percent, {0}, {1}, 1)), int64_t{0});
    }

    void differencesOfCumulativeCountersAreRates() {
        const CounterValues rates = bytes({1'000, 1'500, 1'500, 4'500});
        QCOMPARE(rates.unit, CounterUnit::BytesPerSecond);
        QCOMPARE(rates.timesNs, (LargeVector<int64_t>{0, second, 2 * second}));
        QCOMPARE(rates.values, (LargeVector<double>{500, 0, 3'000}));
        QCOMPARE(rates.endNs, 3 * second);
    }

    void gaugeEndsWhereItBecomesUnknown() {
        QCOMPARE(valuesOf(CounterMeaning::Gauge, CounterUnit::Bytes, {7, 7, nothing}).endNs, 2 * second);
        QCOMPARE(valuesOf(CounterMeaning::Gauge, CounterUnit::Bytes, {7, 8, 9}).endNs, 3 * second);
    }

    void unchangedGaugeLastsWhileItIsRead() {
        CounterSamples samples{
            .unit = CounterUnit::Bytes, .intervalNs = second / 10, .timesNs = {0, 12 * second}, .values = {1, 2}};
        QCOMPARE(counterValues(samples).endNs, 12 * second + second / 10);
    }

    void decreasingCounterIsUnknown() {
        const CounterValues rates = bytes({1'000, 5, 105});
        QVERIFY(std::isnan(rates.values[0]));
        QCOMPARE(test::listed(rates.values[1], rates.resetCount), "100 | 1");
    }

    void wrappingCounterContinues() {
        const long double end = std::ldexp(1.0L, 32);
        const CounterValues rates = bytes({end - 100, 50}, 32);
        QCOMPARE(test::listed(rates.values[0], rates.wrapCount), "150 | 1");
        // From the middle of its range it cannot have wrapped: it was reset.
        const CounterValues reset = bytes({end / 2, 50}, 32);
        QVERIFY(std::isnan(reset.values[0]));
        QCOMPARE(reset.resetCount, int64_t{1});
    }

    void lostCounterIsUnknownUntilItReturns() {
        const CounterValues rates = bytes({0, 100, nothing, 300, 400});
        QCOMPARE(rates.values[0], 100.0);
        QVERIFY(std::isnan(rates.values[1]) && std::isnan(rates.values[2]));
        QCOMPARE(test::listed(rates.values[3], rates.resetCount), "100 | 0");
    }

    void equalTimesNeverDivideByZero() {
        CounterSamples samples;
        samples.meaning = CounterMeaning::Cumulative;
        samples.unit = CounterUnit::Bytes;
        samples.timesNs = {0, second, second, 2 * second};
        samples.values = {0, 10, 20, 30};
        QCOMPARE(counterValues(samples).values, (LargeVector<double>{20, 10}));
        samples.timesNs = {5, 5};
        samples.values = {1, 2};
        QVERIFY(counterValues(samples).values.empty());
    }

    void sampleOrderIsIrrelevant() {
        CounterSamples samples{
            .meaning = CounterMeaning::Cumulative, .timesNs = {2 * second, 0, second}, .values = {30, 0, 10}};
        QCOMPARE(counterValues(samples).values, (LargeVector<double>{10, 20}));
    }

    void largeCountersKeepTheirLastByte() {
        const long double large = 9'000'000'000'000'000'000.0L;
        QCOMPARE(bytes({large, large + 1'024}).values[0], 1'024.0);
    }

    void amountOverATinyIntervalIsNoRate() {
        CounterSamples samples;
        samples.meaning = CounterMeaning::Amount;
        samples.unit = CounterUnit::Bytes;
        samples.timesNs = {0, second, 2 * second, 2 * second + 10, 3 * second, 4 * second};
        samples.values = {0, 1'000, 1'000, 500, 1'000, 1'000};
        const CounterValues rates = counterValues(std::move(samples));
        QCOMPARE(rates.timesNs, (LargeVector<int64_t>{0, second, 2 * second, 3 * second}));
        QCOMPARE(rates.values, (LargeVector<double>{1'000, 1'500, 1'000, 1'000}));
    }

    void energyBecomesPowerAndAmountsBecomeRates() {
        const CounterValues power = valuesOf(CounterMeaning::Cumulative, CounterUnit::Joules, {100, 800});
        QCOMPARE(test::listed(power.unit, power.values[0]), test::listed(CounterUnit::Watts, 700.0));
        const CounterValues amount = valuesOf(CounterMeaning::Amount, CounterUnit::Bytes, {1, 2'000});
        QCOMPARE(amount.values, (LargeVector<double>{2'000}));
        QCOMPARE(amount.unit, CounterUnit::BytesPerSecond);
    }

    void averagesBeginWhereTheirIntervalBegins() {
        const CounterValues shares = valuesOf(CounterMeaning::Average, CounterUnit::Percent, {11, 22, 33});
        QCOMPARE(shares.timesNs, (LargeVector<int64_t>{0, second}));
        QCOMPARE(shares.values, (LargeVector<double>{22, 33}));
    }

    void gaugesLastOneSampleInterval() {
        const CounterValues gauge = valuesOf(CounterMeaning::Gauge, CounterUnit::Percent, {10, -1, 30});
        QCOMPARE(gauge.values[0], 10.0);
        QVERIFY(std::isnan(gauge.values[1]));
        QCOMPARE(gauge.endNs, 3 * second);
        QCOMPARE(valuesOf(CounterMeaning::Gauge, CounterUnit::Celsius, {-5}).values[0], -5.0);
    }

    void rateIsNeverNegativeOrInfinite() {
        const long double odd[] = {
            0, -1, 1, nothing, 1e300L, -1e300L, 5, 4, 3, std::numeric_limits<long double>::infinity(), 7};
        for (const int wrapBits : {0, 1, 32, 63, 64, 1'000})
            for (const double value : bytes(LargeVector<long double>(std::begin(odd), std::end(odd)), wrapBits).values)
                QVERIFY(std::isnan(value) || (value >= 0 && std::isfinite(value)));
    }

    void integralOfARateEqualsTheDifferenceOfReadings() {
        const CounterValues rates = bytes({1'000, 1'500, 1'500, 4'500});
        CounterSeries series;
        series.set(rates.timesNs, rates.values, rates.endNs);
        const CounterIntegral all = integralOf(series, {0, 3 * second});
        QCOMPARE(all.amount, 3'500.0);
        QVERIFY(all.isExact);
        const CounterIntegral half = integralOf(series, {second / 2, 2 * second});
        QCOMPARE(half.amount, 250.0);
        QVERIFY(!half.isExact && half.isComplete());
        const CounterIntegral beyond = integralOf(series, {2 * second, 4 * second});
        QCOMPARE(beyond.amount, 3'000.0);
        QVERIFY(!beyond.isComplete());
        QVERIFY(!integralOf(series, {9 * second, 10 * second}).hasValue());
        QVERIFY(!integralOf(CounterSeries(), {0, second}).hasValue());
    }

    void storedSeriesIsReproduced() {
        std::mt19937 random(5);
        for (int round = 0; round < 400; ++round) {
            CounterSamples samples;
            samples.meaning = static_cast<CounterMeaning>(round % 4);
            samples.unit = random() % 2 ? CounterUnit::Bytes : CounterUnit::Joules;
            samples.intervalNs = random() % 2 ? second / 10 : 0;
            long double value = 0;
            int64_t timeNs = 0;
            for (auto count = random() % 20 + 1; count-- > 0;) {
                timeNs += 1 + random() % second;
                value += random() % 1'000;
                samples.timesNs.push_back(timeNs);
                samples.values.push_back(random() % 8 ? value : nothing);
            }
            CounterSeries series;
            series.isMeanOfInterval = samples.meaning != CounterMeaning::Gauge;
            series.intervalNs = samples.intervalNs;
            const CounterValues shown = counterValues(std::move(samples));
            series.unit = shown.unit;
            series.set(shown.timesNs, shown.values, shown.endNs);

            const CounterSamples kept = samplesOf(series);
            QCOMPARE(kept.meaning != CounterMeaning::Gauge, series.isMeanOfInterval);
            const CounterValues again = counterValues(kept);
            CounterSeries read;
            read.set(again.timesNs, again.values, again.endNs);
            QCOMPARE(test::listed(again.unit, read.size()), test::listed(series.unit, series.size()));
            if (!series.isEmpty()) QCOMPARE(read.endNs(), series.endNs());
            for (uint32_t sample = 0; sample < series.size(); ++sample) {
                QCOMPARE(read.timeNs(sample), series.timeNs(sample));
                QCOMPARE(read.value(sample), series.value(sample));
            }
        }
    }

    void gaugeWithItsOwnEndKeepsIt() {
        CounterSeries series;
        series.unit = CounterUnit::Bytes;
        series.set({0, second}, {1, 2}, 10 * second);
        const CounterSamples kept = samplesOf(series);
        QCOMPARE(kept.timesNs, (LargeVector<int64_t>{0, second, 10 * second}));
        QVERIFY(std::isnan(kept.values.back()));
        QCOMPARE(counterValues(kept).endNs, 10 * second);
        QVERIFY(samplesOf(CounterSeries()).timesNs.empty());
    }

    /// A rate between two readings does not describe part of that time; a gauge does.
    void rateNeedsTwoReadings() {
        CounterSeries series;
        series.set({0, 4 * second, 5 * second}, {1'000, 500, 0}, 6 * second);
        for (const auto& [unit, isMean] : {std::pair(CounterUnit::BytesPerSecond, true),
                                           {CounterUnit::Percent, true},
                                           {CounterUnit::Watts, true},
                                           {CounterUnit::Hertz, false},
                                           {CounterUnit::Celsius, false}}) {
            series.unit = unit;
            const CounterIntegral part = integralOf(series, {second, 2 * second});
            QCOMPARE(test::listed(part.isUnread, part.hasValue()), test::listed(isMean, !isMean));
            QCOMPARE(part.wholeNs, second);
            QVERIFY(integralOf(series, {second, 5 * second}).hasValue());
            QCOMPARE(integralOf(series, {4 * second, 5 * second}).amount, 500.0);
        }
    }
};

LANESCOPE_TEST(tst_Counters, NoApplication)
#include "tst_Counters.moc"
