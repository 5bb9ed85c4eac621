// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/windowStyle.h"
#include "model/explain/rules.h"
#include "tests/app/viewer/TaskHand.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"
#include "views/explain/StepStrip.h"
#include "views/explain/StepsPanel.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

QString textOf(const ReportView& table) {
    QString rows;
    for (int row = 0; row < table.model().rowCount(); ++row)
        for (int column = 0; column < table.model().columnCount(); ++column)
            rows += table.model().index(row, column).data().toString() + " ";
    return rows;
}

}  // namespace

class TestTasks : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { registerIcons(); }

    void slowestStepIsOneClick() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        const explain::StepGrid& grid = hand.guide().run()->grid;
        const auto slowest = *grid.at(grid.slowestRow(), grid.slowestColumn());
        hand.click(hand.guide().strip(), hand.guide().strip().barOf(slowest).center());
        const auto& summary = hand.guide().run()->summary;
        const auto& step = summary.workers[slowest.worker].steps[slowest.step];
        const TimeRange visible = hand.timeline().state().range().axis().range();
        QVERIFY(visible.startNs <= step.startNs && visible.endNs >= step.startNs + step.wallNs);
        QVERIFY(visible.durationNs() < 2 * step.wallNs);
        QCOMPARE(hand.said("slowest step"), QString());
    }

    void reasonOfAnIdleGpuIsOneClick() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        // Between the collective and the optimizer of an initially visible step.
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 6'300 * us));
        QVERIFY(hand.wait());
        QTRY_VERIFY(hand.timeline().state().selection().gapMark());
        QVERIFY(hand.guide().idlePanel().isVisible());
        QVERIFY2(child<FactSheet>(hand.guide().idlePanel()).text().contains("Why"),
                 qPrintable(child<FactSheet>(hand.guide().idlePanel()).text()));
        keepPicture(hand.window, "task-idle");
        QCOMPARE(hand.said("why idle"), QString());
    }

    void lateRankAndItsReasonAreShown() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        keepPicture(hand.window, "task-late-rank");
        const ExplanationPanel& card = hand.guide().card();
        QVERIFY(card.isVisible());
        QVERIFY(!card.findings().empty() && card.findings().front()->isVisible());
        const auto& first = card.explanation().findings.front();
        QCOMPARE(first.rule, &explain::lateRankRule);
        for (const char* part : {"rank 1", "tokenizer_kernel"})
            QVERIFY2(first.sentence.find(part) != std::string::npos, first.sentence.c_str());
        QCOMPARE(hand.said("late rank, and why"), QString());
    }

    void stepsWithALateRankAreShown() {
        TaskHand hand(withALateRank(3));
        QVERIFY(hand.wait());
        keepPicture(hand.window, "task-late-third");
        const auto& findings = hand.guide().card().findings();
        QVERIFY(std::ranges::any_of(findings, [](const FindingButton* each) {
            return each->isVisible() && each->sentence().contains("rank 1");
        }));
        // The strip shows rank 0 waiting in every third step, and in no other.
        QVERIFY(hand.guide().strip().isVisible());
        const analysis::RunSummary& summary = hand.guide().run()->summary;
        const explain::StepGrid& grid = hand.guide().run()->grid;
        for (size_t column = 0; column < grid.columnCount(); ++column) {
            const auto place = grid.at(0, column);
            QVERIFY(place);
            const auto& step = summary.workers[place->worker].steps[place->step];
            const int64_t waitedNs = step.parts[analysis::StepPart::WaitingForRanks];
            QCOMPARE(waitedNs > 1'000 * us, grid.numberOf(column) % 3 == 0);
        }
        QCOMPARE(hand.said("which steps it is late in"), QString());
    }

    void latenessByRankAndCollectiveIsATable() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        hand.openTable("Steps");
        QVERIFY(hand.wait());
        QComboBox& choice = *hand.page().tables().findChild<StepsPanel*>()->findChild<QComboBox*>();
        hand.click(choice, choice.rect().center());
        QTRY_VERIFY(QApplication::activePopupWidget());
        QAbstractItemView& list = *choice.view();
        QModelIndex row;
        for (int index = 0; index < choice.count(); ++index)
            if (choice.itemText(index) == "Late ranks") row = list.model()->index(index, 0);
        hand.click(*list.viewport(), list.visualRect(row).center());
        QVERIFY(hand.wait());
        ReportView* table = hand.page().currentTable();
        QVERIFY(table);
        QVERIFY2(textOf(*table).contains("ms"), qPrintable(textOf(*table)));
        QCOMPARE(hand.said("late rank as a table"), QString());
    }

    void nextLongestGapIsOneKey() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        hand.key(hand.timeline(), Qt::Key_I);
        QTRY_VERIFY(hand.timeline().state().selection().gapMark() && hand.guide().idlePanel().isVisible());
        QCOMPARE(hand.said("the longest gap, and why"), QString());
    }

    void firstViewIsSteadySteps() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        const TimeRange visible = hand.timeline().state().range().axis().range();
        const auto& steps = hand.guide().run()->summary.workers.front().steps;
        int64_t seenNs = 0;
        for (const auto& step : steps) {
            const TimeRange seen{std::max(step.startNs, visible.startNs),
                                 std::min(step.startNs + step.wallNs, visible.endNs)};
            seenNs += std::max<int64_t>(0, seen.durationNs());
        }
        QVERIFY(seenNs > visible.durationNs() * 9 / 10);
        QCOMPARE(hand.said("steady steps in the first picture"), QString());
    }

    void topFindingIsShownAndOneClickAway() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        FindingButton& first = *hand.guide().card().findings().front();
        QVERIFY(first.isVisible());
        QCOMPARE(hand.said("what to change first"), QString());
        const TimeRange before = hand.timeline().state().range().axis().range();
        hand.click(first, first.rect().center());
        QTRY_VERIFY(hand.timeline().state().range().axis().range() != before);
        QCOMPARE(hand.said("its place"), QString());
    }

    void launchOfAKernelIsOneClick() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        QVERIFY(child<DetailsPanel>(hand.page()).isVisible());
        const QString text = child<DetailsPanel>(hand.page()).findChild<FactSheet*>()->text();
        QVERIFY2(text.contains("Launched by") && text.contains("cudaLaunchKernel"), qPrintable(text));
        QCOMPARE(hand.said("who launched it"), QString());
    }

    void bandwidthToTheGpuIsOneClick() {
        TaskHand hand(simulatedTraining({.steps = 8}));
        QVERIFY(hand.wait());
        hand.openTable("Memcpy bandwidth");
        QVERIFY(hand.wait());
        ReportView* table = hand.page().currentTable();
        QVERIFY(table);
        const QString rows = textOf(*table);
        QVERIFY2(rows.contains("HtoD") && rows.contains("GB/s"), qPrintable(rows));
        QCOMPARE(hand.said("HtoD bandwidth"), QString());
    }

    void tabReachesThePanelTheStripAndTheTables() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        hand.timeline().setFocus();
        QStringList way;
        bool isPanelReached = false, isStripReached = false, areTablesReached = false;
        for (int presses = 0; presses < 60; ++presses) {
            QWidget* focus = QApplication::focusWidget();
            QVERIFY(focus);
            isPanelReached = isPanelReached || hand.guide().card().isAncestorOf(focus);
            isStripReached = isStripReached || focus == &hand.guide().strip();
            areTablesReached = areTablesReached || hand.page().tables().isAncestorOf(focus);
            way << QString::fromLatin1(focus->metaObject()->className());
            QTest::keyClick(focus, Qt::Key_Tab);
        }
        QVERIFY2(isPanelReached, qPrintable(way.join(' ')));
        QVERIFY2(isStripReached, qPrintable(way.join(' ')));
        QVERIFY2(areTablesReached, qPrintable(way.join(' ')));
    }
};

LANESCOPE_TEST(TestTasks, QApplication)
#include "tst_Tasks.moc"
