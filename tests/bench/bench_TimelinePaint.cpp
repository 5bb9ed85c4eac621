// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QImage>
#include <QPainter>
#include <QTest>
#include <random>

#include "tests/support/SimulatedTrace.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackPainter.h"

using namespace lanescope;
using namespace lanescope::views;

/// Paints a million simulated slices, each frame at another place so that nothing is cached, and
/// compares with filling one rectangle for each visible slice.
class bench_TimelinePaint : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void paintingBeatsAPlainLoop_data();
    void paintingBeatsAPlainLoop();
    void aSecondPaintReducesNothing();

  private:
    static constexpr QSize size{1600, 900};
    static constexpr int streamCount = 8, kernelsPerStream = 125'000;

    void paintPlainly(QPainter& painter) const;

    TimelineState state_;
};

void bench_TimelinePaint::initTestCase() {
    std::mt19937 random(1);
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    for (int i = 0; i < streamCount; ++i) {
        const uint32_t stream = builder.addStream(0, gpu, i + 1);
        int64_t timeNs = static_cast<int64_t>(random() % 1'000);
        for (int kernel = 0; kernel < kernelsPerStream; ++kernel) {
            const int64_t durationNs = 1'000 + static_cast<int64_t>(random() % 9'000);
            builder.addKernel(stream, "kernel_" + std::to_string(random() % 40), timeNs, timeNs + durationNs);
            timeNs += durationNs + static_cast<int64_t>(random() % 2'000);
        }
    }
    state_.scroll().setViewportHeight(size.height());
    state_.setTrace(builder.finish());
}

void bench_TimelinePaint::paintPlainly(QPainter& painter) const {
    painter.fillRect(QRect(QPoint(), size), state_.options().theme().canvas);
    const TimeScale scale = state_.range().scale(size.width());
    for (const LayoutRow& row : state_.tracks().layout().rows()) {
        for (int i = 0; i < row.laneCount; ++i) {
            const Lane& lane = state_.lanes().laneAt({row.track, static_cast<uint32_t>(i)});
            const int top = TrackLayout::laneTop(row, i);
            for (uint32_t slice = 0; slice < lane.size(); ++slice) {
                if (lane.endNs(slice) <= scale.range.startNs || lane.startNs[slice] >= scale.range.endNs) {
                    continue;
                }
                const double left = scale.toX(lane.startNs[slice]);
                const double width = std::max(1.0, scale.toX(lane.endNs(slice)) - left);
                painter.fillRect(QRectF(left, top, width, row.laneHeight - 1),
                                 state_.options().theme().colorOf(lane.category[slice]));
            }
        }
    }
}

void bench_TimelinePaint::paintingBeatsAPlainLoop_data() {
    QTest::addColumn<double>("visibleShare");
    QTest::addColumn<double>("minRatio");
    QTest::newRow("everything") << 1.0 << 10.0;
    QTest::newRow("a tenth") << 0.1 << 1.5;
    // Labels and edges: more than the plain loop draws, so no ratio is required.
    QTest::newRow("labelled slices") << 0.0002 << 0.0;
}

void bench_TimelinePaint::paintingBeatsAPlainLoop() {
    QFETCH(double, visibleShare);
    QFETCH(double, minRatio);
    QImage image(size, QImage::Format_RGB32);
    TrackPainter painter(state_);
    painter.reset(QFont());
    const TimeRange trace = state_.trace()->range;
    const auto durationNs = static_cast<int64_t>(double(trace.durationNs()) * visibleShare);
    const auto show = [&](int frame) {
        const int64_t startNs = trace.startNs + (trace.durationNs() - durationNs) / 3 + frame * 1'001;
        state_.range().setVisible({startNs, startNs + durationNs - frame});
    };
    const auto medianMs = [&](int frames, const auto& paint) {
        std::vector<double> times;
        for (int frame = 0; frame < frames; ++frame) {
            show(frame);
            QPainter target(&image);
            QElapsedTimer timer;
            timer.start();
            paint(target);
            times.push_back(double(timer.nsecsElapsed()) / 1e6);
        }
        std::nth_element(times.begin(), times.begin() + frames / 2, times.end());
        return times[frames / 2];
    };
    const double plainMs = medianMs(5, [&](QPainter& target) { paintPlainly(target); });
    const double nativeMs = medianMs(21, [&](QPainter& target) { painter.paint(target, size, 1); });
    const double ratio = plainMs / nativeMs;
    qInfo(
        "%d slices in %d streams, %.2g of them visible: %.2f ms a frame, plain loop %.2f ms, ratio "
        "%.1f",
        streamCount * kernelsPerStream, streamCount, visibleShare, nativeMs, plainMs, ratio);
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    QVERIFY2(ratio >= minRatio, qPrintable(QString("ratio %1, wanted %2").arg(ratio).arg(minRatio)));
}

void bench_TimelinePaint::aSecondPaintReducesNothing() {
    QImage image(size, QImage::Format_RGB32);
    TrackPainter painter(state_);
    painter.reset(QFont());
    state_.range().axis().fit();
    QPainter target(&image);
    painter.paint(target, size, 1);
    const size_t lanes = painter.geometry().cachedLaneCount();
    const void* const first = painter.geometry().rectangles({1, 0}).data();
    painter.paint(target, size, 1);
    QCOMPARE(painter.geometry().cachedLaneCount(), lanes);
    QCOMPARE(static_cast<const void*>(painter.geometry().rectangles({1, 0}).data()), first);
}

QTEST_MAIN(bench_TimelinePaint)
#include "bench_TimelinePaint.moc"
