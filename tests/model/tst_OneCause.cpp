// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/ThreadActivities.h"
#include "model/causality/Subject.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/kinds/Api.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;

/// Late launches of the main thread at a line.
IdleCause runsAt(FrameRef frame, ThreadWork work = ThreadWork::Unknown) {
    IdleCause cause = onMain(idle(CauseKind::OutsideCalls, ThreadState::Running), std::move(frame));
    cause.activity.work = work;
    return cause;
}

CodePlace seenAt(const std::string& line) { return {"seen mostly at " + line, line}; }

/// Adds late launches, of which a part of each step is long host code.
void addLate(MadeRun& made, const IdleCause& cause, int64_t ns, int64_t workedNs = 0, CodePlace launched = {}) {
    made.add(StepPart::LaunchBound, ContributorKind::Idle, cause, ns);
    Contributor& added = made.run().workers[0].contributors.back();
    added.workedNs = workedNs * MadeRun::steps;
    added.launched = std::move(launched);
}

const FrameRef sample{"replay.py", 58, "sample"};

/// A run of late launches with a line of long host code, in part in garbage collection, and of an alternating thread.
MadeRun replay(int64_t alternatingNs, int64_t collectingNs) {
    MadeRun made;
    addLate(made, onMain(idle(CauseKind::OutsideCalls, ThreadState::Lock, Observation::Alternating)), alternatingNs, 0,
            seenAt("replay.py:112 in learn"));
    addLate(made, runsAt(sample), 20 * ms, 8 * ms);
    addLate(made, runsAt(sample, ThreadWork::GarbageCollection), collectingNs, collectingNs);
    addLate(made, runsAt({"replay.py", 88, "forward"}), 25 * ms);
    addLate(made, runsAt({"replay.py", 90, "forward"}), 25 * ms);
    return made;
}

/// A run of 60 steps, of which every tenth has a pause before the batch copy, at a line. The others have late launches
/// of `othersNs`.
MadeRun epochs(const char* line, int64_t othersNs = 0) {
    MadeRun made;
    WorkerSummary& worker = made.run().workers[0];
    int64_t idleNs = 0, loadNs = 0;
    replaceSteps(worker, 60, [&](StepSummary& step) {
        step.wallNs += step.number * 7'919 % 100'000;
        step.parts[StepPart::Compute] = step.wallNs;
        const bool isPaused = step.number % 10 == 3;
        step.parts[StepPart::DataLoading] = isPaused ? 300 * ms : 0;
        step.parts[StepPart::LaunchBound] = isPaused ? 100 * ms : othersNs;
        step.wallNs += step.parts[StepPart::DataLoading] + step.parts[StepPart::LaunchBound];
        loadNs += step.parts[StepPart::DataLoading];
        idleNs += step.parts[StepPart::LaunchBound];
    });
    Contributor loads =
        contributor(StepPart::DataLoading, ContributorKind::Idle,
                    idle(CauseKind::BeforeBatchCopy, ThreadState::Lock, Observation::Alternating), loadNs);
    loads.count = 6;
    loads.launched = seenAt("train.py:89 in train_epoch");
    Contributor works = contributor(StepPart::LaunchBound, ContributorKind::Idle,
                                    runsAt({line, 89, "train_epoch"}, ThreadWork::TorchData), idleNs);
    works.count = 6;
    works.workedNs = idleNs;
    worker.contributors.push_back(loads);
    worker.contributors.push_back(works);
    return made;
}

/// A run of 60 steps whose computing grows, with kernels of which the larger takes `percent` of the compute time.
Explanation growing(int64_t percent) {
    MadeRun made;
    WorkerSummary& worker = made.run().workers[0];
    worker.contributors.clear();
    int64_t computeNs = 0;
    replaceSteps(worker, 60, [&](StepSummary& step) {
        step.wallNs = step.parts[StepPart::Compute] = 100 * ms + step.number * 500 * us;
        computeNs += step.wallNs;
    });
    const auto add = [&](const char* name, int64_t ns) {
        worker.contributors.push_back(contributor(StepPart::Compute, ContributorKind::Kernel, name, ns));
    };
    add("stencil", computeNs / 100 * percent);
    add("attends", computeNs / 300 * (100 - percent));
    add("multiplies", computeNs / 300 * (100 - percent));
    return explain::explain(made.run());
}

