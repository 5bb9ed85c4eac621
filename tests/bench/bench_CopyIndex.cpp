// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QtTest>
#include <random>

#include "model/bandwidth/CopyIndex.h"
#include "model/bandwidth/copyCharts.h"
#include "tests/support/SimulatedTrace.h"

using namespace lanescope;

namespace {

constexpr int copyCount = 500'000;
/// Slightly more than a frame: a selection is summed during its drag.
constexpr double wantedMs = 20;

/// Copies of many sizes, of four kinds and two memories, and equally many kernels.
TracePtr manyCopies() {
    std::mt19937 random(1);
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t streams[] = {builder.addStream(0, 0, 7), builder.addStream(0, 0, 8), builder.addStream(0, 1, 7),
                                builder.addStream(0, 1, 8)};
    constexpr MemcpyKind kinds[] = {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD};
    for (int64_t copy = 0; copy < copyCount; ++copy) {
        const int64_t startNs = copy * 10'000 + random() % 5'000, ns = 1'000 + random() % 20'000;
        const int64_t bytes = int64_t{1} << (random() % 28);
        if (random() % 16 == 0)
            builder.addPeerCopy(streams[random() % 4], 0, 1, bytes, startNs, startNs + ns);
        else
            builder.addMemcpy(streams[random() % 4], kinds[random() % 3], bytes, startNs, startNs + ns, 0,
                              random() % 2 == 0 ? MemoryKind::Pinned : MemoryKind::Pageable);
        builder.addKernel(streams[random() % 4], "kernel", startNs + 3'000, startNs + 9'000);
    }
    return builder.finish();
}

}  // namespace

class BenchCopyIndex : public QObject {
    Q_OBJECT

    std::unique_ptr<CopyIndex> index_, plain_;

    static double bestMsOf(const CopyIndex& index, int grouping) {
        const TimeRange whole = index.trace().range;
        double bestMs = 1e9;
        for (int repeat = 0; repeat < 7; ++repeat) {
            const int64_t edgeNs = whole.durationNs() / 50 + repeat * 1'001;
            const TimeRange range{whole.startNs + edgeNs, whole.endNs - edgeNs};
            QElapsedTimer timer;
            timer.start();
            const auto rows = index.statistics({static_cast<CopyGrouping>(grouping), range, noIndex});
            bestMs = std::min(bestMs, double(timer.nsecsElapsed()) / 1e6);
            if (rows.empty()) qFatal("nothing was summed up");
        }
        return bestMs;
    }

  private slots:
    void initTestCase() {
        const TracePtr trace = manyCopies();
        QElapsedTimer timer;
        timer.start();
        index_ = std::make_unique<CopyIndex>(trace);
        qInfo("index of %d copies and kernels: %.1f ms", copyCount, double(timer.nsecsElapsed()) / 1e6);
        plain_ = std::make_unique<CopyIndex>(trace, UINT32_MAX);
    }

    void aSelectionIsSummedUpWithinAFrame_data() {
        QTest::addColumn<int>("grouping");
        QTest::newRow("kind") << int(CopyGrouping::Kind);
        QTest::newRow("memory") << int(CopyGrouping::Memory);
        QTest::newRow("device") << int(CopyGrouping::Device);
        QTest::newRow("size") << int(CopyGrouping::Size);
    }
    void aSelectionIsSummedUpWithinAFrame() {
        QFETCH(int, grouping);
        QElapsedTimer timer;
        timer.start();
        const TimeRange range{index_->trace().range.startNs + 1, index_->trace().range.endNs};
        index_->statistics({static_cast<CopyGrouping>(grouping), range, noIndex});
        const double firstMs = double(timer.nsecsElapsed()) / 1e6, readyMs = bestMsOf(*index_, grouping);
        const double plainMs = bestMsOf(*plain_, grouping);
        qInfo(
            "%d copies: %.2f ms, %.3f of what is wanted; the first time %.1f ms; copy by copy "
            "%.1f ms",
            copyCount, readyMs, readyMs / wantedMs, firstMs, plainMs);
    }

    void theRestOfAnAnswerWhileDragging() {
        const TimeRange whole = index_->trace().range;
        const TimeRange range{whole.startNs + whole.durationNs() / 50, whole.endNs};
        QElapsedTimer timer;
        timer.start();
        const auto advice = index_->advice(range);
        const double adviceMs = double(timer.nsecsElapsed()) / 1e6;
        timer.start();
        const CopyCells cells = copyCells(*index_, {CopyGrouping::Memory, range, noIndex}, CopyGrid{});
        const double cellsMs = double(timer.nsecsElapsed()) / 1e6;
        timer.start();
        const RateHistogram histogram = rateHistogram(*index_, {CopyGrouping::Memory, range, noIndex}, 40);
        qInfo("advice %.2f ms, cells of the chart over time %.1f ms, histogram %.1f ms", adviceMs, cellsMs,
              double(timer.nsecsElapsed()) / 1e6);
        QVERIFY(!cells.cells.empty());
        QVERIFY(!histogram.bins.empty());
    }
};

QTEST_APPLESS_MAIN(BenchCopyIndex)
#include "bench_CopyIndex.moc"
