// SPDX-License-Identifier: Apache-2.0
#include "model/lod/SelectionStatistics.h"
#include "model/lod/SumTable.h"
#include "model/lod/traceSums.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

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
                const int64_t startNs = std::max(whole.startNs, range.startNs);
                const int64_t ns = std::min(whole.endNs, range.endNs) - startNs;
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
    int64_t busyNs = 0;
    int64_t coveredToNs = range.startNs;
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
    const int64_t a = at();
    const int64_t b = random() % 4 == 0 ? a + static_cast<int64_t>(random() % 50) : at();
    return {std::min(a, b), std::max(a, b)};
}

}  // namespace

class TestSelectionStatistics : public QObject {
    Q_OBJECT

  private slots:
    void anyRangeMatchesPlainLoop_data() {
        QTest::addColumn<int>("slices");
        QTest::addColumn<int>("names");
        QTest::newRow("fewer slices than a leaf") << 300 << 12;
        QTest::newRow("few names") << 120'000 << 7;
        QTest::newRow("many names") << 60'000 << 900;
        QTest::newRow("nearly every slice its own name") << 40'000 << 1'000'000;
    }

    void anyRangeMatchesPlainLoop() {
        QFETCH(int, slices);
        QFETCH(int, names);
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
            QVERIFY(statistics.names.empty());
            QVERIFY(statistics.copies.empty());
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
        QCOMPARE(statistics.copies[0].sums.bytes, int64_t{500});
        QCOMPARE(statistics.copies[0].sums.totalNs, int64_t{50});
        QCOMPARE(statistics.copies[0].meanGBps(), 10.0);
        QCOMPARE(nameOf(*trace, statistics.copies[0].key), std::string("HtoD pinned → device"));
        QCOMPARE(statistics.names.size(), size_t{1});
        QCOMPARE(statistics.names[0].sums.totalNs, int64_t{50});
        QCOMPARE(nameOf(*trace, statistics.names[0].key), std::string("k"));
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
        QCOMPARE(all.copies[0].sums.bytes, int64_t{64});
        QCOMPARE(all.copies[0].meanGBps(), 0.0);
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

LANESCOPE_TEST(TestSelectionStatistics, NoApplication)
#include "tst_SelectionStatistics.moc"
