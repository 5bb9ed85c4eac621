#include <qcustomplot.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "tests/support/TraceBuilder.h"
#include "tests/support/simulatedMachine.h"
#include "views/bandwidth/AdviceCard.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/bandwidth/CopyChart.h"
#include "views/bandwidth/bandwidthTable.h"
#include "views/summary/ReportFilter.h"
#include "views/summary/ReportModel.h"
#include "views/summary/ReportView.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

void waitForRows(BandwidthPanel& panel) {
    QTRY_VERIFY_WITH_TIMEOUT(!panel.isStale(), 60'000);
}

QVariant cellOf(const ReportView& view, int row, const char* columnName,
                int role = ReportModel::SortRole) {
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

/// Shown, filled, and large enough for each part to be clicked.
struct ShownPanel {
    explicit ShownPanel(TracePtr shown = simulatedMachine()) : trace(std::move(shown)) {
        panel.resize(1500, 420);
        panel.setTrace(trace);
        panel.show();
        waitForRows(panel);
    }
    TracePtr trace;
    BandwidthPanel panel;
};

}  // namespace

class TestBandwidthPanel : public QObject {
    Q_OBJECT
  private slots:
    void showsWhatTheModelCounts() {
        ShownPanel shown;
        compareWithModel(shown.panel.view(), statisticsOf(shown.trace, CopyGrouping::Memory));
        QCOMPARE(shown.panel.view().remark(), "Whole trace");
    }

    void countsTheSelectedRangeAndSaysWhichItIs() {
        ShownPanel shown;
        const TimeRange range{20 * ms, 45 * ms};
        shown.panel.setRange(range);
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(),
                         statisticsOf(shown.trace, CopyGrouping::Memory, range));
        QVERIFY2(shown.panel.view().remark().startsWith("Selected range, 25"),
                 qPrintable(shown.panel.view().remark()));
        shown.panel.setRange(std::nullopt);
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(), statisticsOf(shown.trace, CopyGrouping::Memory));
    }

    void whileARangeIsDraggedTheNewestAnswerWins() {
        ShownPanel shown;
        QSignalSpy updated(&shown.panel, &BandwidthPanel::updated);
        TimeRange range{0, ms};
        for (int step = 0; step < 50; ++step) {
            range.endNs += ms;
            shown.panel.setRange(range);
        }
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(),
                         statisticsOf(shown.trace, CopyGrouping::Memory, range));
        QVERIFY(updated.count() < 50);
    }

    void theVisibleRangeCountsOnRequest() {
        ShownPanel shown;
        const TimeRange visible{5 * ms, 12 * ms};
        shown.panel.setVisibleRange(visible);
        QVERIFY(!shown.panel.isStale());
        QTest::keyClick(&shown.panel.scopeChoice(), Qt::Key_Down);
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(),
                         statisticsOf(shown.trace, CopyGrouping::Memory, visible));
        QVERIFY(shown.panel.view().remark().startsWith("Visible range"));
    }

    void rowsBySizeSortBySizeAndNotByText() {
        ShownPanel shown;
        QTest::keyClick(&shown.panel.rowsChoice(), Qt::Key_Down);
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(), statisticsOf(shown.trace, CopyGrouping::Size));
        const int size = 2;
        QCOMPARE(shown.panel.view().model().headerData(size, Qt::Horizontal).toString(), "Size");
        shown.panel.view().table().sortByColumn(size, Qt::AscendingOrder);
        int last = -1;
        const ReportFilter& sorted = shown.panel.view().filter();
        for (int row = 0; row < sorted.rowCount(); ++row) {
            const int bucket = sorted.index(row, size).data(ReportModel::SortRole).toInt();
            QVERIFY(bucket >= last);
            last = bucket;
        }
        QVERIFY(last > 0);
    }

    void rowsByGpuNameThePairAndCanBeFilteredToIt() {
        ShownPanel shown;
        shown.panel.showPair(0, 1);
        waitForRows(shown.panel);
        compareWithModel(shown.panel.view(), statisticsOf(shown.trace, CopyGrouping::Device));
        const ReportFilter& filter = shown.panel.view().filter();
        QCOMPARE(filter.rowCount(), 1);
        QCOMPARE(filter.index(0, 0).data().toString(), "GPU 0 \u2192 GPU 1");
        QVERIFY(shown.panel.pairButton().isVisible());
        QTest::mouseClick(&shown.panel.pairButton(), Qt::LeftButton);
        waitForRows(shown.panel);
        QVERIFY(!shown.panel.pairButton().isVisible());
        QVERIFY(filter.rowCount() > 1);
    }

    void rowsByRangeLeadToTheRange() {
        ShownPanel shown;
        shown.panel.setRows(BandwidthRows::Range);
        waitForRows(shown.panel);
        QVERIFY(shown.panel.view().model().rowCount() >= 6);
        QSignalSpy activated(&shown.panel, &BandwidthPanel::rangeActivated);
        QTableView& table = shown.panel.view().table();
        table.setCurrentIndex(table.model()->index(0, 0));
        QTest::keyClick(&table, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        const auto range = activated[0][0].value<TimeRange>();
        QVERIFY(range.durationNs() > 15 * ms && range.durationNs() <= 20 * ms);
    }

    void thePeakSaysWhereItComesFrom() {
        ShownPanel shown;
        bool isTold = false;
        for (int row = 0; row < shown.panel.view().model().rowCount(); ++row)
            isTold = isTold || cellOf(shown.panel.view(), row, "Of Peak", Qt::ToolTipRole)
                                   .toString()
                                   .contains("PCIe lanes times");
        QVERIFY(isTold);
    }

    void withoutPeaksTheShareIsUnknownAndNotZero() {
        SimulatedMachine options;
        options.hasTopology = false;
        ShownPanel shown(simulatedMachine(options));
        for (int row = 0; row < shown.panel.view().model().rowCount(); ++row) {
            const QVariant kind = cellOf(shown.panel.view(), row, "Kind");
            if (kind == "HtoD") QVERIFY(!cellOf(shown.panel.view(), row, "Of Peak").isValid());
        }
    }

    void adviceStandsOnTopAndLeadsToACopy() {
        ShownPanel shown;
        const auto expected = CopyIndex(shown.trace).advice();
        QVERIFY(!expected.empty());
        AdviceCard& card = shown.panel.advice();
        QVERIFY(card.isVisible());
        QCOMPARE(card.sentences().front(), QString::fromStdString(expected.front().sentence));
        QSignalSpy activated(&shown.panel, &BandwidthPanel::eventActivated);
        QTest::mouseClick(card.button(0), Qt::LeftButton);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>(), expected.front().example);
        card.button(0)->setFocus();
        QTest::keyClick(card.button(0), Qt::Key_Space);
        QCOMPARE(activated.count(), 2);
    }

    void rowsAreCopiedAsTabSeparatedText() {
        ShownPanel shown;
        shown.panel.view().copySelection();
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QVERIFY(lines.front().startsWith("Kind\tMemory\tCount"));
        QVERIFY(lines.size() > shown.panel.view().model().rowCount());
    }

    void clickingAPointOfTheChartAsksForTheCopy() {
        ShownPanel shown;
        CopyChart& chart = shown.panel.chart(BandwidthChart::OverTime);
        QTRY_VERIFY(chart.markCount() > 0);
        QSignalSpy activated(&shown.panel, &BandwidthPanel::eventActivated);
        QTest::mouseClick(&chart.plot(), Qt::LeftButton, {}, chart.markPosition(0));
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>().kind(), EventKind::Memcpy);
        QVERIFY(!shown.panel.hint().isEmpty());
    }

    void eachChartIsFilledWhenItIsLookedAt() {
        ShownPanel shown;
        for (const auto kind :
             {BandwidthChart::BySize, BandwidthChart::Histogram, BandwidthChart::OverTime}) {
            shown.panel.setChart(kind);
            waitForRows(shown.panel);
            QVERIFY(shown.panel.chart(kind).markCount() > 0);
        }
    }

    void countsNothingWhileItIsNotOnTheScreen() {
        BandwidthPanel panel;
        panel.setTrace(simulatedMachine());
        QTest::qWait(30);
        QVERIFY(panel.isStale());
        panel.show();
        waitForRows(panel);
    }

    void aTraceWithoutCopiesSaysSo() {
        TraceBuilder builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        ShownPanel shown(builder.finish());
        QCOMPARE(shown.panel.view().model().rowCount(), 0);
        QVERIFY(!shown.panel.advice().isVisible());
        QCOMPARE(shown.panel.chart(BandwidthChart::OverTime).markCount(), 0);
        bool isSaid = false;
        for (const QLabel* label : shown.panel.view().findChildren<QLabel*>())
            isSaid = isSaid || (label->isVisible() && label->text() == "No memcpy was recorded.");
        QVERIFY(isSaid);
    }

    void theModelKeepsQtsRules() {
        const auto trace = simulatedMachine();
        SharedCopyIndex copies(trace);
        BandwidthModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        for (const auto rows : {BandwidthRows::Memory, BandwidthRows::Size, BandwidthRows::Range}) {
            BandwidthQuestion question;
            question.rows = rows;
            const auto answer = answerBandwidth(copies, question);
            model.setAnswer(answer);
            model.setTable(bandwidthTable(*answer));
            QVERIFY(model.rowCount() > 0);
        }
    }

    void controlsHaveNamesForScreenReaders() {
        BandwidthPanel panel;
        QVERIFY(!panel.rowsChoice().accessibleName().isEmpty());
        QVERIFY(!panel.scopeChoice().accessibleName().isEmpty());
        for (int chart = 0; chart < 3; ++chart)
            QVERIFY(!panel.chart(static_cast<BandwidthChart>(chart)).accessibleName().isEmpty());
    }
};

QTEST_MAIN(TestBandwidthPanel)
#include "tst_BandwidthPanel.moc"
