// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "model/explain/rules.h"
#include "model/export/traceFile.h"
#include "tests/app/viewer/TaskHand.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"
#include "views/details/DetailsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"
#include "views/explain/StepStrip.h"
#include "views/explain/StepsPanel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/CriticalPath.h"
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

/// Text of a row below that heading; null without it.
QString cellOf(const ReportView& table, int row, const QString& heading) {
    const ReportModel& model = table.model();
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.headerData(column, Qt::Horizontal).toString() == heading)
            return model.index(row, column).data().toString();
    return {};
}

}  // namespace

class tst_Tasks : public QObject {
    Q_OBJECT

    QString path(const char* name) const { return QString::fromStdString((folder_ / name).string() + ".sqlite"); }

    TemporaryFolder folder_;

  private slots:
    void initTestCase() {
        registerIcons();
        registerIcons();
        QVERIFY(writeTraceFile(*withALateRank(0), folder_ / "good.sqlite").has_value());
        QVERIFY(writeTraceFile(*withALateRank(3), folder_ / "slow.sqlite").has_value());
        std::ofstream(folder_ / "truncated.sqlite") << "no database";
    }

    void slowestStepIsOneClick() {
        TaskHand hand(withALateRank());
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

    void criticalPathIsOneKey() {
        TaskHand hand(simulatedTraining({.steps = 12}));
        TimelineSelection& selection = hand.timeline().state().selection();
        auto& lane = child<CriticalPathLane>(hand.timeline());
        QVERIFY(!lane.isVisible());
        const QImage before = hand.canvas().grab().toImage();
        hand.key(hand.canvas(), Qt::Key_C);
        QVERIFY(hand.wait());
        QVERIFY(selection.path() && lane.isVisible() && lane.height() > 0);
        QCOMPARE(lane.accessibleName(), QStringLiteral("Critical path, 4 % unexplained"));
        keepPicture(hand.window, "task-critical-path");
        QCOMPARE(hand.said("critical path"), QString());
        // The longest kernel in view is there in its colour, and has a line below its slice.
        const TimeRange visible = hand.timeline().state().range().visible();
        const CriticalPath::Piece* longest = nullptr;
        for (const CriticalPath::Piece& piece : selection.path()->pieces)
            if (piece.event.kind() == EventKind::Kernel && visible.contains(piece.range.startNs) &&
                visible.contains(piece.range.endNs) &&
                (!longest || piece.range.durationNs() > longest->range.durationNs()))
                longest = &piece;
        QVERIFY(longest);
        const Theme& theme = hand.timeline().state().options().theme();
        const int x =
            static_cast<int>(hand.timeline().places().xOf(longest->range.startNs + longest->range.durationNs() / 2));
        QCOMPARE(lane.grab().toImage().pixelColor(x, 4), theme.colorOf(longest->part));
        const QImage after = hand.canvas().grab().toImage();
        const int inCanvas = x - hand.timeline().places().tracksArea().left();
        int painted = 0;
        for (int y = 0; y < after.height(); ++y)
            painted += after.pixelColor(inCanvas, y) == theme.slower && before.pixelColor(inCanvas, y) != theme.slower;
        QVERIFY(painted >= 2);
        // A click selects it, and keeps the selected range.
        selection.setRange(longest->range);
        hand.click(lane, {x, lane.height() / 2});
        QCOMPARE(selection.event(), longest->event);
        QVERIFY(selection.range() == longest->range);
        hand.key(hand.canvas(), Qt::Key_C);
        QVERIFY(!selection.path() && !lane.isVisible());
        // A job that is no longer wanted shows nothing, and another trace has no path.
        hand.key(hand.canvas(), Qt::Key_C);
        hand.key(hand.canvas(), Qt::Key_C);
        QVERIFY(hand.wait());
        QVERIFY(!selection.path());
        hand.key(hand.canvas(), Qt::Key_C);
        QVERIFY(hand.wait());
        QVERIFY(selection.path());
        hand.guide().setTrace(hand.timeline().trace());
        QVERIFY(!selection.path() && !lane.isVisible());
    }

    void lateRankAndItsReasonAreShown() {
        TaskHand hand(withALateRank());
        keepPicture(hand.window, "task-late-rank");
        const ExplanationPanel& card = hand.guide().card();
        QVERIFY(card.isVisible() && !card.findings().empty() && card.findings().front()->isVisible());
        const auto& first = card.explanation().findings.front();
        QCOMPARE(first.rule, &explain::lateRankRule);
        for (const char* part : {"rank 1", "tokenizer_kernel"}) HAS(first.sentence, part);
        QCOMPARE(hand.said("late rank, and why"), QString());
    }

    void stepsWithALateRankAreShown() {
        TaskHand hand(withALateRank(3));
        keepPicture(hand.window, "task-late-third");
        const auto& findings = hand.guide().card().findings();
        QVERIFY(std::ranges::any_of(findings, [](const FindingButton* each) {
            return each->isVisible() && each->text().sentence.contains("rank 1");
        }));
        // The strip shows rank 0 waiting in every third step, and in no other.
        QVERIFY(hand.guide().strip().isVisible());
        const analysis::RunSummary& summary = hand.guide().run()->summary;
        const explain::StepGrid& grid = hand.guide().run()->grid;
        for (size_t column = 0; column < grid.columnCount(); ++column) {
            const auto place = grid.at(0, column);
            QVERIFY(place);
            const auto& step = summary.workers[place->worker].steps[place->step];
            QCOMPARE(step.parts[analysis::StepPart::WaitingForRanks] > 1'000 * us, grid.numberOf(column) % 3 == 0);
        }
        QCOMPARE(hand.said("which steps it is late in"), QString());
    }

    void latenessByRankAndCollectiveIsATable() {
        TaskHand hand(withALateRank());
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
        hand.key(hand.timeline(), Qt::Key_I);
        QTRY_VERIFY(hand.timeline().state().selection().gapMark() && hand.guide().idlePanel().isVisible());
        QCOMPARE(hand.said("the longest gap, and why"), QString());
    }

    void firstViewIsSteadySteps() {
        TaskHand hand(withALateRank());
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
        FindingButton& first = *hand.guide().card().findings().front();
        QVERIFY(first.isVisible());
        QCOMPARE(hand.said("what to change first"), QString());
        const TimeRange before = hand.timeline().state().range().axis().range();
        hand.click(first, first.rect().center());
        QTRY_VERIFY(hand.timeline().state().range().axis().range() != before);
        QCOMPARE(hand.said("its place"), QString());
    }

    void findingsShowTheirEvidenceAndEscapeGoesBack() {
        TaskHand hand(withALateRank(3));
        ExplanationPanel& card = hand.guide().card();
        const TimelineState& state = hand.timeline().state();
        hand.timeline().state().tracks().setAllFolded(true);
        const TrackArrangement tracks = state.tracks().arrangement();
        const TimeRange before = state.range().visible();
        std::vector<TimeRange> shown;
        for (size_t index = 0; index < card.findings().size(); ++index) {
            const explain::Finding& finding = card.explanation().findings[index];
            FindingButton& button = *card.findings()[index];
            card.findChild<QScrollArea*>()->ensureWidgetVisible(&button);
            hand.click(button, button.rect().center());
            QTRY_VERIFY(state.range().visible() != before);
            QVERIFY(hand.wait());
            const EventRef event = state.selection().event();
            if (finding.rule->isOfLateRank) {
                // The collective for which the others wait.
                QVERIFY(event.isValid());
                QVERIFY(hand.timeline().trace()->nameOf(event).starts_with("nccl"));
            }
            QVERIFY(event.isValid() || state.selection().gapMark() || state.selection().range());
            const TimeRange range = event.isValid()               ? hand.timeline().trace()->rangeOf(event)
                                    : state.selection().gapMark() ? state.selection().gapMark()->range
                                                                  : *state.selection().range();
            QVERIFY(std::ranges::find(shown, range) == shown.end());
            shown.push_back(range);
            const TimeRange visible = state.range().visible();
            QVERIFY(visible.startNs <= range.startNs && visible.endNs >= range.endNs);
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
            QCOMPARE(state.range().visible(), before);
            QVERIFY(state.tracks().arrangement() == tracks);
            QVERIFY(!state.selection().event().isValid() && !state.selection().gapMark());
            QVERIFY(card.isVisible());
        }
        QVERIFY(shown.size() > 1);
    }

    void launchOfAKernelIsOneClick() {
        TaskHand hand(withALateRank());
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        QVERIFY(child<DetailsPanel>(hand.page()).isVisible());
        const QString text = child<DetailsPanel>(hand.page()).findChild<FactSheet*>()->text();
        QVERIFY2(text.contains("Launched by") && text.contains("cudaLaunchKernel"), qPrintable(text));
        QCOMPARE(hand.said("who launched it"), QString());
    }

    void bandwidthToTheGpuIsOneClick() {
        TaskHand hand(simulatedTraining({.steps = 8}));
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

    void slowestStepIsReachedByItsName() {
        TaskHand hand(withALateRank());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        const TimeRange before = hand.timeline().state().range().axis().range();
        hand.key(hand.timeline(), Qt::Key_G, Qt::ControlModifier);
        hand.type("slowest");
        hand.key(*QApplication::focusWidget(), Qt::Key_Return);
        QTRY_VERIFY(hand.timeline().state().range().axis().range() != before);
        QCOMPARE(hand.said("go to the slowest step by name"), QString());
    }

    void instancesOfANameAreListedWithRankAndThread() {
        TaskHand hand(withALateRank());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        hand.key(hand.timeline(), Qt::Key_F, Qt::ControlModifier);
        hand.type("tokenizer");
        QVERIFY(hand.wait());
        hand.openTable("Search results");
        QVERIFY(hand.wait());
        QTRY_VERIFY2(hand.page().currentTable() && hand.page().currentTable()->model().rowCount() > 0,
                     qPrintable(hand.window.searchBar().edit().text() + ": " + hand.window.searchBar().countText()));
        ReportView* table = hand.page().currentTable();
        QCOMPARE(cellOf(*table, 0, "Rank"), "1");
        QCOMPARE(hand.said("on which rank a name runs"), QString());
    }

    void sliceBecomesTheRangeOfTheSums() {
        TaskHand hand(withALateRank());
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        hand.key(hand.timeline(), Qt::Key_R);
        QTRY_COMPARE(hand.timeline().state().selection().range(), (TimeRange{step + 100 * us, step + 2'000 * us}));
        QCOMPARE(hand.said("a slice as range of the sums"), QString());
    }

    void sliceIsCopied() {
        TaskHand hand(withALateRank());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        QApplication::clipboard()->clear();
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        hand.key(hand.timeline(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY2(QApplication::clipboard()->text().contains("gemm"), qPrintable(QApplication::clipboard()->text()));
        QCOMPARE(hand.said("copy a slice"), QString());
    }

    void evidenceHasNeitherPointerNorFocus() {
        TaskHand hand(withALateRank());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        const auto copied = [&] {
            QApplication::clipboard()->clear();
            hand.key(hand.timeline(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
            return QApplication::clipboard()->image();
        };
        const QImage plain = copied();
        QCOMPARE(plain.size(), hand.timeline().size());
        hand.timeline().setFocus(Qt::TabFocusReason);
        QTest::mouseMove(&hand.canvas(), {200, hand.canvas().height() - 3});
        QTRY_VERIFY(hand.timeline().state().selection().hoverTime());
        QVERIFY(hand.timeline().grab().toImage() != plain);
        QCOMPARE(copied(), plain);
    }

    void rightClickListsTheActionsOfASlice() {
        TaskHand hand(withALateRank());
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        const QPoint place = hand.placeOn(0, step + 1'000 * us);
        hand.click(hand.canvas(), place, Qt::RightButton);
        // The event that the window system creates for the click.
        QContextMenuEvent asked(QContextMenuEvent::Mouse, place, hand.canvas().mapToGlobal(place));
        QApplication::sendEvent(&hand.canvas(), &asked);
        const auto menus = hand.window.findChildren<QMenu*>();
        const bool isShown = std::ranges::any_of(menus, [](const QMenu* menu) {
            return std::ranges::any_of(
                menu->actions(), [](const QAction* entry) { return entry->text().startsWith("Go to its launch"); });
        });
        QVERIFY(isShown);
        for (QMenu* menu : hand.canvas().findChildren<QMenu*>()) delete menu;
        QCOMPARE(hand.said("what can be done with a slice"), QString());
    }

    void twoRunsAreComparedByDroppingThem() {
        TaskHand hand;
        hand.drop({path("good"), path("slow")});
        const auto shown = [&hand] { return qobject_cast<ComparePage*>(hand.window.tabs().currentDocument()); };
        QVERIFY(QTest::qWaitFor([&] { return shown() && !hand.window.isBusy(); }, 60'000));
        const HeadlinePanel& card = shown()->view().headline();
        QTRY_VERIFY(!card.headline().isEmpty());
        keepPicture(hand.window, "task-compare");
        const QString all = card.headline() + "\n" + card.reasons();
        QVERIFY2(all.contains("tokenizer_kernel"), qPrintable(all));
        QCOMPARE(hand.said("two runs of which one is late in every third step"), QString());
    }

    void sampleIsOneClickFromTheStart() {
        TaskHand hand;
        qputenv("XDG_CACHE_HOME", QFile::encodeName(hand.folder.filePath("cache")));
        auto* sample = child<StartPage>(hand.window).findChild<QPushButton*>("sample");
        QVERIFY(sample && sample->isVisible());
        hand.click(*sample, sample->rect().center());
        QVERIFY(QTest::qWaitFor([&] { return hand.window.tabs().currentTrace() && !hand.window.isBusy(); }, 60'000));
        QVERIFY(hand.guide().card().isVisible());
        QCOMPARE(hand.said("a sample, without a trace"), QString());
    }

    void corruptFileNamesTheAction() {
        TaskHand hand;
        hand.drop({path("truncated")});
        const auto said = [&hand] {
            const auto* page = qobject_cast<LoadPage*>(hand.window.tabs().currentWidget());
            return page ? page->errorText() : QString();
        };
        QTRY_VERIFY(!said().isEmpty());
        QVERIFY2(said().contains("truncated.sqlite"), qPrintable(said()));
        QCOMPARE(hand.said("the error of a corrupt file"), QString());
    }
};

LANESCOPE_TEST(tst_Tasks, QApplication)
#include "tst_Tasks.moc"
