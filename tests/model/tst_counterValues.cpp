// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/counterIntegral.h"
#include "model/trace/counterReadings.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr long double nothing = std::numeric_limits<long double>::quiet_NaN();

CounterValues valuesOf(CounterMeaning meaning, CounterUnit unit, LargeVector<long double> values, int wrapBits = 0) {
    CounterSamples samples;
    samples.meaning = meaning;
    samples.unit = unit;
    samples.wrapBits = wrapBits;
    for (size_t i = 0; i < values.size(); ++i) samples.timesNs.push_back(int64_t(i) * second);
    samples.values = std::move(values);
    return counterValues(std::move(samples));
}

CounterValues bytes(LargeVector<long double> values, int wrapBits = 0) {
    return valuesOf(CounterMeaning::Cumulative, CounterUnit::Bytes, std::move(values), wrapBits);
}

}  // namespace

class TestCounterValues : public QObject {
    Q_OBJECT

  private slots:
    void differencesOfCumulativeCountersAreRates() {
        const CounterValues rates = bytes({1'000, 1'500, 1'500, 4'500});
        QCOMPARE(rates.unit, CounterUnit::BytesPerSecond);
        QCOMPARE(rates.timesNs, (LargeVector<int64_t>{0, second, 2 * second}));
        QCOMPARE(rates.values, (LargeVector<double>{500, 0, 3'000}));
        QCOMPARE(rates.endNs, 3 * second);
    }

    void gaugeEndsWhereItBecomesUnknown() {
        const CounterValues ended = valuesOf(CounterMeaning::Gauge, CounterUnit::Bytes, {7, 7, nothing});
        QCOMPARE(ended.endNs, 2 * second);
        const CounterValues open = valuesOf(CounterMeaning::Gauge, CounterUnit::Bytes, {7, 8, 9});
        QCOMPARE(open.endNs, 3 * second);
    }

    void unchangedGaugeLastsWhileItIsRead() {
        CounterSamples samples;
        samples.unit = CounterUnit::Bytes;
        samples.timesNs = {0, 12 * second};
        samples.values = {1, 2};
        samples.intervalNs = second / 10;
        QCOMPARE(counterValues(samples).endNs, 12 * second + second / 10);
    }

    void decreasingCounterIsUnknown() {
        const CounterValues rates = bytes({1'000, 5, 105});
        QVERIFY(std::isnan(rates.values[0]));
        QCOMPARE(rates.values[1], 100.0);
        QCOMPARE(rates.resetCount, int64_t{1});
    }

    void wrappingCounterContinues() {
        const long double end = std::ldexp(1.0L, 32);
        const CounterValues rates = bytes({end - 100, 50}, 32);
        QCOMPARE(rates.values[0], 150.0);
        QCOMPARE(rates.wrapCount, int64_t{1});
        // From the middle of its range it cannot have wrapped: it was reset.
        const CounterValues reset = bytes({end / 2, 50}, 32);
        QVERIFY(std::isnan(reset.values[0]));
        QCOMPARE(reset.resetCount, int64_t{1});
    }

    void lostCounterIsUnknownUntilItReturns() {
        const CounterValues rates = bytes({0, 100, nothing, 300, 400});
        QCOMPARE(rates.values[0], 100.0);
        QVERIFY(std::isnan(rates.values[1]));
        QVERIFY(std::isnan(rates.values[2]));
        QCOMPARE(rates.values[3], 100.0);
        QCOMPARE(rates.resetCount, int64_t{0});
    }

    void equalTimesNeverDivideByZero() {
        CounterSamples samples;
        samples.meaning = CounterMeaning::Cumulative;
        samples.unit = CounterUnit::Bytes;
        samples.timesNs = {0, second, second, 2 * second};
        samples.values = {0, 10, 20, 30};
        const CounterValues rates = counterValues(samples);
        QCOMPARE(rates.values, (LargeVector<double>{20, 10}));
        samples.timesNs = {5, 5};
        samples.values = {1, 2};
        QVERIFY(counterValues(samples).values.empty());
    }

    void sampleOrderIsIrrelevant() {
        CounterSamples samples;
        samples.meaning = CounterMeaning::Cumulative;
        samples.timesNs = {2 * second, 0, second};
        samples.values = {30, 0, 10};
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
        QCOMPARE(power.unit, CounterUnit::Watts);
        QCOMPARE(power.values[0], 700.0);
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
        QVERIFY(!half.isExact);
        QVERIFY(half.isComplete());
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
            QCOMPARE(again.unit, series.unit);
            QCOMPARE(read.size(), series.size());
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
            QCOMPARE(part.isUnread, isMean);
            QCOMPARE(part.hasValue(), !isMean);
            QCOMPARE(part.wholeNs, second);
            QVERIFY(integralOf(series, {second, 5 * second}).hasValue());
            QCOMPARE(integralOf(series, {4 * second, 5 * second}).amount, 500.0);
        }
    }
};

LANESCOPE_TEST(TestCounterValues, NoApplication)
#include "tst_counterValues.moc"
