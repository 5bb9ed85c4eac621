// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/SelectionStatistics.h"
#include "model/lod/traceSums.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/tables/SelectionPanel.h"

using namespace lanescope;
using namespace lanescope::views;

class tst_SelectionPanel : public QObject {
    Q_OBJECT

  private slots:
    void withoutSelectionTheInstructionIsShown() {
        SelectionPanel panel;
        panel.setTrace(simulatedTraining());
        panel.show();
        QVERIFY(panel.headline().startsWith("Select a range"));
        QVERIFY(!panel.isStale());
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

LANESCOPE_TEST(tst_SelectionPanel, QApplication)
#include "tst_SelectionPanel.moc"
