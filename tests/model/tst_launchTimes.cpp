// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <string>
#include <vector>

#include "model/compare/coreWaits.h"
#include "model/compare/launchTimes.h"
#include "model/explain/Explanation.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::compare;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000, ms = 1'000'000;
constexpr int64_t steps = 20, stepNs = 10 * ms, perStep = 100;

/// Simulated steps of kernels, one every 100 us, each of which begins when the call ends that
/// launched it and leaves the GPU idle for `idleNs`.
struct Program : SimulatedTrace {
    Program(int64_t callNs, int64_t idleNs) {
        uint32_t correlation = 0;
        for (int64_t step = 0; step < steps; ++step) {
            const int64_t at = step * stepNs;
            addNvtx(defaultThread(), "step " + std::to_string(step), at, at + stepNs);
            for (int64_t each = 0; each < perStep; ++each) {
                const int64_t kernelNs = at + each * 100 * us + idleNs;
                addApi(defaultThread(), "cuLaunchKernel", kernelNs - callNs, kernelNs,
                       ++correlation);
                addKernel(defaultStream(), "gemm", kernelNs, kernelNs + 100 * us - idleNs,
                          correlation);
            }
        }
    }
    /// A thread that wants a core for that share of all the time.
    void addHungry(uint32_t tid, double share) {
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = steps * stepNs;
        row.thread = addThread(0, tid);
        row.state = ThreadState::Lock;
        row.delayNs = static_cast<int64_t>(share * static_cast<double>(row.endNs));
        add<kinds::CpuState>(row);
    }
    RunSummary summary() {
        const Result<RunSummary> made = summarizeRun(*finish());
        return made ? *made : RunSummary();
    }
};

