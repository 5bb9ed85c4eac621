// SPDX-License-Identifier: Apache-2.0
#include "model/events/listEvents.h"
#include "model/lod/SelectionStatistics.h"
#include "model/lod/SumTable.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr EventKind listed[] = {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api,
                                EventKind::Sync,   EventKind::Nvtx,   EventKind::Graph,  EventKind::PageFault};

/// The same result by testing every event.
std::vector<EventRef> plainly(const Trace& trace, TimeRange range, EventKinds wanted) {
    std::vector<EventRef> found;
    for (const EventKind kind : listed) {
        if (!wanted.has(kind)) continue;
        for (uint32_t row = 0; row < trace.rowCount(kind); ++row) {
            const TimeRange event = trace.rangeOf(EventRef(kind, row));
            const bool startsInside = event.startNs >= range.startNs && event.startNs < range.endNs;
            const bool isUnderWay = event.startNs < range.startNs && event.endNs > range.startNs;
            if (startsInside || isUnderWay) found.emplace_back(kind, row);
        }
    }
    return found;
}

std::vector<uint32_t> sortedBits(std::vector<EventRef> events) {
    std::vector<uint32_t> bits;
    for (const EventRef event : events) bits.push_back(event.bits());
    std::sort(bits.begin(), bits.end());
    return bits;
}

/// Many events that start at the same time, some of them long.
TracePtr crowded() {
    SimulatedTrace builder;
    std::mt19937 random(7);
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    for (int i = 0; i < 300; ++i) {
        const int64_t start = random() % 40 * 10, end = start + random() % 120;
        switch (random() % 4) {
            case 0: builder.addKernel(stream, "kernel " + std::to_string(i % 5), start, end); break;
            case 1: builder.addMemcpy(stream, MemcpyKind::HtoD, 1000 + i, start, end); break;
            case 2: builder.addApi(thread, "cuLaunchKernel", start, end, 1); break;
            default: builder.addNvtx(thread, "range", start, end, NvtxStyle::StartEnd);
        }
    }
    return builder.finish();
}

using SumsByKey = std::map<uint32_t, Sums>;

/// The plain loop: every slice of every track.
SumsByKey summedPlainly(const Trace& trace, TimeRange range) {
    SumsByKey result;
    if (range.isEmpty()) return result;
    for (const Track& track : trace.tracks) {
        if (!holdsEvents(track.kind)) continue;
        for (const Lane& lane : track.lanes) {
            for (uint32_t slice = 0; slice < lane.size(); ++slice) {
                const TimeRange whole{lane.startNs[slice], lane.endNs(slice)};
                const bool isPoint = whole.isEmpty();
                if (isPoint ? !range.contains(whole.startNs) : !range.overlaps(whole)) continue;
                const int64_t ns = std::min(whole.endNs, range.endNs) - std::max(whole.startNs, range.startNs);
                const EventRef event = lane.event[slice];
                double bytes = 0;
                if (event.kind() == EventKind::Memcpy) bytes = double(trace.memcpys.bytes[event.row()]);
                if (event.kind() == EventKind::Memset) bytes = double(trace.memsets.bytes[event.row()]);
                if (!isPoint) bytes = bytes * double(ns) / double(whole.durationNs());
                const int64_t rounded = std::llround(bytes);
                Sums& sums = result[sumKeyOf(trace, lane, slice).bits()];
                sums.minimumNs = sums.count == 0 ? ns : std::min(sums.minimumNs, ns);
                sums.maximumNs = std::max(sums.maximumNs, ns);
                ++sums.count;
                sums.totalNs += ns;
                sums.bytes += rounded;
                if (ns == 0) sums.untimedBytes += rounded;
            }
        }
    }
    return result;
}

SumsByKey byKey(const SelectionStatistics& statistics) {
    SumsByKey result;
    for (const NameStatistics& entry : statistics.names) result[entry.key.bits()] = entry.sums;
    for (const CopyTotals& entry : statistics.copies) result[entry.key.bits()] = entry.sums;
    return result;
}

/// Nanosecond by nanosecond would take too long: the union of the track's slices, sorted.
int64_t busyPlainly(const Track& track, TimeRange range) {
    std::vector<std::pair<int64_t, int64_t>> slices;
    for (const Lane& lane : track.lanes)
        for (uint32_t slice = 0; slice < lane.size(); ++slice)
            slices.emplace_back(std::max(lane.startNs[slice], range.startNs), std::min(lane.endNs(slice), range.endNs));
    std::sort(slices.begin(), slices.end());
    int64_t busyNs = 0, coveredToNs = range.startNs;
    for (const auto& [startNs, endNs] : slices) {
        busyNs += std::max<int64_t>(0, endNs - std::max(startNs, coveredToNs));
        coveredToNs = std::max(coveredToNs, endNs);
    }
    return busyNs;
}

