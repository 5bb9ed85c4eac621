#include <QtTest>
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "model/load/finishTrace.h"
#include "model/load/loadTrace.h"
#include "model/trace/permute.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/writeTrace.h"

using namespace lanescope;

namespace {

/// Filled tables that nobody sorted: calls, the kernels that they launched, and ranges around them.
std::unique_ptr<Trace> unfinishedTrace(uint32_t rows) {
    std::mt19937 random(rows);
    auto trace = std::make_unique<Trace>();
    trace->gpus.emplace_back();
    trace->processes.emplace_back();
    trace->threads.emplace_back();
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
        const std::unique_ptr<Trace> trace = unfinishedTrace(1000);
        QVERIFY(!finishTrace(*trace, 2, stop.get_token()));
        QVERIFY(trace->tracks.empty());
    }

    void canBeStoppedAtAnyMoment() {
        // Later and later, until it has ended before.
        std::chrono::microseconds after{50};
        int stopped = 0;
        for (bool isFinished = false; !isFinished; after += after / 4) {
            std::stop_source stop;
            std::jthread stopper([&stop, after] {
                std::this_thread::sleep_for(after);
                stop.request_stop();
            });
            const std::unique_ptr<Trace> trace = unfinishedTrace(60'000);
            isFinished =
                finishTrace(*trace, 1 + static_cast<unsigned>(stopped) % 3, stop.get_token());
            stopped += isFinished ? 0 : 1;
            if (!isFinished) continue;
            QCOMPARE(trace->links.kernels.size(), size_t{60'000});
            QCOMPARE(trace->nvtx.depth.size(), size_t{60'000});
            QCOMPARE(trace->sums.tracks.size(), trace->tracks.size());
        }
        QVERIFY(stopped > 0);
    }

    void aLoadIsCancelledWhileTheTraceIsFinished() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "large.sqlite";
        for (int steps = 200; steps <= 12'800; steps *= 2) {
            std::filesystem::remove(path);
            QVERIFY(writeTrace(*simulatedTraining({.steps = steps}), path));
            int asked = 0;
            const Result<TracePtr> trace = loadTrace(path, [&](double, std::string_view what) {
                asked += what == "tracks" ? 1 : 0;
                return asked < 2;
            });
            // So few events were finished before it asked again.
            if (asked < 2) continue;
            QVERIFY(!trace);
            QVERIFY(trace.error().sentence.find("cancelled") != std::string::npos);
            return;
        }
        QFAIL("It was never asked whether the trace is still wanted.");
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

QTEST_APPLESS_MAIN(tst_finishTrace)
#include "tst_finishTrace.moc"
