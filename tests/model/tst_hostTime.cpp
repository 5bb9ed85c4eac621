// SPDX-License-Identifier: Apache-2.0
#include "model/explain/Explanation.h"
#include "model/explain/hostTime.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;

/// A simulated program: each step launches two kernels at once, may wait for them, and is then busy before the next.
struct Shape {
    int64_t busyNs = 0;
    int64_t gpuNs = 10 * ms;  ///< GPU time per kernel.
    bool isWaiting = false;   ///< For its kernels.
    bool isSampled = true;
    const char* file = "/srv/train.py";  ///< File of the function around the busy one.
};

TracePtr programOf(const Shape& shape) {
    SimulatedTrace made;
    const uint32_t main = made.addThread(0, 4242, "python3");
    const uint32_t stream = made.defaultStream();
    const uint32_t outer = made.stack(noIndex, made.intern("outer"), made.intern(shape.file), 7);
    const uint32_t stack = made.stack(outer, made.intern("prepare"), made.intern("/srv/own.py"), 3);
    int64_t at = 1 * ms, gpuNs = 0;
    for (int64_t step = 0; step < 30; ++step) {
        const int64_t startNs = at;
        for (int kernel = 0; kernel < 2; ++kernel, at += 10 * us) {
            const int64_t fromNs = std::max(gpuNs, at + 6 * us);
            made.launch(main, stream, "gemm", at, fromNs, fromNs + shape.gpuNs);
            gpuNs = fromNs + shape.gpuNs;
        }
        if (shape.isWaiting) {
            made.addApi(main, "cudaStreamSynchronize", at, std::max(at, gpuNs) + 5 * us);
            at = std::max(at, gpuNs) + 5 * us;
        }
        if (shape.isSampled && shape.busyNs > 0) {
            kinds::CpuState::Row row;
            row.startNs = at;
            row.endNs = at + shape.busyNs;
            row.thread = main;
            row.state = ThreadState::Running;
            row.stack = stack;
            row.cpuNs = shape.busyNs;
            made.add<kinds::CpuState>(row);
        }
        at += shape.busyNs;
        made.addNvtx(main, "step " + std::to_string(step), startNs, at);
    }
    return made.finish();
}

