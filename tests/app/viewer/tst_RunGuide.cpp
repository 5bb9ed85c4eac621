// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/windowStyle.h"
#include "model/analysis/IdleGaps.h"
#include "model/explain/rules.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"
#include "views/explain/StepStrip.h"
#include "views/sql/SqlPanel.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    explicit Shown(TracePtr trace = simulatedTraining({.steps = 12})) : ShownWindow(std::move(trace)) {}
    bool waitForFocus() { return wait() && ShownWindow::waitForFocus(); }
    RunGuide& guide() { return page().guide(); }
    TrackCanvas& canvas() { return *timeline().findChild<TrackCanvas*>(); }
    TimeRange visible() { return timeline().state().range().axis().range(); }

    /// Position on the canvas of a time in the first stream of a GPU.
    QPoint placeOf(uint32_t gpu, int64_t timeNs) {
        const Trace& trace = *page().trace();
        for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
            if (trace.tracks[track].kind != TrackKind::Stream || trace.streams[trace.tracks[track].subject].gpu != gpu)
                continue;
            TimelineNavigator(timeline().state()).scrollToTrack(track);
            const QPoint place(int(timeline().places().xOf(timeNs)), timeline().places().trackArea(track).center().y());
            return canvas().mapFrom(&timeline(), place);
        }
        return {};
    }
    /// The longest gap, made visible.
    const analysis::IdleGap& longestGap() {
        guide().idle().demand();
        if (!wait()) qFatal("the gaps were not found");
        const analysis::IdleGaps& gaps = *guide().idle().gaps();
        const analysis::IdleGaps::Place place = gaps.longest().front();
        const analysis::IdleGap& gap = gaps.at(place);
        gapGpu = gaps.gpuOf(place.worker);
        timeline().state().range().zoomTo(
            {gap.range.startNs - gap.range.durationNs(), gap.range.endNs + gap.range.durationNs()});
        return gap;
    }

    uint32_t gapGpu = 0;
};

int64_t middleOf(TimeRange range) { return range.startNs + range.durationNs() / 2; }

TracePtr withoutSteps() {
    SimulatedTrace builder;
    builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 0, 10'000, 20'000);
    builder.launch(builder.defaultThread(), builder.defaultStream(), "relu", 500'000, 600'000, 900'000);
    return builder.finish();
}

}  // namespace

