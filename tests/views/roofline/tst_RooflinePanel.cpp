// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "views/roofline/RooflinePanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

/// Operators of several kinds and shapes on a GPU with a measured and a data sheet's roof.
TracePtr shapedTrace() {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    Gpu& gpu = builder.gpus().front();
    gpu.name = "NVIDIA H200";
    gpu.computeMajor = 9;
    builder.description().interconnect.roofs.push_back(
        {.kind = RoofKind::Gemm, .gpu = 0, .operation = "bf16", .perSecond = 780'000'000'000'000});
    int64_t at = 0;
    const auto add = [&](const std::string& text, const char* kernel, int64_t took) {
        builder.addNvtx(thread, text, at, at + 8 * us);
        builder.launch(thread, stream, kernel, at + us, at + 10 * us, at + 10 * us + took);
        at += 20 * us + took;
    };
    for (int repeat = 0; repeat < 4; ++repeat) {
        add("aten::mm, op_id = 1, sizes = [[4096, 4096], [4096, 4096]]", "nvjet_tst_128x256", 260 * us);
        add("aten::mm, op_id = 2, sizes = [[64, 4096], [4096, 4096]]", "nvjet_tst_64x64", 60 * us);
        add("aten::mm, op_id = 3, sizes = [[4096, 1024], [1024, 1024]]", "nvjet_tst_128x128", 40 * us);
        add("aten::mm, op_id = 4, sizes = [[2048, 2048], [2048, 2048]]", "sm90_xmma_gemm_f32f32_tf32f32_f32", 90 * us);
        add("aten::bmm, op_id = 5, sizes = [[64, 512, 64], [64, 64, 512]]", "nvjet_tst_64x128", 45 * us);
    }
    return builder.finish();
}

struct ShownPanel {
    explicit ShownPanel(TracePtr shown) : trace(std::move(shown)) {
        panel.resize(1400, 460);
        panel.setTrace(trace);
        panel.show();
        wait();
    }
    void wait() { QTRY_VERIFY_WITH_TIMEOUT(!panel.isStale(), 60'000); }
    RooflineChart& chart() { return child<RooflineChart>(panel); }
    TracePtr trace;
    RooflinePanel panel;
};

}  // namespace

class TestRooflinePanel : public QObject {
    Q_OBJECT
  private slots:
    void chartHasADotForEachShape() {
        ShownPanel shown(shapedTrace());
        keepPicture(shown.panel, "roofline");
        QCOMPARE(shown.panel.table()->model().rowCount(), 5);
        const QRectF area = shown.chart().plotArea();
        std::vector<QPointF> places;
        for (size_t row = 0; row < 5; ++row) {
            const auto place = shown.chart().placeOf(row);
            QVERIFY(place);
            QVERIFY(area.contains(*place));
            for (const QPointF& other : places) QVERIFY(*place != other);
            places.push_back(*place);
        }
        QVERIFY(!shown.chart().placeOf(5));
    }

    void clickLeadsToTheKernels() {
        ShownPanel shown(shapedTrace());
        QSignalSpy names(&shown.panel, &RooflinePanel::nameActivated);
        QSignalSpy events(&shown.panel, &RooflinePanel::eventActivated);
        const auto place = shown.chart().placeOf(0);
        QVERIFY(place);
        const auto row = shown.chart().rowAt(*place);
        QVERIFY(row);
        QTest::mouseClick(&shown.chart(), Qt::LeftButton, {}, place->toPoint());
        QCOMPARE(test::listed(names.count(), events.count(), shown.chart().current()), test::listed(1, 1, row));
        QVERIFY(events.at(0).at(0).value<EventRef>().kind() == EventKind::Kernel);
        QVERIFY(names.at(0).at(0).toString().startsWith("nvjet") || names.at(0).at(0).toString().contains("_"));
    }

    void keysStepThroughTheDots() {
        ShownPanel shown(shapedTrace());
        QSignalSpy events(&shown.panel, &RooflinePanel::eventActivated);
        QTest::keyClick(&shown.chart(), Qt::Key_Right);
        QCOMPARE(shown.chart().current(), std::optional<size_t>(0));
        QTest::keyClick(&shown.chart(), Qt::Key_Right);
        QTest::keyClick(&shown.chart(), Qt::Key_Left);
        QCOMPARE(shown.chart().current(), std::optional<size_t>(0));
        QTest::keyClick(&shown.chart(), Qt::Key_Return);
        QCOMPARE(events.count(), 1);
    }

    void rangeLimitsTheRows() {
        ShownPanel shown(shapedTrace());
        shown.panel.setRange(TimeRange{0, 300 * us});
        shown.wait();
        QCOMPARE(shown.panel.table()->model().rowCount(), 2);
        shown.panel.setRange(std::nullopt);
        shown.wait();
        QCOMPARE(shown.panel.table()->model().rowCount(), 5);
    }

    void traceWithoutShapesShowsASentence() {
        SimulatedTrace builder;
        builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 0, 10 * us, 20 * us);
        ShownPanel shown(builder.finish());
        QCOMPARE(shown.panel.table()->model().rowCount(), 0);
        QVERIFY(!shown.chart().rowAt(QPointF(50, 50)));
        shown.panel.setTrace(nullptr);
        shown.wait();
    }
};

LANESCOPE_TEST(TestRooflinePanel, QApplication)
#include "tst_RooflinePanel.moc"
