// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/RunGuide.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "model/analysis/IdleCauses.h"
#include "model/explain/rules.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/explain/ExplanationPanel.h"
#include "views/explain/IdlePanel.h"
#include "views/explain/StepStrip.h"
#include "views/sql/SqlPanel.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    Shown(QSize size, TracePtr trace) : ShownWindow(size) {
        if (!opened(std::move(trace))) qFatal("the window stays busy");
    }
    const ExplanationPanel& card() { return page().guide().card(); }
    /// In trace time.
    TimeRange visible() {
        return timeline().state().range().axis().range().shifted(timeline().state().range().origin());
    }
    /// Number of tracks of a kind that are visible at title height.
    int seenOf(TrackKind kind) {
        const int title = QFontMetrics(timeline().font()).height();
        int seen = 0;
        for (uint32_t track = 0; track < page().trace()->tracks.size(); ++track)
            if (page().trace()->tracks[track].kind == kind && timeline().places().trackArea(track).height() >= title)
                ++seen;
        return seen;
    }
};

constexpr int64_t ms = 1'000'000;

/// A server that answers requests: one to thirty kernels each, on two overlapping threads, late in
/// a run that begins with a second of loading.
TracePtr simulatedServer(int threads) {
    SimulatedTrace trace;
    const uint32_t gpuStream = trace.defaultStream(), first = trace.defaultThread();
    trace.addApi(first, "cudaMalloc", 0, 2 * ms);
    int64_t freeNs = 0;
    for (int request = 0; request < 40; ++request) {
        const uint32_t thread = request % threads == 0 ? first : first + 1;
        if (request == 0 && threads > 1) trace.addThread(0, 77, "second");
        const int64_t start = 1'000 * ms + request * 5 * ms + (request * 7'919 % 4'000) * 1'000;
        int64_t call = start + ms / 10;
        for (int kernel = 0; kernel < 1 + request * 13 % 30; ++kernel, call += ms / 20) {
            const int64_t begin = std::max(call + 8'000, freeNs);
            freeNs = begin + ms / 25;
            trace.launch(thread, gpuStream, "attention", call, begin, freeNs);
        }
        // The second thread sends its answer long after computing it.
        const int64_t end = std::max(call, freeNs) + (threads > 1 ? 8 * ms : 10'000);
        trace.addNvtx(thread, "request " + std::to_string(request), start, end,
                      threads > 1 ? NvtxStyle::StartEnd : NvtxStyle::PushPop);
    }
    return trace.finish("server.sqlite");
}

/// NVTX ranges of two threads, and no GPU.
TracePtr simulatedCpuOnly() {
    SimulatedTrace trace;
    const uint32_t thread = trace.defaultThread(), loader = trace.addThread(0, 77, "loader");
    trace.addNvtx(thread, "import", 0, ms);
    for (int64_t file = 0; file < 30; ++file) {
        const int64_t start = 4'000 * ms + file * 6 * ms;
        trace.addNvtx(thread, "file " + std::to_string(file), start, start + 5 * ms);
        trace.addNvtx(thread, "parse", start + ms, start + 3 * ms);
        trace.addNvtx(loader, "read", start, start + 2 * ms);
    }
    trace.addNvtx(thread, "save", 9'999 * ms, 10'000 * ms);
    return trace.finish("cpu.sqlite");
}

/// Two unique kernels in the middle of a long run, without names around them.
TracePtr simulatedPlainCuda() {
    SimulatedTrace trace;
    const uint32_t thread = trace.defaultThread(), stream = trace.defaultStream();
    trace.addApi(thread, "cudaFree", 0, 900 * ms);
    trace.launch(thread, stream, "init", 1'000 * ms, 1'001 * ms, 1'030 * ms);
    trace.launch(thread, stream, "solve", 1'002 * ms, 1'030 * ms, 1'100 * ms);
    trace.addApi(thread, "cudaDeviceReset", 4'000 * ms, 4'900 * ms);
    return trace.finish("plain.sqlite");
}

/// Two seconds of ranges with very long names, and a short piece of work.
TracePtr simulatedWordyRanges() {
    SimulatedTrace trace;
    const uint32_t thread = trace.defaultThread();
    for (int64_t call = 0; call < 10; ++call)
        trace.addNvtx(thread, "{'traceMarker': ['" + std::string(300, 'x') + ".py:34']}", call * 200 * ms,
                      call * 200 * ms + 90 * ms);
    trace.launch(thread, trace.defaultStream(), "solve", 1'803 * ms, 1'804 * ms, 1'811 * ms);
    return trace.finish("wordy.sqlite");
}

struct ShownGuide : ShownWindow {
    explicit ShownGuide(TracePtr trace = simulatedTraining({.steps = 12})) : ShownWindow(std::move(trace)) {}
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

/// Tests of the view before any user action.
class tst_FirstSight : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { registerIcons(); }

    void allGpusAndTheirRanksFitOneScreen_data() {
        const test::Rows<QSize, int, bool> row;
        row("8 GPUs, small", QSize(1366, 768), 8, false);
        row("8 GPUs, large", QSize(1920, 1080), 8, false);
        row("8 GPUs, dark", QSize(1366, 768), 8, true);
        row("4 GPUs", QSize(1366, 768), 4, false);
        row("4 GPUs, dark", QSize(1366, 768), 4, true);
    }
    void allGpusAndTheirRanksFitOneScreen() {
        const auto [size, gpus, isDark] = test::row<QSize, int, bool>();
        Shown shown(size, simulatedTraining({.steps = 12, .gpuCount = gpus}));
        shown.window.setThemeChoice(isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        QVERIFY(shown.wait());
        keepPicture(shown.window, "first-sight-" + QString(QTest::currentDataTag()).remove(',').replace(' ', '-'));
        QCOMPARE(shown.window.size(), size);
        QCOMPARE(shown.timeline().state().scroll().y(), 0);
        QCOMPARE(shown.seenOf(TrackKind::Gpu), gpus);
        QCOMPARE(shown.seenOf(TrackKind::Process), gpus);
        QVERIFY(shown.page().guide().card().isVisible() && shown.page().guide().strip().isVisible());
        // Not too high either: the tracks have most of the space outside of the explanation.
        QVERIFY(shown.timeline().places().tracksArea().height() > size.height() * 3 / 10);
    }

    void sampleIsOneClickFromTheStart() {
        QTemporaryDir folder;
        qputenv("XDG_CACHE_HOME", QFile::encodeName(folder.filePath("cache")));
        AppSettings settings(folder.filePath("settings.ini"));
        MainWindow window(settings);
        window.resize(1000, 700);
        window.show();
        keepPicture(window, "start-page");
        auto* sample = child<StartPage>(window).findChild<QPushButton*>("sample");
        QVERIFY(sample && sample->isVisible());
        QTest::mouseClick(sample, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 60'000));
        QVERIFY(window.tabs().currentTrace() && window.tabs().currentTrace()->trace()->kernels.size() > 0);
        QVERIFY(window.tabs().currentTrace()->guide().card().isVisible());
        // Written once: the second time, the same file is reused.
        const QString path = *sampleTrace(folder.filePath("again"));
        const QDateTime written = QFileInfo(path).lastModified();
        QCOMPARE(*sampleTrace(folder.filePath("again")), path);
        QCOMPARE(QFileInfo(path).lastModified(), written);
        QVERIFY(QFile(path).resize(10));
        QVERIFY(sampleTrace(folder.filePath("again")));
        QVERIFY(QFileInfo(path).size() > 1'000'000);
        QVERIFY(!sampleTrace("/proc/nowhere"));
    }

    void gpuShowsItsStreamsByRoleBeforeCounters() {
        Shown shown({1366, 768}, simulatedTraining({.steps = 12, .gpuCount = 1}));
        keepPicture(shown.window, "first-sight-1-gpu");
        const Trace& trace = *shown.page().trace();
        std::vector<std::string> seen;
        for (uint32_t track = 0; track < trace.tracks.size(); ++track)
            if (!shown.timeline().places().trackArea(track).isEmpty()) seen.push_back(trace.tracks[track].title);
        QVERIFY(seen.size() >= 4);
        QCOMPARE(test::listed(seen[0], seen[1]), "GPU 0 | Compute, default stream 7");
        const auto placeOf = [&](const char* title) {
            return std::find(seen.begin(), seen.end(), title) - seen.begin();
        };
        QVERIFY(placeOf("Communication, stream 20") > placeOf("Compute, default stream 7"));
        QVERIFY(placeOf("python3") > placeOf("Communication, stream 20"));
        QVERIFY(placeOf("python3") < std::ssize(seen));
    }

    void requestsAreNotCalledSteps() {
        Shown shown({1366, 768}, simulatedServer(1));
        keepPicture(shown.window, "first-sight-server");
        QVERIFY(shown.card().isVisible());
        const QString about = shown.card().about();
        // The duration of one, which is less than the distance to the next.
        const QRegularExpression expected(
            "^40 \u00d7 \"request #\": median (0\\.\\d+ ms|\\d+ \u00b5s), max [\\d.]+ ms, "
            "median interval 4\\.9\\d+ ms; its GPU is idle [\\d.]+ % of the time\\.$");
        QVERIFY2(expected.match(about).hasMatch(), qPrintable(about));
        QVERIFY(shown.visible().startNs >= 1'000 * ms);
        const auto stepsTitle = [](Shown& of) {
            QTabWidget& tables = of.page().tables();
            for (int index = 0; index < tables.count(); ++index)
                if (tables.tabText(index).startsWith("Steps")) return tables.tabText(index);
            return QString();
        };
        QCOMPARE(stepsTitle(shown), QString("Steps (requests)"));
        // A training needs no such note.
        Shown training({1366, 768}, simulatedTraining({.steps = 12}));
        QCOMPARE(stepsTitle(training), QString("Steps"));
        QVERIFY(training.card().isVisible());
        QCOMPARE(training.card().about(), QString());
    }

    void requestsOfSeveralThreadsAreReportedAndShown() {
        Shown shown({1366, 768}, simulatedServer(2));
        keepPicture(shown.window, "first-sight-server-of-two-threads");
        QVERIFY(shown.card().isVisible());
        QVERIFY2(shown.card().about().contains("\"request #\": median"), qPrintable(shown.card().about()));
        QVERIFY(shown.visible().startNs > 900 * ms);
    }

    void programWithoutGpuIsReportedAndShownAtItsRanges() {
        Shown shown({1366, 768}, simulatedCpuOnly());
        keepPicture(shown.window, "first-sight-cpu");
        QVERIFY(shown.card().isVisible());
        QVERIFY2(!shown.card().sentence().contains("idle"), qPrintable(shown.card().sentence()));
        QVERIFY(shown.card().sentence().contains("no GPU work"));
        QCOMPARE(shown.card().about(),
                 QString("30 \u00d7 \"file #\": median 5.00 ms, max 5.00 ms, median interval 6.00 ms."));
        QVERIFY(shown.visible().startNs > 3'900 * ms && shown.visible().endNs < 4'300 * ms);
        QVERIFY(shown.timeline().state().range().defaultRange());
        // The tables open on the ranges.
        QCOMPARE(shown.page().tables().tabText(shown.page().tables().currentIndex()), QString("NVTX ranges"));
        QVERIFY(!shown.page().guide().strip().isVisible());
    }

    void callsWithinACallOfTheSameNameAreParts() {
        SimulatedTrace trace;
        const uint32_t thread = trace.defaultThread();
        for (int64_t start = 0; start < 60 * ms; start += 6 * ms) {
            trace.addNvtx(thread, "model.py(7): forward", start, start + 5 * ms);
            trace.addNvtx(thread, "model.py(9): forward", start + ms, start + 4 * ms);
            trace.addNvtx(thread, "model.py(9): forward", start + 2 * ms, start + 3 * ms);
        }
        // No repetition, although it is longer in all.
        trace.addNvtx(thread, "warm up", 100 * ms, 101 * ms);
        trace.addNvtx(thread, "warm up", 101 * ms, 180 * ms);
        Shown shown({1366, 768}, trace.finish("nested.sqlite"));
        QVERIFY(shown.wait());
        QCOMPARE(shown.card().about(), QString("10 \u00d7 \"model.py(7): forward\": median 5.00 ms, max 5.00 ms, "
                                               "median interval 6.00 ms."));
    }

    /// Only thread activity exists: no table is empty, and no empty one is offered.
    void threadActivityAloneIsShown() {
        SimulatedTrace builder;
        const uint32_t at = builder.frame("main", "a.py", 1);
        kinds::CpuState::Row row{.thread = builder.defaultThread(), .state = ThreadState::Running, .stack = at};
        row.endNs = row.cpuNs = 100'000'000;
        builder.add<kinds::CpuState>(row);
        Shown shown({1366, 768}, builder.finish());
        keepPicture(shown.window, "first-sight-threads");
        QTabWidget& tables = shown.page().tables();
        QCOMPARE(tables.tabText(tables.currentIndex()), QString("Threads"));
        QStringList offered;
        for (int index = 0; index < tables.count(); ++index)
            if (tables.isTabVisible(index)) offered << tables.tabText(index);
        for (const char* empty : {"Kernels", "NCCL", "CUDA API", "Memcpy bandwidth", "GPU time"})
            QVERIFY2(!offered.contains(empty), empty);
        // The menu still offers it.
        for (QAction* command : shown.page().commands())
            if (command->text() == "Kernels") command->trigger();
        QCOMPARE(tables.tabText(tables.currentIndex()), QString("Kernels"));
        QVERIFY(tables.isTabVisible(tables.currentIndex()));
    }

    void plainCudaProgramIsShownAtItsGpuWork() {
        Shown shown({1366, 768}, simulatedPlainCuda());
        keepPicture(shown.window, "first-sight-plain");
        QVERIFY(shown.card().isVisible());
        QCOMPARE(shown.card().about(), QString());
        QVERIFY(shown.visible().contains(1'050 * ms) && shown.visible().durationNs() < 300 * ms);
    }

    void gpuWorkIsShownInsteadOfOmnipresentRangesAndLongNamesAreElided() {
        Shown shown({1366, 768}, simulatedWordyRanges());
        keepPicture(shown.window, "first-sight-wordy");
        QVERIFY(shown.visible().contains(1'807 * ms) && shown.visible().durationNs() < 100 * ms);
        const QString about = shown.card().about();
        QVERIFY2(about.startsWith("10 \u00d7 \"{'traceMarker'") && about.contains(".py:34']}") && about.size() < 200,
                 qPrintable(about));
    }

    void traceOpensOnItsSteadySteps() {
        ShownGuide shown;
        QVERIFY(shown.waitForFocus());
        const TimeRange steady = *shown.guide().run()->steady, first = shown.visible();
        QVERIFY(first.startNs <= steady.startNs && first.endNs >= steady.endNs);
        QVERIFY(first.durationNs() < 2 * steady.durationNs());
        QVERIFY(!shown.timeline().history().canGoBack());
        QTest::keyClick(&shown.timeline(), Qt::Key_0);
        QVERIFY(shown.timeline().state().range().axis().isFitted());
        QTest::keyClick(&shown.timeline(), Qt::Key_Home, Qt::AltModifier);
        QCOMPARE(shown.visible(), first);
    }

    void traceWithoutStepsOpensAsAWhole() {
        ShownGuide shown(withoutSteps());
        QVERIFY(shown.waitForFocus() && shown.timeline().state().range().axis().isFitted());
        QVERIFY(!shown.guide().strip().isVisible());
        QTest::keyClick(&shown.timeline(), Qt::Key_BracketRight);
        QTest::keyClick(&shown.timeline(), Qt::Key_Home, Qt::AltModifier);
        QVERIFY(shown.timeline().state().range().axis().isFitted());
    }

    void userViewIsKeptWhenStepsArrive() {
        ShownGuide shown;
        QTest::keyClick(&shown.timeline(), Qt::Key_W);
        const TimeRange chosen = shown.visible();
        QVERIFY(!shown.timeline().state().range().axis().isFitted() && shown.wait());
        QVERIFY(shown.guide().run() != nullptr);
        QCOMPARE(shown.visible(), chosen);
    }

    void panelIsShownClosesAndReturns() {
        ShownGuide shown;
        QVERIFY(shown.waitForFocus());
        ExplanationPanel& card = shown.guide().card();
        QVERIFY(card.isVisible() && !card.sentence().isEmpty());
        QTest::mouseClick(&child<QToolButton>(card, "close"), Qt::LeftButton);
        QVERIFY(!card.isVisible());
        QVERIFY(shown.timeline().hasFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_F7);
        QVERIFY(card.isVisible());
        if (!card.findings().empty()) QVERIFY(card.findings().front()->hasFocus());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QVERIFY(card.isVisible());
        QTest::keyClick(&shown.timeline(), Qt::Key_F7);
        QVERIFY(!card.isVisible());
        shown.page().storeLayout(shown.settings);
        QVERIFY(!shown.settings.isPanelVisible("explanation"));
    }

    void findingLeadsToItsPlace() {
        ShownGuide shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
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
        ShownGuide shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
        QVERIFY(shown.wait());
        ExplanationPanel& card = shown.guide().card();
        size_t with = 0;
        while (with < card.findings().size() && !card.queryButton(with)) ++with;
        QVERIFY(with < card.findings().size());
        QTest::mouseClick(card.queryButton(with), Qt::LeftButton);
        QCOMPARE(shown.page().tables().currentWidget(), &shown.page().tables().tab("sql"));
        QVERIFY(shown.page().tables().demand<SqlPanel>("sql").editor().toPlainText().contains("SELECT"));
        QVERIFY(shown.wait());
    }

    void mutedRulesAreRemembered() {
        ShownGuide shown;
        QVERIFY(shown.wait());
        shown.guide().card().setMuted({&explain::launchBoundRule, &explain::oddStepsRule});
        shown.page().storeLayout(shown.settings);
        ShownGuide other;
        other.settings.setMutedRules(shown.settings.mutedRules());
        other.page().restoreLayout(other.settings);
        QCOMPARE(other.guide().card().muted(), (std::set{&explain::launchBoundRule, &explain::oddStepsRule}));
        QVERIFY(other.wait());
    }

    void clickedStepOfTheStripFillsTheView() {
        ShownGuide shown;
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
        ShownGuide shown;
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
        ShownGuide shown;
        QVERIFY(shown.wait());
        const analysis::IdleGap gap = shown.longestGap();
        const QPoint place = shown.placeOf(shown.gapGpu, middleOf(gap.range));
        QTest::mouseMove(&shown.canvas(), place - QPoint(4, 0));
        QTest::mouseMove(&shown.canvas(), place);
        QVERIFY(QTest::qWaitFor([&] { return shown.canvas().hoverTip().title().contains("idle for"); }));
        QVERIFY(shown.canvas().hoverTip().detail().contains("Click for details"));
    }

    void pendingGapIsExplainedUnderThePointer() {
        ShownGuide shown;
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
        ShownGuide shown;
        QVERIFY(shown.waitForFocus());
        const analysis::IdleGap gap = shown.longestGap();
        const QPoint place = shown.placeOf(shown.gapGpu, middleOf(gap.range));
        QTest::mouseClick(&shown.canvas(), Qt::LeftButton, {}, place);
        QVERIFY(shown.timeline().state().selection().gapMark() && shown.guide().idlePanel().isVisible());
        const QString text = child<FactSheet>(shown.guide().idlePanel()).text();
        for (const char* part : {"idle", "Why", "Previous GPU work", "Next GPU work", "In the whole run"})
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
        ShownGuide shown;
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

    void keysBeginWithTheGapsOfTheStepInView() {
        ShownGuide shown;
        QVERIFY(shown.waitForFocus());
        QTRY_VERIFY(shown.guide().idle().gaps());
        const analysis::IdleGaps& gaps = *shown.guide().idle().gaps();
        StepStrip& strip = shown.guide().strip();
        const explain::StepPlace place{1, 6};
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.barOf(place).center());
        const auto& step = shown.guide().run()->summary.workers[1].steps[6];
        const TimeRange range{step.startNs, step.startNs + step.wallNs};
        const QString title = shown.guide().legend().title();
        QVERIFY2(title.startsWith("Step 6"), qPrintable(title));
        QVERIFY2(shown.guide().legend().note().contains("vs. median"), qPrintable(shown.guide().legend().note()));
        QTest::keyClick(&shown.timeline(), Qt::Key_I);
        const auto mark = test::orFail(shown.timeline().state().selection().gapMark());
        QVERIFY(mark.range.overlaps(range));
        for (size_t worker = 0; worker < gaps.workerCount(); ++worker)
            for (const auto& each : gaps.longestIn(worker, range))
                if (gaps.at(each).range == mark.range) QCOMPARE(gaps.longestIn(worker, range).front(), each);
    }

    void legendShowsTheMeanStepAtFirst() {
        ShownGuide shown;
        QVERIFY(shown.wait());
        const PartsLegend& legend = shown.guide().legend();
        QVERIFY(legend.isVisible());
        QVERIFY2(legend.title().startsWith("Mean step"), qPrintable(legend.title()));
        QVERIFY(legend.note().isEmpty());
        // The first named part follows the bar.
        const QImage image = shown.guide().legend().grab().toImage();
        const auto parts = Theme::light().parts;
        bool isNamed = false;
        for (int x = legend.barArea().right() + 2; x < image.width(); ++x)
            isNamed |= std::ranges::count(parts, image.pixelColor(x, legend.barArea().center().y())) > 0;
        QVERIFY(isNamed);
    }

    void legendFollowsTheShownStepThemeAndUnit() {
        ShownGuide shown(simulatedTraining({.steps = 12, .gpuCount = 2}));
        QVERIFY(shown.waitForFocus());
        const PartsLegend& legend = shown.guide().legend();
        const QString mean = legend.title();
        QVERIFY2(mean.startsWith("Mean step of rank "), qPrintable(mean));
        FindingButton& finding = *shown.guide().card().findings().front();
        QTest::mouseClick(&finding, Qt::LeftButton);
        QTRY_VERIFY(shown.guide().strip().chosen().has_value());
        QVERIFY2(legend.title().startsWith("Step "), qPrintable(legend.title()));
        QTest::keyClick(&finding, Qt::Key_Escape);
        QCOMPARE(legend.title(), mean);
        const auto colorsOf = [&] {
            const QImage image = shown.guide().legend().grab().toImage();
            QSet<QRgb> colors;
            for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, image.height() / 2));
            return colors;
        };
        QSet<size_t> parts;
        for (size_t part = 0; part < analysis::stepPartCount; ++part)
            if (colorsOf().contains(Theme::light().parts[part].rgb())) parts << part;
        QVERIFY(!parts.isEmpty());
        shown.window.setThemeChoice(ThemeChoice::Dark);
        for (const size_t part : parts) QVERIFY(colorsOf().contains(Theme::dark().parts[part].rgb()));
        shown.window.setThemeChoice(ThemeChoice::Light);
        shown.guide().chooseUnit("forward");
        QVERIFY(shown.wait());
        QVERIFY2(legend.title().startsWith("Mean forward of rank "), qPrintable(legend.title()));
    }

    void unitThatCannotBeShownIsReported() {
        ShownGuide shown;
        QVERIFY(shown.wait());
        const QString mean = shown.guide().legend().title();
        shown.guide().chooseUnit("no such range #");
        QVERIFY(shown.wait());
        QCOMPARE(shown.guide().chosenUnit(), std::string());
        QVERIFY(!shown.guide().unitError().isEmpty());
        QCOMPARE(shown.guide().legend().title(), mean);
        bool isReported = false;
        for (const OfferBar* bar : shown.page().findChildren<OfferBar*>())
            isReported = isReported || (bar->isVisible() && bar->question() == shown.guide().unitError());
        QVERIFY(isReported);
    }

    void runWithoutStepsIsNamedInTheLegend() {
        ShownGuide shown(withoutSteps());
        QVERIFY(shown.wait());
        QVERIFY2(shown.guide().legend().title().startsWith("Whole run, "), qPrintable(shown.guide().legend().title()));
    }

    void tablesHaveTheSameHeightInEqualWindows() {
        for (const QSize size : {QSize(1366, 768), QSize(1440, 900), QSize(1600, 1000)}) {
            ShownGuide opened(simulatedTraining({.steps = 12}));
            opened.window.resize(size);
            ShownWindow fresh(size);
            QVERIFY(opened.wait() && fresh.opened(simulatedTraining({.steps = 12})));
            QApplication::processEvents();
            const int height = fresh.page().tables().height();
            QVERIFY2(std::abs(height - opened.page().tables().height()) <= 1, qPrintable(QString::number(height)));
            QVERIFY(height >= std::min(280, fresh.page().height() * 3 / 10) - 1);
        }
    }

    void allPartsFitASmallWindow() {
        ShownGuide shown(simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}));
        shown.window.resize(700, 480);
        QVERIFY(shown.wait());
        QApplication::processEvents();
        QCOMPARE(shown.window.size(), QSize(700, 480));
        QVERIFY(shown.canvas().height() >= 60);
        const ExplanationPanel& card = shown.guide().card();
        QVERIFY(card.geometry().right() < shown.page().width());
    }
};

LANESCOPE_TEST(tst_FirstSight, QApplication)
#include "tst_FirstSight.moc"
