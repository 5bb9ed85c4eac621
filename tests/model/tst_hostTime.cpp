// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"
#include "model/analysis/ThreadActivities.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/RunComparison.h"
#include "model/explain/hostTime.h"
#include "model/format/factNames.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;
using namespace lanescope::compare;

namespace {

constexpr int64_t us = 1'000;

/// A simulated program: each step launches two kernels at once, may wait for them, and is then busy before the next.
struct Shape {
    int64_t busyNs = 0;
    int64_t gpuNs = 10 * ms;  ///< GPU time per kernel.
    bool isWaiting = false;   ///< For its kernels.
    bool isSampled = true;
    const char* file = "/srv/train.py";  ///< File of the function around the busy one.
    const char* function = "outer";      ///< That function.
};

TracePtr programOf(const Shape& shape) {
    SimulatedTrace made;
    const uint32_t main = made.addThread(0, 4242, "python3"), stream = made.defaultStream();
    const uint32_t outer = made.frame(shape.function, shape.file, 7);
    const uint32_t stack = made.frame("prepare", "/srv/own.py", 3, outer);
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
            test::addState(made, main, ThreadState::Running, {at, at + shape.busyNs}, shape.busyNs, 0, stack);
        }
        at += shape.busyNs;
        made.addNvtx(main, "step " + std::to_string(step), startNs, at);
    }
    return made.finish();
}

Explanation explained(const Shape& shape) { return explain::explain(*summarizeRun(*programOf(shape))); }

constexpr int64_t steps = 20, stepNs = 10 * ms;

constexpr const char* copyKernel =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(int)";
constexpr const char* catKernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(float*)";
constexpr const char* doubleGemm = "sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize128x64x16";

void addKernel(MadeRun& made, const char* name, int64_t ns) {
    made.add(StepPart::Compute, ContributorKind::Kernel, name, ns);
}

}  // namespace

/// Tests of why the launching thread is late: it waited for the GPU, is busy, or launches too
/// little at once. All programs are simulated.
class tst_hostTime : public QObject {
    Q_OBJECT

  private slots:
    void busyThreadIsNotAdvisedToLaunchLess() {
        // No waiting: the thread is late because it computes 30 ms where the GPU needs 20.
        const Explanation busy = explained({.busyNs = 30 * ms});
        QCOMPARE(busy.findings.front().rule, &hostWorkRule);
        HAS(busy.findings.front().sentence,
            " Place: own.py:3 in prepare, called at train.py:7 in outer. There the main thread runs.");
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
        HAS(sentence("/x/torch/_dynamo/convert_frame.py"),
            "on the main thread, compiling (torch._dynamo). Place: own.py:3 in prepare. There the main thread runs.");
        HAS(sentence("/x/torch/utils/data/dataloader.py"), "loading data (torch.utils.data)");
        // A function of this file that does not save may load.
        HAS_NO(sentence("/x/torch/serialization.py"), "saving a checkpoint");
        const std::string saving =
            explained({.busyNs = 30 * ms, .file = "/x/torch/serialization.py", .function = "_save"})
                .findings.front()
                .sentence;
        HAS(saving, "on the main thread, saving a checkpoint. Place: own.py:3 in prepare, called at ");
        // Compiled code is called through this frame, too.
        HAS_NO(sentence("/x/torch/_dynamo/eval_frame.py"), "compiling");
    }

