// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"
#include "model/analysis/hostThreads.h"
#include "model/explain/Explanation.h"
#include "model/format/factNames.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

constexpr int64_t steps = 20, stepNs = 10 * ms;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

class tst_loaderTimes : public QObject {
    Q_OBJECT
  private slots:
    /// Two ranks, of which one has loaders that run all the time.
    void loadersAreReportedWithTheirRank() {
        for (const bool waitsForData : {true, false}) {
            MadeRun made(2);
            for (const size_t rank : {0u, 1u})
                made.add(rank,
                         contributor(waitsForData ? StepPart::DataLoading : StepPart::LaunchBound,
                                     ContributorKind::Idle, idle(CauseKind::OutsideCalls, ThreadState::Poll), 0),
                         20 * ms);
            made.run().workers[0].loaders = {2, 1'000 * ms, 100 * ms, 0, 0};
            made.run().workers[1].loaders = {4, 2'000 * ms, 1'940 * ms, 60 * ms, 0};
            const Explanation explanation = explain::explain(made.run());
            const Finding* found = findingOf(explanation, &inputDataRule);
            QCOMPARE(found != nullptr, waitsForData);
            for (const Finding& each : explanation.findings)
                QCOMPARE(has(each.sentence, "loaders of rank"), &each == found);
            if (!found) continue;
            const std::string whole = found->worker == 1
                                          ? "In its steps the 4 loaders of rank 1 ran 97.0 % of the time, "
                                            "waited for a core for "
                                            "3.0 %."
                                          : "In its steps the 2 loaders of rank 0 ran 10.0 % of the time.";
            QVERIFY2(has(found->sentence, whole), found->sentence.c_str());
        }
    }

    /// In a trace: the loaders that the process started, and no others.
    void loadersAreFoundByTheirParent() {
        for (const bool isStartedByOther : {false, true}) {
            SimulatedTrace program;
            for (int64_t step = 0; step < steps; ++step) {
                const int64_t at = step * stepNs;
                program.addNvtx(program.defaultThread(), "step " + std::to_string(step), at, at + stepNs);
                program.launch(program.defaultThread(), program.defaultStream(), "gemm", at, at + 5'000, at + stepNs);
            }
            const uint32_t process = program.addProcess(777, "python3");
            program.processes()[process].facts.edit().parentPid = isStartedByOther ? 999 : 4242;
            const uint32_t loader = program.addThread(process, 777, "pt_data_worker");
            const uint32_t other = program.addThread(process, 778, "resource_tracker");
            const auto state = [&](uint32_t thread, ThreadState is, int64_t startNs, int64_t endNs) {
                kinds::CpuState::Row row;
                row.startNs = startNs;
                row.endNs = endNs;
                row.thread = thread;
                row.state = is;
                row.cpuNs = is == ThreadState::Running ? endNs - startNs : 0;
                program.add<kinds::CpuState>(row);
            };
            constexpr int64_t allNs = steps * stepNs;
            state(loader, ThreadState::Running, 0, allNs / 2);
            state(loader, ThreadState::Disk, allNs / 2, allNs);
            state(other, ThreadState::Sleep, 0, allNs);
            const Result<RunSummary> run = summarizeRun(*program.finish());
            QVERIFY(run && !run->workers.empty());
            const LoaderTimes& found = run->workers[0].loaders;
            QCOMPARE(found.threads, int64_t{isStartedByOther ? 0 : 1});
            if (isStartedByOther) continue;
            QVERIFY(found.knownNs > 0 && found.ranNs > found.knownNs * 2 / 5);
            QVERIFY(found.inputNs > found.knownNs * 2 / 5 && found.noCoreNs == 0);
            QCOMPARE(found.ranNs + found.inputNs, found.knownNs);
        }
    }

    /// As when the first rank starts the others.
    void loadersOfAnotherRankAreNotAttributedToItsParent() {
        SimulatedTrace program;
        program.launch(program.defaultThread(), program.defaultStream(), "gemm", 0, 5, 10);
        program.processes()[0].rank = 0;
        const uint32_t second = program.addProcess(500, "python3", 1);
        const uint32_t loader = program.addProcess(777, "python3", 1);
        for (const auto& [process, parent] : {std::pair(second, 4242), std::pair(loader, 500)})
            program.processes()[process].facts.edit().parentPid = parent;
        kinds::CpuState::Row row;
        row.endNs = stepNs;
        row.thread = program.addThread(loader, 777, "pt_data_worker");
        row.state = ThreadState::Disk;
        program.add<kinds::CpuState>(row);
        const TracePtr trace = program.finish();
        const std::vector<TimeRange> whole{{0, stepNs}};
        const StatesOfThreads states(*trace);
        const LoaderThreads loaders(*trace);
        QCOMPARE(loaderTimes(states, loaders.of(0), whole).threads, int64_t{0});
        QCOMPARE(loaderTimes(states, loaders.of(second), whole).threads, int64_t{1});
    }

    /// A file may claim running times of any length.
    void hugeLoaderTimesAreClamped() {
        SimulatedTrace program;
        program.launch(program.defaultThread(), program.defaultStream(), "gemm", 0, 5, 10);
        const uint32_t process = program.addProcess(777, "python3");
        program.processes()[process].facts.edit().parentPid = 4242;
        const TimeRange all{-maxTimestampNs, maxTimestampNs};
        for (const uint32_t tid : {777, 778, 779}) {
            kinds::CpuState::Row row;
            row.startNs = all.startNs;
            row.endNs = all.endNs;
            row.thread = program.addThread(process, tid, "pt_data_worker");
            row.state = ThreadState::Disk;
            program.add<kinds::CpuState>(row);
        }
        const TracePtr trace = program.finish();
        const LoaderTimes found = loaderTimes(StatesOfThreads(*trace), LoaderThreads(*trace).of(0), std::vector{all});
        QCOMPARE(found.threads, int64_t{3});
        QCOMPARE(found.knownNs, std::numeric_limits<int64_t>::max());
        QCOMPARE(found.inputNs, found.knownNs);
    }
};

LANESCOPE_TEST(tst_loaderTimes, NoApplication)
#include "tst_loaderTimes.moc"
