// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <fstream>

#include "model/events/listEvents.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/events/EventsPanel.h"
#include "views/jobs/LatestJob.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

TimeRange middleOf(const Trace& trace) {
    const int64_t part = trace.range.durationNs() / 3;
    return {trace.range.startNs + part, trace.range.startNs + 2 * part};
}

QPoint rowCentre(const QTableView& table, int row) {
    return table.visualRect(table.model()->index(row, 2)).center();
}

}  // namespace

class TestEventsPanel : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { trace_ = simulatedTraining({.steps = 4}); }

    void init() {
        panel_ = std::make_unique<EventsPanel>();
        tester_ = std::make_unique<QAbstractItemModelTester>(
            &panel_->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        panel_->resize(1100, 320);
        panel_->show();
        QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
        panel_->setTrace(trace_);
        QTRY_VERIFY(!panel_->isStale());
    }
    void cleanup() {
        tester_.reset();
        panel_.reset();
    }

    void listsVisibleEvents() {
        panel_->setVisibleRange(middleOf(*trace_));
        QTRY_VERIFY(!panel_->isStale());
        const EventWindow window(*trace_, middleOf(*trace_), EventKinds::recorded());
        QCOMPARE(panel_->model().rowCount(), int(window.size()));
        QCOMPARE(panel_->model().eventAt(0), window.slice(0, 1)[0]);
        QVERIFY(panel_->remark().contains("visible range"));
    }

    void onlyNamesAreTruncated() {
        constexpr int padding = 2 * (8 + 3);  // of the window's style, and of every item
        const QTableView& table = panel_->table();
        for (const int width : {900, 1600, 1900}) {
            panel_->resize(width, 320);
            for (int column = 0; column < panel_->model().columnCount(); ++column) {
                const auto index = static_cast<EventColumn>(column);
                if (index == EventColumn::Name || index == EventColumn::Line) continue;
                const QFontMetrics metrics = table.fontMetrics();
                const QString heading =
                    panel_->model().headerData(column, Qt::Horizontal).toString();
                QVERIFY2(metrics.horizontalAdvance(heading) + padding <= table.columnWidth(column),
                         qPrintable(heading));
                for (int row = 0; row < std::min(200, panel_->model().rowCount()); ++row) {
                    const QString text = panel_->model().index(row, column).data().toString();
                    QVERIFY2(metrics.horizontalAdvance(text) + padding <= table.columnWidth(column),
                             qPrintable(text));
                }
            }
        }
    }

    void selectedRangeTakesPrecedence() {
        panel_->setSelectedRange(middleOf(*trace_));
        QTRY_VERIFY(!panel_->isStale());
        const int selected = panel_->model().rowCount();
        panel_->setVisibleRange({trace_->range.startNs, trace_->range.startNs + 1000});
        QVERIFY(!panel_->isStale());
        QCOMPARE(panel_->model().rowCount(), selected);
        QVERIFY(panel_->remark().contains("selected range"));
        panel_->setSelectedRange(std::nullopt);
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(panel_->model().rowCount() < selected);
    }

    void hiddenPanelComputesNothing() {
        panel_->hide();
        const int rows = panel_->model().rowCount();
        panel_->setVisibleRange(middleOf(*trace_));
        for (const LatestJob* job : panel_->findChildren<LatestJob*>()) QVERIFY(!job->isRunning());
        for (const QTimer* timer : panel_->findChildren<QTimer*>()) QVERIFY(!timer->isActive());
        QCOMPARE(panel_->model().rowCount(), rows);
        QVERIFY(panel_->isStale());
        panel_->show();
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(panel_->model().rowCount() < rows);
    }

    void clickedRowIsSelectedOnTheTimeline() {
        QSignalSpy selected(panel_.get(), &EventsPanel::eventSelected);
        QTest::mouseClick(panel_->table().viewport(), Qt::LeftButton, {},
                          rowCentre(panel_->table(), 3));
        QCOMPARE(selected.count(), 1);
        QCOMPARE(selected[0][0].value<EventRef>(), panel_->model().eventAt(3));
        QTest::keyClick(&panel_->table(), Qt::Key_Down);
        QCOMPARE(selected.count(), 2);
        QCOMPARE(selected[1][0].value<EventRef>(), panel_->model().eventAt(4));
    }

    void enterShowsTheEvent() {
        QSignalSpy activated(panel_.get(), &EventsPanel::eventActivated);
        QTest::mouseClick(panel_->table().viewport(), Qt::LeftButton, {},
                          rowCentre(panel_->table(), 2));
        QTest::keyClick(&panel_->table(), Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>(), panel_->model().eventAt(2));
    }

    void followsTheSelectionElsewhere() {
        QSignalSpy selected(panel_.get(), &EventsPanel::eventSelected);
        const EventRef event = panel_->model().eventAt(panel_->model().rowCount() / 2);
        panel_->selectEvent(event);
        QCOMPARE(panel_->table().currentIndex().row(), panel_->model().rowCount() / 2);
        // It stays selected while the range around it changes.
        panel_->setVisibleRange({trace_->rangeOf(event).startNs - 10'000'000,
                                 trace_->rangeOf(event).startNs + 10'000'000});
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(panel_->model().eventAt(panel_->table().currentIndex().row()), event);
        panel_->selectEvent({});
        QVERIFY(!panel_->table().currentIndex().isValid());
        QCOMPARE(selected.count(), 0);
    }

    void sortsByTheClickedHeader() {
        const QHeaderView& header = *panel_->table().horizontalHeader();
        const auto click = [&] {
            QTest::mouseClick(header.viewport(), Qt::LeftButton, {},
                              {header.sectionViewportPosition(1) + 10, header.height() / 2});
            QTRY_VERIFY(!panel_->isStale());
        };
        const auto duration = [&](int row) {
            return trace_->rangeOf(panel_->model().eventAt(row)).durationNs();
        };
        const int rows = panel_->model().rowCount();
        click();
        const bool isAscending = duration(0) <= duration(rows - 1);
        for (int row = 1; row < rows; ++row)
            QVERIFY(isAscending ? duration(row - 1) <= duration(row)
                                : duration(row - 1) >= duration(row));
        click();
        for (int row = 1; row < rows; ++row)
            QVERIFY(isAscending ? duration(row - 1) >= duration(row)
                                : duration(row - 1) <= duration(row));
        QCOMPARE(panel_->model().rowCount(), rows);
    }

    void reverseStartOrderNeedsNoList() {
        const int rows = panel_->model().rowCount();
        const EventRef last = panel_->model().eventAt(rows - 1);
        panel_->table().sortByColumn(0, Qt::DescendingOrder);
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(panel_->model().eventAt(0), last);
        QCOMPARE(panel_->model().rowOf(last), 0);
    }

    void typedWordsFilterEvents() {
        const int rows = panel_->model().rowCount();
        panel_->wordsEdit().setFocus();
        QTest::keyClicks(&panel_->wordsEdit(), "htod");
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(panel_->model().rowCount() > 0);
        QVERIFY(panel_->model().rowCount() < rows);
        for (int row = 0; row < panel_->model().rowCount(); ++row)
            QVERIFY(trace_->nameOf(panel_->model().eventAt(row)).find("HtoD") != std::string::npos);
        QVERIFY(panel_->remark().contains(" of "));
        panel_->wordsEdit().clear();
        QTRY_COMPARE(panel_->model().rowCount(), rows);
    }

    void kindsAreSelectedInTheMenu() {
        for (QAction* action : panel_->kindsButton().menu()->actions())
            if (action->isCheckable()) action->setChecked(action->text() == "Memcpy");
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(panel_->model().rowCount(), int(trace_->memcpys.size()));
        QCOMPARE(panel_->kindsButton().text(), QString("Memcpy"));
    }

    void copiesSelectedRowsWithTheirHeaders() {
        QTableView& table = panel_->table();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, rowCentre(table, 1));
        QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::ControlModifier,
                          rowCentre(table, 3));
        QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QCOMPARE(lines.size(), 4);  // the last is empty
        QVERIFY(lines[0].startsWith("Start (ns)\tDuration (ns)\tKind\tName"));
        QCOMPARE(lines[1].split('\t')[0],
                 QString::number(trace_->rangeOf(panel_->model().eventAt(1)).startNs));
        QCOMPARE(lines[2].split('\t')[0],
                 QString::number(trace_->rangeOf(panel_->model().eventAt(3)).startNs));
    }

    void copiesAllRows() {
        QApplication::clipboard()->clear();
        panel_->copyAll();
        QTRY_COMPARE(QApplication::clipboard()->text().count('\n'), panel_->model().rowCount() + 1);
    }

    void savesAsCsv() {
        TemporaryFolder folder;
        const auto rows = saveEventsAsCsv(*trace_, panel_->request(), folder / "events.csv");
        QVERIFY(rows.has_value());
        QCOMPARE(*rows, int64_t(panel_->model().rowCount()));
        std::ifstream stream(folder / "events.csv");
        std::string header;
        std::getline(stream, header);
        QVERIFY(header.starts_with("Start (ns),Duration (ns),Kind,Name"));
        QVERIFY(!saveEventsAsCsv(*trace_, panel_->request(), folder / "no/such/folder.csv"));
    }

    void emptyTraceIsAnEmptyTable() {
        panel_->setTrace(nullptr);
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(panel_->model().rowCount(), 0);
    }

  private:
    TracePtr trace_;
    std::unique_ptr<EventsPanel> panel_;
    std::unique_ptr<QAbstractItemModelTester> tester_;
};

LANESCOPE_TEST(TestEventsPanel, QApplication)
#include "tst_EventsPanel.moc"
