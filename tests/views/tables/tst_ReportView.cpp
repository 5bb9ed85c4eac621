// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/SelectionStatistics.h"
#include "model/lod/SumTable.h"
#include "model/reports/reports.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Total times whose text sorts differently from their values.
ReportTable kernelTable() {
    ReportTable table;
    table.name = "cuda_gpu_kern_sum";
    table.columns = {
        {"Time", Unit::Percent}, {"Total Time", Unit::Nanoseconds}, {"Instances", Unit::Count}, {"Name", Unit::Text}};
    table.rows = {
        {50.0, int64_t{9'000}, int64_t{2}, std::string("gemm_fast")},
        {30.0, int64_t{12'000'000'000}, int64_t{100}, std::string("softmax_forward")},
        {20.0, int64_t{100'000'000}, int64_t{30}, std::string("gemm\tslow")},
        {std::monostate{}, std::monostate{}, std::monostate{}, std::string("never ran")},
    };
    table.searches = {"gemm_fast", "softmax_forward", "gemm\tslow", "never ran"};
    return table;
}

QStringList namesOf(const ReportView& view) {
    QStringList names;
    for (int row = 0; row < view.filter().rowCount(); ++row) {
        names << view.filter().index(row, 3).data().toString();
    }
    return names;
}

}  // namespace

class tst_ReportView : public QObject {
    Q_OBJECT

  private slots:
    void modelPassesTheQtModelTester() {
        ReportModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(kernelTable());
        QCOMPARE(model.rowCount(), 4);
        model.setTable({});
        QCOMPARE(test::listed(model.rowCount(), model.columnCount()), "0 | 0");
    }

    void rowsShorterThanTheColumnsShowEmptyCells() {
        ReportTable table = kernelTable();
        table.rows.push_back({12.0});
        ReportModel model;
        model.setTable(table);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(!model.index(4, 3).data().isValid());
    }

    void numbersAreFormattedAndAlignedToTheRight() {
        ReportModel model;
        model.setTable(kernelTable());
        QCOMPARE(model.index(1, 1).data().toString(), QString("12.0 s"));
        QVERIFY(model.index(1, 1).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
        QVERIFY(model.index(1, 3).data(Qt::TextAlignmentRole).toInt() & Qt::AlignLeft);
        QCOMPARE(model.index(1, 1).data(Qt::ToolTipRole).toString(), QString("12,000,000,000 ns"));
    }

    void percentColumnsGiveTheBarLength() {
        ReportModel model;
        model.setTable(kernelTable());
        QCOMPARE(model.index(0, 0).data(ReportModel::ShareRole).toDouble(), 0.5);
        QVERIFY(!model.index(0, 1).data(ReportModel::ShareRole).isValid());
        QVERIFY(!model.index(3, 0).data(ReportModel::ShareRole).isValid());
    }

    void toolTipsTakeNamesLiterally() {
        ReportTable table = kernelTable();
        table.rows[0][3] = std::string("<img src='x'>");
        ReportModel model;
        model.setTable(table);
        QVERIFY(!model.index(0, 3).data(Qt::ToolTipRole).toString().contains("<img"));
    }

    void sortsByValueInsteadOfText() {
        ReportView view;
        view.setTable(kernelTable());
        view.table().sortByColumn(1, Qt::DescendingOrder);
        QCOMPARE(namesOf(view), QStringList({"softmax_forward", "gemm\tslow", "gemm_fast", "never ran"}));
        view.table().sortByColumn(2, Qt::AscendingOrder);
        QCOMPARE(namesOf(view), QStringList({"never ran", "gemm_fast", "gemm\tslow", "softmax_forward"}));
    }

    void keepsTheOrderOfTheReportUntilAHeaderIsClicked() {
        ReportView view;
        view.setTable(kernelTable());
        QCOMPARE(namesOf(view).front(), QString("gemm_fast"));
    }

    void typedWordsFilterRowsWithAllOfThem() {
        ReportView view;
        view.setTable(kernelTable());
        view.show();
        QTest::keyClicks(&child<QLineEdit>(view), "GEMM slow");
        QCOMPARE(namesOf(view), QStringList({"gemm\tslow"}));
        child<QLineEdit>(view).selectAll();
        QTest::keyClick(&child<QLineEdit>(view), Qt::Key_Delete);
        QCOMPARE(view.filter().rowCount(), 4);
    }

    void filterStaysWhenTheRowsChange() {
        ReportView view;
        view.setTable(kernelTable());
        child<QLineEdit>(view).setText("softmax");
        view.setTable(kernelTable());
        QCOMPARE(namesOf(view), QStringList({"softmax_forward"}));
    }

    void controlCCopiesTheSelectedRowsForASpreadsheet() {
        ReportView view;
        view.setTable(kernelTable());
        view.show();
        QVERIFY(QTest::qWaitForWindowActive(&view));
        view.table().setFocus();
        view.table().selectRow(2);
        QTest::keyClick(&view.table(), Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->text(),
                 QString("Time (%)\tTotal Time (ns)\tInstances\tName\n20\t100000000\t30\tgemm slow\n"));
    }

    void copyWithoutSelectionUsesAllRows() {
        ReportView view;
        view.setTable(kernelTable());
        view.copySelection();
        QCOMPARE(QApplication::clipboard()->text().count('\n'), 5);
    }

    void enterOnARowRequestsItsName() {
        ReportView view;
        view.setTable(kernelTable());
        view.show();
        view.table().sortByColumn(1, Qt::DescendingOrder);
        QSignalSpy names(&view, &ReportView::nameActivated), rows(&view, &ReportView::rowActivated);
        view.table().setCurrentIndex(view.filter().index(0, 1));
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(names.count(), 1);
        QCOMPARE(test::listed(names.front().front().toString(), rows.front().front().toInt()), "softmax_forward | 1");
    }

    void namesStayReadableInANarrowWindow() {
        ReportView view;
        view.setTable(kernelTable());
        view.resize(900, 300);
        view.show();
        const int name = view.model().columnCount() - 1;
        QTRY_COMPARE(view.table().horizontalHeader()->length(), view.table().viewport()->width());
        view.resize(240, 300);
        QTRY_VERIFY(view.table().columnWidth(name) >= 20 * view.fontMetrics().averageCharWidth());
        QVERIFY(view.table().horizontalHeader()->length() > view.table().viewport()->width());
        view.resize(900, 300);
        QTRY_COMPARE(view.table().horizontalHeader()->length(), view.table().viewport()->width());
    }

    void rowWithoutNameRequestsNothing() {
        ReportTable table = kernelTable();
        table.searches.clear();
        ReportView view;
        view.setTable(table);
        view.show();
        QSignalSpy names(&view, &ReportView::nameActivated), rows(&view, &ReportView::rowActivated);
        view.table().setCurrentIndex(view.filter().index(0, 1));
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(test::listed(rows.count(), names.count()), "1 | 0");
    }

    void showsTheReportOfTheModel() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        ReportPanel panel("cuda_gpu_kern_sum");
        panel.show();
        panel.setTrace(trace);
        QTRY_VERIFY(!panel.isStale());
        const auto report = makeReport(*trace, "cuda_gpu_kern_sum");
        QVERIFY(report.has_value());
        QVERIFY(panel.view().model().table().rows == report->rows);
    }

    void followsTheSelectedRange() {
        const TracePtr trace = simulatedTraining({.steps = 4});
        const TimeRange half{trace->range.startNs, trace->range.startNs + trace->range.durationNs() / 2};
        ReportPanel panel("cuda_gpu_kern_sum");
        panel.show();
        panel.setTrace(trace);
        panel.setRange(half);
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.view().model().table().rows == makeReport(*trace, "cuda_gpu_kern_sum", half)->rows);
    }

    void treeRowsAreIndented() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        ReportPanel panel("gpu_time_tree");
        panel.show();
        panel.setTrace(trace);
        QTRY_VERIFY(!panel.isStale());
        const ReportModel& model = panel.view().model();
        const auto report = makeReport(*trace, "gpu_time_tree");
        QCOMPARE(model.rowCount(), int(report->rows.size()));
        QCOMPARE(model.columnCount(), int(report->columns.size()) - 3);
        const int last = model.columnCount() - 1;
        QCOMPARE(model.index(0, last).data().toString(), QString("all"));
        QVERIFY(model.index(1, last).data().toString().startsWith("  "));
        QVERIFY(!model.index(1, last).data().toString().startsWith("   "));
        // An indented row still leads to its events.
        QCOMPARE(model.table().searches, report->searches);
    }

    /// Like the table of the selection, which clips at the edges, too.
    void showsThePartOfARangeInTheSelection() {
        SimulatedTrace builder;
        builder.addNvtx(builder.defaultThread(), "it 25", 0, 22'550'000);
        const TracePtr trace = builder.finish();
        const TimeRange selected{10'000'000, 11'700'000};
        ReportPanel panel("nvtx_sum:family");
        panel.show();
        panel.setTrace(trace);
        panel.setRange(selected);
        QTRY_VERIFY(!panel.isStale());
        const ReportModel& model = panel.view().model();
        QCOMPARE(model.index(0, 1).data().toString(), QString("1.70 ms"));
        QCOMPARE(model.index(0, 3).data().toString(), QString("22.6 ms"));
        const SelectionStatistics selection = selectionStatistics(*trace, trace->sums, selected);
        QCOMPARE(selection.names.size(), size_t(1));
        QCOMPARE(std::get<int64_t>(model.table().rows[0][1]), selection.names[0].sums.totalNs);
        const auto isReported = [&panel] {
            for (const QLabel* label : panel.findChildren<QLabel*>())
                if (label->isVisible() && label->text().contains("beyond the range")) return true;
            return false;
        };
        QVERIFY(isReported());
        panel.setRange(std::nullopt);
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(!isReported());
    }

    void buildsNothingUntilShown() {
        ReportPanel panel("cuda_gpu_kern_sum");
        panel.setTrace(simulatedTraining({.steps = 1}));
        test::settle();
        QVERIFY(panel.isStale());
        QCOMPARE(panel.view().model().rowCount(), 0);
        panel.show();
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.view().model().rowCount() > 0);
    }

    void unknownReportIsASentence() {
        ReportPanel panel("no_such_report");
        panel.show();
        panel.setTrace(simulatedTraining({.steps = 1}));
        QTRY_VERIFY(!panel.isStale());
        bool isReported = false;
        for (const QLabel* label : panel.findChildren<QLabel*>()) {
            isReported = isReported || (label->isVisible() && label->text().contains("no_such_report"));
        }
        QVERIFY(isReported);
    }

    void hitsAreListedInOrderUpToALimit() {
        const TracePtr trace = simulatedTraining({.steps = 1});
        const std::vector<EventRef> events = {EventRef(EventKind::Kernel, 1), EventRef(EventKind::Kernel, 0)};
        const ReportTable table = hitTable(*trace, events);
        QCOMPARE(table.rows.size(), size_t(2));
        QCOMPARE(std::get<int64_t>(table.rows[0][0]), trace->kernels.startNs[1]);
        QCOMPARE(std::get<std::string>(table.rows[1][3]), trace->nameOf(events[1]));
        // The track distinguishes equal names.
        QCOMPARE(std::get<std::string>(table.rows[0][4]).rfind("stream ", 0), size_t(0));
        QCOMPARE(std::get<int64_t>(table.rows[0][5]), int64_t(0));
        QCOMPARE(std::get<int64_t>(table.rows[0][6]), int64_t(0));
        const std::vector<EventRef> many(maxHitRows + 5, events[0]);
        QCOMPARE(hitTable(*trace, many).rows.size(), maxHitRows);
    }

    void withoutSelectionTheInstructionIsShown() {
        SelectionPanel panel;
        panel.setTrace(simulatedTraining());
        panel.show();
        QVERIFY(panel.headline().startsWith("Select a range") && !panel.isStale());
    }

    void sumsTheSelectedRange() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.resize(1200, 300);
        panel.setTrace(trace);
        panel.show();
        const TimeRange range{trace->range.startNs + 1'000'000, trace->range.startNs + 9'000'000};
        panel.setRange(range);
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.headline().startsWith("8.000 ms selected: GPU 0 busy"));
        const SelectionStatistics expected = selectionStatistics(*trace, buildTraceSums(*trace), range);
        QCOMPARE(child<ReportView>(panel, "copies").model().rowCount(), int(expected.copies.size()));
        QVERIFY(child<ReportView>(panel, "names").model().rowCount() > 5);
        panel.setRange(std::nullopt);
        QTRY_VERIFY(panel.headline().startsWith("Select a range"));
    }

    void onlySelectedTracksCount() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.resize(1200, 300);
        panel.setTrace(trace);
        panel.show();
        panel.setRange(trace->range);
        QTRY_VERIFY(!panel.isStale());
        const auto kernels = [&] {
            int64_t count = 0;
            for (const auto& row : child<ReportView>(panel, "names").model().table().rows)
                if (std::get<std::string>(row[0]) == "Kernel") ++count;
            return count;
        };
        const auto choose = [&](const QString& start) {
            for (QAction* action : child<QToolButton>(panel, "tracks").menu()->actions())
                if (action->text().startsWith(start)) return action->trigger();
            QFAIL("no such group");
        };
        QVERIFY(kernels() > 0);
        QVERIFY(panel.headline().contains("GPU 0") && panel.headline().contains("GPU 1"));
        choose("GPU 1");
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(!panel.headline().contains("GPU 0") && panel.headline().contains("GPU 1"));
        QCOMPARE(child<QToolButton>(panel, "tracks").text(), QString("GPU 1"));
        QVERIFY(kernels() > 0);
        choose("GPU 1");
        choose("python3");
        QTRY_VERIFY(!panel.isStale());
        QCOMPARE(kernels(), int64_t(0));
        choose("All tracks");
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.headline().contains("GPU 0") && kernels() > 0);
    }

    void namesAreVisible() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.resize(1600, 300);
        panel.setTrace(trace);
        panel.show();
        panel.setRange(trace->range);
        QTRY_VERIFY(!panel.isStale());
        const auto& columns = child<ReportView>(panel, "names").model().table().columns;
        QCOMPARE(columns.back().name, std::string("Name"));
        const auto* table = child<ReportView>(panel, "names").findChild<QTableView*>();
        const int name = int(columns.size()) - 1;
        QVERIFY(table->columnViewportPosition(name) + 100 < table->viewport()->width());
    }

    void dragEndsWithTheLastRange() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.setTrace(trace);
        panel.show();
        for (int64_t ns = 1; ns <= 40; ++ns)
            panel.setRange(TimeRange{trace->range.startNs, trace->range.startNs + ns * 100'000});
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.headline().startsWith("4.000 ms selected"));
    }

    void rangeSelectedWhileInvisibleIsShownLater() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.setTrace(trace);
        panel.show();
        panel.setRange(TimeRange{trace->range.startNs, trace->range.startNs + 1'000'000});
        panel.hide();
        panel.setRange(TimeRange{trace->range.startNs, trace->range.startNs + 2'000'000});
        // Earlier work ends.
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        panel.show();
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(panel.headline().startsWith("2.000 ms selected"));
    }

    void countsNothingWhileInvisible() {
        const TracePtr trace = simulatedTraining();
        SelectionPanel panel;
        panel.setTrace(trace);
        panel.setRange(trace->range);
        QVERIFY(panel.isStale());
        panel.show();
        QTRY_VERIFY(!panel.isStale());
        QVERIFY(child<ReportView>(panel, "names").model().rowCount() > 0);
    }
};

LANESCOPE_TEST(tst_ReportView, QApplication)
#include "tst_ReportView.moc"