/// A program of XLA in a Python loop of one line, which is compiled again for the 14th and the 28th call. The compiler
/// tries kernels on a thread of its own.
TracePtr compiledAgain() {
    SimulatedTrace made;
    const uint32_t main = made.addThread(0, 4242, "python3"), compiler = made.addThread(0, 4250, "compiler");
    const uint32_t gpu = made.addGpu(), stream = made.addStream(0, gpu, 7), trials = made.addStream(0, gpu, 21);
    const auto frame = [&made](uint32_t outer, const char* function, const char* file, uint32_t line) {
        return made.frame(function, file, line, outer);
    };
    const uint32_t loop = frame(noIndex, "main", "/srv/train.py", 123);
    const uint32_t miss = frame(loop, "cache_miss", "/opt/venv/lib/python3.12/site-packages/jax/_src/pjit.py", 266);
    int64_t at = 1 * ms;
    // Programs that are compiled at the start or for a short time, without a name or an end, are no cause.
    const uint32_t other = made.addThread(0, 4260, "other");
    const auto compile = [&](uint32_t thread, const char* name, int64_t fromNs, int64_t ns) {
        made.addNvtx(thread, name, fromNs, fromNs + ns, NvtxStyle::PushPop, "TSL");
    };
    for (int start = 0; start < 9; ++start) {
        compile(other, "XlaCompile:#module=jit_init#", start * 20 * us, 9 * us);
        compile(other, "XlaCompile:#module=jit_small#", start * 20 * us + 10 * us, 9 * us);
    }
    uint32_t correlation = 0;
    const auto launch = [&](uint32_t thread, uint32_t on, const char* name, uint32_t stack, int64_t fromNs) {
        kinds::Api::Row call{.startNs = fromNs, .endNs = fromNs + 4 * us, .name = made.intern("cuLaunchKernel")};
        call.thread = thread;
        call.correlation = ++correlation;
        call.stack = stack;
        made.add<kinds::Api>(call);
        made.addKernel(on, name, fromNs + 10 * us, fromNs + 90 * us, correlation);
    };
    for (int step = 0; step < 42; ++step) {
        const bool compiles = step % 14 == 0;
        if (compiles) {
            compile(main, "XlaCompile:#module=jit_train_step#", at, 200 * ms);
            compile(other, "XlaCompile:#module=jit_small#", at, ms);
            compile(other, "XlaCompile:#name=operation#", at + 2 * ms, 190 * ms);
            made.addOpenNvtx(other, "XlaCompile:#module=jit_open#", at + 195 * ms);
            for (int tried = 0; tried < 300; ++tried)
                launch(compiler, trials, "tried", noIndex, at + ms + tried * 100 * us);
            at += 200 * ms;
        }
        const int64_t startNs = at;
        for (const char* name : {"fusion_1", "fusion_2", "fusion_3", "fusion_4", "fusion_5", "fusion_6"}) {
            launch(main, stream, name, compiles ? miss : loop, at);
            at += 100 * us;
        }
        made.addNvtx(main, "XlaModule:#hlo_module=jit_train_step,program_id=7#", startNs, at, NvtxStyle::PushPop,
                     "TSL");
        at += 300 * us;
    }
    return made.finish();
}

}  // namespace

/// Tests that a cause is named once, where it is, and no more certainly than the recording shows.
class tst_OneCause : public QObject {
    Q_OBJECT

  private slots:
    void lineWithMostTimeComesBeforeLaunches() {
        const Explanation made = explain::explain(replay(30 * ms, 15 * ms).run());
        QCOMPARE(rulesOf(made), (std::vector{&hostWorkRule, &launchBoundRule}));
        HAS(made.findings[0].sentence, " Place: replay.py:58 in sample. There the main thread runs.");
        // Of 92 ms without the long host code.
        HAS(made.findings[1].sentence, " 32.6 % of the GPU's wait is in host code");
        HAS(made.findings[1].sentence, " Place: seen mostly at replay.py:112 in learn.");
        HAS(made.findings[1].sentence, " Meanwhile the main thread alternately runs and waits for a lock");
        // Another line has more.
        QCOMPARE(rulesOf(explain::explain(replay(40 * ms, 15 * ms).run())),
                 (std::vector{&launchBoundRule, &hostWorkRule}));
    }

