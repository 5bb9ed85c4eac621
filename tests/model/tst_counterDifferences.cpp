// SPDX-License-Identifier: Apache-2.0
#include "model/compare/counterDifferences.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMemory.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

CounterSeries counter(std::string name, uint32_t gpu, const LargeVector<int64_t>& timesNs,
                      const LargeVector<double>& values, int64_t endNs) {
    CounterSeries series;
    series.name = std::move(name);
    series.gpu = gpu;
    series.set(timesNs, values, endNs);
    return series;
}

TracePtr traceWith(std::vector<CounterSeries> counters) {
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    for (CounterSeries& counter : counters) builder.counter(std::move(counter));
    return builder.finish();
}

}  // namespace

class TestCounterDifferences : public QObject {
    Q_OBJECT
  private slots:
    void meansAreWeightedByDuration() {
        const TracePtr a = traceWith({counter("memory", 0, {0, 100, 200}, {10, 20, 90}, 1'000)});
        const TracePtr b = traceWith({counter("memory", 0, {0, 150}, {30, 50}, 1'000)});
        const auto all = counterDifferences(*a, {50, 200}, *b, {100, 200});
        QCOMPARE(all.size(), size_t{1});
        QCOMPARE(all[0].baseline.mean, (10.0 * 50 + 20.0 * 100) / 150);
        QCOMPARE(all[0].baseline.maximum, 20.0);
        QCOMPARE(all[0].baseline.minimum, 10.0);
        QCOMPARE(all[0].candidate.mean, 40.0);
        QCOMPARE(all[0].owner, std::string("GPU 0"));
        QVERIFY(all[0].changePercent() > 100);
    }

    void unknownTimesDoNotCount() {
        const TracePtr a = traceWith({counter("memory", 0, {0, 100, 200}, {10, unknown, 30}, 300)});
        const auto all = counterDifferences(*a, {0, 300}, *a, {0, 300});
        QCOMPARE(all[0].baseline.mean, 20.0);
        QCOMPARE(all[0].changePercent(), 0.0);
    }

    void countersArePairedByGpuAndNameLargestChangeFirst() {
        const TracePtr a = traceWith({counter("memory", 0, {0}, {10}, 100), counter("memory", 1, {0}, {10}, 100),
                                      counter("only here", 0, {0}, {10}, 100)});
        const TracePtr b = traceWith({counter("memory", 1, {0}, {30}, 100), counter("memory", 0, {0}, {11}, 100)});
        const auto all = counterDifferences(*a, {0, 100}, *b, {0, 100});
        QCOMPARE(all.size(), size_t{2});
        QCOMPARE(all[0].owner, std::string("GPU 1"));
        QCOMPARE(all[0].changePercent(), 200.0);
        QCOMPARE(all[1].owner, std::string("GPU 0"));
    }

    void rangesOutsideTheTraceHaveNoValue() {
        const TracePtr a = traceWith({counter("memory", 0, {0}, {10}, 100)});
        QVERIFY(counterDifferences(*a, {500, 600}, *a, {0, 100}).empty());
        QVERIFY(counterDifferences(*a, {}, *a, {}).empty());
    }

    void runAgainstItselfHasNoChange() {
        const TracePtr trace = simulatedMemory();
        const auto all = counterDifferences(*trace, trace->range, *trace, trace->range);
        QVERIFY(!all.empty());
        for (const CounterDifference& each : all) {
            QCOMPARE(each.changePercent(), 0.0);
            QVERIFY(trace->rangeOf(each.baseline.highest).overlaps(trace->range));
        }
    }
};

LANESCOPE_TEST(TestCounterDifferences, NoApplication)
#include "tst_counterDifferences.moc"
