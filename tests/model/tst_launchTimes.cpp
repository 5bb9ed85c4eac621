// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkPlaces.h"
#include "model/analysis/hostThreads.h"
#include "model/explain/Explanation.h"
#include "model/explain/launchedWork.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;
constexpr int64_t steps = 20, stepNs = 10 * ms;
const std::string producerName = "Lanescope 0.1.0";

/// Simulated steps of `perStep` kernels, each of which begins when its launching call ends, after
/// the GPU was idle for `idleNs`.
struct Program : SimulatedTrace {
    Program(int64_t callNs, int64_t idleNs, int64_t perStep = 100) {
        description().producer = producerName;
        uint32_t correlation = 0;
        const int64_t everyNs = stepNs / perStep;
        for (int64_t step = 0; step < steps; ++step) {
            const int64_t at = step * stepNs;
            addNvtx(defaultThread(), "step " + std::to_string(step), at, at + stepNs);
            for (int64_t each = 0; each < perStep; ++each) {
                const int64_t kernelNs = at + each * everyNs + idleNs;
                addApi(defaultThread(), "cuLaunchKernel", kernelNs - callNs, kernelNs, ++correlation);
                addKernel(defaultStream(), "gemm", kernelNs, kernelNs + everyNs - idleNs, correlation);
            }
        }
    }
    /// Adds a thread that waits for a core for that share of the time.
    void addHungry(uint32_t tid, double share) {
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = steps * stepNs;
        row.thread = addThread(0, tid);
        row.state = ThreadState::Lock;
        row.cpuNs = us;
        row.delayNs = static_cast<int64_t>(share * static_cast<double>(row.endNs));
        add<kinds::CpuState>(row);
    }
    RunSummary summary() {
        const Result<RunSummary> made = summarizeRun(*finish());
        return made ? *made : RunSummary();
    }
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<uint32_t> threadsOf(const Trace& trace, uint32_t process) {
    std::vector<uint32_t> threads;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (trace.threads[thread].process == process) threads.push_back(thread);
    return threads;
}

}  // namespace

class tst_launchTimes : public QObject {
    Q_OBJECT

