// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/SearchBar.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "tests/app/viewer/TaskHand.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/tables/SelectionPanel.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

/// Text of a row below that heading; null without it.
QString cellOf(const ReportView& table, int row, const QString& heading) {
    const ReportModel& model = table.model();
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.headerData(column, Qt::Horizontal).toString() == heading)
            return model.index(row, column).data().toString();
    return {};
}

}  // namespace

class TestHandTasks : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        registerIcons();
        QVERIFY(writeTraceFile(*withALateRank(0), folder_ / "good.sqlite").has_value());
        QVERIFY(writeTraceFile(*withALateRank(3), folder_ / "slow.sqlite").has_value());
        std::ofstream(folder_ / "truncated.sqlite") << "no database";
    }

    void slowestStepIsReachedByItsName() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
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
        QVERIFY(hand.wait());
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
        QVERIFY(hand.wait());
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        hand.key(hand.timeline(), Qt::Key_R);
        QTRY_COMPARE(hand.timeline().state().selection().range(), (TimeRange{step + 100 * us, step + 2'000 * us}));
        QCOMPARE(hand.said("a slice as range of the sums"), QString());
    }

    void sliceIsCopied() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        QApplication::clipboard()->clear();
        const int64_t step = startOfAStep(hand.timeline().state().range().axis().range());
        hand.click(hand.canvas(), hand.placeOn(0, step + 1'000 * us));
        hand.key(hand.timeline(), Qt::Key_C, Qt::ControlModifier);
        QVERIFY2(QApplication::clipboard()->text().contains("gemm"), qPrintable(QApplication::clipboard()->text()));
        QCOMPARE(hand.said("copy a slice"), QString());
    }

    void rightClickListsTheActionsOfASlice() {
        TaskHand hand(withALateRank());
        QVERIFY(hand.wait());
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

  private:
    QString path(const char* name) const { return QString::fromStdString((folder_ / name).string() + ".sqlite"); }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(TestHandTasks, QApplication)
#include "tst_HandTasks.moc"
