// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"
#include "model/analysis/storedSummary.h"
#include "model/pages/ExplanationReport.h"
#include "model/reports/reports.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;

/// A simulated program that repeats the same work and waits in between.
struct Shape {
    ThreadState waits = ThreadState::Poll;
    bool isSampled = true, isIrregular = true;
    bool isPoisson = false;  ///< Arrivals are independent of each other.
    std::string range = {};  ///< Around the work of each request.
    bool isNumbered = true;
    int64_t kernelNames = 24;       ///< Number of kernel names; fewer if a model runs several times.
    std::string kernel = "kernel";  ///< A letter is added.
    const char* file = "/srv/serve.py";
    bool doesAnotherRun = false;  ///< Another program runs during the wait.
    bool isTrained = false;
    /// Share of core time during coarse samples that show a wait for several requests; 0 if each
    /// wait is sampled separately.
    double coarseShare = 0;
    uint32_t gpus = 1;  ///< The thread launches the same work for each.
    uint32_t seed = 5;
};

constexpr int64_t requestCount = 40, workNs = 2 * ms;

TracePtr programOf(const Shape& shape) {
    std::mt19937 random(shape.seed);
    std::exponential_distribution<double> pauses(1.0 / (15 * ms));
    SimulatedTrace made;
    const uint32_t main = made.addThread(0, 4242, "python3"), other = made.addThread(0, 4243, "worker");
    std::vector<uint32_t> streams{made.defaultStream()};
    while (streams.size() < shape.gpus) streams.push_back(made.addStream(0, made.addGpu(), 7));
    const uint32_t stack = made.frame("take", shape.file, 10);
    const auto state = [&](uint32_t thread, ThreadState is, int64_t startNs, int64_t endNs) {
        test::addState(made, thread, is, {startNs, endNs}, is == ThreadState::Running ? endNs - startNs : 10 * us, 0,
                       is == ThreadState::Running ? noIndex : stack);
    };
    int64_t at = 1 * ms;
    for (int64_t each = 0; each < requestCount; ++each) {
        const int64_t beginNs = at;
        for (int64_t kernel = 0; kernel < 24; ++kernel) {
            const int64_t launchNs = at + kernel * workNs / 24;
            for (const uint32_t stream : streams)
                made.launch(main, stream, shape.kernel + char('a' + kernel % shape.kernelNames), launchNs,
                            launchNs + 6 * us, launchNs + workNs / 24 - 10 * us);
        }
        const int64_t endNs = at + workNs;
        if (!shape.range.empty())
            made.addNvtx(main, shape.range + (shape.isNumbered ? " " + std::to_string(each) : ""), beginNs, endNs);
        at = endNs + (shape.isPoisson     ? 10 * us + static_cast<int64_t>(pauses(random))
                      : shape.isIrregular ? 1 * ms + static_cast<int64_t>(random() % (30 * ms))
                                          : 15 * ms);
        if (!shape.isSampled || shape.coarseShare > 0) continue;
        state(main, ThreadState::Running, beginNs, endNs);
        state(main, shape.waits, endNs, at);
        if (shape.doesAnotherRun) state(other, ThreadState::Running, endNs, at);
    }
    constexpr int64_t everyNs = 100 * ms;
    for (int64_t from = 0; shape.coarseShare > 0 && from < at; from += everyNs) {
        kinds::CpuState::Row row;
        row.startNs = from;
        row.endNs = std::min(at, from + everyNs);
        row.thread = main;
        row.state = shape.waits;
        row.stack = stack;
        row.cpuNs = static_cast<int64_t>(shape.coarseShare * static_cast<double>(row.endNs - row.startNs));
        made.add<kinds::CpuState>(row);
    }
    if (shape.isTrained) made.addNvtx(main, "backward", 0, 100 * us);
    return made.finish();
}

}  // namespace

/// Tests of when steps are requests and when launches are the cause. All programs are simulated.
class tst_requests : public QObject {
    Q_OBJECT

