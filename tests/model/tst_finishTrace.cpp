// SPDX-License-Identifier: Apache-2.0
#include <latch>

#include "model/assemble/TraceBuilder.h"
#include "model/assemble/sortTables.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/importers/loadTrace.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace std::chrono_literals;

namespace {

/// Calls, their kernels and ranges around them, out of order.
TraceBuilder unfinishedTrace(uint32_t rows) {
    std::mt19937 random(rows);
    TraceBuilder builder;
    const uint32_t thread = builder.thread(globalTid(4242, 4242));
    std::array<uint32_t, 3> streams{};
    for (uint32_t id = 0; id < 3; ++id) streams[id] = builder.stream(0, builder.gpu(0), 1, id);
    const StringIndex name = builder.intern("simulated");
    const uint32_t config = builder.launchConfig({.demangledName = name});
    for (uint32_t row = 0; row < rows; ++row) {
        const int64_t startNs = int64_t{row} * 100 + static_cast<int64_t>(random() % 10'000);
        builder.add<kinds::Api>(
            {.startNs = startNs, .endNs = startNs + 20, .name = name, .thread = thread, .correlation = row + 1});
        builder.add<kinds::Kernel>({.startNs = startNs + 50,
                                    .endNs = startNs + 90,
                                    .stream = streams[row % 3],
                                    .correlation = row + 1,
                                    .config = config});
        builder.add<kinds::Nvtx>({.startNs = startNs - 10, .endNs = startNs + 30, .text = name, .thread = thread});
    }
    return builder;
}

/// Returns true if two finished traces are equal in everything that finishing creates.
bool areAlike(const Trace& a, const Trace& b) {
    const auto isLane = [](const Lane& one, const Lane& other) {
        return one.startNs == other.startNs && one.durationNs == other.durationNs && one.busyNs == other.busyNs &&
               one.tiles->levels.size() == other.tiles->levels.size();
    };
    const auto isTrack = [&](const Track& one, const Track& other) {
        return one.kind == other.kind && one.parent == other.parent &&
               std::ranges::equal(one.lanes, other.lanes, isLane);
    };
    const auto isSum = [](const TrackSums& one, const TrackSums& other) {
        return one.lanes.size() == other.lanes.size() && one.busy->timeNs == other.busy->timeNs &&
               one.busy->busyNs == other.busy->busyNs;
    };
    return a.range == b.range && a.kernels.startNs == b.kernels.startNs && a.apiCalls.startNs == b.apiCalls.startNs &&
           a.nvtx.startNs == b.nvtx.startNs && a.nvtx.depth == b.nvtx.depth && a.links.calls == b.links.calls &&
           a.links.kernels == b.links.kernels && std::ranges::equal(a.tracks, b.tracks, isTrack) &&
           std::ranges::equal(a.sums.tracks, b.sums.tracks, isSum);
}

std::vector<uint32_t> rowNumbers(size_t count) {
    std::vector<uint32_t> rows(count);
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
}

}  // namespace

class tst_finishTrace : public QObject {
    Q_OBJECT

  private slots:
    void stoppedFinishDoesNothingMore() {
        std::stop_source stop;
        stop.request_stop();
        for (const unsigned threads : {1u, 2u, 3u}) {
            TraceBuilder builder = unfinishedTrace(1000);
            QVERIFY(!builder.finish(threads, stop.get_token()));
            QVERIFY(builder.trace().tracks.empty());
        }
    }