    /// A pause of the collector may be most of the long host code at a line, but not most of the time there.
    void garbageCollectionIsNamedIfItIsMostOfALine() {
        const Explanation hardly = explain::explain(replay(30 * ms, 15 * ms).run());
        HAS_NO(findingOf(hardly, &hostWorkRule)->sentence, "garbage collection");
        const Explanation mostly = explain::explain(replay(30 * ms, 25 * ms).run());
        HAS(findingOf(mostly, &hostWorkRule)->sentence, "in Python's garbage collection");
    }

    void linesOfFramesAndOfSamplesAreEqual() {
        const std::string line = "replay.py:58 in sample", place = "replay.py:58";
        const IdleCause unknown{CauseKind::OutsideCalls};
        QCOMPARE(lineOf(runsAt(sample), {}), place);
        QCOMPARE(lineOf(runsAt({"replay.py", 58, "sample.<locals>.<genexpr>"}), {}), place);
        QCOMPARE(lineOf(unknown, {"seen mostly at " + line + ", called at x.py:1 in f", line, "x.py:1 in f"}), place);
        QVERIFY(lineOf(unknown, {"seen mostly in sample (replay.py)"}).empty());
        QVERIFY(lineOf(unknown, {"called at " + line, {}, line}).empty());
        QVERIFY(lineOf(IdleCause{}, {"launched at " + line, line}).empty());
    }

    void threadThatCannotHaveRunOnlyWaits() {
        MadeRun made;
        addLate(made, onMain(idle(CauseKind::OutsideCalls, ThreadState::Lock, Observation::Alternating)), 40 * ms, 0,
                seenAt("a.py:1 in f"));
        Contributor& added = made.run().workers[0].contributors.back();
        added.waitedNs = added.exposedNs * 9 / 10;
        const Finding found = foundBy(explain::explain(made.run()), &hostWaitsRule);
        HAS(found.sentence, "Mostly, the launching thread cannot have run meanwhile");
        HAS(found.sentence, " on the main thread in the range \"forward\"");
        HAS(found.sentence, " Place: seen mostly at a.py:1 in f.");
        HAS_NO(found.sentence, "alternately runs");
    }

    void launchesAreThePlaceOfAnAlternatingThread() {
        MadeRun made;
        addLate(made, onMain(idle(CauseKind::OutsideCalls, ThreadState::Lock, Observation::Alternating)), 40 * ms, 0,
                {"seen mostly in f (a.py)"});
        made.add(StepPart::Compute, ContributorKind::Kernel, "gemm", ms);
        LaunchTimes& launches = made.run().workers[0].launches;
        launches = {.count = 100, .medianNs = 1, .place = {"launched at b.py:2 in g", "b.py:2 in g"}, .placeCount = 64};
        const auto sentence = [&] { return findingOf(explain::explain(made.run()), &launchBoundRule)->sentence; };
        HAS(sentence(), " each on the GPU. Place: b.py:2 in g, with 64.0 % of the launches.");
        HAS(sentence(), " Wait: seen mostly in f (a.py).");
        HAS_NO(sentence(), " Place: seen");
        // A line of most samples has most of the time, whatever it launches.
        Contributor& late = made.run().workers[0].contributors[1];
        late.launched = seenAt("a.py:1 in f");
        HAS(sentence(), ", 64.0 % of the launches at b.py:2 in g.");
        HAS(sentence(), " Place: seen mostly at a.py:1 in f.");
        launches.placeCount = 50;
        HAS(sentence(), ", 50.0 % of the launches at b.py:2 in g.");
        // The thread's own line is certain.
        launches.placeCount = 64;
        late.name = runsAt(sample);
        HAS(sentence(), " Place: replay.py:58 in sample, seen mostly at a.py:1 in f.");
        HAS_NO(sentence(), " Wait: ");
    }