  private slots:
    void waitingServerHasNoFinding() {
        for (const ThreadState waits : {ThreadState::Poll, ThreadState::Lock}) {
            const TracePtr trace = programOf({.waits = waits});
            const RunSummary run = *summarizeRun(*trace);
            QVERIFY(run.kind == StepKind::Request && run.source == StepSource::KernelPattern);
            const Explanation explanation = explain::explain(run);
            for (const Rule* rule :
                 {&hostWaitsRule, &idleBetweenStepsRule, &inputDataRule, &gpuIdleRule, &oddStepsRule, &stepPatternRule})
                QVERIFY2(findingOf(explanation, rule) == nullptr, std::string(rule->id).c_str());
            QCOMPARE(explanation.what, std::string("request"));
            HAS(explanation.sentence, "of the mean request of");
            QVERIFY2(test::has(explanation.steps, "Between requests, samples show the program waiting for at least ") &&
                         test::has(explanation.steps, " in all: on the main thread at serve.py:10 in take"),
                     explanation.steps.c_str());
            // No step contains the wait.
            for (const StepSummary& step : run.workers[0].steps) QVERIFY(step.wallNs < 2 * workNs);
            QVERIFY(run.workers[0].rest.ns > 5 * run.workers[0].totalWallNs() / 2);
        }
    }

    /// Realistic samples: about ten per second show the same wait, and the kernel counts the core time between them.
    void unresolvedWaitsAreDetectedTogether() {
        const RunSummary run = *summarizeRun(*programOf({.coarseShare = 0.15}));
        QVERIFY(run.kind == StepKind::Request);
        HAS(explain::explain(run).steps, "at serve.py:10 in take (the thread waits for input).");
        for (const StepSummary& step : run.workers[0].steps) QVERIFY(step.wallNs < 2 * workNs);
        int64_t idleNs = 0;
        for (const WorkerSummary& worker : run.workers) idleNs += worker.pauses.idleNs;
        QVERIFY(run.workers[0].rest.ns > idleNs / 2 && run.workers[0].rest.ns < idleNs);
        // It may have run most of the time between, whatever the samples show.
        QVERIFY(summarizeRun(*programOf({.coarseShare = 0.6}))->kind == StepKind::Step);
        // Pauses of several GPUs at a time are not additional waiting time.
        QVERIFY(summarizeRun(*programOf({.coarseShare = 0.6, .gpus = 4}))->kind == StepKind::Step);
        QVERIFY(summarizeRun(*programOf({.coarseShare = 0.15, .gpus = 4}))->kind == StepKind::Request);
    }

    void uncertainRequestsStaySteps_data() {
        QTest::addColumn<int>("which");
        for (const char* name : {"trained", "an optimizer's kernel", "regular", "another thread works",
                                 "sleeps by itself", "a loader of data", "called iterations"})
            QTest::newRow(name) << 0;
    }
    void uncertainRequestsStaySteps() {
        const std::string which = QTest::currentDataTag();
        Shape shape;
        if (which == "trained") shape.isTrained = true;
        if (which == "an optimizer's kernel") shape.kernel = "FusedAdam_";
        if (which == "regular") shape.isIrregular = false;
        if (which == "another thread works") shape.doesAnotherRun = true;
        if (which == "sleeps by itself") shape.waits = ThreadState::Sleep;
        if (which == "called iterations") shape.range = "iteration";
        if (which == "a loader of data") shape.file = "/x/torch/utils/data/dataloader.py";
        const RunSummary run = *summarizeRun(*programOf(shape));
        QVERIFY(run.kind == StepKind::Step);
        const Explanation explanation = explain::explain(run);
        HAS_NO(explanation.sentence + explanation.steps, "request");
        // It still waits, but not because of launches.
        QVERIFY(findingOf(explanation, &hostWaitsRule) != nullptr);
        const Finding* launches = findingOf(explanation, &launchBoundRule);
        QVERIFY(launches == nullptr || launches->share < 0.1);
    }

