// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterReadings.h"
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

}  // namespace

class TestCounterPairs : public QObject {
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
            QCOMPARE(place.lane, 1u);
            QCOMPARE(place.slice, 5u);
            ++found;
        }
        QVERIFY(found > 10);
    }
};

LANESCOPE_TEST(TestCounterPairs, NoApplication)
#include "tst_CounterPairs.moc"