    void rangeOfDataLoadingIsQuoted() {
        MadeRun made;
        made.add(StepPart::DataLoading, ContributorKind::Idle, onMain(idle(CauseKind::LoadingRange)), 30 * ms);
        const Finding found = foundBy(explain::explain(made.run()), &inputDataRule);
        HAS(found.sentence, ": mostly in the NVTX range \"forward\" (data loading) on the main thread.");
    }

    /// Both may be true of a thread that ran and waited, so that the advice begins with a way to find out.
    void unknownActivityIsFoundOutFirst() {
        for (const Observation observation : {Observation::State, Observation::Alternating}) {
            MadeRun made;
            const ThreadState state = observation == Observation::State ? ThreadState::Running : ThreadState::Sleep;
            addLate(made, onMain(idle(CauseKind::OutsideCalls, state, observation)), 40 * ms, 40 * ms);
            const Finding found = foundBy(explain::explain(made.run()), &hostWorkRule);
            const bool isUnknown = observation == Observation::Alternating;
            QCOMPARE(found.advice.starts_with(
                         "Record with --cpu-samples perf to see whether the thread runs or waits there."),
                     isUnknown);
            QCOMPARE(test::has(found.sentence, "running or waiting kept the GPU idle is unknown"), isUnknown);
            HAS(found.advice, "Fewer launches do not shorten this time.");
        }
    }

    /// The line of a busy thread says more than that it runs host code.
    void briefNamesTheLineOfHostCode() {
        for (const bool hasLine : {false, true}) {
            MadeRun made;
            addLate(made, onMain(idle(CauseKind::OutsideCalls, ThreadState::Lock, Observation::Alternating)), 40 * ms,
                    40 * ms, hasLine ? seenAt("a.py:1 in f") : CodePlace());
            QCOMPARE(foundBy(explain::explain(made.run()), &hostWorkRule).brief,
                     std::string("GPU waits for a thread that is busy: forward, ") +
                         (hasLine ? "a.py:1 in f" : "host code"));
        }
    }

