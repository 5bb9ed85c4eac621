// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tests of the tables and the waterfall of the comparison page.
#include <QtWidgets>

#include "model/pages/ComparisonReport.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/CompareTables.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/DetailsPanel.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;
using namespace lanescope::views;

class TestCompareTables : public QObject {
    Q_OBJECT
  private slots:
    void partOfTheWaterfallFiltersItsContributors() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        WaterfallChart& chart = child<WaterfallChart>(compared.view);
        QVERIFY(!chart.parts().empty());
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_Right);
        QVERIFY(chart.chosen());
        const QString part = QString::fromUtf8(name(*chart.chosen()).data());
        ReportView& table = compared.table("Contributors");
        QCOMPARE(compared.view.tables().currentTab()->table(), &table);
        QVERIFY(table.filter().rowCount() > 0);
        for (int row = 0; row < table.filter().rowCount(); ++row)
            QCOMPARE(table.filter().index(row, 0).data().toString(), part);
        QTest::keyClick(&chart, Qt::Key_Escape);
        QVERIFY(!chart.chosen());
        QCOMPARE(table.filter().rowCount(), table.model().rowCount());
    }

    void clickOnAWaterfallColumnSelectsIt() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        WaterfallChart& chart = child<WaterfallChart>(compared.view);
        QWidget* plot = chart.childAt(chart.rect().center());
        for (int x = 0; x < chart.width() && !chart.chosen(); x += 10)
            QTest::mouseClick(plot, Qt::LeftButton, {}, {x, chart.height() / 2});
        QCOMPARE(chart.chosen(), std::optional(chart.parts().front()));
    }

    void tablesAreCreatedWhenShown() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        CompareTables& tables = compared.view.tables();
        QTRY_VERIFY_WITH_TIMEOUT(!tables.currentTab()->isBusy(), patienceMs);
        for (int index = 0; index < tables.count(); ++index)
            QCOMPARE(static_cast<LazyTab*>(tables.widget(index))->content() != nullptr, index == tables.currentIndex());
        // A table shows the selection made before its creation.
        child<WaterfallChart>(compared.view).setFocus();
        QTest::keyClick(&child<WaterfallChart>(compared.view), Qt::Key_Right);
        LazyTab* contributors = tables.findTab("Contributors");
        QCOMPARE(tables.currentTab(), contributors);
        QVERIFY(!contributors->content());
        QTRY_VERIFY_WITH_TIMEOUT(contributors->table(), patienceMs);
        const ReportView& table = *contributors->table();
        QVERIFY(table.filter().rowCount() > 0);
        QVERIFY(table.filter().rowCount() < table.model().rowCount());
    }

    void invisibleTableIsFilledWhenShownAgain() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        CompareTables& tables = compared.view.tables();
        tables.setCurrentWidget(tables.findTab("Steps"));
        QTRY_VERIFY_WITH_TIMEOUT(tables.currentTab()->table(), patienceMs);
        const ReportView& steps = *tables.currentTab()->table();
        const int all = steps.model().rowCount();
        QVERIFY(all > 1);
        tables.setCurrentWidget(tables.findTab("Parts"));
        const TimeRange whole = compared.baseline().trace()->range;
        compared.baseline().state().selection().setRange(
            TimeRange{whole.startNs, whole.startNs + whole.durationNs() / 2});
        QVERIFY(compared.wait());
        tables.setCurrentWidget(tables.findTab("Steps"));
        QCOMPARE(steps.model().rowCount(), 1);
    }

    void partsTableSumsToTheStepTimes() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        const ReportTable& table = compared.table("Parts").model().table();
        int64_t baselineNs = 0, candidateNs = 0;
        for (const auto& row : table.rows) {
            baselineNs += std::get<int64_t>(row[1]);
            candidateNs += std::get<int64_t>(row[2]);
        }
        const WorkerComparison& pair = *compared.view.runs()->comparisons.front().criticalPair();
        QCOMPARE(baselineNs, pair.baseline.meanNs);
        QCOMPARE(candidateNs, pair.candidate.meanNs);
    }

    void windowShowsTheNumbersOfTheTextReport() {
        ShownComparison compared(simulatedTraining({.steps = 6}),
                                 simulatedTraining({.steps = 6, .kernelScale = 1.4371}));
        QVERIFY(compared.wait());
        const ComparedRuns& runs = *compared.view.runs();
        const ComparisonReport report{
            runs.baseline.summary, {{runs.candidates[0].summary, runs.comparisons[0], {}}}, {}, 0};
        const QString text = QString::fromStdString(comparisonAsText(report));
        int checked = 0;
        for (const QString title : {"Parts", "Kernels", "Collectives", "Copies"}) {
            const ReportModel& model = compared.table(title).model();
            const auto cell = [&](int row, const QString& heading) {
                for (int column = 0; column < model.columnCount(); ++column) {
                    if (model.headerData(column, Qt::Horizontal).toString() != heading) continue;
                    const QString shown = model.index(row, column).data().toString();
                    if (heading == "Part") return shown;
                    return shown.isEmpty() ? QString("-") : shown.section(' ', 0, 0);
                }
                return QString();
            };
            for (int row = 0; row < model.rowCount(); ++row) {
                const QString lost = QRegularExpression::escape(cell(row, "Lost"));
                const QString sides = cell(row, "Baseline") + "\\s+" + cell(row, "Candidate");
                const QString line = title == "Parts" ? "\n" + cell(row, "Part") + ".*\\s" + sides + "\\s+" + lost
                                                      : "\n\\s*" + lost + "\\s+" + sides;
                QVERIFY2(text.contains(QRegularExpression(line + "\\s")), qPrintable(line + text));
                ++checked;
                if (title != "Parts") continue;
                const QString shown = child<WaterfallChart>(compared.view).accessibleDescription();
                if (shown.contains(cell(row, "Part"))) QVERIFY2(shown.contains(cell(row, "Lost")), qPrintable(shown));
            }
        }
        QVERIFY(checked > 10);
        QVERIFY(text.simplified().contains(compared.view.headline().headline()));
    }

    void tablesBeginWithTheLargestLoss() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Kernels");
        auto& model = static_cast<DifferenceModel&>(table.model());
        int64_t before = INT64_MAX;
        for (int row = 0; row < table.filter().rowCount(); ++row) {
            const int64_t lostNs = model.lostNsAt(table.filter().mapToSource(table.filter().index(row, 0)).row());
            QVERIFY(lostNs <= before);
            before = lostNs;
        }
        QVERIFY(table.filter().rowCount() > 1);
    }

    void rowLeadsToItsWorstInstanceInBothRuns() {
        // The kernel of step 3 loses most.
        ShownComparison compared(numberedSteps(evenSteps),
                                 numberedSteps({1'200'000, 1'200'000, 1'200'000, 1'700'000, 1'200'000, 1'200'000}));
        QVERIFY(compared.wait());
        QVERIFY(compared.clickRow("Kernels", "gemm"));
        QCOMPARE(compared.baseline().state().selection().event(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(compared.candidate().state().selection().event(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(child<DetailsPanel>(compared.view).event(), EventRef(EventKind::Kernel, 3));
        const TimeRange kernel = compared.candidate().trace()->rangeOf(EventRef(EventKind::Kernel, 3));
        const TimeRange visible = compared.view.visibleRange().range();
        const TimeRange onAxis = compared.view.candidate().toAxis(kernel);
        QVERIFY(visible.startNs <= onAxis.startNs && visible.endNs >= onAxis.endNs);
    }

    void copiedRowsAreTabSeparated() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Parts");
        table.table().setFocus();
        table.copySelection();
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QVERIFY(lines.size() > 2);
        QVERIFY(lines.first().startsWith("Part\tBaseline\tCandidate\tLost"));
        QCOMPARE(lines.at(1).count('\t'), lines.first().count('\t'));
    }

    void typedWordsFilterTheTable() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Contributors");
        const int all = table.filter().rowCount();
        compared.view.tables().setCurrentWidget(table.parentWidget());
        QTest::keyClicks(&child<QLineEdit>(table), "AllReduce");
        QVERIFY(table.filter().rowCount() > 0 && table.filter().rowCount() < all);
    }
};

LANESCOPE_TEST(TestCompareTables, QApplication)
#include "tst_CompareTables.moc"