    void rangesNamedRequestAreRequests() {
        const RunSummary run = *summarizeRun(*programOf({.isSampled = false, .range = "request"}));
        QVERIFY(run.kind == StepKind::Request);
        QCOMPARE(test::listed(run.pattern, run.workers[0].foundSteps), test::listed("request #", requestCount));
        for (const StepSummary& step : run.workers[0].steps) QVERIFY(step.wallNs <= workNs);
        const Explanation explanation = explain::explain(run);
        QVERIFY(findingOf(explanation, &idleBetweenStepsRule) == nullptr);
        HAS(explanation.steps, "of 40 requests \"request #\"");
        // Not in a training, whatever their name.
        QVERIFY(summarizeRun(*programOf({.range = "request", .isTrained = true}))->kind == StepKind::Step);
    }

    /// Less than half of exponential pauses lie within twice their median, so most such runs have no regular period.
    /// Their model runs eight times per request, which does not show its end either.
    void rangeAroundEachRequestIsFoundAtAnyArrivalRate() {
        for (uint32_t seed = 1; seed <= 8; ++seed) {
            Shape shape{.isPoisson = true, .range = "generate", .isNumbered = false, .kernelNames = 3, .seed = seed};
            const TracePtr server = programOf(shape);
            for (const char* named : {"", "generate"}) {
                const RunSummary run = *summarizeRun(*server, StepSelection{.rangeName = named, .keepsWarmUp = true});
                QVERIFY(run.source == StepSource::NvtxRange && run.kind == StepKind::Request);
                QCOMPARE(run.pattern, std::string("generate"));
                QCOMPARE(run.workers[0].foundSteps, requestCount);
                for (const StepSummary& step : run.workers[0].steps) QVERIFY(step.wallNs <= workNs);
                const Explanation explanation = explain::explain(run);
                for (const Rule* rule : {&idleBetweenStepsRule, &stepPatternRule, &hostWaitsRule})
                    QVERIFY(findingOf(explanation, rule) == nullptr);
            }
            shape.range = "step";
            shape.isNumbered = true;
            const RunSummary training = *summarizeRun(*programOf(shape));
            QVERIFY(training.source == StepSource::NvtxRange && training.kind == StepKind::Step);
            QCOMPARE(training.pattern, std::string("step #"));
        }
    }

    void unsampledThreadMayHaveWaited() {
        const Finding found =
            foundBy(explain::explain(*summarizeRun(*programOf({.isSampled = false}))), &launchBoundRule);
        HAS(found.sentence,
            "it is unknown whether the launching thread ran or waited. If the thread waited, fewer launches "
            "will not help.");
    }

    void batchesUpToAWeightUpdateAreOneStep() {
        const auto stepsOf = [](std::string name, int64_t every, std::string_view kernel) {
            SimulatedTrace made;
            const uint32_t main = made.defaultThread(), stream = made.defaultStream();
            for (int64_t batch = 0; batch < 41; ++batch) {
                const int64_t at = batch * 10 * ms;
                made.addNvtx(main, name + " " + std::to_string(batch), at, at + 8 * ms);
                made.launch(main, stream, "gemm", at + 1 * ms, at + 2 * ms, at + 7 * ms);
                if (batch % every == every - 1)
                    made.launch(main, stream, kernel, at + 8 * ms + 100 * us, at + 8 * ms + 200 * us, at + 9 * ms);
            }
            return *findSteps(*made.finish());
        };
        constexpr std::string_view adam =
            "void multi_tensor_apply_kernel<Metadata<4>, FusedAdamMathFunctor<float, 4> >(int)";
        const RunSteps joined = stepsOf("batch", 4, adam);
        QCOMPARE(test::listed(joined.rangesPerStep, joined.pattern), "4 | batch #");
        const std::vector<StepSpan>& steps = joined.workers[0].steps;
        QCOMPARE(steps.size(), size_t{10});  // the last batch begins a step that does not end
        QVERIFY(joined.workers[0].isLastLeftOut);
        for (size_t step = 0; step < steps.size(); ++step) {
            QCOMPARE(steps[step].number, static_cast<int64_t>(step));
            QCOMPARE(steps[step].name, "batch " + std::to_string(4 * step));
            QVERIFY(std::abs(steps[step].range.durationNs() - 40 * ms) <= 1 * ms);
        }
        for (const RunSteps& alone :
             {stepsOf("batch", 1, adam), stepsOf("step", 4, adam), stepsOf("batch", 4, "log_kernel"),
              stepsOf("batch", 4, "multi_tensor_apply_kernel<M, LpNormFunctor<float> >")}) {
            QCOMPARE(alone.rangesPerStep, int64_t{1});
            QVERIFY(alone.workers[0].steps.size() >= 40);
        }
    }

