// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/runConditions.h"
#include "model/analysis/startedProcesses.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;

/// State of the launching thread between its steps.
struct Pause {
    ThreadState state = ThreadState::Gil;
    double ranShare = 0.2;               ///< As the kernel counts.
    const char* file = "/srv/train.py";  ///< File of the function around the one at "/srv/own.py".
    bool isModule = false;               ///< That at "/srv/own.py" is a module's code, and an import is around it.
    bool isHolderLaunching = false;      ///< The thread with the GIL launches half of the work.
    bool isOfRuntime = false;            ///< A thread without Python launches, while the main thread runs.
};

/// A simulated program of 30 steps: two kernels of 5 ms, then 20 ms in which the GPU waits.
TracePtr programOf(const Pause& pause) {
    SimulatedTrace made;
    const uint32_t main = made.addThread(0, 4242, "python3"), other = made.addThread(0, 4243, "metrics");
    const uint32_t stream = made.defaultStream();
    const uint32_t outer = made.frame(pause.isModule ? "_find_and_load" : "outer", pause.file, 7);
    const uint32_t own = made.frame(pause.isModule ? "<module>" : "prepare", "/srv/own.py", 3, outer);
    const uint32_t runtime = pause.isOfRuntime ? made.addThread(0, 4244, "runtime") : main;
    const uint32_t held = made.frame("count", "/srv/metrics.py", 46);
    int64_t at = 1 * ms;
    for (int64_t step = 0; step < 30; ++step) {
        const int64_t startNs = at;
        for (int kernel = 0; kernel < 2; ++kernel, at += 10 * us) {
            const int64_t fromNs = startNs + 20 * us + kernel * 5 * ms;
            made.launch(pause.isHolderLaunching && kernel == 0 ? other : runtime, stream, "gemm", at, fromNs,
                        fromNs + 5 * ms);
        }
        const int64_t untilNs = startNs + 30 * ms;
        kinds::CpuState::Row row{.startNs = at, .endNs = untilNs, .thread = runtime, .state = pause.state};
        row.stack = pause.isOfRuntime ? noIndex : own;
        row.cpuNs = static_cast<int64_t>(pause.ranShare * static_cast<double>(untilNs - at));
        if (pause.state == ThreadState::Gil) {
            row.holder = other;
            row.holderStack = held;
        }
        made.add<kinds::CpuState>(row);
        if (pause.isOfRuntime) test::addState(made, main, ThreadState::Running, {at, untilNs}, untilNs - at, 0, own);
        at = untilNs;
        made.addNvtx(main, "step " + std::to_string(step), startNs, at);
    }
    return made.finish();
}

Explanation explained(const Pause& pause) { return explain::explain(*summarizeRun(*programOf(pause))); }

std::vector<StepSummary> stepsWithLongOnes(int64_t count, int64_t period) {
    std::vector<StepSummary> steps;
    int64_t atNs = 0;
    for (int64_t number = 0; number < count; ++number) {
        StepSummary step{
            .number = number, .startNs = atNs, .wallNs = number % period == period - 1 ? 2'000 * ms : 100 * ms};
        atNs += step.wallNs;
        steps.push_back(step);
    }
    return steps;
}

}  // namespace

/// Tests of the facts about what keeps the launching thread from launching. All programs are simulated.
class tst_ThreadCauses : public QObject {
    Q_OBJECT

  private slots:
    void waitForTheGilOfAnotherThreadIsEstimated() {
        const Explanation made = explained({});
        const Finding* found = findingOf(made, &gilWaitsRule);
        QVERIFY(found != nullptr);
        QCOMPARE(found, &made.findings.front());
        // The GPU waits 20 ms, and the thread ran for a fifth of them.
        QVERIFY2(std::abs(found->maxGainNs - 16 * ms) < ms, found->sentence.c_str());
        for (const char* part : {"the GIL, held by the thread metrics", "seen mostly at own.py:3 in prepare",
                                 "Place: the holder mostly at metrics.py:46 in count"})
            HAS(found->sentence, part);
        QCOMPARE(found->launched.line, std::string("metrics.py:46 in count"));
        // The rest is no part of it.
        const Finding* rest = findingOf(made, &launchBoundRule);
        QVERIFY(rest == nullptr || rest->maxGainNs < 5 * ms);
    }

