#include <QtTest>
#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "model/format/GlobalId.h"
#include "model/build/finishTrace.h"
#include "model/load/loadTrace.h"
#include "model/build/permute.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/writeTrace.h"

using namespace lanescope;
using namespace std::chrono_literals;

namespace {

/// Filled tables that nobody sorted: calls, the kernels that they launched, and ranges around them.
std::unique_ptr<Trace> unfinishedTrace(uint32_t rows) {
    std::mt19937 random(rows);
    auto trace = std::make_unique<Trace>();
    trace->gpus.emplace_back();
    Process& process = trace->processes.emplace_back();
    process.pid = 4242;
    process.globalPid = globalPid(process.pid);
    trace->threads.push_back({globalTid(process.pid, process.pid), process.pid, 0, {}});
    for (int64_t id = 0; id < 3; ++id) trace->streams.push_back({0, 0, 1, id, false});
    trace->launchConfigs.emplace_back();
    const StringIndex name = trace->strings.intern("simulated");
    trace->launchConfigs.front().demangledName = name;
    for (uint32_t row = 0; row < rows; ++row) {
        const int64_t startNs = int64_t{row} * 100 + static_cast<int64_t>(random() % 10'000);
        trace->apiCalls.startNs.push_back(startNs);
        trace->apiCalls.endNs.push_back(startNs + 20);
        trace->apiCalls.name.push_back(name);
        trace->apiCalls.thread.push_back(0);
        trace->apiCalls.correlation.push_back(row + 1);
        trace->apiCalls.returnValue.push_back(0);
        trace->apiCalls.isDriver.push_back(0);
        trace->kernels.startNs.push_back(startNs + 50);
        trace->kernels.endNs.push_back(startNs + 90);
        trace->kernels.config.push_back(0);
        trace->kernels.stream.push_back(row % 3);
        trace->kernels.correlation.push_back(row + 1);
        trace->kernels.graphNode.push_back(0);
        trace->nvtx.startNs.push_back(startNs - 10);
        trace->nvtx.endNs.push_back(startNs + 30);
        trace->nvtx.text.push_back(name);
        trace->nvtx.domain.push_back(0);
        trace->nvtx.category.push_back(0);
        trace->nvtx.colorArgb.push_back(0);
        trace->nvtx.thread.push_back(0);
        trace->nvtx.depth.push_back(0);
        trace->nvtx.style.push_back(NvtxStyle::PushPop);
        trace->nvtx.isOpen.push_back(0);
        trace->nvtx.payload.push_back(0);
    }
    return trace;
}

/// Whether two traces that were finished are the same, as far as finishing makes them.
bool areAlike(const Trace& a, const Trace& b) {
    const auto isLane = [](const Lane& one, const Lane& other) {
        return one.startNs == other.startNs && one.durationNs == other.durationNs &&
               one.busyNs == other.busyNs && one.tiles.levels.size() == other.tiles.levels.size();
    };
    const auto isTrack = [&](const Track& one, const Track& other) {
        return one.kind == other.kind && one.parent == other.parent &&
               std::ranges::equal(one.lanes, other.lanes, isLane);
    };
    const auto isSum = [](const TrackSums& one, const TrackSums& other) {
        return one.lanes.size() == other.lanes.size() && one.busy.timeNs == other.busy.timeNs &&
               one.busy.busyNs == other.busy.busyNs;
    };
    return a.range == b.range && a.kernels.startNs == b.kernels.startNs &&
           a.apiCalls.startNs == b.apiCalls.startNs && a.nvtx.startNs == b.nvtx.startNs &&
           a.nvtx.depth == b.nvtx.depth && a.links.calls == b.links.calls &&
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
    void doesNothingMoreOnceStopped() {
        std::stop_source stop;
        stop.request_stop();
        for (const unsigned threads : {1u, 2u, 3u}) {
            const std::unique_ptr<Trace> trace = unfinishedTrace(1000);
            QVERIFY(!finishTrace(*trace, threads, stop.get_token()));
            QVERIFY(trace->tracks.empty());
        }
    }

    void canBeStoppedAtAnyMoment() {
        constexpr uint32_t rows = 60'000;
        constexpr int delays = 36;
        const std::unique_ptr<Trace> expected = unfinishedTrace(rows);
        QVERIFY(finishTrace(*expected));
        QCOMPARE(expected->links.kernels.size(), size_t{rows});
        QCOMPARE(expected->nvtx.depth.size(), size_t{rows});
        QCOMPARE(expected->sums.tracks.size(), expected->tracks.size());
        // From at once to some tens of milliseconds, in which it may or may not have ended.
        std::chrono::nanoseconds after{0};
        for (int delay = 0; delay < delays; ++delay, after += after / 4 + 10us) {
            const unsigned threads = 1 + static_cast<unsigned>(delay) % 3;
            std::unique_ptr<Trace> trace = unfinishedTrace(rows);
            std::stop_source stop;
            std::latch begun{1};
            std::jthread stopper([&stop, &begun, after] {
                begun.wait();
                std::this_thread::sleep_for(after);
                stop.request_stop();
            });
            begun.count_down();
            const bool isFinished = finishTrace(*trace, threads, stop.get_token());
            // It ends before its time only if asked to, and else has left nothing out.
            QVERIFY(isFinished ? areAlike(*trace, *expected) : stop.stop_requested());
            stopper.join();
            // Once stopped, it is freed; another one, of which nobody asked that, is whole.
            trace.reset();
            if (isFinished || delay % 6 != 0) continue;
            const std::unique_ptr<Trace> anew = unfinishedTrace(rows);
            QVERIFY(finishTrace(*anew, threads));
            QVERIFY(areAlike(*anew, *expected));
        }
    }

    void aLoadIsCancelledBeforeTheTraceIsFinished() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "small.sqlite";
        QVERIFY(writeTrace(*unfinishedTrace(100), path));
        int asked = 0;
        const Result<TracePtr> trace = loadTrace(path, [&](double, std::string_view what) {
            asked += what == "tracks" ? 1 : 0;
            // So slow that the load reports whenever it could.
            std::this_thread::sleep_for(60ms);
            return asked == 0;
        });
        QCOMPARE(asked, 1);
        QVERIFY(!trace);
        QVERIFY(trace.error().sentence.find("cancelled") != std::string::npos);
    }

    void aLoadIsCancelledWhileTheTraceIsFinished() {
        // What nobody sorted takes longer to finish than passes between two reports.
        constexpr uint32_t rows = 300'000;
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "large.sqlite";
        QVERIFY(writeTrace(*unfinishedTrace(rows), path));
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
                    QTest::addRow("%u of %u, %u", count, distinct, disorder)
                        << count << distinct << disorder;
    }
    void sortsRowsLikeAStableSort() {
        QFETCH(uint32_t, count);
        QFETCH(uint32_t, distinct);
        QFETCH(uint32_t, disorder);
        std::mt19937 random(count + distinct + disorder);
        std::vector<uint32_t> values(count);
        for (uint32_t row = 0; row < count; ++row)
            values[row] =
                (row + (disorder > 0 ? static_cast<uint32_t>(random() % disorder) : 0)) % distinct;
        const auto isLess = [&values](uint32_t a, uint32_t b) { return values[a] < values[b]; };
        std::vector<uint32_t> rows = rowNumbers(count);
        sortRows(rows, isLess, {});
        std::vector<uint32_t> expected = rowNumbers(count);
        std::stable_sort(expected.begin(), expected.end(), isLess);
        QVERIFY(rows == expected);
    }
};

LANESCOPE_TEST(tst_finishTrace, NoApplication)
#include "tst_finishTrace.moc"