Explanation explained(const Shape& shape) { return explain::explain(*summarizeRun(*programOf(shape))); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

/// Tests of why the launching thread is late: it waited for the GPU, is busy, or launches too
/// little at once. All programs are simulated.
class TestHostTime : public QObject {
    Q_OBJECT
  private slots:
    void busyThreadIsNotAdvisedToLaunchLess() {
        // No waiting: the thread is late because it computes 30 ms where the GPU needs 20.
        const Explanation busy = explained({.busyNs = 30 * ms});
        QCOMPARE(busy.findings.front().rule, &hostWorkRule);
        QVERIFY2(has(busy.findings.front().sentence, "at own.py:3 in prepare, which runs"),
                 busy.findings.front().sentence.c_str());
        // Thirty steps have 29 pauses.
        QVERIFY2(std::abs(busy.findings.front().maxGainNs - 10 * ms * 29 / 30) < 100 * us,
                 busy.findings.front().sentence.c_str());
        QVERIFY(findingOf(busy, &launchBoundRule) == nullptr);
        // Without samples, the reason is unknown.
        const Explanation unseen = explained({.busyNs = 30 * ms, .isSampled = false});
        QVERIFY(findingOf(unseen, &hostWorkRule) == nullptr);
        QCOMPARE(unseen.findings.front().rule, &launchBoundRule);
        // Host time overlapped by GPU work is no finding.
        QVERIFY(explained({.busyNs = 15 * ms}).findings.empty());
    }

    void busyFunctionIsNamed() {
        const auto sentence = [](const char* file) {
            return explained({.busyNs = 30 * ms, .file = file}).findings.front().sentence;
        };
        QVERIFY2(has(sentence("/x/torch/_dynamo/convert_frame.py"),
                     "at own.py:3 in prepare, compiling (torch._dynamo), which runs"),
                 sentence("/x/torch/_dynamo/convert_frame.py").c_str());
        QVERIFY(has(sentence("/x/torch/utils/data/dataloader.py"), "loading data (torch.utils.data)"));
        // Compiled code is called through this frame, too.
        QVERIFY(!has(sentence("/x/torch/_dynamo/eval_frame.py"), "compiling"));
    }

    void timeDelayedByAWaitIsAttributedToTheWait() {
        // Without the wait, the 5 ms would overlap GPU work.
        const Explanation waiting = explained({.busyNs = 5 * ms, .isWaiting = true});
        QCOMPARE(rulesOf(waiting), std::vector{&hostSyncRule});
        QVERIFY2(std::abs(waiting.findings[0].maxGainNs - 5 * ms * 29 / 30) < 100 * us,
                 waiting.findings[0].sentence.c_str());
        QVERIFY2(has(waiting.findings[0].sentence, "after cudaStreamSynchronize"),
                 waiting.findings[0].sentence.c_str());
        QVERIFY(explained({.busyNs = 5 * ms}).findings.empty());
        // Only the duration of the wait out of 30 ms: the rest would be late anyway.
        const Explanation busy = explained({.busyNs = 30 * ms, .gpuNs = 5 * ms, .isWaiting = true});
        QCOMPARE(rulesOf(busy), (std::vector{&hostWorkRule, &hostSyncRule}));
        QVERIFY2(std::abs(busy.findings[0].maxGainNs - 20 * ms * 29 / 30) < 100 * us,
                 busy.findings[0].sentence.c_str());
        QVERIFY2(std::abs(busy.findings[1].maxGainNs - 10 * ms * 29 / 30) < 100 * us,
                 busy.findings[1].sentence.c_str());
    }

    void onlyLongPiecesAreHostWork() {
        for (const int64_t busyNs : {12 * ms, 100 * us}) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3");
            const uint32_t stack = made.stack(noIndex, made.intern("step"), made.intern("/srv/own.py"), 3);
            int64_t at = 1 * ms;
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t startNs = at;
                const auto launchAfter = [&](int64_t ns) {
                    at += ns;
                    made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 50 * us);
                    at += 10 * us;
                };
                for (int short_ = 0; short_ < 50; ++short_) launchAfter(100 * us);
                launchAfter(busyNs);
                made.addNvtx(main, "step " + std::to_string(step), startNs, at);
            }
            kinds::CpuState::Row row;
            row.startNs = 1 * ms;
            row.endNs = at;
            row.thread = main;
            row.state = ThreadState::Running;
            row.stack = stack;
            row.cpuNs = at - 1 * ms;
            made.add<kinds::CpuState>(row);
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* work = findingOf(explanation, &hostWorkRule);
            const Finding* launches = findingOf(explanation, &launchBoundRule);
            QVERIFY(launches != nullptr);
            QCOMPARE(work != nullptr, busyNs == 12 * ms);
            if (work == nullptr) continue;
            QVERIFY2(std::abs(work->maxGainNs - 12 * ms) < 600 * us, work->sentence.c_str());
            QVERIFY2(std::abs(launches->maxGainNs - 50 * 66 * us) < 1 * ms, launches->sentence.c_str());
            QVERIFY(has(work->sentence, "at own.py:3 in step, which runs"));
        }
    }

    /// Samples that show it running or runnable do not reveal its core time; the kernel's count does.
    void kernelCountDistinguishesRunningFromRunnable() {
        for (const ThreadState seen : {ThreadState::Running, ThreadState::Runnable}) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3");
            const uint32_t stack = made.stack(noIndex, made.intern("step"), made.intern("/srv/own.py"), 3);
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t at = 1 * ms + step * 60 * ms;
                made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 50 * us);
                made.addNvtx(main, "step " + std::to_string(step), at, at + 60 * ms);
                kinds::CpuState::Row row;
                row.startNs = at;
                row.endNs = at + 60 * ms;
                row.thread = main;
                row.state = seen;
                row.stack = stack;
                row.cpuNs = 28 * ms;
                row.delayNs = 32 * ms;
                made.add<kinds::CpuState>(row);
            }
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* waits = findingOf(explanation, &hostWaitsRule);
            const Finding* work = findingOf(explanation, &hostWorkRule);
            QVERIFY(waits != nullptr && work != nullptr);
            QVERIFY2(std::abs(waits->maxGainNs - 32 * ms * 29 / 30) < 200 * us, waits->sentence.c_str());
            QVERIFY2(std::abs(work->maxGainNs - 28 * ms * 29 / 30) < 200 * us, work->sentence.c_str());
            for (const Finding* each : {waits, work})
                QVERIFY2(has(each->sentence, "at own.py:3 in step, which alternately runs and waits for a core"),
                         each->sentence.c_str());
        }
    }

    /// Many short waits leave no lead for launching ahead, though each takes hardly any time itself.
    void waitsThatLeaveNoLeadAreReported() {
        const auto sentenceOf = [](int waits) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3");
            const uint32_t stack = made.stack(noIndex, made.intern("step"), made.intern("/srv/own.py"), 3);
            int64_t at = 1 * ms;
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t startNs = at;
                for (int kernel = 0; kernel < 40; ++kernel) {
                    made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
                    at += 10 * us;
                    if (kernel % 4 == 0 && kernel / 4 < waits) {
                        kinds::Api::Row wait;
                        wait.startNs = at - 2 * us;
                        wait.endNs = at;
                        wait.name = made.intern("cudaStreamSynchronize");
                        wait.thread = main;
                        wait.stack = stack;
                        made.add<kinds::Api>(wait);
                    }
                    at += 150 * us;
                }
                made.addNvtx(main, "step " + std::to_string(step), startNs, at);
            }
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* launches = findingOf(explanation, &launchBoundRule);
            return launches == nullptr ? std::string() : launches->sentence;
        };
        QVERIFY2(has(sentenceOf(10),
                     " 10 times per step the GPU runs out of work because the "
                     "thread waits for it, mostly after cudaStreamSynchronize on the main "
                     "thread at own.py:3 in step"),
                 sentenceOf(10).c_str());
        QVERIFY(has(sentenceOf(1), "for work to be launched"));
        QVERIFY(!has(sentenceOf(1), "runs out of work"));
    }

    void singleVeryLongKernelIsReported() {
        const auto explained = [](int64_t longNs, int kernels) {
            SimulatedTrace made;
            int64_t at = 1 * ms;
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t startNs = at;
                for (int kernel = 0; kernel < kernels; ++kernel, at += 100 * us)
                    made.addKernel(made.defaultStream(), "gemm", at, at + 100 * us);
                made.addKernel(made.defaultStream(), "index", at, at + longNs);
                at += longNs;
                made.addNvtx(made.defaultThread(), "step " + std::to_string(step), startNs, at);
            }
            return explain::explain(*summarizeRun(*made.finish()));
        };
        const Explanation slow = explained(5 * ms, 50);
        QCOMPARE(rulesOf(slow), std::vector{&longKernelRule});
        QVERIFY2(has(slow.findings[0].sentence, "50 times as long as the mean of the 50 others"),
                 slow.findings[0].sentence.c_str());
        QVERIFY(explained(1 * ms, 50).findings.empty());
        QVERIFY(explained(5 * ms, 5).findings.empty());
    }

    void moreCopiesThanKernelsAreReported() {
        const auto sentence = [](int64_t copies) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idleIn("cudaMemcpyAsync"), 20 * ms);
            Contributor copy = contributor(StepPart::ExposedHtoD, ContributorKind::Copy, "HtoD from pinned", 0);
            copy.count = copies;
            copy.bytes = copies * 2'048;
            made.add(0, copy, 100 * us);
            return explain::explain(made.run()).findings.front().sentence;
        };
        QVERIFY2(has(sentence(400), "; 40 copies per step of 2.00 KiB each, more than kernels"), sentence(400).c_str());
        QVERIFY2(has(sentence(10), "; 2 kernels per step of"), sentence(10).c_str());
    }

    void onePauseAfterTheFirstStepIsStartUp() {
        MadeRun made;
        WorkerSummary& worker = made.run().workers[0];
        worker.pauses = {1, 900 * ms, 100 * ms, 900 * ms, 900 * ms};
        QVERIFY(rulesOf(made).empty());
        // A later pause is none, and counts at most the time around it.
        worker.pauses.longestStartNs = 5'100 * ms;
        const Explanation later = explain::explain(made.run());
        QCOMPARE(rulesOf(later), std::vector{&idleBetweenStepsRule});
        QVERIFY(std::abs(later.findings[0].share - 90.0 / 190) < 1e-6);
        worker.pauses.longestStartNs = 100 * ms;
        worker.pauses.count = 2;
        QCOMPARE(rulesOf(made), std::vector{&idleBetweenStepsRule});
    }

    void periodComesBeforeItsExplanation() {
        const auto made = [](int64_t every) {
            MadeRun run;
            WorkerSummary& worker = run.run().workers[0];
            const StepSummary like = worker.steps.front();
            worker.steps.clear();
            int64_t idleNs = 0;
            for (int64_t number = 0; number < 60; ++number) {
                StepSummary& step = worker.steps.emplace_back(like);
                step.number = number;
                step.startNs = number * 1'000 * ms;
                const int64_t moreNs = (number % every == 3 ? 400 * ms : 0) + number * 7'919 % 100'000;
                step.parts[StepPart::LaunchBound] += moreNs;
                step.wallNs += moreNs;
                idleNs += moreNs;
                if (moreNs < 400 * ms) continue;
                OutlierStep odd;
                odd.number = number;
                odd.excessNs = moreNs;
                odd.part = StepPart::LaunchBound;
                if (worker.outliers.size() < maxOutliers) worker.outliers.push_back(odd);
            }
            Contributor runs =
                contributor(StepPart::LaunchBound, ContributorKind::Idle,
                            onMain(idle(CauseKind::OutsideCalls, ThreadState::Running), {"a.py", 1, "f"}), idleNs);
            runs.count = 60;
            runs.workedNs = idleNs;
            worker.contributors.push_back(runs);
            return run;
        };
        const Explanation period = explain::explain(made(10).run());
        QCOMPARE(rulesOf(period), (std::vector{&stepPatternRule, &hostWorkRule}));
        QVERIFY(has(period.findings[0].sentence, "every 10th step"));
        QVERIFY2(has(period.findings[1].sentence, "Part of this time is also in step_pattern."),
                 period.findings[1].sentence.c_str());
        // Too few steps for a pattern of this period.
        MadeRun few = made(14);
        const Explanation odd = explain::explain(few.run());
        const Finding* found = findingOf(odd, &oddStepsRule);
        QVERIFY(found != nullptr && has(found->sentence, "They are every 14th step."));
        for (OutlierStep& each : few.run().workers[0].outliers)
            if (each.number == 17) each.number = 18;
        const Explanation uneven = explain::explain(few.run());
        found = findingOf(uneven, &oddStepsRule);
        QVERIFY(found != nullptr && !has(found->sentence, "They are every"));
    }
};

LANESCOPE_TEST(TestHostTime, NoApplication)
#include "tst_hostTime.moc"