void compareWithPlainLoop(const Trace& trace, const TraceSums& sums, TimeRange range) {
    const SelectionStatistics statistics = selectionStatistics(trace, sums, range);
    const SumsByKey expected = summedPlainly(trace, range);
    const SumsByKey actual = byKey(statistics);
    QCOMPARE(actual.size(), expected.size());
    for (const auto& [key, wanted] : expected) {
        const auto found = actual.find(key);
        QVERIFY(found != actual.end());
        QCOMPARE(found->second.count, wanted.count);
        QCOMPARE(found->second.totalNs, wanted.totalNs);
        QCOMPARE(found->second.minimumNs, wanted.minimumNs);
        QCOMPARE(found->second.maximumNs, wanted.maximumNs);
        QCOMPARE(found->second.bytes, wanted.bytes);
        QCOMPARE(found->second.untimedBytes, wanted.untimedBytes);
    }
    for (const BusyStatistics& busy : statistics.busy)
        QCOMPARE(busy.busyNs, busyPlainly(trace.tracks[busy.track], range));
}

/// Slices of every kind on two streams; some overlap, some have no duration or bytes.
TracePtr randomTrace(int sliceCount, int nameCount, unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&random](int limit) { return static_cast<int>(random() % unsigned(limit)); };
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    const uint32_t streams[] = {builder.addStream(0, gpu, 7), builder.addStream(0, gpu, 9)};
    const uint32_t thread = builder.defaultThread();
    int64_t timeNs = 100;
    for (int slice = 0; slice < sliceCount; ++slice) {
        timeNs += below(40);
        const int64_t endNs = timeNs + below(4) * below(60);
        const uint32_t stream = streams[below(2)];
        const auto memory = [&] { return static_cast<MemoryKind>(below(memoryKindCount)); };
        const std::string name = "name " + std::to_string(below(nameCount));
        switch (below(8)) {
            case 0:
                builder.addMemcpy(stream, static_cast<MemcpyKind>(below(memcpyKindCount)), below(3) * below(100'000),
                                  timeNs, endNs, 0, memory(), memory());
                break;
            case 1: builder.addMemset(stream, below(3) * 4096, timeNs, endNs); break;
            case 2: builder.addApi(thread, name, timeNs, endNs); break;
            case 3: builder.addNvtx(thread, name, timeNs, endNs + below(200)); break;
            default: builder.addKernel(stream, name, timeNs, endNs);
        }
    }
    return builder.finish();
}

TimeRange randomRange(TimeRange whole, std::mt19937& random) {
    const auto at = [&] {
        return whole.startNs - 5 + static_cast<int64_t>(random() % static_cast<uint64_t>(whole.durationNs() + 10));
    };
    const int64_t a = at(), b = random() % 4 == 0 ? a + static_cast<int64_t>(random() % 50) : at();
    return {std::min(a, b), std::max(a, b)};
}

}  // namespace