const Finding* findingOf(const Explanation& explanation, Rule rule) {
    const auto found = std::ranges::find(explanation.findings, rule, &Finding::rule);
    return found == explanation.findings.end() ? nullptr : &*found;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

/// What of late launches is the recorder's, and which threads lacked cores meanwhile.
class tst_launchTimes : public QObject {
    Q_OBJECT

  private slots:
    void callsOfTheStepsAreCounted() {
        const RunSummary run = Program(7'450, 40 * us).summary();
        QCOMPARE(run.workers.size(), size_t(1));
        const LaunchTimes& launches = run.workers[0].launches;
        QCOMPARE(launches.count, static_cast<int64_t>(run.workers[0].steps.size()) * perStep);
        QCOMPARE(launches.medianNs, int64_t{7'450});
        QCOMPARE(launches.recorderNs(), launches.count * 5'000);
    }

    void aGraphIsOneLaunch() {
        SimulatedTrace sim;
        sim.addApi(sim.defaultThread(), "cuGraphLaunch", 0, 9 * us, 1);
        sim.addKernel(sim.defaultStream(), "a", 10 * us, 20 * us, 1);
        sim.addKernel(sim.defaultStream(), "b", 20 * us, 30 * us, 1);
        sim.addApi(sim.defaultThread(), "cuMemsetD8Async", 10 * us, 13 * us, 2);
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
        QCOMPARE(launchTimes(*trace, all, work), (LaunchTimes{2, 9 * us}));
        QCOMPARE(launchTimes(*trace, late, work), (LaunchTimes{1, 3 * us}));
        QCOMPARE(launchTimes(*trace, {}, work), LaunchTimes());
    }

    void neverMoreIsTheRecorders_data() {
        QTest::addColumn<qint64>("medianNs");
        QTest::addColumn<qint64>("eachNs");
        QTest::newRow("fast") << qint64{2'000} << qint64{0};
        QTest::newRow("plain") << qint64{2'450} << qint64{0};
        QTest::newRow("recorded") << qint64{3'050} << qint64{600};
        QTest::newRow("busy machine") << qint64{9'450} << qint64{7'000};
        // What takes longer is something else: a thread without a core, a full queue.
        QTest::newRow("stuck") << qint64{4'000'000} << qint64{10'000};
    }
    void neverMoreIsTheRecorders() {
        QFETCH(qint64, medianNs);
        QFETCH(qint64, eachNs);
        QCOMPARE((LaunchTimes{100, medianNs}).recorderNs(), 100 * eachNs);
    }

    void aHugeCountOverflowsNothing() {
        QCOMPARE((LaunchTimes{INT64_MAX, INT64_MAX}).recorderNs(), greatestTimeNs);
    }

    /// The GPU idles for 18 % of each step, and of that 5 % may be the recorder's.
    void whatTheRecorderTakesIsNotHeldAgainstTheProgram() {
        const Explanation slowCalls = explain::explain(Program(7'450, 18 * us).summary());
        QVERIFY(findingOf(slowCalls, Rule::LaunchBound) == nullptr);
        QVERIFY(findingOf(slowCalls, Rule::GpuIdle) == nullptr);
        const Explanation plainCalls = explain::explain(Program(2'450, 18 * us).summary());
        const Finding* found = findingOf(plainCalls, Rule::LaunchBound);
        QVERIFY(found != nullptr);
        QVERIFY(!has(found->sentence, "recorder"));
    }

    void whatIsLeftIsToldWithoutIt() {
        const Explanation explanation = explain::explain(Program(7'450, 40 * us).summary());
        const Finding* found = findingOf(explanation, Rule::LaunchBound);
        QVERIFY(found != nullptr);
        QVERIFY2(found->share > 0.34 && found->share < 0.36, found->sentence.c_str());
        QVERIFY2(has(found->sentence,
                     "Up to 500.0 us a step more may be the recorder's: 100 launches took 7.450 us "
                     "each, and take 2.450 us where nobody records."),
                 found->sentence.c_str());
    }

    void whatTakesLongerThanAnyRecorderIsNotAllItsOwn() {
        const Explanation explanation = explain::explain(Program(60 * us, 40 * us).summary());
        const Finding* found = findingOf(explanation, Rule::LaunchBound);
        QVERIFY(found != nullptr);
        QVERIFY2(
            has(found->sentence, "may be the recorder's: 10.00 us for each of 99.95 launches."),
            found->sentence.c_str());
    }

    void threadsWithoutCoresAreTold() {
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
        const Finding* found = findingOf(explanation, Rule::LaunchBound);
        QVERIFY(found != nullptr);
        QVERIFY2(has(found->sentence,
                     "8 of its threads, ready to run, had no core for 2.00 s in each second"),
                 found->sentence.c_str());
    }

    void fewThreadsWithoutACoreAreNothingToTell() {
        Program program(2'450, 40 * us);
        program.addHungry(500, 0.25);
        const Explanation explanation = explain::explain(program.summary());
        QVERIFY(!has(findingOf(explanation, Rule::LaunchBound)->sentence, "had no core"));
    }

    void whereNobodyLookedNothingIsKnownOfCores() {
        const RunSummary run = Program(2'450, 40 * us).summary();
        QVERIFY(!run.workers[0].coreWaits.has_value());
    }

    /// A row of the file that claims more than there was time.
    void timesThatAreLiesAreCut() {
        SimulatedTrace sim;
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = 10 * ms;
        row.thread = sim.defaultThread();
        row.state = ThreadState::Runnable;
        row.delayNs = INT64_MAX;
        sim.add<kinds::CpuState>(row);
        const TracePtr trace = sim.finish();
        const std::vector<TimeRange> part{{0, 5 * ms}}, elsewhere{{20 * ms, 30 * ms}};
        QCOMPARE(coreWaits(*trace, 0, part), std::optional(CoreWaits{1, 5 * ms}));
        QCOMPARE(coreWaits(*trace, 0, elsewhere), std::optional<CoreWaits>());
        QCOMPARE(coreWaits(*trace, 1, part), std::optional<CoreWaits>());
    }
};

LANESCOPE_TEST(tst_launchTimes, NoApplication)
#include "tst_launchTimes.moc"
