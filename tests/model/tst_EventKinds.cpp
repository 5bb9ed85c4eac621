// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

class tst_EventKinds : public QObject {
    Q_OBJECT

    std::vector<TracePtr> traces_;

    /// Visits every slice of a track that represents one event.
    template <class Visitor>
    void forEachSlice(Visitor visit) const {
        for (const TracePtr& trace : traces_)
            for (const Track& track : trace->tracks)
                for (const Lane& lane : track.lanes)
                    for (uint32_t slice = 0; slice < lane.size(); ++slice)
                        if (lane.event[slice].isValid()) visit(*trace, track, lane, slice);
    }

    /// Returns a trace with states and stacks of threads.
    static TracePtr simulatedThreads() {
        SimulatedTrace simulated;
        const StringIndex file = simulated.intern("train.py");
        const uint32_t stack = simulated.stack(noIndex, simulated.intern("step"), file, 12);
        for (size_t state = 0; state < threadStateCount; ++state) {
            const auto startNs = static_cast<int64_t>(state) * 1'000'000;
            simulated.add<kinds::CpuState>({.startNs = startNs,
                                            .endNs = startNs + 1'000'000,
                                            .thread = simulated.defaultThread(),
                                            .state = static_cast<ThreadState>(state),
                                            .cpuNs = 500'000,
                                            .stack = stack});
        }
        return simulated.finish();
    }

  private slots:
    void initTestCase() {
        traces_ = {simulatedTraining({.steps = 3, .layers = 6, .ncclPlugin = true}), simulatedMemory(),
                   simulatedMachine(), simulatedThreads()};
    }

    void eventKindsHaveUniqueNames() {
        std::set<std::string_view> identifiers, names;
        size_t count = 0;
        forEachKind([&](auto each) {
            ++count;
            identifiers.insert(each.identifier);
            names.insert(each.name);
            QVERIFY(!each.identifier.empty() && !each.name.empty() && !each.plural.empty());
            QVERIFY(std::ranges::all_of(each.identifier,
                                        [](char letter) { return letter == '_' || (letter >= 'a' && letter <= 'z'); }));
        });
        QCOMPARE(identifiers.size(), count);
        QCOMPARE(names.size(), count);
        QCOMPARE(kindsInOrder().size(), count);
    }

    void eventKindsDescribeWhereTheyAreDrawn() {
        std::set<EventKind> met;
        forEachSlice([&](const Trace& trace, const Track& track, const Lane& lane, uint32_t slice) {
            const EventRef event = lane.event[slice];
            met.insert(event.kind());
            if (track.kind == TrackKind::ThreadStacks) return;  // one function spans several states
            QVERIFY(mayHold(track.kind, event.kind()));
            if (isSampled(event.kind())) return;  // one state spans identical samples
            // The wait of a collective precedes its transfer.
            const bool isRest =
                slice > 0 && lane.event[slice - 1] == event && lane.category[slice - 1] == SliceCategory::NcclWait;
            QCOMPARE(lane.startNs[isRest ? slice - 1 : slice], trace.rangeOf(event).startNs);
            const kinds::TrackSubject own =
                visitKind(trace, event, [&](auto each, uint32_t row) { return each.trackOf(trace, row); });
            QCOMPARE(own.kind, track.kind);
            QCOMPARE(own.subject, track.subject);
        });
        for (const EventKind kind : kindsInOrder())
            if (kind != EventKind::Sync && kind != EventKind::CounterSample)
                QVERIFY2(met.contains(kind), std::string(nameOfKind(kind)).c_str());
    }

    void eventKindsDescribeHowTheyAreDrawn() {
        forEachSlice([](const Trace& trace, const Track& track, const Lane& lane, uint32_t slice) {
            const EventRef event = lane.event[slice];
            if (lane.category[slice] == SliceCategory::NcclWait) return;  // only part of the event
            if (track.kind == TrackKind::ThreadStacks) return;            // functions are not one event either
            QCOMPARE(lane.category[slice],
                     visitKind(trace, event, [&](auto each, uint32_t row) { return each.categoryOf(trace, row); }));
        });
    }

    void eventKindsDescribeTheirOwner() {
        for (const TracePtr& trace : traces_) {
            for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
                const EventRef kernel(EventKind::Kernel, row);
                const uint32_t stream = trace->kernels.stream[row];
                QCOMPARE(streamOf(*trace, kernel), stream);
                QCOMPARE(gpuOf(*trace, kernel), trace->streams[stream].gpu);
                QCOMPARE(threadOf(*trace, kernel), noIndex);
                QCOMPARE(correlationOf(*trace, kernel), uint32_t{trace->kernels.correlation[row]});
                QVERIFY(!bytesOf(*trace, kernel));
            }
            for (uint32_t row = 0; row < trace->apiCalls.size(); ++row) {
                const EventRef call(EventKind::Api, row);
                QCOMPARE(threadOf(*trace, call), uint32_t{trace->apiCalls.thread[row]});
                QCOMPARE(streamOf(*trace, call), noIndex);
                QCOMPARE(gpuOf(*trace, call), noIndex);
            }
            for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
                QCOMPARE(*bytesOf(*trace, {EventKind::Memcpy, row}), int64_t{trace->memcpys.bytes[row]});
        }
    }

    void eventsOfOneKeyHaveOneName() {
        for (const TracePtr& trace : traces_)
            forEachKind([&](auto each) {
                if constexpr (requires { each.nameKey(*trace, 0); }) {
                    std::map<uint64_t, std::string> names;
                    for (uint32_t row = 0; row < each.size(*trace); ++row) {
                        const std::string name = each.nameOf(*trace, row);
                        const auto [known, isNew] = names.try_emplace(each.nameKey(*trace, row), name);
                        QCOMPARE(known->second, name);
                    }
                }
            });
    }

    void missingEventsHaveNoDescription() {
        const Trace& trace = *traces_.front();
        for (uint32_t number = 0; number < EventRef::kindLimit; ++number) {
            const auto kind = static_cast<EventKind>(number);
            const EventRef beyond(kind, trace.rowCount(kind));
            QCOMPARE(trace.rangeOf(beyond), TimeRange{});
            QVERIFY(trace.nameOf(beyond).empty());
            QVERIFY(!trace.locate(beyond).isValid());
            QVERIFY(!trace.launchingCall(beyond).isValid());
            QCOMPARE(streamOf(trace, beyond), noIndex);
            QCOMPARE(gpuOf(trace, beyond), noIndex);
        }
        const auto noKind = static_cast<EventKind>(EventRef::kindLimit - 1);
        QCOMPARE(trace.rowCount(noKind), 0u);
        QVERIFY(nameOfKind(noKind).empty());
    }
};

LANESCOPE_TEST(tst_EventKinds, NoApplication)
#include "tst_EventKinds.moc"
