// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/SelectionStatistics.h"
#include "model/reports/reports.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/tables/SelectionPanel.h"

using namespace lanescope;
using namespace lanescope::views;

class TestReportPanel : public QObject {
    Q_OBJECT
  private slots:
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
        QCOMPARE(model.index(0, 1).data().toString(), QString("1.700 ms"));
        QCOMPARE(model.index(0, 3).data().toString(), QString("22.55 ms"));
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
};

LANESCOPE_TEST(TestReportPanel, QApplication)
#include "tst_ReportPanel.moc"