    /// Each batch contains something different that would be a step, so none remains.
    void unjoinedBatchesStayTheSteps() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        int64_t at = 0;
        for (int64_t batch = 0; batch < 42; ++batch) {
            made.addNvtx(main, "batch " + std::to_string(batch), at, at + 8 * ms);
            made.launch(main, stream, "gemm", at + 1 * ms, at + 2 * ms, at + 7 * ms);
            if (batch % 3 == 2)
                made.launch(main, stream, "FusedAdam", at + 8 * ms + 100 * us, at + 8 * ms + 200 * us, at + 9 * ms);
            at += 10 * ms;
            for (int64_t other = 0; batch % 3 == 1 && other < 20; ++other, at += 5 * ms)
                made.launch(main, stream, "evaluate", at, at + 1 * ms, at + 4 * ms);
        }
        const RunSteps steps = *findSteps(*made.finish());
        QCOMPARE(test::listed(steps.rangesPerStep, steps.workers[0].steps.size()), "1 | 27");
    }

    void workBetweenNamedRangesIsIncluded() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        for (int64_t step = 0; step < 20; ++step) {
            const int64_t at = step * 10 * ms;
            made.addNvtx(main, "batch " + std::to_string(step), at, at + 5 * ms);
            made.launch(main, stream, "gemm", at + 10 * us, at + 20 * us, at + 5 * ms);
            made.launch(main, stream, "update", at + 6 * ms, at + 6 * ms + 10 * us, at + 9 * ms);
        }
        const TracePtr trace = made.finish();
        StepSelection named;
        named.rangeName = "batch #";
        const std::string steps = explain::explain(*summarizeRun(*trace, named)).steps;
        QVERIFY2(test::has(steps, "the GPU worked for") && test::has(steps, "which no step includes"), steps.c_str());
        HAS_NO(explain::explain(*summarizeRun(*trace)).steps, "which no step includes");
    }

    /// A thread that sleeps most of the time cannot have launched all the time, whatever the short
    /// pieces before GPU work contain.
    void sleepingProgramIsNotLaunchBound() {
        const auto explained = [](int64_t cpuNs) {
            SimulatedTrace made;
            const uint32_t main = made.defaultThread(), stream = made.defaultStream();
            made.addSteps(main, 20, 10 * ms, 10 * ms, [&](int64_t at) {
                made.launch(main, stream, "gemm", at + 8 * ms, at + 8 * ms + 5 * us, at + 10 * ms);
            });
            kinds::CpuState::Row row{
                .startNs = 0, .endNs = 200 * ms, .thread = main, .state = ThreadState::Sleep, .cpuNs = cpuNs};
            made.add<kinds::CpuState>(row);
            return summarizeRun(*made.finish());
        };
        // 19 gaps of some 8 ms, in which it had a core for 10 ms.
        const RunSummary run = *explained(10 * ms);
        int64_t waitedNs = 0, launchBoundNs = 0;
        for (const Contributor& each : run.workers[0].contributors) {
            QVERIFY(each.waitedNs <= each.exposedNs);
            waitedNs += each.waitedNs;
            if (each.part == StepPart::LaunchBound) launchBoundNs += each.exposedNs;
        }
        QVERIFY(launchBoundNs > 150 * ms);
        QVERIFY(std::abs(launchBoundNs - 10 * ms - waitedNs) <= 200 * us);
        const Explanation explanation = explain::explain(run);
        QCOMPARE(explanation.findings.front().rule, &hostWaitsRule);
        HAS(explanation.findings.front().sentence, "cannot have run meanwhile");
        // The rest may be running time. Gaps of 8 ms are no way from launch to launch.
        const Explanation longer = explain::explain(*explained(40 * ms));
        QCOMPARE(longer.findings.front().rule, &hostWaitsRule);
        const Finding* work = findingOf(longer, &hostWorkRule);
        QVERIFY(work != nullptr && work->maxGainNs <= 60 * ms / 20 + 10 * us);
        HAS(work->sentence, "Whether running or waiting kept the GPU idle is unknown");
        const Explanation running = explain::explain(*explained(150 * ms));
        QVERIFY(findingOf(running, &hostWaitsRule) == nullptr && findingOf(running, &hostWorkRule) != nullptr);
        for (const Explanation* each : {&explanation, &longer, &running})
            QVERIFY(findingOf(*each, &launchBoundRule) == nullptr);
    }

    /// A thread that waits for a launching thread does not wait idly.
    void waitForALaunchingThreadIsNotReported() {
        const auto waitedWith = [](int64_t otherCpuNs) {
            SimulatedTrace made;
            const uint32_t main = made.defaultThread(), stream = made.defaultStream();
            const uint32_t other = made.addThread(0, 77, "engine");
            made.addSteps(main, 20, 10 * ms, 10 * ms, [&](int64_t at) {
                made.launch(main, stream, "gemm", at + 8 * ms, at + 8 * ms + 5 * us, at + 9 * ms);
                made.launch(other, stream, "add", at + 9 * ms - 5 * us, at + 9 * ms, at + 10 * ms);
            });
            for (const auto& [thread, cpuNs] : {std::pair{main, 10 * ms}, {other, otherCpuNs}}) {
                kinds::CpuState::Row row{
                    .startNs = 0, .endNs = 200 * ms, .thread = thread, .state = ThreadState::Lock, .cpuNs = cpuNs};
                made.add<kinds::CpuState>(row);
            }
            int64_t waitedNs = 0;
            const auto run = summarizeRun(*made.finish());
            for (const Contributor& each : run->workers[0].contributors) waitedNs += each.waitedNs;
            return waitedNs;
        };
        QCOMPARE(waitedWith(180 * ms), int64_t{0});
        QVERIFY(waitedWith(5 * ms) > 50 * ms);
    }

    /// A range counts where its work runs on the GPU, which may be after its end on the CPU.
    void timeRangeIsRefusedOnlyIfNoWorkOfTheRangeRuns() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.addStream(0, gpu, 7, true);
        builder.addNvtx(thread, "first", 0, 20'000);
        builder.addApi(thread, "cudaLaunchKernel", 1'000, 5'000, 1);
        builder.addKernel(stream, "late", 50'000, 90'000, 1);
        builder.addNvtx(thread, "other", 500'000, 520'000);
        builder.addApi(thread, "cudaLaunchKernel", 501'000, 505'000, 2);
        builder.addKernel(stream, "late", 510'000, 900'000, 2);
        const TracePtr trace = builder.finish();
        const std::vector<std::string> reports{"memcpy_bandwidth:range"};
        QVERIFY(checkSelection(*trace, reports, TimeRange{60'000, 80'000}, "first"));
        const Result<void> refused = checkSelection(*trace, reports, TimeRange{600'000, 800'000}, "first");
        QVERIFY(!refused);
        const std::string& sentence = refused.error().sentence;
        HAS(sentence, "No NVTX range \"first\" has GPU work in that time range");
    }
};

LANESCOPE_TEST(tst_requests, NoApplication)
#include "tst_requests.moc"