  private slots:
    void callsOfTheStepsAreCounted() {
        const RunSummary run = Program(7'450, 40 * us).summary();
        QCOMPARE(run.workers.size(), size_t(1));
        const LaunchTimes& launches = run.workers[0].launches;
        QCOMPARE(launches.count, static_cast<int64_t>(run.workers[0].steps.size()) * 100);
        QCOMPARE(launches.medianNs, int64_t{7'450});
        QCOMPARE(overheadShareNs(run, run.workers[0]), 100 * 5'000);
    }

    /// Although kernels of another stream run between its own.
    void graphIsOneLaunch() {
        SimulatedTrace sim;
        sim.addApi(sim.defaultThread(), "cuGraphLaunch", 0, 9 * us, 1);
        const uint32_t stream = sim.defaultStream(), other = sim.addStream(0, 0, 8);
        sim.addKernel(stream, "a", 10 * us, 20 * us, 1);
        sim.addKernel(other, "b", 12 * us, 22 * us, 2);
        sim.addKernel(sim.defaultStream(), "a", 20 * us, 30 * us, 1);
        sim.addApi(sim.defaultThread(), "cuLaunchKernel", 10 * us, 13 * us, 2);
        sim.addKernel(sim.defaultStream(), "c", 40 * us, 50 * us, 2);
        const TracePtr trace = sim.finish();
        std::vector<GpuWork> work(trace->kernels.size());
        for (uint32_t row = 0; row < work.size(); ++row) {
            work[row].startNs = trace->kernels.startNs[row];
            work[row].endNs = trace->kernels.endNs[row];
            work[row].event = EventRef(EventKind::Kernel, row);
            const EventRef call = trace->launchingCall(work[row].event);
            work[row].call = call.isValid() ? call.row() : noIndex;
        }
        const std::vector<TimeRange> all{{0, ms}}, late{{35 * us, ms}};
        const WorkPlaces places(*trace, {});
        QCOMPARE(launchTimes(*trace, all, work, places), (LaunchTimes{2, 6 * us}));
        QCOMPARE(launchTimes(*trace, late, work, places), (LaunchTimes{1, 3 * us}));
        QCOMPARE(launchTimes(*trace, {}, work, places), LaunchTimes());
    }

    void profilerShareIsBounded_data() {
        QTest::addColumn<qint64>("medianNs");
        QTest::addColumn<qint64>("eachNs");
        QTest::newRow("fast") << qint64{2'000} << qint64{0};
        QTest::newRow("plain") << qint64{2'450} << qint64{0};
        QTest::newRow("recorded") << qint64{3'050} << qint64{600};
        QTest::newRow("busy machine") << qint64{9'450} << qint64{7'000};
        // A longer launch has another cause: a thread without a core, a full queue.
        QTest::newRow("stuck") << qint64{4'000'000} << qint64{10'000};
    }
    void profilerShareIsBounded() {
        QFETCH(qint64, medianNs);
        QFETCH(qint64, eachNs);
        MadeRun made;
        made.run().facts.producerKind = ProducerKind::Lanescope;
        WorkerSummary& worker = made.run().workers[0];
        worker.launches = {100 * MadeRun::steps, medianNs};
        QCOMPARE(overheadShareNs(made.run(), worker), 100 * eachNs);
        for (const char* other :
             {"torch.profiler", "Nsight Systems 2026.2.1", "", "Lanescope 0.1.0 and torch.profiler"}) {
            made.run().facts.producerKind = producerKindOf(other);
            QCOMPARE(overheadShareNs(made.run(), worker), int64_t{0});
        }
    }

    void hugeCountDoesNotOverflow() {
        MadeRun made;
        made.run().facts.producerKind = ProducerKind::Lanescope;
        made.run().workers[0].launches = {INT64_MAX, INT64_MAX};
        QCOMPARE(overheadShareNs(made.run(), made.run().workers[0]), maxTimestampNs);
        made.run().workers[0].steps.clear();
        QCOMPARE(overheadShareNs(made.run(), made.run().workers[0]), int64_t{0});
    }

    /// The part subtracted from one finding is neither reported as another nor subtracted from others.
    void profilerShareIsNoOtherFinding() {
        // 10 us for each of 200 launches are a fifth of the step.
        const Explanation many = explain::explain(Program(12'450, 40 * us, 200).summary());
        QCOMPARE(rulesOf(many), std::vector{&launchBoundRule});
        QCOMPARE(many.findings[0].overheadNs, int64_t{2'000'000});

        // All launches are in time, however long they take.
        MadeRun ahead;
        ahead.run().facts.producerKind = ProducerKind::Lanescope;
        ahead.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::QueuedWork), 11'500 * us);
        ahead.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), 3'300 * us);
        ahead.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 3'300 * us);
        ahead.add(StepPart::Compute, ContributorKind::Kernel, "gemm", 2 * ms);
        ahead.run().workers[0].launches = {4'000 * MadeRun::steps, 12'450};
        QCOMPARE(rulesOf(ahead), std::vector{&gpuIdleRule});
        QCOMPARE(explain::explain(ahead.run()).findings[0].maxGainNs, 18'100 * us);
    }

    /// The GPU idles for 18 % of each step, of which 5 % may be profiler overhead.
    void profilerOverheadIsNotBlamedOnTheProgram() {
        const Explanation slowCalls = explain::explain(Program(7'450, 18 * us).summary());
        QVERIFY(findingOf(slowCalls, &launchBoundRule) == nullptr);
        QVERIFY(findingOf(slowCalls, &gpuIdleRule) == nullptr);
        const Explanation plainCalls = explain::explain(Program(2'450, 18 * us).summary());
        const Finding* found = findingOf(plainCalls, &launchBoundRule);
        QVERIFY(found != nullptr);
        QVERIFY(!has(found->sentence, "profiler overhead"));
    }

    void findingsExcludeTheProfilerShare() {
        const Explanation explanation = explain::explain(Program(7'450, 40 * us).summary());
        const Finding* found = findingOf(explanation, &launchBoundRule);
        QVERIFY(found != nullptr);
        QVERIFY2(found->share > 0.34 && found->share < 0.36, found->sentence.c_str());
        QVERIFY2(has(found->sentence,
                     "Up to 500.0 us per step more may be profiler overhead: 100 launches took 7.450 us each, "
                     "unprofiled launches 2.450 us in a reference measurement."),
                 found->sentence.c_str());
    }

    void veryLongLaunchesAreNotAllProfilerOverhead() {
        const Explanation explanation = explain::explain(Program(60 * us, 40 * us).summary());
        const Finding* found = findingOf(explanation, &launchBoundRule);
        QVERIFY(found != nullptr);
        QVERIFY2(has(found->sentence, "may be profiler overhead: at most 10.00 us for each of 99.95 launches."),
                 found->sentence.c_str());
    }

    void threadsWithoutCoresAreReported() {
        Program program(2'450, 40 * us);
        for (uint32_t tid = 500; tid < 508; ++tid) program.addHungry(tid, 0.25);
        program.addHungry(600, 0.001);
        const RunSummary run = program.summary();
        QVERIFY(run.workers[0].coreWaits.has_value());
        QCOMPARE(run.workers[0].coreWaits->threads, int64_t{8});
        const auto wallNs = static_cast<double>(run.workers[0].totalWallNs());
        const double cores = static_cast<double>(run.workers[0].coreWaits->ns) / wallNs;
        QVERIFY2(cores > 1.99 && cores < 2.01, qPrintable(QString::number(cores)));
        const Explanation explanation = explain::explain(run);
        const Finding* found = findingOf(explanation, &launchBoundRule);
        QVERIFY(found != nullptr);
        QVERIFY2(has(found->sentence, "8 of its threads waited for a core for 2.00 s in each second"),
                 found->sentence.c_str());
    }

    void fewThreadsWithoutACoreAreNotReported() {
        Program program(2'450, 40 * us);
        program.addHungry(500, 0.25);
        const Explanation explanation = explain::explain(program.summary());
        QVERIFY(!has(findingOf(explanation, &launchBoundRule)->sentence, "for a core"));
    }

    void coreWaitsAreUnknownWithoutSamples() {
        const RunSummary run = Program(2'450, 40 * us).summary();
        QVERIFY(!run.workers[0].coreWaits.has_value());
    }

    /// A row that claims more than the available time.
    void impossibleTimesAreClamped() {
        SimulatedTrace sim;
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = 10 * ms;
        row.thread = sim.defaultThread();
        row.state = ThreadState::Lock;
        row.delayNs = INT64_MAX;
        // The row occurs twice, and once more with an overlapping time.
        sim.add<kinds::CpuState>(row);
        sim.add<kinds::CpuState>(row);
        row.startNs = 4 * ms;
        sim.add<kinds::CpuState>(row);
        const TracePtr trace = sim.finish();
        const std::vector<TimeRange> part{{0, 5 * ms}}, elsewhere{{20 * ms, 30 * ms}};
        const StatesOfThreads states(*trace);
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), part), std::optional(CoreWaits{1, 5 * ms}));
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), elsewhere), std::optional<CoreWaits>());
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 1), part), std::optional<CoreWaits>());
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), {}), std::optional<CoreWaits>());
        // Very short steps.
        const std::vector<TimeRange> tiny{{0, 1}};
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), tiny), std::optional(CoreWaits{1, 1}));
    }

    /// Compared with a plain loop over random states and steps.
    void sharesMatchPlainLoop() {
        std::mt19937 random(5);
        const auto upTo = [&random](int64_t most) {
            return static_cast<int64_t>(random() % static_cast<uint32_t>(most + 1));
        };
        for (int round = 0; round < 50; ++round) {
            SimulatedTrace sim;
            std::vector<TimeRange> steps;
            for (int64_t at = upTo(50); steps.size() < 20; at = steps.back().endNs + upTo(30))
                steps.push_back({at, at + 1 + upTo(90)});
            int64_t allNs = 0;
            for (const TimeRange& step : steps) allNs += step.durationNs();
            double plainNs = 0;
            for (int64_t at = 0; at < steps.back().endNs;) {
                kinds::CpuState::Row row;
                row.startNs = at;
                row.endNs = at + 1 + upTo(200);
                row.thread = sim.defaultThread();
                row.state = upTo(1) == 0 ? ThreadState::Runnable : ThreadState::Running;
                const int64_t wholeNs = row.endNs - row.startNs;
                row.cpuNs = upTo(wholeNs);
                row.delayNs = upTo(wholeNs - row.cpuNs);
                sim.add<kinds::CpuState>(row);
                for (const TimeRange& step : steps)
                    if (const TimeRange both = step.intersected({row.startNs, row.endNs}); !both.isEmpty())
                        plainNs += static_cast<double>(row.state == ThreadState::Runnable ? wholeNs - row.cpuNs
                                                                                          : row.delayNs) *
                                   static_cast<double>(both.durationNs()) / static_cast<double>(wholeNs);
                at = row.endNs + upTo(20);
            }
            const TracePtr trace = sim.finish();
            const auto waits = coreWaits(*trace, StatesOfThreads(*trace), threadsOf(*trace, 0), steps);
            QVERIFY(waits.has_value());
            if (plainNs < 0.01 * static_cast<double>(allNs)) continue;
            QVERIFY(std::abs(static_cast<double>(waits->ns) - plainNs) < 1.5);
        }
    }

    /// As without a counting kernel, and in calls and samples of other tools.
    void uncountedTimeIsUnknown() {
        for (const StateSource source : {StateSource::StateSamples, StateSource::Calls}) {
            SimulatedTrace sim;
            kinds::CpuState::Row row;
            row.endNs = 10 * ms;
            row.thread = sim.defaultThread();
            row.state = ThreadState::Running;
            row.source = source;
            sim.add<kinds::CpuState>(row);
            const TracePtr trace = sim.finish();
            const std::vector<TimeRange> all{{0, 10 * ms}};
            QCOMPARE(coreWaits(*trace, StatesOfThreads(*trace), threadsOf(*trace, 0), all), std::optional<CoreWaits>());
        }
    }

    /// Threads throttled by a limit count as runnable: this is reported once.
    void cpuLimitIsReportedInsteadOfItsThreads() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 60 * ms);
        WorkerSummary& worker = made.run().workers[0];
        worker.coreWaits = CoreWaits{8, 6 * worker.totalWallNs()};
        const auto sentence = [&] { return explain::explain(made.run()).findings[0].sentence; };
        QVERIFY2(has(sentence(), "8 of its threads"), sentence().c_str());
        worker.heldBackNs = 6 * worker.totalWallNs();
        QVERIFY2(has(sentence(), "the limit of the control group held processors back for 6.00 s"), sentence().c_str());
        QVERIFY2(!has(sentence(), "of its threads"), sentence().c_str());
        worker.heldBackNs.reset();
        worker.coreWaits = CoreWaits{1, worker.totalWallNs()};
        QVERIFY2(has(sentence(), "one of its threads") && !has(sentence(), "OMP_NUM_THREADS"), sentence().c_str());
    }
};

LANESCOPE_TEST(tst_launchTimes, NoApplication)
#include "tst_launchTimes.moc"
