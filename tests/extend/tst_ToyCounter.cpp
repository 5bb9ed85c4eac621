// SPDX-License-Identifier: Apache-2.0
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// Tests that an unknown counter needs no line in the product: its description contains everything.
/// Only its own place among the tracks of its GPU must be requested.
class tst_ToyCounter : public QObject {
    Q_OBJECT

  private slots:
    void unknownCounterIsShown() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 5'000);
        CounterSeries toys;
        toys.name = "Toys made";
        toys.key = "toy.made";
        toys.source = "toy";
        toys.gpu = 0;
        builder.counter(std::move(toys), {.meaning = CounterMeaning::Cumulative,
                                          .unit = CounterUnit::Bytes,
                                          .timesNs = {1'000, 2'000, 3'000},
                                          .values = {0, 1'000, 4'000}});
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->counters.size(), size_t{1});
        QCOMPARE(trace->counters[0].unit, CounterUnit::BytesPerSecond);
        QCOMPARE(trace->counters[0].maximum(), 3e9);
        const auto track = std::find_if(trace->tracks.begin(), trace->tracks.end(), [](const Track& each) {
            return each.kind == TrackKind::Counter && each.subject == 0;
        });
        QVERIFY(track != trace->tracks.end());
        QCOMPARE(track->title, std::string("Toys made"));
        const EventRef sample = trace->sampleEvent(0, 1);
        QVERIFY(trace->rangeOf(sample).durationNs() == 1'000);
        QVERIFY(trace->locate(sample).isValid());
    }
};

LANESCOPE_TEST(tst_ToyCounter, NoApplication)
#include "tst_ToyCounter.moc"