    void finishCanBeStoppedAtAnyTime() {
        constexpr uint32_t rows = 60'000;
        constexpr int delays = 36;
        TraceBuilder whole = unfinishedTrace(rows);
        QVERIFY(whole.finish());
        const TracePtr expected = whole.take();
        QCOMPARE(expected->links.kernels.size(), size_t{rows});
        QCOMPARE(expected->nvtx.depth.size(), size_t{rows});
        QCOMPARE(expected->sums.tracks.size(), expected->tracks.size());
        // From immediately to some tens of milliseconds, in which it may or may not have ended.
        std::chrono::nanoseconds after{0};
        for (int delay = 0; delay < delays; ++delay, after += after / 4 + 10us) {
            const unsigned threads = 1 + static_cast<unsigned>(delay) % 3;
            std::optional<TraceBuilder> builder = unfinishedTrace(rows);
            std::stop_source stop;
            std::latch begun{1};
            std::jthread stopper([&stop, &begun, after] {
                begun.wait();
                std::this_thread::sleep_for(after);
                stop.request_stop();
            });
            begun.count_down();
            const bool isFinished = builder->finish(threads, stop.get_token());
            // It ends early only on request; otherwise nothing is missing.
            QVERIFY(isFinished ? areAlike(builder->trace(), *expected) : stop.stop_requested());
            stopper.join();
            // The stopped trace is freed; another, unstopped one is complete.
            builder.reset();
            if (isFinished || delay % 6 != 0) continue;
            TraceBuilder rebuilt = unfinishedTrace(rows);
            QVERIFY(rebuilt.finish(threads));
            QVERIFY(areAlike(rebuilt.trace(), *expected));
        }
    }

    void loadIsCancelledBeforeTheTraceIsFinished() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "small.sqlite";
        QVERIFY(writeTraceFile(unfinishedTrace(100).trace(), path));
        int asked = 0;
        const Result<TracePtr> trace = loadTrace(path, [&](double, std::string_view what) {
            asked += what == "tracks" ? 1 : 0;
            // So slow that the load reports at every opportunity.
            std::this_thread::sleep_for(60ms);
            return asked == 0;
        });
        QCOMPARE(asked, 1);
        QVERIFY(!trace);
        QVERIFY(trace.error().sentence.find("cancelled") != std::string::npos);
    }

    void loadIsCancelledWhileTheTraceIsFinished() {
        // Unsorted rows take longer to finish than the time between two reports.
        constexpr uint32_t rows = 300'000;
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "large.sqlite";
        QVERIFY(writeTraceFile(unfinishedTrace(rows).trace(), path));
        int asked = 0;
        const Result<TracePtr> cancelled = loadTrace(path, [&](double, std::string_view what) {
            asked += what == "tracks" ? 1 : 0;
            return asked == 0;
        });
        QCOMPARE(asked, 1);
        QVERIFY(!cancelled);
        QVERIFY(cancelled.error().sentence.find("cancelled") != std::string::npos);
        const Result<TracePtr> whole = loadTrace(path);
        QVERIFY(whole.has_value());
        QCOMPARE((*whole)->kernels.size(), rows);
        QCOMPARE((*whole)->nvtx.size(), rows);
    }

    void sortsRowsLikeAStableSort_data() {
        QTest::addColumn<uint32_t>("count");
        QTest::addColumn<uint32_t>("distinct");
        QTest::addColumn<uint32_t>("disorder");
        const uint32_t atOnce = 1u << 16;
        for (const uint32_t count : {0u, 1u, 2u, atOnce, atOnce + 1, 3 * atOnce, 3 * atOnce + 17})
            for (const uint32_t distinct : {3u, 1'000'000u})
                for (const uint32_t disorder : {0u, 100u, 1'000'000u})
                    QTest::addRow("%u of %u, %u", count, distinct, disorder) << count << distinct << disorder;
    }
    void sortsRowsLikeAStableSort() {
        QFETCH(uint32_t, count);
        QFETCH(uint32_t, distinct);
        QFETCH(uint32_t, disorder);
        std::mt19937 random(count + distinct + disorder);
        std::vector<uint32_t> values(count);
        for (uint32_t row = 0; row < count; ++row)
            values[row] = (row + (disorder > 0 ? static_cast<uint32_t>(random() % disorder) : 0)) % distinct;
        const auto isLess = [&values](uint32_t a, uint32_t b) { return values[a] < values[b]; };
        std::vector<uint32_t> expected = rowNumbers(count);
        LargeVector<uint32_t> rows(expected.begin(), expected.end());
        sortLarge(rows, isLess);
        std::stable_sort(expected.begin(), expected.end(), isLess);
        QVERIFY(std::ranges::equal(rows, expected));
    }
};

LANESCOPE_TEST(tst_finishTrace, NoApplication)
#include "tst_finishTrace.moc"