    /// A wait at a line outside of loaders does not show that data are loaded.
    void moreLoadersAreNoAdviceForAPlaceInNone() {
        for (const bool hasLoaders : {false, true}) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle,
                     idle(CauseKind::BeforeBatchCopy, ThreadState::Lock, Observation::Alternating), 34 * ms);
            WorkerSummary& worker = made.run().workers[0];
            worker.contributors.back().launched = seenAt("serve.py:99 in collect");
            made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy, ThreadState::Lock),
                     6 * ms);
            made.add(StepPart::Compute, ContributorKind::Kernel, "void at::native::vectorized_elementwise_kernel<4>()",
                     ms);
            if (hasLoaders) worker.loaders = {.threads = 4, .knownNs = 1'000 * ms, .ranNs = 900 * ms};
            const Finding found = foundBy(explain::explain(made.run()), &inputDataRule);
            HAS(found.sentence, "For 85.0 % of the GPU's wait, it is a guess that the CPU loaded data meanwhile");
            QCOMPARE(test::has(found.advice, "If the thread waits for a batch to fill, shorten this wait."),
                     !hasLoaders);
            QCOMPARE(test::has(found.advice, "ore loader workers"), hasLoaders);
        }
    }

    /// Pauses in every tenth step are one cause, whatever the thread did in each.
    void pausesOfAPeriodAreOneFinding() {
        const Explanation made = explain::explain(epochs("train.py").run());
        QCOMPARE(rulesOf(made), std::vector{&stepPatternRule});
        HAS(made.findings[0].sentence, "every 10th step");
        HAS(made.findings[0].sentence,
            ". These pauses are most of the 30.00 ms of input_data. These pauses are most of the 10.00 ms of "
            "host_work.");
        // A condition about a merged finding holds as before.
        for (const char* condition : {"input_data > 10%", "host_work > 5ms", "any > 10%"})
            QVERIFY(test::orFail(parseRuleCondition(condition)).isMetBy(made.findings[0]));
        QVERIFY(!test::orFail(parseRuleCondition("launch_bound")).isMetBy(made.findings[0]));
        const nlohmann::json json = nlohmann::json::parse(report::explanationAsJson({epochs("train.py").run(), made}));
        const nlohmann::json& merged = json["findings"][0]["merged"];
        QCOMPARE(merged.size(), size_t{2});
        QCOMPARE(merged[1]["rule"].get<std::string>(), std::string("host_work"));
        QCOMPARE(merged[1]["mostGainNs"].get<int64_t>(), 10 * ms);
        // Another line is another cause.
        QCOMPARE(rulesOf(explain::explain(epochs("log.py").run())), (std::vector{&stepPatternRule, &hostWorkRule}));
        // Late launches of all steps are no pause of some.
        const Explanation always = explain::explain(epochs("train.py", 3'500 * us).run());
        QCOMPARE(rulesOf(always), (std::vector{&stepPatternRule, &hostWorkRule}));
    }

    /// Long host code is a finding of its own, so the rest of a line may be little of the late launches.
    void mainCauseHasItsShareOfTheSameTime() {
        MadeRun made;
        addLate(made, runsAt(sample), 40 * ms);
        addLate(made, runsAt({"replay.py", 88, "forward"}), 20 * ms);
        const auto sentence = [&] { return findingOf(explain::explain(made.run()), &launchBoundRule)->sentence; };
        HAS(sentence(), "for work to be launched: mostly in host code");
        made.run().facts.producerKind = ProducerKind::Lanescope;
        made.run().workers[0].launches = {2'000 * MadeRun::steps, 12'450};
        // Of 60 ms with possible overhead.
        HAS(sentence(), "for work to be launched: mostly in host code");
        addLate(made, runsAt({"replay.py", 90, "forward"}), 30 * ms);
        HAS(sentence(), " 44.4 % of the GPU's wait is in host code");
    }

    /// A measured time remains a finding, and fails a run, if a replay forecasts no saving.
    void findingThatSavesNothingIsLast() {
        for (const int64_t savedNs : {ms / 10, 10 * ms}) {
            MadeRun made;
            made.add(StepPart::Memset, ContributorKind::Memset, "memset", 30 * ms);
            made.add(StepPart::ExposedHtoD, ContributorKind::Copy, "HtoD from pinned", 8 * ms);
            made.run().workers[0].forecasts = {{causality::Subject::Memset, savedNs, ms / 10}};
            const Explanation explanation = explain::explain(made.run());
            const bool savesNothing = savedNs < ms;
            QCOMPARE(rulesOf(explanation), savesNothing ? (std::vector{&exposedCopiesRule, &memsetsRule})
                                                        : (std::vector{&memsetsRule, &exposedCopiesRule}));
            const Finding* found = findingOf(explanation, &memsetsRule);
            QCOMPARE(test::has(found->sentence, " A replay forecasts no saving beyond its error."), savesNothing);
            QVERIFY(test::orFail(parseRuleCondition("memsets > 5%")).isMetBy(*found));
        }
    }

    /// The largest kernel of growing steps may be one that does not grow.
    void growthIsNotLaidOnTheLargestKernel() {
        for (const int64_t percent : {40, 70}) {
            const Explanation made = growing(percent);
            const Finding* found = findingOf(made, &stepPatternRule);
            QVERIFY(found != nullptr && found->pattern->kind == PatternKind::Drift);
            QCOMPARE(found->contributor.empty(), percent < 50);
            HAS(found->advice, "Find what gets longer from step to step");
            HAS_NO(found->advice, "only since the change");
        }
    }

    void stepsWithinTheRunThatAreSkippedAreCounted() {
        MadeRun made;
        WorkerSummary& worker = made.run().workers[0];
        worker.foundSteps += 3;
        worker.isLastLeftOut = true;
        HAS(explain::explain(made.run()).steps, "Explained: 10 of 13 steps");
        HAS(explain::explain(made.run()).steps,
            "2 more (not selected, not all recorded, no GPU work, or other work, such as an evaluation, before the "
            "next step).");
        worker.warmUpSteps = 2;
        HAS(explain::explain(made.run()).steps, " Skipped: 2 as warm-up, the last (its end is unknown).");
    }

    /// A program may number its steps with gaps.
    void gapInNumbersIsNoSkippedStep() {
        MadeRun made;
        std::vector<StepSummary>& steps = made.run().workers[0].steps;
        for (size_t step = 5; step < steps.size(); ++step) steps[step].number += 1'000;
        HAS_NO(explain::explain(made.run()).steps, "Skipped");
        steps.front().number = INT64_MIN;
        steps.back().number = INT64_MAX;
        HAS_NO(explain::explain(made.run()).steps, "Skipped");
    }

    /// One odd step has many lines that hardly any other step has.
    void lineOfASingleStepIsNamedIfNoOtherHasIt() {
        for (const bool isElsewhere : {false, true}) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3"), odd = made.frame("log", "/srv/own.py", 3);
            int64_t at = 1 * ms;
            for (int step = 0; step < 60; ++step) {
                const int64_t startNs = at;
                const bool isOdd = step == 31;
                if (isOdd || (isElsewhere && step == 40)) {
                    const int64_t ns = isOdd ? 50 * ms : 10 * us;
                    test::addState(made, main, ThreadState::Running, {at, at + ns}, ns, 0, odd);
                    at += ns;
                }
                for (int kernel = 0; kernel < 20; ++kernel, at += 200 * us)
                    made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
                made.addNvtx(main, "step " + std::to_string(step), startNs, at);
            }
            const RunSummary run = test::orFail(summarizeRun(*made.finish()));
            QCOMPARE(run.workers[0].distinctions.empty(), isElsewhere);
            if (isElsewhere) continue;
            const Finding found = foundBy(explain::explain(run), &oddStepsRule);
            HAS(found.sentence, " Only this step spends time at own.py:3 in log, 50.00 ms.");
        }
    }

    /// Some starts of loaders are too short for a sample, and their processes live too short to be listed.
    void startsOfLoadersAreSeenInStacks_data() {
        const test::Rows<bool> rows;
        rows("no other cause", false);
        rows("another cause", true);
    }
    void startsOfLoadersAreSeenInStacks() {
        const auto [hasRange] = test::row<bool>();
        SimulatedTrace made;
        const uint32_t main = made.addThread(0, 4242, "python3");
        const uint32_t own = made.frame("train_epoch", "/srv/train.py", 89);
        const uint32_t starts =
            made.frame("_MultiProcessingDataLoaderIter.__init__", "/opt/torch/utils/data/dataloader.py", 1192, own);
        int64_t at = 1 * ms;
        for (int step = 0; step < 60; ++step) {
            const int64_t startNs = at;
            if (step % 10 == 9) {
                if (step == 29 || step == 49)
                    test::addState(made, main, ThreadState::Running, {at, at + 20 * ms}, 20 * ms, 0, starts);
                if (hasRange) made.addNvtx(main, "shuffle", at, at + 30 * ms);
                at += 40 * ms;
            }
            for (int kernel = 0; kernel < 20; ++kernel, at += 200 * us)
                made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
            made.addNvtx(main, "step " + std::to_string(step), startNs, at);
        }
        const Finding found = foundBy(explain::explain(test::orFail(summarizeRun(*made.finish()))), &stepPatternRule);
        HAS_NO(found.brief, "data loaders start");
        if (hasRange) {
            HAS(found.sentence, " Only these steps have the range \"shuffle\", 30.00 ms in each of 6 steps.");
            return;
        }
        HAS(found.sentence, " In 2 of these steps, and in no others, samples show that data loaders start.");
        HAS(found.advice, "DataLoader(persistent_workers=True)");
    }

    /// A line that launches between two compilations is no iteration, and trials of the compiler are no steps.
    void programThatIsCompiledAgainHasItsCallsAsSteps() {
        const RunSummary run = test::orFail(summarizeRun(*compiledAgain()));
        QCOMPARE(run.source, StepSource::NvtxRange);
        QVERIFY(run.pattern.starts_with("XlaModule:#hlo_module=jit_train_step"));
        const WorkerSummary& worker = run.workers.at(0);
        QCOMPARE(test::listed(worker.foundSteps, worker.recompiled, worker.compilations), "42 | jit_train_step | 3");
        const Explanation explanation = explain::explain(run);
        QVERIFY(!explanation.findings.empty());
        HAS(explanation.findings[0].sentence,
            " jit_train_step was compiled 3 times, for example because shapes or static arguments of its inputs "
            "change.");
        HAS(explanation.findings[0].advice, "constant shapes");
    }
};

LANESCOPE_TEST(tst_OneCause, NoApplication)
#include "tst_OneCause.moc"
