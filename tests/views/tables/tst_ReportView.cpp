// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "views/tables/ReportModel.h"
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

class TestReportView : public QObject {
    Q_OBJECT
  private slots:
    void modelPassesTheQtModelTester() {
        ReportModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setTable(kernelTable());
        QCOMPARE(model.rowCount(), 4);
        model.setTable({});
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(model.columnCount(), 0);
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
        QCOMPARE(model.index(1, 1).data().toString(), QString("12.00 s"));
        const int alignment = model.index(1, 1).data(Qt::TextAlignmentRole).toInt();
        QVERIFY(alignment & Qt::AlignRight);
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
                 QString("Time\tTotal Time\tInstances\tName\n20.0 %\t100.0 ms\t30\tgemm slow\n"));
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
        QSignalSpy names(&view, &ReportView::nameActivated);
        QSignalSpy rows(&view, &ReportView::rowActivated);
        view.table().setCurrentIndex(view.filter().index(0, 1));
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(names.count(), 1);
        QCOMPARE(names.front().front().toString(), QString("softmax_forward"));
        QCOMPARE(rows.front().front().toInt(), 1);
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
        QSignalSpy names(&view, &ReportView::nameActivated);
        QSignalSpy rows(&view, &ReportView::rowActivated);
        view.table().setCurrentIndex(view.filter().index(0, 1));
        QTest::keyClick(&view.table(), Qt::Key_Return);
        QCOMPARE(rows.count(), 1);
        QCOMPARE(names.count(), 0);
    }
};

LANESCOPE_TEST(TestReportView, QApplication)
#include "tst_ReportView.moc"
