// SPDX-License-Identifier: GPL-3.0-or-later
#include <qcustomplot.h>
#include <QApplication>
#include <QtWidgets>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedTraining.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/bandwidth/CopyChart.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

void waitForRows(BandwidthPanel& panel) { QTRY_VERIFY_WITH_TIMEOUT(!panel.isStale(), 60'000); }

QVariant cellOf(const ReportView& view, int row, const char* columnName, int role = ReportModel::SortRole) {
    const ReportModel& model = view.model();
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.headerData(column, Qt::Horizontal).toString() == QLatin1String(columnName))
            return model.index(row, column).data(role);
    return {};
}

void compareWithModel(const ReportView& view, const std::vector<CopyStatistics>& rows) {
    QCOMPARE(view.model().rowCount(), int(rows.size()));
    for (int row = 0; row < view.model().rowCount(); ++row) {
        const CopyStatistics& expected = rows[size_t(row)];
        QCOMPARE(cellOf(view, row, "Count").toLongLong(), expected.count);
        QCOMPARE(cellOf(view, row, "Bytes").toLongLong(), expected.bytes);
        QCOMPARE(cellOf(view, row, "Busy").toLongLong(), expected.busyNs);
        if (expected.rates) {
            QCOMPARE(cellOf(view, row, "Median").toDouble(), expected.rates->median);
            QCOMPARE(cellOf(view, row, "Mean").toDouble(), *expected.meanGBps());
        }
        QCOMPARE(cellOf(view, row, "Of Peak").isValid(), expected.peakPercent().has_value());
    }
}

std::vector<CopyStatistics> statisticsOf(const TracePtr& trace, CopyGrouping grouping,
                                         std::optional<TimeRange> range = std::nullopt) {
    return CopyIndex(trace).statistics({grouping, range, noIndex});
}

/// Shown, filled, and large enough to click on each part.
CopyChart& chartOf(const BandwidthPanel& panel, BandwidthChart kind) {
    auto* tabs = panel.findChild<QTabWidget*>();
    return *qobject_cast<CopyChart*>(tabs->widget(static_cast<int>(kind)));
}

struct ShownPanel {
    explicit ShownPanel(TracePtr shown = simulatedMachine()) : trace(std::move(shown)) {
        panel.resize(1500, 420);
        panel.setTrace(trace);
        panel.show();
        waitForRows(panel);
    }
    ReportView& view() { return child<ReportView>(panel); }
    TracePtr trace;
    BandwidthPanel panel;
};

struct ShownChart {
    explicit ShownChart(BandwidthChart kind, SimulatedMachine options = {})
        : ShownChart(kind, simulatedMachine(options)) {}
    ShownChart(BandwidthChart kind, TracePtr shown) : trace(std::move(shown)), copies(trace), chart(kind) {
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

class tst_BandwidthPanel : public QObject {
    Q_OBJECT

    static void everyKind() {
        QTest::addColumn<BandwidthChart>("kind");
        QTest::newRow("over time") << BandwidthChart::OverTime;
        QTest::newRow("by size") << BandwidthChart::BySize;
        QTest::newRow("histogram") << BandwidthChart::Histogram;
    }

  private slots:
    void showsTheNumbersOfTheModel() {
        ShownPanel shown;
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Memory));
        QCOMPARE(shown.view().remark(), "Whole trace");
    }

    void countsTheSelectedRangeAndNamesIt() {
        ShownPanel shown;
        const TimeRange range{20 * ms, 45 * ms};
        shown.panel.setRange(range);
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Memory, range));
        QVERIFY2(shown.view().remark().startsWith("Selected range, 25"), qPrintable(shown.view().remark()));
        shown.panel.setRange(std::nullopt);
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Memory));
    }

    void newestAnswerWinsDuringADrag() {
        ShownPanel shown;
        QSignalSpy updated(&shown.panel, &BandwidthPanel::updated);
        TimeRange range{0, ms};
        for (int step = 0; step < 50; ++step) {
            range.endNs += ms;
            shown.panel.setRange(range);
        }
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Memory, range));
        QVERIFY(updated.count() < 50);
    }

    void visibleRangeCountsOnRequest() {
        ShownPanel shown;
        const TimeRange visible{5 * ms, 12 * ms};
        shown.panel.setVisibleRange(visible);
        QVERIFY(!shown.panel.isStale());
        QTest::keyClick(&child<ScopeChoice>(shown.panel), Qt::Key_Down);
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Memory, visible));
        QVERIFY(shown.view().remark().startsWith("Visible range"));
    }

    void rowsBySizeSortByNumber() {
        ShownPanel shown;
        QTest::keyClick(&child<QComboBox>(shown.panel, "rows"), Qt::Key_Down);
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Size));
        const int size = 2;
        QCOMPARE(shown.view().model().headerData(size, Qt::Horizontal).toString(), "Size");
        shown.view().table().sortByColumn(size, Qt::AscendingOrder);
        int last = -1;
        const ReportFilter& sorted = shown.view().filter();
        for (int row = 0; row < sorted.rowCount(); ++row) {
            const int bucket = sorted.index(row, size).data(ReportModel::SortRole).toInt();
            QVERIFY(bucket >= last);
            last = bucket;
        }
        QVERIFY(last > 0);
    }

    void rowsByGpuNameThePairAndFilterToIt() {
        ShownPanel shown;
        shown.panel.showPair(0, 1);
        waitForRows(shown.panel);
        compareWithModel(shown.view(), statisticsOf(shown.trace, CopyGrouping::Device));
        const ReportFilter& filter = shown.view().filter();
        QCOMPARE(test::listed(filter.rowCount(), filter.index(0, 0).data().toString()), "1 | GPU 0 \u2192 GPU 1");
        QVERIFY(child<QToolButton>(shown.panel, "pair").isVisible());
        QTest::mouseClick(&child<QToolButton>(shown.panel, "pair"), Qt::LeftButton);
        waitForRows(shown.panel);
        QVERIFY(!child<QToolButton>(shown.panel, "pair").isVisible());
        QVERIFY(filter.rowCount() > 1);
    }

    void rowsByRangeLeadToTheRange() {
        ShownPanel shown;
        shown.panel.setRows(BandwidthRows::Instance);
        waitForRows(shown.panel);
        QVERIFY(shown.view().model().rowCount() >= 6);
        QSignalSpy activated(&shown.panel, &BandwidthPanel::rangeActivated);
        QTableView& table = shown.view().table();
        table.setCurrentIndex(table.model()->index(0, 0));
        QTest::keyClick(&table, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        const auto range = activated[0][0].value<TimeRange>();
        QVERIFY(range.durationNs() > 15 * ms && range.durationNs() <= 20 * ms);
    }

    void rowsByRangeUseTheNamedRange() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        for (int epoch = 0; epoch < 3; ++epoch) {
            const int64_t at = epoch * 100 * ms;
            builder.addNvtx(builder.defaultThread(), "epoch " + std::to_string(epoch), at, at + 90 * ms);
            for (int step = 0; step < 4; ++step) {
                const int64_t from = at + step * 20 * ms;
                builder.addNvtx(builder.defaultThread(), "step " + std::to_string(4 * epoch + step), from,
                                from + 20 * ms);
                builder.addMemcpy(stream, MemcpyKind::HtoD, (epoch + 1) * 1000, from, from + ms);
            }
        }
        ShownPanel shown(builder.finish());
        shown.panel.setRows(BandwidthRows::Range);
        waitForRows(shown.panel);
        const ReportView& view = shown.view();
        RangeNameChoice& choice = child<RangeNameChoice>(shown.panel);
        QVERIFY(choice.isVisible());
        for (const char* part : {"epoch #", "step #"}) QVERIFY2(choice.findText(part) > 0, part);
        QVERIFY(choice.findText("step 2") < 0);
        QCOMPARE(cellOf(view, 0, "Instances").toInt(), 12);
        // Typed and confirmed with Enter.
        choice.lineEdit()->selectAll();
        QTest::keyClicks(choice.lineEdit(), "epoch #");
        QTest::keyClick(choice.lineEdit(), Qt::Key_Return);
        waitForRows(shown.panel);
        QCOMPARE(cellOf(view, 0, "Range").toString(), "epoch #");
        QCOMPARE(cellOf(view, 0, "Instances").toInt(), 3);
        QCOMPARE(cellOf(view, 0, "Bytes Each").toDouble(), 8000.0);
        QCOMPARE(cellOf(view, 0, "Bytes").toLongLong(), 24'000);
        shown.panel.setRows(BandwidthRows::Instance);
        waitForRows(shown.panel);
        QCOMPARE(test::listed(view.model().rowCount(), cellOf(view, 1, "Range").toString()), "3 | epoch 1");
        // Selected from the list: back to the steps.
        shown.panel.setRows(BandwidthRows::Range);
        choice.setCurrentIndex(0);
        emit choice.activated(0);
        waitForRows(shown.panel);
        QCOMPARE(cellOf(view, 0, "Instances").toInt(), 12);
        choice.setEditText("no such range");
        emit choice.lineEdit()->editingFinished();
        waitForRows(shown.panel);
        QCOMPARE(view.model().rowCount(), 0);
        shown.panel.setRows(BandwidthRows::Memory);
        QVERIFY(!choice.isVisible());
    }

    void copiesWithoutBytesOrTimeHaveNoRateAndNoPoint() {
        SimulatedTrace builder;
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, 10, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 0, 20, 30);
        ShownPanel shown(builder.finish());
        const ReportView& view = shown.view();
        QCOMPARE(cellOf(view, 0, "Count").toInt(), 2);
        for (const char* column : {"Mean", "Of Peak", "Min", "P10", "Median", "P90", "Max"}) {
            QVERIFY2(!cellOf(view, 0, column).isValid(), column);
            QVERIFY2(cellOf(view, 0, column, Qt::DisplayRole).toString().isEmpty(), column);
        }
        for (const auto kind : {BandwidthChart::BySize, BandwidthChart::Histogram, BandwidthChart::OverTime}) {
            child<QTabWidget>(shown.panel).setCurrentWidget(&chartOf(shown.panel, kind));
            waitForRows(shown.panel);
            QCOMPARE(chartOf(shown.panel, kind).markCount(), 0);
        }
    }

    void shareAboveThePeakIsNotShown() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addMemcpy(builder.addStream(0, 0, 7), MemcpyKind::DtoD, 4 * ms, 0, 1'000, 0, MemoryKind::Device,
                          MemoryKind::Device);
        LinkPeak memory{.kind = LinkKind::Dram, .gpu = 0, .bytesPerSecond = 4'800'000'000'000};
        builder.description().interconnect.peaks = {memory};
        ShownPanel shown(builder.finish());
        const ReportView& view = shown.view();
        QCOMPARE(cellOf(view, 0, "Of Peak", Qt::DisplayRole).toString(), "> 100 %");
        QVERIFY(cellOf(view, 0, "Of Peak").toDouble() > 100);
        QVERIFY(cellOf(view, 0, "Of Peak", Qt::ToolTipRole).toString().contains("L2 cache"));
    }

    void peakNamesItsSource() {
        ShownPanel shown;
        bool isShown = false;
        for (int row = 0; row < shown.view().model().rowCount(); ++row)
            isShown = isShown ||
                      cellOf(shown.view(), row, "Of Peak", Qt::ToolTipRole).toString().contains("PCIe lanes times");
        QVERIFY(isShown);
    }

    void withoutPeaksTheShareIsUnknownAndNotZero() {
        ShownPanel shown(simulatedMachine(SimulatedMachine{.hasTopology = false}));
        for (int row = 0; row < shown.view().model().rowCount(); ++row) {
            const QVariant kind = cellOf(shown.view(), row, "Kind");
            if (kind == "HtoD") QVERIFY(!cellOf(shown.view(), row, "Of Peak").isValid());
        }
    }

    void adviceComesFirstAndLeadsToACopy() {
        ShownPanel shown;
        const auto expected = CopyIndex(shown.trace).advice();
        QVERIFY(!expected.empty());
        AdvicePanel& card = child<AdvicePanel>(shown.panel);
        QVERIFY(card.isVisible());
        QCOMPARE(card.findChild<QLabel*>()->text(), QString::fromStdString(expected.front().sentence));
        QToolButton& button = *card.findChild<QToolButton*>();
        QSignalSpy activated(&shown.panel, &BandwidthPanel::eventActivated);
        QTest::mouseClick(&button, Qt::LeftButton);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>(), expected.front().example);
        button.setFocus();
        QTest::keyClick(&button, Qt::Key_Space);
        QCOMPARE(activated.count(), 2);
    }

    void rowsAreCopiedAsTabSeparatedText() {
        ShownPanel shown;
        shown.view().copySelection();
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QVERIFY(lines.front().startsWith("Kind\tMemory\tCount"));
        QVERIFY(lines.size() > shown.view().model().rowCount());
    }

    void clickOnAChartPointRequestsTheCopy() {
        ShownPanel shown;
        CopyChart& chart = chartOf(shown.panel, BandwidthChart::OverTime);
        QTRY_VERIFY(chart.markCount() > 0);
        QSignalSpy activated(&shown.panel, &BandwidthPanel::eventActivated);
        QTest::mouseClick(&chart.plot(), Qt::LeftButton, {}, chart.markPosition(0));
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>().kind(), EventKind::Memcpy);
        QVERIFY(!shown.panel.hint().isEmpty());
    }

    void eachChartIsFilledWhenShown() {
        ShownPanel shown;
        for (const auto kind : {BandwidthChart::BySize, BandwidthChart::Histogram, BandwidthChart::OverTime}) {
            child<QTabWidget>(shown.panel).setCurrentWidget(&chartOf(shown.panel, kind));
            waitForRows(shown.panel);
            QVERIFY(chartOf(shown.panel, kind).markCount() > 0);
        }
    }

    void invisiblePanelCountsNothing() {
        BandwidthPanel panel;
        panel.setTrace(simulatedMachine());
        test::settle();
        QVERIFY(panel.isStale());
        panel.show();
        waitForRows(panel);
    }

    void traceWithoutCopiesIsReported() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        ShownPanel shown(builder.finish());
        QCOMPARE(shown.view().model().rowCount(), 0);
        QVERIFY(!child<AdvicePanel>(shown.panel).isVisible());
        QCOMPARE(chartOf(shown.panel, BandwidthChart::OverTime).markCount(), 0);
        bool isReported = false;
        for (const QLabel* label : shown.view().findChildren<QLabel*>())
            isReported = isReported || (label->isVisible() && label->text() == "No memcpy was recorded.");
        QVERIFY(isReported);
    }

    void modelPassesTheQtModelTester() {
        const auto trace = simulatedMachine();
        SharedCopyIndex copies(trace);
        BandwidthModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        for (const auto rows :
             {BandwidthRows::Memory, BandwidthRows::Size, BandwidthRows::Range, BandwidthRows::Instance}) {
            const auto answer = answerBandwidth(copies, BandwidthQuestion{.rows = rows});
            model.setAnswer(answer);
            model.setTable(bandwidthTable(*answer));
            QVERIFY(model.rowCount() > 0);
        }
    }

    void controlsHaveAccessibleNames() {
        BandwidthPanel panel;
        QVERIFY(!child<QComboBox>(panel, "rows").accessibleName().isEmpty());
        QVERIFY(!child<ScopeChoice>(panel).accessibleName().isEmpty());
        for (int chart = 0; chart < 3; ++chart)
            QVERIFY(!chartOf(panel, static_cast<BandwidthChart>(chart)).accessibleName().isEmpty());
    }

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
        QCOMPARE(test::listed(selected.count(), activated.count()), "1 | 0");
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

    void legendTogglesGroupsAndMemsetsStartOff_data() {
        QTest::addColumn<BandwidthChart>("kind");
        QTest::newRow("points") << BandwidthChart::OverTime;
        QTest::newRow("bars") << BandwidthChart::Histogram;
    }
    void legendTogglesGroupsAndMemsetsStartOff() {
        QFETCH(BandwidthChart, kind);
        ShownChart shown(kind, simulatedTraining({.steps = 4}));
        const auto groups = shown.chart.legendGroups();
        QVERIFY(groups.size() >= 2 && groups.back().isMemset && shown.chart.isHidden(groups.back()));
        QVERIFY(!shown.chart.isHidden(groups.front()));
        const int without = shown.chart.markCount();
        shown.chart.grab();
        QTest::mouseClick(shown.plot(), Qt::LeftButton, {}, shown.chart.legendPlace(groups.size() - 1).center());
        QVERIFY(!shown.chart.isHidden(groups.back()) && shown.chart.markCount() > without);
        // The choice stays for the next answer.
        shown.ask();
        QVERIFY(!shown.chart.isHidden(groups.back()));
        // The legend is at the top, not spread over the height.
        shown.chart.grab();
        QVERIFY(shown.chart.legendPlace(1).top() < shown.chart.height() / 3);
    }

    void manyCopiesBecomeFewPoints() {
        ShownChart shown(BandwidthChart::BySize, SimulatedMachine{.steps = 3, .copiesPerStep = 20'000});
        QVERIFY(shown.answer->cells.copyCount > 100'000 && shown.chart.markCount() < 20'000);
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
        for (const char* part : {"HtoD pageable", "HtoD pinned"}) QVERIFY2(shapes.contains(part), part);
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

LANESCOPE_TEST(tst_BandwidthPanel, QApplication)
#include "tst_BandwidthPanel.moc"
