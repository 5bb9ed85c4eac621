// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/icons.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/details/FactSheet.h"
#include "views/explain/ExplanationCard.h"
#include "views/explain/FindingButton.h"
#include "views/explain/IdleCard.h"
#include "views/explain/StepStrip.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

/// Two simulated ranks of twelve steps: rank 1 computes for 3 ms more in each, for which rank 0
/// waits in the collective of the step; then both are idle while their CPU does something else.
TracePtr withALateRank() {
    SimulatedRanks job(2);
    for (int64_t step = 0; step < 12; ++step) {
        const int64_t at = step * 10'000 * us;
        for (size_t rank = 0; rank < 2; ++rank) {
            const uint32_t thread = job.threads[rank];
            const uint32_t stream = job.streams[rank];
            job.builder.addNvtx(thread, "step " + std::to_string(step), at, at + 9'500 * us);
            job.builder.launch(thread, stream, "gemm", at + 50 * us, at + 100 * us,
                               at + 2'000 * us);
            if (rank == 1)
                job.builder.launch(thread, stream, "tokenizer_kernel", at + 60 * us,
                                   at + 2'000 * us, at + 5'000 * us);
            job.addCall(rank, "AllReduce", 1 << 20, at + 70 * us,
                        TimeRange{at + (rank == 0 ? 2'010 : 5'010) * us, at + 5'600 * us}, {},
                        0xabcdef);
            job.builder.launch(thread, stream, "adam", at + 7'000 * us, at + 7'010 * us,
                               at + 9'000 * us + step * us);
        }
    }
    return job.builder.finish();
}

/// The window at first sight, and what a hand does to it, counted.
struct Hand {
    explicit Hand(TracePtr trace) : settings(folder.filePath("settings.ini")), window(settings) {
        window.resize(1500, 900);
        window.show();
        window.tabs().showTrace(std::move(trace));
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !window.isBusy(); }, 30'000);
    }
    void click(QWidget& widget, QPoint place) {
        ++clicks;
        QTest::mouseClick(&widget, Qt::LeftButton, {}, place);
        QApplication::processEvents();
    }
    void key(QWidget& widget, Qt::Key pressed) {
        ++clicks;
        QTest::keyClick(&widget, pressed);
        QApplication::processEvents();
    }
    TracePage& page() { return *window.tabs().currentTrace(); }
    RunGuide& guide() { return page().guide(); }
    TimelineView& timeline() { return page().timeline(); }
    TrackCanvas& canvas() { return *timeline().findChild<TrackCanvas*>(); }
    /// Of the stream of a GPU, which is unfolded for two of them.
    QPoint placeOn(uint32_t gpu, int64_t timeNs) {
        const Trace& trace = *page().trace();
        for (uint32_t track = 0; track < trace.tracks.size(); ++track)
            if (trace.tracks[track].kind == TrackKind::Stream &&
                trace.streams[trace.tracks[track].subject].gpu == gpu)
                return canvas().mapFrom(
                    &timeline(),
                    QPoint(int(timeline().xOf(timeNs)), timeline().trackArea(track).center().y()));
        return {};
    }

    QTemporaryDir folder;
    AppSettings settings;
    MainWindow window;
    int clicks = 0;
};

void say(const char* task, int clicks) {
    qInfo("%s: %d click%s", task, clicks, clicks == 1 ? "" : "s");
}

}  // namespace

/// How many clicks and keys the questions take that a trace is opened for.
class TestTasks : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { registerIcons(); }

    void theSlowestStepIsOneClick() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        const explain::StepGrid& grid = hand.guide().run()->grid;
        const auto slowest = *grid.at(grid.slowestRow(), grid.slowestColumn());
        hand.click(hand.guide().strip(), hand.guide().strip().barOf(slowest).center());
        const auto& summary = hand.guide().run()->summary;
        const auto& step = summary.workers[slowest.worker].steps[slowest.step];
        const TimeRange visible = hand.timeline().visibleRange()->range();
        QVERIFY(visible.startNs <= step.startNs && visible.endNs >= step.startNs + step.wallNs);
        QVERIFY(visible.durationNs() < 2 * step.wallNs);
        QCOMPARE(hand.clicks, 1);
        say("slowest step", hand.clicks);
    }

    void whyAGpuIsIdleIsOneClick() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        // Between the collective and the optimizer of a step that is seen at first.
        const TimeRange visible = hand.timeline().visibleRange()->range();
        const int64_t step = (visible.startNs + visible.durationNs() / 2) / (10'000 * us);
        const QPoint place = hand.placeOn(0, step * 10'000 * us + 6'300 * us);
        hand.click(hand.canvas(), place);
        QVERIFY(hand.wait());
        QTRY_VERIFY(hand.timeline().hasGapMark());
        QVERIFY(hand.guide().idleCard().isVisible());
        QVERIFY2(hand.guide().idleCard().sheet().text().contains("Why"),
                 qPrintable(hand.guide().idleCard().sheet().text()));
        keepPicture(hand.window, "task-idle");
        QCOMPARE(hand.clicks, 1);
        say("why idle", hand.clicks);
    }

    void theLateRankAndItsReasonStandThere() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        keepPicture(hand.window, "task-late-rank");
        const ExplanationCard& card = hand.guide().card();
        QVERIFY(card.isVisible());
        QVERIFY(!card.findings().empty() && card.findings().front()->isVisible());
        const auto& first = card.explanation().findings.front();
        QCOMPARE(first.rule, explain::Rule::LateRank);
        for (const char* part : {"rank 1", "tokenizer_kernel"})
            QVERIFY2(first.sentence.find(part) != std::string::npos, first.sentence.c_str());
        QCOMPARE(hand.clicks, 0);
        say("late rank, and why", hand.clicks);
    }

    void whatToChangeFirstStandsThereAndIsOneClickAway() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        FindingButton& first = *hand.guide().card().findings().front();
        QVERIFY(first.isVisible());
        say("what to change first", hand.clicks);
        const TimeRange before = hand.timeline().visibleRange()->range();
        hand.click(first, first.rect().center());
        QTRY_VERIFY(hand.timeline().visibleRange()->range() != before);
        QCOMPARE(hand.clicks, 1);
        say("its place", hand.clicks);
    }

    void whoLaunchedAKernelIsOneClick() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        const TimeRange visible = hand.timeline().visibleRange()->range();
        const int64_t step = (visible.startNs + visible.durationNs() / 2) / (10'000 * us);
        hand.click(hand.canvas(), hand.placeOn(0, step * 10'000 * us + 1'000 * us));
        QVERIFY(hand.page().details().isVisible());
        const QString text = hand.page().details().findChild<FactSheet*>()->text();
        QVERIFY2(text.contains("Launched by") && text.contains("cudaLaunchKernel"),
                 qPrintable(text));
        QCOMPARE(hand.clicks, 1);
        say("who launched it", hand.clicks);
    }

    void bandwidthToTheGpuIsOneClick() {
        Hand hand(simulatedTraining({.steps = 8}));
        QVERIFY(hand.wait());
        QTabBar& bar = *hand.page().tables().tabBar();
        for (int index = 0; index < bar.count(); ++index)
            if (bar.tabText(index) == "Memcpy bandwidth")
                hand.click(bar, bar.tabRect(index).center());
        QVERIFY(hand.wait());
        ReportView* table = hand.page().currentTable();
        QVERIFY(table);
        QString rows;
        for (int row = 0; row < table->model().rowCount(); ++row)
            for (int column = 0; column < table->model().columnCount(); ++column)
                rows += table->model().index(row, column).data().toString() + " ";
        QVERIFY2(rows.contains("HtoD") && rows.contains("GB/s"), qPrintable(rows));
        QCOMPARE(hand.clicks, 1);
        say("HtoD bandwidth", hand.clicks);
    }

    void tabReachesTheCardTheStripAndTheTables() {
        Hand hand(withALateRank());
        QVERIFY(hand.wait());
        QVERIFY(QTest::qWaitForWindowActive(&hand.window));
        hand.timeline().setFocus();
        QStringList way;
        bool isCardReached = false, isStripReached = false, areTablesReached = false;
        for (int presses = 0; presses < 60; ++presses) {
            QWidget* focus = QApplication::focusWidget();
            QVERIFY(focus);
            isCardReached = isCardReached || hand.guide().card().isAncestorOf(focus);
            isStripReached = isStripReached || focus == &hand.guide().strip();
            areTablesReached = areTablesReached || hand.page().tables().isAncestorOf(focus);
            way << QString::fromLatin1(focus->metaObject()->className());
            QTest::keyClick(focus, Qt::Key_Tab);
        }
        QVERIFY2(isCardReached, qPrintable(way.join(' ')));
        QVERIFY2(isStripReached, qPrintable(way.join(' ')));
        QVERIFY2(areTablesReached, qPrintable(way.join(' ')));
    }
};

LANESCOPE_TEST(TestTasks, QApplication)
#include "tst_Tasks.moc"
