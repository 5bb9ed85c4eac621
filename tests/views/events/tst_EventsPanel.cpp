// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/events/listEvents.h"
#include "tests/support/child.h"
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

QPoint rowCentre(const QTableView& table, int row) { return table.visualRect(table.model()->index(row, 2)).center(); }

}  // namespace

class TestEventsPanel : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { trace_ = simulatedTraining({.steps = 4}); }

    void init() {
        panel_ = std::make_unique<EventsPanel>();
        tester_ = std::make_unique<QAbstractItemModelTester>(&model(),
                                                             QAbstractItemModelTester::FailureReportingMode::QtTest);
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
        QCOMPARE(model().rowCount(), int(window.size()));
        QCOMPARE(model().eventAt(0), window.slice(0, 1)[0]);
        QVERIFY(panel_->remark().contains("visible range"));
    }

    void onlyNamesAreTruncated() {
        constexpr int padding = 2 * (8 + 3);  // of the window's style, and of every item
        const QTableView& table = view();
        for (const int width : {900, 1600, 1900}) {
            panel_->resize(width, 320);
            for (int column = 0; column < model().columnCount(); ++column) {
                const auto index = static_cast<EventColumn>(column);
                if (index == EventColumn::Name || index == EventColumn::Line) continue;
                const QFontMetrics metrics = table.fontMetrics();
                const QString heading = model().headerData(column, Qt::Horizontal).toString();
                QVERIFY2(metrics.horizontalAdvance(heading) + padding <= table.columnWidth(column),
                         qPrintable(heading));
                for (int row = 0; row < std::min(200, model().rowCount()); ++row) {
                    const QString text = model().index(row, column).data().toString();
                    QVERIFY2(metrics.horizontalAdvance(text) + padding <= table.columnWidth(column), qPrintable(text));
                }
            }
        }
    }

    void selectedRangeTakesPrecedence() {
        panel_->setRange(middleOf(*trace_));
        QTRY_VERIFY(!panel_->isStale());
        const int selected = model().rowCount();
        panel_->setVisibleRange({trace_->range.startNs, trace_->range.startNs + 1000});
        QVERIFY(!panel_->isStale());
        QCOMPARE(model().rowCount(), selected);
        QVERIFY(panel_->remark().contains("selected range"));
        panel_->setRange(std::nullopt);
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(model().rowCount() < selected);
    }

    void invisiblePanelComputesNothing() {
        panel_->hide();
        const int rows = model().rowCount();
        panel_->setVisibleRange(middleOf(*trace_));
        for (const LatestJob* job : panel_->findChildren<LatestJob*>()) QVERIFY(!job->isRunning());
        for (const QTimer* timer : panel_->findChildren<QTimer*>()) QVERIFY(!timer->isActive());
        QCOMPARE(model().rowCount(), rows);
        QVERIFY(panel_->isStale());
        panel_->show();
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(model().rowCount() < rows);
    }

    void clickedRowIsSelectedOnTheTimeline() {
        QSignalSpy selected(panel_.get(), &EventsPanel::eventSelected);
        QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, rowCentre(view(), 3));
        QCOMPARE(selected.count(), 1);
        QCOMPARE(selected[0][0].value<EventRef>(), model().eventAt(3));
        QTest::keyClick(&view(), Qt::Key_Down);
        QCOMPARE(selected.count(), 2);
        QCOMPARE(selected[1][0].value<EventRef>(), model().eventAt(4));
    }

    void enterShowsTheEvent() {
        QSignalSpy activated(panel_.get(), &EventsPanel::eventActivated);
        QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, rowCentre(view(), 2));
        QTest::keyClick(&view(), Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated[0][0].value<EventRef>(), model().eventAt(2));
    }

    void followsTheSelectionElsewhere() {
        QSignalSpy selected(panel_.get(), &EventsPanel::eventSelected);
        const EventRef event = model().eventAt(model().rowCount() / 2);
        panel_->setEvent(event);
        QCOMPARE(view().currentIndex().row(), model().rowCount() / 2);
        // It stays selected while the range around it changes.
        panel_->setVisibleRange(
            {trace_->rangeOf(event).startNs - 10'000'000, trace_->rangeOf(event).startNs + 10'000'000});
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(model().eventAt(view().currentIndex().row()), event);
        panel_->setEvent({});
        QVERIFY(!view().currentIndex().isValid());
        QCOMPARE(selected.count(), 0);
    }

    void sortsByTheClickedHeader() {
        const QHeaderView& header = *view().horizontalHeader();
        const auto click = [&] {
            QTest::mouseClick(header.viewport(), Qt::LeftButton, {},
                              {header.sectionViewportPosition(1) + 10, header.height() / 2});
            QTRY_VERIFY(!panel_->isStale());
        };
        const auto duration = [&](int row) { return trace_->rangeOf(model().eventAt(row)).durationNs(); };
        const int rows = model().rowCount();
        click();
        const bool isAscending = duration(0) <= duration(rows - 1);
        for (int row = 1; row < rows; ++row)
            QVERIFY(isAscending ? duration(row - 1) <= duration(row) : duration(row - 1) >= duration(row));
        click();
        for (int row = 1; row < rows; ++row)
            QVERIFY(isAscending ? duration(row - 1) >= duration(row) : duration(row - 1) <= duration(row));
        QCOMPARE(model().rowCount(), rows);
    }

    void reverseStartOrderNeedsNoList() {
        const int rows = model().rowCount();
        const EventRef last = model().eventAt(rows - 1);
        view().sortByColumn(0, Qt::DescendingOrder);
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(test::listed(model().eventAt(0), model().rowOf(last)), test::listed(last, 0));
    }

    void typedWordsFilterEvents() {
        const int rows = model().rowCount();
        child<QLineEdit>(*panel_).setFocus();
        QTest::keyClicks(&child<QLineEdit>(*panel_), "htod");
        QTRY_VERIFY(!panel_->isStale());
        QVERIFY(model().rowCount() > 0 && model().rowCount() < rows);
        for (int row = 0; row < model().rowCount(); ++row)
            QVERIFY(trace_->nameOf(model().eventAt(row)).find("HtoD") != std::string::npos);
        QVERIFY(panel_->remark().contains(" of "));
        child<QLineEdit>(*panel_).clear();
        QTRY_COMPARE(model().rowCount(), rows);
    }

    void kindsAreSelectedInTheMenu() {
        for (QAction* action : child<QPushButton>(*panel_, "kinds").menu()->actions())
            if (action->isCheckable()) action->setChecked(action->text() == "Memcpy");
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(model().rowCount(), int(trace_->memcpys.size()));
        QCOMPARE(child<QPushButton>(*panel_, "kinds").text(), QString("Memcpy"));
    }

    void copiesSelectedRowsWithTheirHeaders() {
        QTableView& table = view();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, rowCentre(table, 1));
        QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::ControlModifier, rowCentre(table, 3));
        QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QCOMPARE(lines.size(), 4);  // the last is empty
        QVERIFY(lines[0].startsWith("Start (ns)\tDuration (ns)\tKind\tName"));
        QCOMPARE(lines[1].split('\t')[0], QString::number(trace_->rangeOf(model().eventAt(1)).startNs));
        QCOMPARE(lines[2].split('\t')[0], QString::number(trace_->rangeOf(model().eventAt(3)).startNs));
    }

    void copiesAllRows() {
        QApplication::clipboard()->clear();
        panel_->copyAll();
        QTRY_COMPARE(QApplication::clipboard()->text().count('\n'), model().rowCount() + 1);
    }

    void savesAsCsv() {
        TemporaryFolder folder;
        const auto rows = saveEventsAsCsv(*trace_, panel_->request(), folder / "events.csv");
        QVERIFY(rows.has_value());
        QCOMPARE(*rows, int64_t(model().rowCount()));
        std::ifstream stream(folder / "events.csv");
        std::string header;
        std::getline(stream, header);
        QVERIFY(header.starts_with("Start (ns),Duration (ns),Kind,Name"));
        QVERIFY(!saveEventsAsCsv(*trace_, panel_->request(), folder / "no/such/folder.csv"));
    }

    void emptyTraceIsAnEmptyTable() {
        panel_->setTrace(nullptr);
        QTRY_VERIFY(!panel_->isStale());
        QCOMPARE(model().rowCount(), 0);
    }

  private:
    EventTableModel& model() { return child<EventTableModel>(*panel_); }
    QTableView& view() { return child<QTableView>(*panel_); }

    TracePtr trace_;
    std::unique_ptr<EventsPanel> panel_;
    std::unique_ptr<QAbstractItemModelTester> tester_;
};

LANESCOPE_TEST(TestEventsPanel, QApplication)
#include "tst_EventsPanel.moc"
