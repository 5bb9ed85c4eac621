// SPDX-License-Identifier: GPL-3.0-or-later
#include <qcustomplot.h>
#include <QApplication>

#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "views/bandwidth/CopyChart.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

struct ShownChart {
    explicit ShownChart(BandwidthChart kind, SimulatedMachine options = {})
        : trace(simulatedMachine(options)), copies(trace), chart(kind) {
        chart.resize(700, 360);
        chart.show();
        ask();
    }
    void ask() {
        BandwidthQuestion question;
        question.chart = chart.kind();
        question.grid = chart.grid();
        question.binCount = chart.binCount();
        question.range = range;
        answer = answerBandwidth(copies, question);
        chart.setAnswer(answer);
    }
    QWidget* plot() { return &chart.plot(); }

    TracePtr trace;
    SharedCopyIndex copies;
    std::optional<TimeRange> range;
    std::shared_ptr<const BandwidthAnswer> answer;
    CopyChart chart;
};

}  // namespace

Q_DECLARE_METATYPE(lanescope::views::BandwidthChart)

class TestCopyChart : public QObject {
    Q_OBJECT

    static void everyKind() {
        QTest::addColumn<BandwidthChart>("kind");
        QTest::newRow("over time") << BandwidthChart::OverTime;
        QTest::newRow("by size") << BandwidthChart::BySize;
        QTest::newRow("histogram") << BandwidthChart::Histogram;
    }

  private slots:
    void clickRequestsTheCopyUnderThePointer_data() { everyKind(); }
    void clickRequestsTheCopyUnderThePointer() {
        QFETCH(BandwidthChart, kind);
        ShownChart shown(kind);
        QVERIFY(shown.chart.markCount() > 3);
        QSignalSpy activated(&shown.chart, &CopyChart::copyActivated);
        const QPoint place = shown.chart.markPosition(2);
        QTest::mouseClick(shown.plot(), Qt::LeftButton, {}, place);
        QCOMPARE(activated.count(), 1);
        QVERIFY(shown.chart.chosenMark());
        QCOMPARE(activated[0][0].value<EventRef>(), shown.chart.copyOf(*shown.chart.chosenMark()).event);
    }

    void hoverDescribesTheCopy_data() { everyKind(); }
    void hoverDescribesTheCopy() {
        QFETCH(BandwidthChart, kind);
        ShownChart shown(kind);
        QSignalSpy described(&shown.chart, &CopyChart::described);
        QTest::mouseMove(shown.plot(), shown.chart.markPosition(1));
        QVERIFY(described.count() > 0);
        QVERIFY2(described.back()[0].toString().contains("GB/s"), qPrintable(described.back()[0].toString()));
    }

    void cursorKeysWalkAndEnterRequestsTheCopy_data() { everyKind(); }
    void cursorKeysWalkAndEnterRequestsTheCopy() {
        QFETCH(BandwidthChart, kind);
        ShownChart shown(kind);
        QSignalSpy activated(&shown.chart, &CopyChart::copyActivated);
        QTest::keyClick(&shown.chart, Qt::Key_Return);
        QCOMPARE(activated.count(), 0);
        QTest::keyClick(&shown.chart, Qt::Key_Right);
        QTest::keyClick(&shown.chart, Qt::Key_Right);
        QCOMPARE(shown.chart.chosenMark(), std::optional(1));
        QTest::keyClick(&shown.chart, Qt::Key_Return);
        QCOMPARE(activated[0][0].value<EventRef>(), shown.chart.copyOf(1).event);
        QTest::keyClick(&shown.chart, Qt::Key_End);
        QCOMPARE(shown.chart.chosenMark(), std::optional(shown.chart.markCount() - 1));
        QTest::keyClick(&shown.chart, Qt::Key_Escape);
        QVERIFY(!shown.chart.chosenMark());
    }