class tst_Events : public QObject {
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
        QCOMPARE(test::listed(identifiers.size(), names.size()), test::listed(count, count));
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
            QCOMPARE(test::listed(own.kind, own.subject), test::listed(track.kind, track.subject));
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
                QCOMPARE(test::listed(streamOf(*trace, call), gpuOf(*trace, call)), test::listed(noIndex, noIndex));
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
            QVERIFY(trace.nameOf(beyond).empty() && !trace.locate(beyond).isValid());
            QVERIFY(!trace.launchingCall(beyond).isValid());
            QCOMPARE(test::listed(streamOf(trace, beyond), gpuOf(trace, beyond)), test::listed(noIndex, noIndex));
        }
        const auto noKind = static_cast<EventKind>(EventRef::kindLimit - 1);
        QCOMPARE(trace.rowCount(noKind), 0u);
        QVERIFY(nameOfKind(noKind).empty());
    }

    void windowMatchesPlainLoop_data() { test::rows<bool>("isTraining", {{"crowded", false}, {"training", true}}); }
    void windowMatchesPlainLoop() {
        QFETCH(bool, isTraining);
        const TracePtr trace = isTraining ? simulatedTraining({.steps = 2}) : crowded();
        std::mt19937_64 random(11);
        for (int round = 0; round < 60; ++round) {
            const auto length = static_cast<uint64_t>(trace->range.durationNs());
            TimeRange range{trace->range.startNs + int64_t(random() % length),
                            trace->range.startNs + int64_t(random() % length)};
            if (range.endNs < range.startNs) std::swap(range.startNs, range.endNs);
            if (round == 0) range = trace->range;
            EventKinds wanted = EventKinds::recorded();
            if (round % 3 == 1) wanted.remove(EventKind::Api).remove(EventKind::Kernel);
            const EventWindow window(*trace, range, wanted);
            const auto events = window.slice(0, window.size());
            const auto expected = sortedBits(plainly(*trace, range, wanted));
            QCOMPARE(size_t(window.size()), expected.size());
            QCOMPARE(sortedBits(events), expected);
            QVERIFY(std::is_sorted(events.begin(), events.end(), [&](EventRef a, EventRef b) {
                return trace->rangeOf(a).startNs < trace->rangeOf(b).startNs;
            }));
        }
    }

    void partOfTheWindowEqualsPartOfTheWhole() {
        const TracePtr trace = crowded();
        const EventWindow window(*trace, {95, 333}, EventKinds::recorded());
        const auto whole = window.slice(0, window.size());
        for (int64_t first = 0; first <= window.size(); ++first) {
            const auto part = window.slice(first, 7);
            const auto end = std::min<int64_t>(first + 7, window.size());
            const std::vector<EventRef> expected(whole.begin() + first, whole.begin() + end);
            QVERIFY2(part == expected, qPrintable(QString::number(first)));
        }
        QVERIFY(window.slice(window.size() + 5, 3).empty());
        QCOMPARE(window.slice(-3, 2).size(), size_t(2));
    }

    void windowFindsTheRowOfEachEvent() {
        const TracePtr trace = crowded();
        const EventWindow window(*trace, {95, 333}, EventKinds::recorded());
        const auto whole = window.slice(0, window.size());
        for (size_t index = 0; index < whole.size(); ++index)
            QCOMPARE(window.indexOf(whole[index]).value_or(-1), int64_t(index));
        for (const EventKind kind : listed) {
            for (uint32_t row = 0; row < trace->rowCount(kind); ++row) {
                const EventRef event(kind, row);
                QCOMPARE(window.indexOf(event).has_value(), std::ranges::find(whole, event) != whole.end());
            }
        }
        QVERIFY(!window.indexOf({}).has_value());
    }

    void windowWithoutKindsOrTimeIsEmpty() {
        const TracePtr trace = crowded();
        QCOMPARE(EventWindow(*trace, trace->range, {}).size(), int64_t(0));
        QCOMPARE(EventWindow().size(), int64_t(0));
        QVERIFY(EventWindow().slice(0, 5).empty());
        QCOMPARE(EventWindow(*trace, {-50, -20}, EventKinds::recorded()).size(), int64_t(0));
    }

    void sampledFunctionIsNoSingleEvent() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addKernel(builder.defaultStream(), "kernel", 0, 1000);
        const uint32_t stack = builder.frame("main", "a.c", 1);
        for (int64_t sample = 0; sample < 100; ++sample) {
            test::addSample(builder, thread, sample * 10, stack);
        }
        const TracePtr trace = builder.finish();
        EventKinds kinds;
        kinds.add(EventKind::CpuState);
        const EventWindow window(*trace, {505, 515}, kinds);
        for (const EventRef event : window.slice(0, window.size())) {
            const TimeRange own = trace->rangeOf(event);
            QVERIFY2(own.endNs > 505 && own.startNs < 515, std::to_string(own.startNs).c_str());
        }
        QVERIFY(window.size() >= 1);
    }

    void describesACopy() {
        SimulatedTrace builder;
        const EventRef copy = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 4096, 100, 300, 17);
        const EventRef instant = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 4096, 400, 400);
        const TracePtr trace = builder.finish();
        const auto cells = eventCells(*trace, copy);
        QCOMPARE(cells.size(), eventColumns().size());
        QCOMPARE(std::get<int64_t>(cells[0]), int64_t(100));
        QCOMPARE(std::get<int64_t>(cells[1]), int64_t(200));
        QCOMPARE(std::get<std::string>(cells[2]), std::string("Memcpy"));
        QCOMPARE(std::get<int64_t>(cells[6]), int64_t(4096));
        QCOMPARE(std::get<double>(cells[7]), 4096.0 / 200);
        QCOMPARE(std::get<int64_t>(cells[8]), int64_t(17));
        // Without a duration, no rate.
        QVERIFY(std::holds_alternative<std::monostate>(eventCells(*trace, instant)[7]));
        QVERIFY(std::holds_alternative<std::monostate>(eventCells(*trace, instant)[8]));
    }

    void filtersByWords() {
        const TracePtr trace = crowded();
        const auto list = listEvents(
            *trace, {.range = trace->range, .kinds = EventKinds().add(EventKind::Kernel), .words = "KERNEL 3"});
        QVERIFY(list.has_value() && !list->events.empty());
        for (const EventRef event : list->events) QCOMPARE(trace->nameOf(event), std::string("kernel 3"));
        QVERIFY(listEvents(*trace, {.range = trace->range, .words = "no such thing"})->events.empty());
    }

    void sortsByEveryColumn() {
        const TracePtr trace = crowded();
        for (size_t column = 0; column < eventColumnCount; ++column) {
            for (const bool isDescending : {false, true}) {
                const auto sortedBy = static_cast<EventColumn>(column);
                const auto list =
                    listEvents(*trace, {.range = trace->range, .sortedBy = sortedBy, .isDescending = isDescending});
                QVERIFY(list.has_value());
                bool wasEmpty = false;
                Cell before;
                for (const EventRef event : list->events) {
                    const Cell cell = eventCell(*trace, event, sortedBy);
                    const bool isEmpty = cell.index() == 0;
                    QVERIFY(isEmpty || !wasEmpty);
                    if (!isEmpty && before.index() != 0) QVERIFY(isDescending ? !(before < cell) : !(cell < before));
                    wasEmpty = isEmpty;
                    before = cell;
                }
            }
        }
    }

    void reportsSearchProgress() {
        const TracePtr trace = crowded();
        const auto list = listEvents(*trace, {.range = trace->range, .maxScanned = 50});
        QVERIFY(list.has_value());
        QCOMPARE(test::listed(list->scanned, list->events.size()), test::listed(int64_t(50), size_t(50)));
        QVERIFY(list->inRange > 50);
    }

    void stopsOnCancel() {
        const TracePtr trace = crowded();
        QVERIFY(!listEvents(*trace, {.range = trace->range}, [] { return true; }).has_value());
    }

    void anyRangeMatchesPlainLoop_data() {
        const test::Rows<int, int> row;
        row("fewer slices than a leaf", 300, 12);
        row("few names", 120'000, 7);
        row("many names", 60'000, 900);
        row("nearly every slice its own name", 40'000, 1'000'000);
    }
    void anyRangeMatchesPlainLoop() {
        const auto [slices, names] = test::row<int, int>();
        const TracePtr trace = randomTrace(slices, names, 5);
        const TraceSums sums = buildTraceSums(*trace);
        compareWithPlainLoop(*trace, sums, trace->range);
        std::mt19937 random(9);
        for (int round = 0; round < 25; ++round) {
            compareWithPlainLoop(*trace, sums, randomRange(trace->range, random));
            if (QTest::currentTestFailed()) return;
        }
    }

    void trainingMatchesPlainLoop() {
        const TracePtr trace = simulatedTraining({.steps = 40});
        const TraceSums sums = buildTraceSums(*trace);
        std::mt19937 random(3);
        for (int round = 0; round < 20; ++round) compareWithPlainLoop(*trace, sums, randomRange(trace->range, random));
    }

    void emptyRangeHasNoStatistics() {
        const TracePtr trace = randomTrace(500, 5, 1);
        const TraceSums sums = buildTraceSums(*trace);
        for (const TimeRange range : {TimeRange{200, 200}, TimeRange{300, 200}}) {
            const SelectionStatistics statistics = selectionStatistics(*trace, sums, range);
            QVERIFY(statistics.names.empty() && statistics.copies.empty());
            for (const BusyStatistics& busy : statistics.busy) QCOMPARE(busy.busyNs, int64_t{0});
        }
    }

    void slicesAreClippedAtTheEdges() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1'000, 100, 200);
        builder.addKernel(stream, "k", 300, 400);
        const TracePtr trace = builder.finish();
        const TraceSums sums = buildTraceSums(*trace);
        const SelectionStatistics statistics = selectionStatistics(*trace, sums, {150, 350});
        QCOMPARE(statistics.copies.size(), size_t{1});
        QCOMPARE(test::listed(statistics.copies[0].sums.bytes, statistics.copies[0].sums.totalNs), "500 | 50");
        QCOMPARE(statistics.copies[0].meanGBps(), 10.0);
        QCOMPARE(nameOf(*trace, statistics.copies[0].key), std::string("HtoD pinned → device"));
        QCOMPARE(statistics.names.size(), size_t{1});
        QCOMPARE(test::listed(statistics.names[0].sums.totalNs, nameOf(*trace, statistics.names[0].key)), "50 | k");
        // One nanosecond of one slice.
        const SelectionStatistics instant = selectionStatistics(*trace, sums, {350, 351});
        QCOMPARE(instant.names.size(), size_t{1});
        QCOMPARE(instant.names[0].sums.totalNs, int64_t{1});
        QVERIFY(instant.copies.empty());
    }

    void instantCopiesHaveBytesButNoRate() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::DtoH, 64, 100, 100);
        builder.addMemcpy(stream, MemcpyKind::DtoD, 0, 200, 300);
        const TracePtr trace = builder.finish();
        const TraceSums sums = buildTraceSums(*trace);
        const SelectionStatistics all = selectionStatistics(*trace, sums, {100, 300});
        QCOMPARE(all.copies.size(), size_t{2});
        QCOMPARE(test::listed(all.copies[0].sums.bytes, all.copies[0].meanGBps()), "64 | 0");
        QCOMPARE(all.copies[1].sums.totalNs, int64_t{100});
        // The copy belongs to a range that begins there, not to one that ends there.
        QCOMPARE(selectionStatistics(*trace, sums, {0, 100}).copies.size(), size_t{0});
        QCOMPARE(selectionStatistics(*trace, sums, {100, 101}).copies.size(), size_t{1});
    }

    void selectedTracksCountAlone() {
        const TracePtr trace = randomTrace(2'000, 10, 4);
        const TraceSums sums = buildTraceSums(*trace);
        int64_t countOfAll = 0;
        for (uint32_t track = 0; track < trace->tracks.size(); ++track) {
            const std::array chosen{track};
            const SelectionStatistics own =
                selectionStatistics(*trace, sums, trace->range, std::span<const uint32_t>(chosen));
            QVERIFY(own.busy.size() <= 1);
            for (const auto& [key, sum] : byKey(own)) countOfAll += sum.count;
        }
        int64_t expected = 0;
        for (const auto& [key, sum] : byKey(selectionStatistics(*trace, sums, trace->range))) expected += sum.count;
        QCOMPARE(countOfAll, expected);
    }

    void uniqueNamesNeedNoSums() {
        const TracePtr trace = randomTrace(60'000, 100'000'000, 2);
        const TraceSums sums = buildTraceSums(*trace);
        // The last leaf of a lane may be short enough for a list.
        for (const TrackSums& track : sums.tracks)
            for (const LaneSums& lane : track.lanes) QVERIFY(lane.key.size() <= LaneSums::leafSize / LaneSums::minGain);
    }

    void resultsAreEqualWithoutSums() {
        const TracePtr trace = randomTrace(20'000, 9, 6);
        const TraceSums sums;
        std::mt19937 random(7);
        for (int round = 0; round < 10; ++round) compareWithPlainLoop(*trace, sums, randomRange(trace->range, random));
    }

    void inconsistentListsAreIgnored() {
        const TracePtr trace = randomTrace(60'000, 5, 2);
        TraceSums sums = buildTraceSums(*trace);
        std::mt19937 random(8);
        for (TrackSums& track : sums.tracks)
            for (LaneSums& lane : track.lanes)
                for (size_t block = 0; block < lane.listEnd.size(); ++block)
                    if (random() % 2 == 0) lane.listEnd.set(block, random());
        for (int round = 0; round < 20; ++round) {
            const TimeRange range = randomRange(trace->range, random);
            const SelectionStatistics odd = selectionStatistics(*trace, sums, range);
            const SelectionStatistics right = selectionStatistics(*trace, trace->sums, range);
            QCOMPARE(odd.range, right.range);
            // Lists do not contain these.
            QCOMPARE(odd.busy.size(), right.busy.size());
            for (size_t track = 0; track < right.busy.size(); ++track)
                QCOMPARE(odd.busy[track].busyNs, right.busy[track].busyNs);
            for (const NameStatistics& entry : odd.names) QVERIFY(entry.sums.count > 0);
        }
    }
};

LANESCOPE_TEST(tst_Events, QCoreApplication)
#include "tst_Events.moc"