    void gilOfALaunchingThreadIsNoFinding() {
        QVERIFY(findingOf(explained({.isHolderLaunching = true}), &gilWaitsRule) == nullptr);
    }

    void compilingIsOneFindingInWhateverState_data() {
        const test::Rows<ThreadState, double> row;
        row("running", ThreadState::Running, 1.0);
        row("waits", ThreadState::Lock, 0.01);
        row("alternates", ThreadState::Lock, 0.5);
    }
    void compilingIsOneFindingInWhateverState() {
        const auto [state, ranShare] = test::row<ThreadState, double>();
        const Explanation made =
            explained({.state = state, .ranShare = ranShare, .file = "/x/torch/_inductor/compile_fx.py"});
        const Finding found = foundBy(made, &compilingRule);
        QVERIFY2(std::abs(found.maxGainNs - 20 * ms * 29 / 30) < ms, found.sentence.c_str());
        QVERIFY(findingOf(made, &hostWorkRule) == nullptr && findingOf(made, &hostWaitsRule) == nullptr &&
                findingOf(made, &launchBoundRule) == nullptr);
        QVERIFY(findingOf(explained({.state = state, .ranShare = ranShare}), &compilingRule) == nullptr);
    }

    void importingIsNamed() {
        const char* const file = "<frozen importlib._bootstrap>";
        const Finding found = foundBy(
            explained({.state = ThreadState::Running, .ranShare = 1, .file = file, .isModule = true}), &hostWorkRule);
        HAS(found.sentence, "importing modules");
        HAS(found.advice, "Import these modules before the first step");
        // It may wait for a disk, and a launcher may import the whole program.
        const Explanation waits = explained({.state = ThreadState::Disk, .file = file, .isModule = true});
        HAS(waits.findings.front().sentence, "importing modules");
        const Explanation program = explained({.state = ThreadState::Running, .ranShare = 1, .file = file});
        HAS_NO(foundBy(program, &hostWorkRule).sentence, "importing");
    }

    void placeOfAlternatingWaitIsWhereSamplesSawIt() {
        const Explanation made = explained({.state = ThreadState::Lock, .ranShare = 0.5});
        QVERIFY(!made.findings.empty());
        const std::string& sentence = made.findings.front().sentence;
        HAS(sentence, "seen mostly at own.py:3 in prepare");
    }

    /// A gap of 20 ms is no way from launch to launch, even if the kernel's count leaves open what the thread did.
    void longGapOfAlternatingThreadIsHostWork() {
        const Explanation made = explained({.state = ThreadState::Lock, .ranShare = 0.9});
        const Finding& found = made.findings.front();
        QCOMPARE(found.rule, &hostWorkRule);
        QVERIFY2(std::abs(found.maxGainNs - 20 * ms * 29 / 30) < ms, found.sentence.c_str());
        QVERIFY(findingOf(made, &launchBoundRule) == nullptr && findingOf(made, &hostWaitsRule) == nullptr);
        for (const char* part :
             {"runs something else or waits", "seen mostly at own.py:3 in prepare",
              "in 29 intervals in 30 steps, each of 500.0 µs or more", "the thread alternately ran and waited"})
            HAS(found.sentence, part);
        QVERIFY(found.sql.find("g.e - g.s >= 500000") != std::string::npos);
    }

    void placeOfThreadWithoutPythonIsThatOfTheMainThread() {
        const Explanation made = explained({.state = ThreadState::Lock, .ranShare = 0.9, .isOfRuntime = true});
        const Finding& found = made.findings.front();
        QCOMPARE(found.rule, &hostWorkRule);
        for (const char* part : {" Place: while the main thread was at own.py:3 in prepare", "on the thread runtime"})
            HAS(found.sentence, part);
        // A thread with samples in Python has its own place.
        HAS_NO(explained({.state = ThreadState::Lock, .ranShare = 0.9}).findings.front().sentence, " while the main");
    }

