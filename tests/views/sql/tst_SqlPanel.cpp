// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/export/traceFile.h"
#include "tests/support/child.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/slowQuery.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::views;

class TestSqlPanel : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        qRegisterMetaType<TimeRange>();
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), folder_ / "a.sqlite").has_value());
    }
    void init() {
        panel_ = std::make_unique<SqlPanel>();
        panel_->resize(1200, 420);
        panel_->setFile(folder_ / "a.sqlite");
        panel_->show();
        QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
        QTRY_VERIFY(!panel_->isStale());
    }
    void cleanup() { panel_.reset(); }

    void typedQueryRuns() {
        ask("SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL");
        QCOMPARE(table().rows.size(), size_t(1));
        QCOMPARE(table().columns[0].name, std::string("n"));
        QVERIFY2(panel_->status().startsWith("1 row in"), qPrintable(panel_->status()));
        for (const QLabel* label : child<ReportView>(*panel_).findChildren<QLabel*>())
            QVERIFY2(!label->isVisible() || !label->text().contains("row"), "reported twice");
    }

    void lowPanelShowsTheQueryNextToItsRows() {
        panel_->resize(1200, 250);
        QTRY_COMPARE(panel_->height(), 250);
        ask("SELECT rowid FROM StringIds LIMIT 40");
        const QTableView& rows = child<ReportView>(*panel_).table();
        QTRY_VERIFY(rows.viewport()->height() >= 5 * rows.rowHeight(0));
        QVERIFY(panel_->editor().height() >= 5 * panel_->editor().fontMetrics().height());
    }

    void selectedPartRuns() {
        panel_->editor().setPlainText("SELECT 1 AS one; SELECT 2 AS two");
        QTextCursor cursor = panel_->editor().textCursor();
        cursor.setPosition(17);
        cursor.movePosition(QTextCursor::End, QTextCursor::KeepAnchor);
        panel_->editor().setTextCursor(cursor);
        QTest::keyClick(&panel_->editor(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!panel_->isRunning());
        QCOMPARE(table().columns.at(0).name, std::string("two"));
    }

    void cellIsOneLine() {
        ask("SELECT 'a' || char(10) || 'b' AS t");
        QCOMPARE(child<ReportView>(*panel_).table().model()->index(0, 0).data().toString(), QString("a b"));
    }

    void errorIsLocated() {
        ask("SELECT 1,\n nowhere");
        QCOMPARE(panel_->status(), QString("Line 2, column 2: No such column: nowhere."));
        // The last answer stays.
        ask("SELECT 7 AS seven");
        ask("DELETE FROM StringIds");
        QVERIFY(panel_->status().startsWith("DELETE is not allowed"));
        QCOMPARE(table().columns.at(0).name, std::string("seven"));
    }

    void stopEndsAQuery() {
        panel_->editor().setPlainText(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
        QTest::mouseClick(&child<QPushButton>(*panel_, "run"), Qt::LeftButton);
        QVERIFY(panel_->isRunning());
        QVERIFY(!child<QPushButton>(*panel_, "run").isEnabled());
        QTRY_VERIFY(panel_->status().startsWith("Running, "));
        panel_->editor().setFocus();
        QTest::keyClick(&panel_->editor(), Qt::Key_Escape);
        QTRY_VERIFY(!panel_->isRunning());
        QCOMPARE(panel_->status(), QString("The query was stopped."));
        ask("SELECT 1");
        QVERIFY(panel_->status().startsWith("1 row"));
    }

    void timeLimitEndsEveryFunction() {
        panel_->setLimits(QueryLimits{.time = std::chrono::milliseconds(2000)});
        QElapsedTimer timer;
        timer.start();
        ask(slowQuery);
        QVERIFY2(timer.elapsed() <= 2200, qPrintable(QString::number(timer.elapsed())));
        QVERIFY2(panel_->status().startsWith("The query was stopped after 2 s"), qPrintable(panel_->status()));
        ask("SELECT 1");
        QVERIFY(panel_->status().startsWith("1 row"));
    }

    void runningQueryEndsWithThePanel() {
        panel_->editor().setPlainText(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
        panel_->run();
        panel_.reset();
        QVERIFY(QThreadPool::globalInstance()->waitForDone(20'000));
    }

    void truncatedRowsAreReported() {
        panel_->setLimits({.rows = 3});
        ask("SELECT id FROM StringIds");
        QCOMPARE(table().rows.size(), size_t(3));
        QVERIFY(panel_->status().contains("has more rows"));
    }

    void listsTablesAndInsertsTheirNames() {
        QTreeWidget& tree = child<QTreeWidget>(*panel_);
        const auto found = tree.findItems("CUPTI_ACTIVITY_KIND_KERNEL", Qt::MatchExactly);
        QCOMPARE(found.size(), 1);
        panel_->editor().setPlainText({});
        tree.scrollToItem(found[0]);
        const QPoint place = tree.visualItemRect(found[0]).center();
        QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, place);
        doubleClick(tree.viewport(), place);
        QCOMPARE(panel_->editor().toPlainText(), QString("CUPTI_ACTIVITY_KIND_KERNEL"));
        found[0]->setExpanded(true);
        panel_->editor().setPlainText({});
        tree.scrollToItem(found[0]->child(1));
        const QPoint column = tree.visualItemRect(found[0]->child(1)).center();
        QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, column);
        doubleClick(tree.viewport(), column);
        QCOMPARE(panel_->editor().toPlainText(), QString("\"end\""));
    }

    void rowWithAStartLeadsToTheTimeline() {
        QSignalSpy activated(panel_.get(), &SqlPanel::placeActivated);
        ask("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start LIMIT 5");
        QTableView& view = child<ReportView>(*panel_).table();
        const QPoint second = view.visualRect(view.model()->index(1, 0)).center();
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, second);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        const auto range = activated[0][0].value<TimeRange>();
        QCOMPARE(range.startNs, std::get<int64_t>(table().rows[1][0]));
        QCOMPARE(range.endNs, std::get<int64_t>(table().rows[1][1]));
        ask("SELECT 1 AS n");
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(view.model()->index(0, 0)).center());
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
    }

    void remembersQueries() {
        ask("SELECT 1");
        ask("SELECT 2");
        ask("SELECT 1");
        QCOMPARE(panel_->history(), QStringList({"SELECT 1", "SELECT 2"}));
    }

    void everySampleRuns() {
        for (QAction* sample : child<QPushButton>(*panel_, "samples").menu()->actions()) {
            sample->trigger();
            QTRY_VERIFY(!panel_->isRunning());
            QVERIFY2(panel_->status().contains(" row"), qPrintable(panel_->status()));
        }
    }

    void copiesTheAnswer() {
        ask("SELECT 5 AS five, 'a' AS letter");
        child<ReportView>(*panel_).copySelection();
        QCOMPARE(QApplication::clipboard()->text(), QString("five\tletter\n5\ta\n"));
    }

    void explainsWhyAFileCannotBeQueried() {
        panel_->setFile(folder_ / "missing.sqlite");
        QTRY_VERIFY(panel_->status().contains("missing.sqlite"));
    }

  private:
    void ask(const char* sql) {
        panel_->editor().setPlainText(sql);
        QTest::keyClick(&panel_->editor(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!panel_->isRunning());
    }
    const ReportTable& table() const { return child<ReportView>(*panel_).model().table(); }

    TemporaryFolder folder_;
    std::unique_ptr<SqlPanel> panel_;
};

LANESCOPE_TEST(TestSqlPanel, QApplication)
#include "tst_SqlPanel.moc"