class TestRunGuide : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { registerIcons(); }

    void traceOpensOnItsSteadySteps() {
        Shown shown;
        QVERIFY(shown.waitForFocus());
        const TimeRange steady = *shown.guide().run()->steady;
        const TimeRange first = shown.visible();
        QVERIFY(first.startNs <= steady.startNs && first.endNs >= steady.endNs);
        QVERIFY(first.durationNs() < 2 * steady.durationNs());
        QVERIFY(!shown.timeline().history().canGoBack());
        QTest::keyClick(&shown.timeline(), Qt::Key_0);
        QVERIFY(shown.timeline().state().range().axis().isFitted());
        QTest::keyClick(&shown.timeline(), Qt::Key_Home, Qt::AltModifier);
        QCOMPARE(shown.visible(), first);
    }

    void traceWithoutStepsOpensAsAWhole() {
        Shown shown(withoutSteps());
        QVERIFY(shown.waitForFocus());
        QVERIFY(shown.timeline().state().range().axis().isFitted());
        QVERIFY(!shown.guide().strip().isVisible());
        QTest::keyClick(&shown.timeline(), Qt::Key_BracketRight);
        QTest::keyClick(&shown.timeline(), Qt::Key_Home, Qt::AltModifier);
        QVERIFY(shown.timeline().state().range().axis().isFitted());
    }

    void userViewIsKeptWhenStepsArrive() {
        Shown shown;
        QTest::keyClick(&shown.timeline(), Qt::Key_W);
        const TimeRange chosen = shown.visible();
        QVERIFY(!shown.timeline().state().range().axis().isFitted());
        QVERIFY(shown.wait());
        QVERIFY(shown.guide().run() != nullptr);
        QCOMPARE(shown.visible(), chosen);
    }

    void panelIsShownClosesAndReturns() {
        Shown shown;
        QVERIFY(shown.waitForFocus());
        ExplanationPanel& card = shown.guide().card();
        QVERIFY(card.isVisible());
        QVERIFY(!card.sentence().isEmpty());
        QTest::mouseClick(&child<QToolButton>(card, "close"), Qt::LeftButton);
        QVERIFY(!card.isVisible());
        QVERIFY(shown.timeline().hasFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_F7);
        QVERIFY(card.isVisible());
        if (!card.findings().empty()) QVERIFY(card.findings().front()->hasFocus());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(!card.isVisible());
        shown.page().storeLayout(shown.settings);
        QVERIFY(!shown.settings.isPanelVisible("explanation"));
    }

    void findingLeadsToItsPlace() {
        Shown shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
        QVERIFY(shown.wait());
        const auto& findings = shown.guide().card().findings();
        QVERIFY(!findings.empty());
        for (FindingButton* button : findings) {
            shown.timeline().commands().clearSelection();
            shown.timeline().commands().fit();
            QTest::mouseClick(button, Qt::LeftButton, {}, {20, button->height() / 2});
            QVERIFY(shown.wait());
            const EventRef event = shown.timeline().state().selection().event();
            QVERIFY(event.isValid());
            QVERIFY(shown.page().trace()->rangeOf(event).overlaps(shown.visible()));
            QVERIFY(!shown.timeline().places().trackArea(shown.timeline().state().lanes().trackOf(event)).isEmpty());
            QVERIFY(!shown.timeline().state().range().axis().isFitted());
        }
    }

    void findingOpensItsSqlQuery() {
        Shown shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
        QVERIFY(shown.wait());
        ExplanationPanel& card = shown.guide().card();
        size_t with = 0;
        while (with < card.findings().size() && !card.queryButton(with)) ++with;
        QVERIFY(with < card.findings().size());
        QTest::mouseClick(card.queryButton(with), Qt::LeftButton);
        QCOMPARE(shown.page().tables().currentWidget(), &shown.page().tables().tab("sql"));
        QVERIFY(shown.page().tables().demand<SqlPanel>("sql").editor().toPlainText().startsWith("SELECT"));
        QVERIFY(shown.wait());
    }

    void mutedRulesAreRemembered() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.guide().card().setMuted({&explain::launchBoundRule, &explain::oddStepsRule});
        shown.page().storeLayout(shown.settings);
        Shown other;
        other.settings.setMutedRules(shown.settings.mutedRules());
        other.page().restoreLayout(other.settings);
        QCOMPARE(other.guide().card().muted(), (std::set{&explain::launchBoundRule, &explain::oddStepsRule}));
        QVERIFY(other.wait());
    }

    void clickedStepOfTheStripFillsTheView() {
        Shown shown;
        QVERIFY(shown.wait());
        StepStrip& strip = shown.guide().strip();
        QVERIFY(strip.isVisible());
        const explain::StepPlace place{1, 6};
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.barOf(place).center());
        const auto& step = shown.guide().run()->summary.workers[1].steps[6];
        const auto share = double(step.wallNs) / double(shown.visible().durationNs());
        QVERIFY(share > 0.6 && share < 1);
        QVERIFY(shown.visible().contains(step.startNs));
        QVERIFY(strip.hasFocus());
        QTest::keyClick(&strip, Qt::Key_Right);
        QVERIFY(shown.visible().contains(middleOf({step.startNs + step.wallNs, step.startNs + 2 * step.wallNs})));
    }

    void keysWalkTheSteps() {
        Shown shown;
        QVERIFY(shown.waitForFocus());
        const auto chosen = [&] { return shown.guide().strip().chosen()->step; };
        QTest::keyClick(&shown.timeline(), Qt::Key_BracketRight);
        const uint32_t first = chosen();
        QTest::keyClick(&shown.timeline(), Qt::Key_BracketRight);
        QCOMPARE(chosen(), first + 1);
        QTest::keyClick(&shown.timeline(), Qt::Key_BracketLeft);
        QCOMPARE(chosen(), first);
    }

    void hoveringAGapExplainsIt() {
        Shown shown;
        QVERIFY(shown.wait());
        const analysis::IdleGap gap = shown.longestGap();
        const QPoint place = shown.placeOf(shown.gapGpu, middleOf(gap.range));
        QTest::mouseMove(&shown.canvas(), place - QPoint(4, 0));
        QTest::mouseMove(&shown.canvas(), place);
        QVERIFY(QTest::qWaitFor([&] { return shown.canvas().hoverTip().title().contains("idle for"); }));
        QVERIFY(shown.canvas().hoverTip().detail().contains("Click for more"));
    }

    void pendingGapIsExplainedUnderThePointer() {
        Shown shown;
        QVERIFY(shown.wait());
        // Computed independently by the test.
        const Result<analysis::IdleGaps> gaps = analysis::IdleGaps::of(*shown.page().trace());
        const auto longest = gaps->longest().front();
        const TimeRange range = gaps->at(longest).range;
        shown.timeline().state().range().zoomTo({range.startNs - range.durationNs(), range.endNs + range.durationNs()});
        const QPoint place = shown.placeOf(gaps->gpuOf(longest.worker), middleOf(range));
        QTest::mouseMove(&shown.canvas(), place - QPoint(4, 0));
        QTest::mouseMove(&shown.canvas(), place);
        QVERIFY(QTest::qWaitFor([&] { return shown.canvas().hoverTip().isVisible(); }));
        QVERIFY(QTest::qWaitFor([&] { return shown.canvas().hoverTip().title().contains("idle for"); }));
    }

    void clickOnAGapOpensItsPanel() {
        Shown shown;
        QVERIFY(shown.waitForFocus());
        const analysis::IdleGap gap = shown.longestGap();
        const QPoint place = shown.placeOf(shown.gapGpu, middleOf(gap.range));
        QTest::mouseClick(&shown.canvas(), Qt::LeftButton, {}, place);
        QVERIFY(shown.timeline().state().selection().gapMark());
        QVERIFY(shown.guide().idlePanel().isVisible());
        const QString text = child<FactSheet>(shown.guide().idlePanel()).text();
        for (const char* part : {"idle", "Why", "Ran before", "Ran after", "In the whole run"})
            QVERIFY2(text.contains(part), qPrintable(text));
        QTest::keyClick(&shown.timeline(), Qt::Key_Escape);
        QVERIFY(!shown.timeline().state().selection().gapMark());
        QVERIFY(!child<DetailsPanel>(shown.page()).isVisible());
        // A link to a neighbour shows it.
        QTest::mouseClick(&shown.canvas(), Qt::LeftButton, {}, place);
        emit shown.guide().idlePanel().eventActivated(gap.next);
        QCOMPARE(shown.timeline().state().selection().event(), gap.next);
        QVERIFY(child<DetailsPanel>(shown.page()).isVisible());
    }

    void keysWalkTheGapsFromTheLongest() {
        Shown shown;
        QVERIFY(shown.waitForFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_I);
        QVERIFY(QTest::qWaitFor([&] { return shown.timeline().state().selection().gapMark().has_value(); }));
        const analysis::IdleGaps& gaps = *shown.guide().idle().gaps();
        const auto isShown = [&](size_t rank) {
            const TimeRange range = gaps.at(gaps.longest()[rank]).range;
            const double share = double(range.durationNs()) / double(shown.visible().durationNs());
            return shown.visible().contains(middleOf(range)) && share > 0.1 && share < 0.6;
        };
        QVERIFY(isShown(0));
        QTest::keyClick(&shown.timeline(), Qt::Key_I);
        QTest::keyClick(&shown.timeline(), Qt::Key_I);
        QVERIFY(isShown(2));
        QTest::keyClick(&shown.timeline(), Qt::Key_I, Qt::ShiftModifier);
        QVERIFY(isShown(1));
    }

    void allPartsFitASmallWindow() {
        Shown shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
        shown.window.resize(700, 480);
        QVERIFY(shown.wait());
        QApplication::processEvents();
        QCOMPARE(shown.window.size(), QSize(700, 480));
        QVERIFY(shown.canvas().height() >= 60);
        const ExplanationPanel& card = shown.guide().card();
        QVERIFY(card.geometry().right() < shown.page().width());
    }
};

LANESCOPE_TEST(TestRunGuide, QApplication)
#include "tst_RunGuide.moc"