    void dragOverTimeSelectsARange() {
        ShownChart shown(BandwidthChart::OverTime);
        QSignalSpy selected(&shown.chart, &CopyChart::rangeSelected);
        QSignalSpy activated(&shown.chart, &CopyChart::copyActivated);
        const QRect area = shown.chart.plot().axisRect()->rect();
        const QPoint from(area.left() + area.width() / 4, area.center().y());
        const QPoint to(area.left() + area.width() / 2, area.center().y());
        QTest::mousePress(shown.plot(), Qt::LeftButton, {}, from);
        QTest::mouseMove(shown.plot(), from + QPoint(20, 0));
        QTest::mouseMove(shown.plot(), to);
        QTest::mouseRelease(shown.plot(), Qt::LeftButton, {}, to);
        QCOMPARE(selected.count(), 1);
        QCOMPARE(activated.count(), 0);
        const auto range = selected[0][0].value<TimeRange>();
        const double wholeNs = double(shown.trace->range.durationNs());
        QVERIFY(std::abs(double(range.startNs) - wholeNs / 4) < wholeNs / 50);
        QVERIFY(std::abs(double(range.endNs) - wholeNs / 2) < wholeNs / 50);
    }

    void timeChartShowsTheRequestedRange() {
        ShownChart shown(BandwidthChart::OverTime);
        const int all = shown.chart.markCount();
        shown.range = TimeRange{20 * ms, 40 * ms};
        shown.ask();
        QVERIFY(shown.chart.markCount() < all);
        QCOMPARE(shown.chart.plot().xAxis->range().size(), double(20 * ms));
    }

    void manyCopiesBecomeFewPoints() {
        SimulatedMachine options;
        options.copiesPerStep = 20'000;
        options.steps = 3;
        ShownChart shown(BandwidthChart::BySize, options);
        QVERIFY(shown.answer->cells.copyCount > 100'000);
        QVERIFY(shown.chart.markCount() < 20'000);
        QCOMPARE(shown.chart.markCount(), int(shown.answer->cells.cells.size()));
    }

    void peaksAreDashedLinesInsideTheChart() {
        ShownChart shown(BandwidthChart::BySize);
        QVERIFY(!shown.answer->peaks.empty());
        int lines = 0;
        for (int item = 0; item < shown.chart.plot().itemCount(); ++item)
            if (const auto* line = qobject_cast<QCPItemStraightLine*>(shown.chart.plot().item(item))) {
                QCOMPARE(line->pen().style(), Qt::DashLine);
                ++lines;
            }
        QCOMPARE(lines, int(shown.answer->peaks.size()));
    }

    void pageableAndPinnedDifferByShape() {
        ShownChart shown(BandwidthChart::BySize);
        QMap<QString, int> shapes;
        const QCustomPlot& plot = shown.chart.plot();
        for (int graph = 0; graph < plot.graphCount(); ++graph)
            shapes[plot.graph(graph)->name()] = plot.graph(graph)->scatterStyle().shape();
        QVERIFY(shapes.contains("HtoD pageable"));
        QVERIFY(shapes.contains("HtoD pinned"));
        QVERIFY(shapes["HtoD pageable"] != shapes["HtoD pinned"]);
    }

    void emptyChartIsReported() {
        ShownChart shown(BandwidthChart::OverTime);
        shown.range = TimeRange{-20 * ms, -10 * ms};
        shown.ask();
        QCOMPARE(shown.chart.markCount(), 0);
        bool isReported = false;
        for (int item = 0; item < shown.chart.plot().itemCount(); ++item)
            isReported = isReported || qobject_cast<QCPItemText*>(shown.chart.plot().item(item));
        QVERIFY(isReported);
        QTest::keyClick(&shown.chart, Qt::Key_Right);
        QTest::mouseClick(shown.plot(), Qt::LeftButton);
        QVERIFY(!shown.chart.chosenMark());
    }

    void fontAndThemeChangesKeepThePoints() {
        ShownChart shown(BandwidthChart::OverTime);
        const int marks = shown.chart.markCount();
        QFont font = shown.chart.font();
        font.setPointSizeF(font.pointSizeF() * 1.5);
        shown.chart.setFont(font);
        shown.chart.setTheme(Theme::dark());
        QCOMPARE(shown.chart.markCount(), marks);
        QCOMPARE(shown.chart.plot().xAxis->tickLabelFont().pointSizeF(), font.pointSizeF());
    }
};

LANESCOPE_TEST(TestCopyChart, QApplication)
#include "tst_CopyChart.moc"
