#include <QElapsedTimer>
#include <QtTest>
#include <random>

#include "model/bandwidth/CopyIndex.h"
#include "tests/support/TraceBuilder.h"

using namespace lanescope;

namespace {

constexpr int copyCount = 500'000;
/// A frame and a bit: a selection is summed up while it is dragged.
constexpr double wantedMs = 20;

/// Copies of many sizes, of four kinds and two memories, and as many kernels beside them.
TracePtr manyCopies() {
    std::mt19937 random(1);
    TraceBuilder builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t streams[] = {builder.addStream(0, 0, 7), builder.addStream(0, 0, 8),
                                builder.addStream(0, 1, 7), builder.addStream(0, 1, 8)};
    constexpr MemcpyKind kinds[] = {MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD};
    for (int64_t copy = 0; copy < copyCount; ++copy) {
        const int64_t startNs = copy * 10'000 + random() % 5'000;
        const int64_t ns = 1'000 + random() % 20'000;
        const int64_t bytes = int64_t{1} << (random() % 28);
        if (random() % 16 == 0)
            builder.addPeerCopy(streams[random() % 4], 0, 1, bytes, startNs, startNs + ns);
        else
            builder.addMemcpy(streams[random() % 4], kinds[random() % 3], bytes, startNs,
                              startNs + ns, 0,
                              random() % 2 == 0 ? MemoryKind::Pinned : MemoryKind::Pageable);
        builder.addKernel(streams[random() % 4], "kernel", startNs + 3'000, startNs + 9'000);
    }
    return builder.finish();
}

}  // namespace

class BenchCopyIndex : public QObject {
    Q_OBJECT

    std::unique_ptr<CopyIndex> index_;

  private slots:
    void initTestCase() {
        const TracePtr trace = manyCopies();
        QElapsedTimer timer;
        timer.start();
        index_ = std::make_unique<CopyIndex>(trace);
        qInfo("index of %d copies and kernels: %.1f ms", copyCount,
              double(timer.nsecsElapsed()) / 1e6);
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
        const TimeRange whole = index_->trace().range;
        const TimeRange range{whole.startNs + 1, whole.endNs - 1};
        double bestMs = 1e9;
        for (int repeat = 0; repeat < 7; ++repeat) {
            QElapsedTimer timer;
            timer.start();
            const auto rows =
                index_->statistics({static_cast<CopyGrouping>(grouping), range, noIndex});
            bestMs = std::min(bestMs, double(timer.nsecsElapsed()) / 1e6);
            QVERIFY(!rows.empty());
        }
        qInfo("%d copies: %.1f ms, %.2f of what is wanted", copyCount, bestMs, bestMs / wantedMs);
    }
};

QTEST_APPLESS_MAIN(BenchCopyIndex)
#include "bench_CopyIndex.moc"