    void processesThatStartInLongStepsAreFound() {
        const std::vector<StepSummary> steps = stepsWithLongOnes(40, 10);
        const std::set<uint32_t> longOnes{9, 19, 29, 39};
        ProcessStarts starts{.areLoaders = true, .name = "python3.12"};
        // The loaders of the first epoch, and those of three more, seen up to a second late.
        starts.seenNs = {5 * ms, 6 * ms};
        for (const uint32_t step : {9, 19, 29})
            for (int loader = 0; loader < 4; ++loader)
                starts.seenNs.push_back(steps[step].startNs + 50 * ms * loader + 2'500 * ms);
        const std::optional<Distinction> found = startsIn(DistinctionOf::Pattern, starts, steps, longOnes);
        QVERIFY(found.has_value());
        QCOMPARE(*found, (Distinction{DistinctionOf::Pattern, DistinctionKind::Loader, "python3.12", 3, 0, 12, 0}));
        // Some of each epoch are seen later than the others.
        ProcessStarts late{.areLoaders = true, .name = "python3.12"};
        for (const uint32_t step : {9, 19, 29})
            for (const int64_t afterMs : {1'500, 1'501, 2'500, 2'501})
                late.seenNs.push_back(steps[step].startNs + afterMs * ms);
        QVERIFY(startsIn(DistinctionOf::Pattern, late, steps, longOnes).has_value());
        // Others that start at any time are not the cause.
        ProcessStarts anyTime = starts;
        for (int number = 0; number < 12; ++number) anyTime.seenNs.push_back(steps[4].startNs + number * 1'000 * ms);
        std::ranges::sort(anyTime.seenNs);
        QVERIFY(!startsIn(DistinctionOf::Pattern, anyTime, steps, longOnes));
        // A single time may be chance.
        QVERIFY(!startsIn(DistinctionOf::Pattern, {.seenNs = {steps[9].startNs}}, steps, longOnes));
    }

    void defaultStreamOrdersOthers_data() {
        const test::Rows<bool, bool> row;
        row("memsets between two streams", true, false);
        row("streams overlap", true, true);
        row("no default stream", false, false);
    }
    void defaultStreamOrdersOthers() {
        const auto [hasDefault, isOverlapping] = test::row<bool, bool>();
        SimulatedTrace made;
        const uint32_t thread = made.defaultThread(), gpu = made.addGpu(), none = made.addStream(0, gpu, 7, true);
        const uint32_t streams[]{made.addStream(0, gpu, 13), made.addStream(0, gpu, 14)};
        std::vector<TimeRange> steps;
        for (int64_t step = 0; step < 20; ++step) {
            const int64_t atNs = (step + 1) * 10 * ms;
            for (int64_t side = 0; side < 2; ++side) {
                const int64_t fromNs = atNs + side * (isOverlapping ? 1 : 5) * ms;
                if (hasDefault) made.addMemset(none, 4096, fromNs - 10 * us, fromNs - 5 * us);
                made.launch(thread, streams[side], "work", atNs - 20 * us, fromNs, fromNs + 4 * ms);
            }
            made.addNvtx(thread, "step " + std::to_string(step), atNs - 30 * us, atNs + 9 * ms);
        }
        const auto run = summarizeRun(*made.finish());
        QVERIFY(run.has_value());
        const StreamOrder& order = run->workers.front().streams;
        QCOMPARE(order.streams, hasDefault && !isOverlapping ? 2 : 0);
        QVERIFY(order.streams == 0 || order.operations >= 36);
    }
};

LANESCOPE_TEST(tst_ThreadCauses, NoApplication)
#include "tst_ThreadCauses.moc"