    void timeDelayedByAWaitIsAttributedToTheWait() {
        // Without the wait, the 5 ms would overlap GPU work.
        const Explanation waiting = explained({.busyNs = 5 * ms, .isWaiting = true});
        QCOMPARE(rulesOf(waiting), std::vector{&hostSyncRule});
        QVERIFY2(std::abs(waiting.findings[0].maxGainNs - 5 * ms * 29 / 30) < 100 * us,
                 waiting.findings[0].sentence.c_str());
        HAS(waiting.findings[0].sentence, "after cudaStreamSynchronize");
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
            const uint32_t main = made.addThread(0, 4242, "python3"), stack = made.frame("step", "/srv/own.py", 3);
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
            test::addState(made, main, ThreadState::Running, {1 * ms, at}, at - 1 * ms, 0, stack);
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* work = findingOf(explanation, &hostWorkRule);
            const Finding launches = foundBy(explanation, &launchBoundRule);
            QCOMPARE(work != nullptr, busyNs == 12 * ms);
            if (work == nullptr) continue;
            QVERIFY2(std::abs(work->maxGainNs - 12 * ms) < 600 * us, work->sentence.c_str());
            QVERIFY2(std::abs(launches.maxGainNs - 50 * 66 * us) < 1 * ms, launches.sentence.c_str());
            HAS(work->sentence, " Place: own.py:3 in step. There the main thread runs.");
            HAS(work->sentence, " per step, each of 500.0 µs or more");
        }
    }

    /// Samples that show it running or runnable do not reveal its core time; the kernel's count does.
    void kernelCountDistinguishesRunningFromRunnable() {
        for (const ThreadState seen : {ThreadState::Running, ThreadState::Runnable}) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3"), stack = made.frame("step", "/srv/own.py", 3);
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t at = 1 * ms + step * 60 * ms;
                made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 50 * us);
                made.addNvtx(main, "step " + std::to_string(step), at, at + 60 * ms);
                test::addState(made, main, seen, {at, at + 60 * ms}, 28 * ms, 32 * ms, stack);
            }
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* waits = findingOf(explanation, &hostWaitsRule);
            const Finding* work = findingOf(explanation, &hostWorkRule);
            QVERIFY(waits != nullptr && work != nullptr);
            QVERIFY2(std::abs(waits->maxGainNs - 32 * ms * 29 / 30) < 200 * us, waits->sentence.c_str());
            QVERIFY2(std::abs(work->maxGainNs - 28 * ms * 29 / 30) < 200 * us, work->sentence.c_str());
            for (const Finding* each : {waits, work})
                HAS(each->sentence,
                    " Place: own.py:3 in step. There the main thread alternately runs and waits for a core.");
        }
    }

    /// Many short waits leave no lead for launching ahead, though each takes hardly any time itself.
    void waitsThatLeaveNoLeadAreReported() {
        const auto sentenceOf = [](int waits) {
            SimulatedTrace made;
            const uint32_t main = made.addThread(0, 4242, "python3"), stack = made.frame("step", "/srv/own.py", 3);
            int64_t at = 1 * ms;
            for (int64_t step = 0; step < 30; ++step) {
                const int64_t startNs = at;
                for (int kernel = 0; kernel < 40; ++kernel) {
                    made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
                    at += 10 * us;
                    if (kernel % 4 == 0 && kernel / 4 < waits) {
                        made.addApi(main, "cudaStreamSynchronize", at - 2 * us, at, 0, stack);
                    }
                    at += 150 * us;
                }
                made.addNvtx(main, "step " + std::to_string(step), startNs, at);
            }
            const Explanation explanation = explain::explain(*summarizeRun(*made.finish()));
            const Finding* launches = findingOf(explanation, &launchBoundRule);
            return launches == nullptr ? std::string() : launches->sentence;
        };
        HAS(sentenceOf(10),
            " 10 times per step the GPU runs out of work because the launching thread waits for the GPU, "
            "mostly after cudaStreamSynchronize on the main thread at own.py:3 in step");
        HAS(sentenceOf(1), "for work to be launched");
        HAS_NO(sentenceOf(1), "runs out of work");
    }

    void rangeThatOnlyOddStepsHaveIsNamed() {
        SimulatedTrace made;
        const uint32_t main = made.addThread(0, 4242, "python3.8");
        int64_t at = 1 * ms;
        for (int step = 0; step < 30; ++step) {
            const int64_t startNs = at;
            if (step % 3 == 0) {
                made.addNvtx(main, "tokenizer hiccup " + std::to_string(step), at, at + 4 * ms);
                at += 4 * ms;
            }
            for (int kernel = 0; kernel < 20; ++kernel, at += 200 * us) {
                made.addNvtx(main, "aten::conv2d", at, at + 100 * us);
                made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
            }
            made.addNvtx(main, "step " + std::to_string(step), startNs, at);
        }
        const Result<RunSummary> run = summarizeRun(*made.finish());
        QVERIFY(run);
        const auto& found = run->workers[0].distinctions;
        QCOMPARE(found.size(), size_t{1});
        QVERIFY(found[0].of == DistinctionOf::Pattern && found[0].kind == DistinctionKind::Range);
        QCOMPARE(test::listed(found[0].name, found[0].ns), "tokenizer hiccup # | 4000000");
        // Names are exact where no numbers were joined.
        QVERIFY(std::ranges::any_of(run->workers[0].contributors,
                                    [](const Contributor& each) { return each.path == "aten::conv2d"; }));
    }

    /// A range that one other step has as well is not reported to be of these steps only, nor one of many others.
    void distinctionsAreExact() {
        const auto found = [](std::set<int> alsoIn) {
            SimulatedTrace made;
            const uint32_t main = made.defaultThread();
            int64_t at = 1 * ms;
            for (int step = 0; step < 60; ++step) {
                const int64_t startNs = at;
                if (step % 3 == 0 || alsoIn.contains(step)) {
                    const int64_t ns = step % 3 == 0 ? 4 * ms : 10 * us;
                    made.addNvtx(main, "hiccup", at, at + ns);
                    at += ns;
                }
                for (int kernel = 0; kernel < 20; ++kernel, at += 200 * us)
                    made.launch(main, made.defaultStream(), "gemm", at, at + 6 * us, at + 9 * us);
                made.addNvtx(main, "step " + std::to_string(step), startNs, at);
            }
            return *summarizeRun(*made.finish());
        };
        const auto others = [&](std::set<int> alsoIn) -> int64_t {
            const auto run = found(std::move(alsoIn));
            const std::vector<Distinction>& all = run.workers.at(0).distinctions;
            return all.empty() ? -1 : all.front().others;
        };
        QCOMPARE(test::listed(others({}), others({31}), others({31, 32, 34})), "0 | 1 | -1");
        const auto sentences = [&](std::set<int> alsoIn) {
            std::string all;
            for (const Finding& each : explain::explain(found(std::move(alsoIn))).findings) all += each.sentence;
            return all;
        };
        HAS(sentences({}), " Only these steps have the range \"hiccup\"");
        HAS(sentences({31}), " Nearly only these steps have the range \"hiccup\"");
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
        HAS(slow.findings[0].sentence, "50 times as long as the mean of the 50 others");
        QVERIFY(explained(1 * ms, 50).findings.empty() && explained(5 * ms, 5).findings.empty());
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
        HAS(sentence(400), " Launched work: 40 copies per step of 2.00 KiB each, more than kernels.");
        HAS(sentence(10), " Launched work: 2 kernels per step, ");
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
            int64_t idleNs = 0;
            replaceSteps(worker, 60, [&](StepSummary& step) {
                const int64_t moreNs = (step.number % every == 3 ? 400 * ms : 0) + step.number * 7'919 % 100'000;
                step.parts[StepPart::LaunchBound] += moreNs;
                step.wallNs += moreNs;
                idleNs += moreNs;
                if (moreNs < 400 * ms) return;
                OutlierStep odd{.number = step.number, .excessNs = moreNs, .part = StepPart::LaunchBound};
                if (worker.outliers.size() < maxOutliers) worker.outliers.push_back(odd);
            });
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
        HAS(period.findings[0].sentence, "every 10th step");
        HAS(period.findings[1].sentence, "Part of this finding's time is also in step_pattern.");
        // Too few steps for a pattern of this period.
        MadeRun few = made(14);
        const Explanation odd = explain::explain(few.run());
        const Finding* found = findingOf(odd, &oddStepsRule);
        QVERIFY(found != nullptr && test::has(found->sentence, "The long steps are every 14th step."));
        for (OutlierStep& each : few.run().workers[0].outliers)
            if (each.number == 17) each.number = 18;
        const Explanation uneven = explain::explain(few.run());
        found = findingOf(uneven, &oddStepsRule);
        QVERIFY(found != nullptr && !test::has(found->sentence, "The long steps are"));
    }

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
                QCOMPARE(test::has(each.sentence, "loaders of rank"), &each == found);
            if (!found) continue;
            const std::string whole =
                found->worker == 1
                    ? "In its steps the 4 threads of loaders of rank 1 ran 97.0 % of the time, waited for a "
                      "core for 3.0 %."
                    : "In its steps the 2 threads of loaders of rank 0 ran 10.0 % of the time.";
            HAS(found->sentence, whole);
        }
    }

    /// In a trace: the loaders that the process started, and no others.
    void loadersAreFoundByTheirParent() {
        for (const bool isStartedByOther : {false, true}) {
            SimulatedTrace program;
            program.addSteps(program.defaultThread(), steps, stepNs, stepNs, [&](int64_t at) {
                program.launch(program.defaultThread(), program.defaultStream(), "gemm", at, at + 5'000, at + stepNs);
            });
            const uint32_t process = program.addProcess(777, "python3");
            program.processes()[process].facts.edit().parentPid = isStartedByOther ? 999 : 4242;
            const uint32_t loader = program.addThread(process, 777, "pt_data_worker");
            const uint32_t other = program.addThread(process, 778, "resource_tracker");
            const auto state = [&](uint32_t thread, ThreadState is, int64_t startNs, int64_t endNs) {
                test::addState(program, thread, is, {startNs, endNs}, is == ThreadState::Running ? endNs - startNs : 0);
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
        kinds::CpuState::Row row{
            .endNs = stepNs, .thread = program.addThread(loader, 777, "pt_data_worker"), .state = ThreadState::Disk};
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
            test::addState(program, program.addThread(process, tid, "pt_data_worker"), ThreadState::Disk, all);
        }
        const TracePtr trace = program.finish();
        const LoaderTimes found = loaderTimes(StatesOfThreads(*trace), LoaderThreads(*trace).of(0), std::vector{all});
        QCOMPARE(test::listed(found.threads, found.knownNs), test::listed(3, std::numeric_limits<int64_t>::max()));
        QCOMPARE(found.inputNs, found.knownNs);
    }

    void dataMovementIsReportedFromOneFifth() {
        MadeRun little;
        addKernel(little, copyKernel, 10 * ms);
        addKernel(little, catKernel, 5 * ms);
        QVERIFY(rulesOf(little).empty());
        // Copies within the GPU count as movement.
        little.add(StepPart::ExposedDtoD, ContributorKind::Copy, "DtoD", 25 * ms);
        QCOMPARE(rulesOf(little), std::vector{&dataMovementRule});
        const Finding finding = foundBy(little, &dataMovementRule);
        QCOMPARE(finding.maxGainNs, 40 * ms);
        QVERIFY2(finding.sentence.starts_with("Copies within the GPU and kernels that only move "
                                              "values take 40.00 ms of a step (28.6 %): mostly "),
                 finding.sentence.c_str());
    }

    void dataMovementOfABackwardPassNamesTheForwardLine() {
        MadeRun made;
        addKernel(made, copyKernel, 60 * ms);
        std::vector<KernelGroup>& groups = made.run().workers[0].kernels;
        groups = {{.family = KernelFamily::Movement, .count = 30, .exposedNs = 60 * ms * MadeRun::steps}};
        groups[0].name = copyKernel;
        groups[0].written = "net.py:28 in forward";
        Contributor& copies = made.run().workers[0].contributors.back();
        copies.launched = {"launched at net.py:40 in merge", "net.py:40 in merge"};
        HAS_NO(foundBy(made, &dataMovementRule).sentence, "backward");
        copies.launched = {"called from train.py:9 in main", "train.py:9 in main"};
        copies.isOfCaller = true;
        HAS(foundBy(made, &dataMovementRule).sentence, "(outside of the backward pass: net.py:28 in forward)");
        // That is no line of other copies.
        copies.name.work = catKernel;
        HAS_NO(foundBy(made, &dataMovementRule).sentence, "backward");
    }

    void computeIsNoDataMovement() {
        MadeRun made;
        addKernel(made, "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add>", 90 * ms);
        addKernel(made, "void cunn_SoftMaxForward<8, float>(float*)", 60 * ms);
        QVERIFY(rulesOf(made).empty());
    }

    void doublePrecisionIsReportedNextToOtherPrecisions() {
        MadeRun made;
        addKernel(made, doubleGemm, 20 * ms);
        QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        const Finding finding = foundBy(made, &doublePrecisionRule);
        QCOMPARE(finding.maxGainNs, 20 * ms);
        HAS(finding.sentence, "20.00 ms of a step (16.7 %)");
        MadeRun little;
        addKernel(little, doubleGemm, 5 * ms);
        QVERIFY(rulesOf(little).empty());
    }

    /// A program that multiplies only in double precision does so on purpose.
    void doublePrecisionProgramIsNotReported() {
        MadeRun made;
        made.run().workers[0].contributors[0].name = "volta_dgemm_128x64_nn";
        addKernel(made, doubleGemm, 50 * ms);
        QVERIFY(rulesOf(made).empty());
    }

    void longDoublePrecisionProductIsReportedOnce() {
        MadeRun made;
        made.run().workers[0].contributors[0].count = 400;
        Contributor product = contributor(StepPart::Compute, ContributorKind::Kernel, doubleGemm, 0);
        product.count = MadeRun::steps;
        made.add(0, product, 60 * ms);
        QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        QCOMPARE(rulesOf(explain::explain(made.run(), {&doublePrecisionRule})), std::vector{&longKernelRule});
    }

    void longDataMovementKernelIsReportedOnce() {
        MadeRun made;
        made.run().workers[0].contributors[0].count = 400;
        Contributor copies = contributor(StepPart::Compute, ContributorKind::Kernel, catKernel, 0);
        copies.count = MadeRun::steps;
        made.add(0, copies, 90 * ms);
        QCOMPARE(rulesOf(made), std::vector{&dataMovementRule});
    }

    void similarNamesAreNotMatched() {
        for (const char* name : {"groupedgemm_kernel", "void scaledgemm<float>(float*)"}) {
            MadeRun made;
            addKernel(made, name, 50 * ms);
            QVERIFY(rulesOf(made).empty());
        }
        for (const char* name : {"volta_dgemm_128x64_nn", "cutlass_80_tensorop_d16816gemm_64x64"}) {
            MadeRun made;
            addKernel(made, name, 50 * ms);
            QCOMPARE(rulesOf(made), std::vector{&doublePrecisionRule});
        }
        for (const auto& [name, rule] : std::initializer_list<std::pair<const char*, const Rule*>>{
                 {"void at::native::elementwise_kernel<bfloat16_copy_kernel_cuda(TensorIteratorBase&)>",
                  &typeConversionsRule},
                 {"nchwToNhwcKernel", &channelsFirstRule},
                 {"void cudnn::engines_precompiled::nhwcToNchwKernel<float>", &channelsFirstRule},
                 {"transpose_readWrite_alignment_kernel", &dataMovementRule}}) {
            MadeRun made;
            addKernel(made, name, 60 * ms);
            QCOMPARE(rulesOf(made), std::vector{rule});
        }
    }

    void truncatedNamesMatchTheKnownOnes() {
        QCOMPARE(shortContributorName(copyKernel), std::string("copy"));
        const std::string vectorized =
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
            "std::array<char*, 3ul>>(int, at::native::CUDAFunctor_add<float>)";
        std::string unrolled = vectorized;
        unrolled.replace(unrolled.find("vectorized"), 10, "unrolled");
        QCOMPARE(shortContributorName(vectorized), shortContributorName(unrolled));
        // If two share a short name, the source identifies the removed one.
        QVERIFY(replacedName(unrolled, vectorized).starts_with("at::native::unrolled_elementwise_kernel<"));
        QCOMPARE(replacedName("gemm", vectorized), std::string("gemm"));
        const std::string fused = "triton_poi_fused_" + std::string(5'000, 'a') + "_0";
        QVERIFY(shortContributorName(fused).size() < 80);
    }

    /// The line of more than half of the work; for a thread without Python, the line of its caller.
    void workNamesItsLaunchingLine() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t other = builder.addThread(0, 4250, "pt_autograd_0"), stream = builder.defaultStream();
        const auto lineOf = [&](const char* function, uint32_t line) {
            return builder.frame(function, "/home/ada/train.py", line);
        };
        const uint32_t forward = lineOf("forward", 212), step = lineOf("step", 310);
        uint32_t correlation = 0;
        const auto launch = [&](uint32_t thread, const char* name, uint32_t stack, int64_t fromNs, int64_t ns) {
            ++correlation;
            builder.addApi(thread, "cuLaunchKernel", fromNs - 20'000, fromNs - 10'000, correlation, stack);
            builder.addKernel(stream, name, fromNs, fromNs + ns, correlation);
        };
        builder.addSteps(main, 10, 20 * ms, 20 * ms, [&](int64_t at) {
            launch(main, "gemm", forward, at + ms, 3 * ms);
            launch(main, "gemm", step, at + 5 * ms, 1 * ms);
            launch(main, "mixed", forward, at + 7 * ms, 1 * ms);
            launch(main, "mixed", step, at + 9 * ms, 1 * ms);
            launch(other, "backward", noIndex, at + 11 * ms, 1 * ms);
        });
        const auto summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        std::map<std::string, std::string> launched;
        for (const Contributor& each : summary->workers.front().contributors)
            launched[each.name.work.substr(0, each.name.work.find('<'))] = each.launched.text;
        QCOMPARE(launched["void gemm"], std::string("launched at train.py:212 in forward"));
        QCOMPARE(launched["void mixed"], std::string());
        QCOMPARE(launched["void backward"], std::string("called from train.py:310 in step"));
        const LaunchTimes& launches = summary->workers.front().launches;
        const auto steps = static_cast<int64_t>(summary->workers.front().steps.size());
        QCOMPARE(test::listed(launches.count, launches.placeCount), test::listed(5 * steps, 2 * steps));
        QVERIFY(launches.place.text.starts_with("launched at train.py:"));
    }

    void functionOfManyLinesIsThePlaceOfLaunches() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3"), stream = builder.defaultStream();
        const auto lineOf = [&](const char* function, uint32_t line) {
            return builder.stack(noIndex, builder.intern(function), builder.intern("/home/ada/train.py"), line);
        };
        const uint32_t forward = lineOf("forward", 212);
        uint32_t correlation = 0;
        for (int64_t number = 0; number < 10; ++number) {
            const int64_t at = 20 * ms * number;
            builder.addNvtx(main, "step " + std::to_string(number), at, at + 20 * ms);
            for (uint32_t launch = 0; launch < 8; ++launch) {
                const int64_t fromNs = at + (launch + 1) * ms;
                builder.add<kinds::Api>({.startNs = fromNs - 20'000,
                                         .endNs = fromNs - 10'000,
                                         .name = builder.intern("cuLaunchKernel"),
                                         .thread = main,
                                         .correlation = ++correlation,
                                         .stack = launch < 2 ? forward : lineOf("Adan.step", 30 + launch / 2)});
                builder.addKernel(stream, "add", fromNs, fromNs + ms / 2, correlation);
            }
        }
        const auto summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        const LaunchTimes& launches = summary->workers.front().launches;
        QCOMPARE(launches.place.text, std::string("in Adan.step (train.py)"));
        QVERIFY(launches.place.line.empty());
        QCOMPARE(launches.placeCount, 6 * launches.count / 8);
    }

    /// Kernels overlap the copies of one line; the exposed time belongs to another line.
    void overlappedWorkDoesNotNameTheLine() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.defaultStream(), other = builder.addStream(0, 0, 8);
        const auto lineOf = [&](const char* function, uint32_t line) {
            return builder.frame(function, "/home/ada/train.py", line);
        };
        const uint32_t prefetch = lineOf("prefetch", 7), step = lineOf("step", 310);
        uint32_t correlation = 0;
        const auto call = [&](uint32_t stack, int64_t atNs) {
            builder.addApi(main, "cuLaunch", atNs - 20'000, atNs - 10'000, ++correlation, stack);
            return correlation;
        };
        builder.addSteps(main, 10, 20 * ms, 20 * ms, [&](int64_t at) {
            builder.addKernel(stream, "gemm", at + ms, at + 12 * ms, call(step, at + ms));
            builder.addMemcpy(other, MemcpyKind::HtoD, 1 << 20, at + 2 * ms, at + 8 * ms, call(prefetch, at + 2 * ms));
            builder.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, at + 13 * ms, at + 15 * ms, call(step, at + 13 * ms));
        });
        const auto summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        for (const Contributor& each : summary->workers.front().contributors) {
            if (each.part != StepPart::ExposedHtoD) continue;
            QVERIFY(each.exposedNs < each.totalNs / 2);
            QVERIFY2(each.launched.text != "launched at train.py:7 in prefetch", each.launched.text.c_str());
        }
    }

    void findingShowsWhereItsWorkWasLaunched() {
        MadeRun made;
        Contributor copies = contributor(StepPart::Compute, ContributorKind::Kernel, copyKernel, 0);
        copies.launched = {"launched at train.py:104 in with_new", "train.py:104 in with_new"};
        made.add(0, copies, 90 * ms);
        const Finding finding = foundBy(made, &dataMovementRule);
        QCOMPARE(finding.launched.text, copies.launched.text);
        HAS(finding.sentence, "in forward, launched at train.py:104 in with_new, ");
        HAS(finding.brief, ", train.py:104 in with_new");
        HAS_NO(finding.brief, "launched");
    }

    /// cuDNN plans attention for each new size, at the line that launches it.
    void plansOfAttentionAreNamed() {
        for (const char* kernel : {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop", "flash_fwd_kernel"}) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle,
                     onMain(idle(CauseKind::OutsideCalls, ThreadState::Running), {"gpt.py", 47, "forward"}), 60 * ms);
            made.run().workers[0].contributors.back().workedNs = 60 * ms * MadeRun::steps;
            Contributor attention = contributor(StepPart::Compute, ContributorKind::Kernel, kernel, 0);
            attention.launched = {"launched at gpt.py:47 in forward", "gpt.py:47 in forward"};
            made.add(0, attention, ms);
            const Finding finding = foundBy(made, &hostWorkRule);
            QCOMPARE(test::has(finding.advice, "cuDNN plans its attention for each new one there"), kernel[0] == 'c');
            // A line that launches a whole model is no sign of it.
            attention.name.work = "sm90_xmma_gemm_bf16bf16";
            made.add(0, attention, ms);
            HAS_NO(foundBy(made, &hostWorkRule).advice, "cuDNN plans");
        }
    }

    /// The cause of the idle time in most steps explains more than a level change of the step time.
    void causeOfALevelChangeComesFirst() {
        MadeRun made;
        auto& worker = made.run().workers[0];
        lengthenSteps(worker, 30, StepPart::LaunchBound, 60 * ms, [](int64_t number) { return number >= 10; });
        Contributor waits =
            contributor(StepPart::LaunchBound, ContributorKind::Idle,
                        idle(CauseKind::OutsideCalls, ThreadState::Gil, Observation::Alternating), 20 * 35 * ms);
        waits.waitedNs = waits.exposedNs;
        worker.contributors.push_back(waits);
        worker.contributors.push_back(
            contributor(StepPart::LaunchBound, ContributorKind::Idle, idleIn("cuLaunchKernel"), 20 * 25 * ms));
        const std::vector<const Rule*> rules = rulesOf(made);
        QVERIFY(rules.size() >= 2);
        QCOMPARE(rules[0], &hostWaitsRule);
        QCOMPARE(rules[1], &stepPatternRule);
    }
};

LANESCOPE_TEST(tst_hostTime, NoApplication)
#include "tst_hostTime.moc"
