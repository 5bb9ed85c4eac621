// SPDX-License-Identifier: Apache-2.0
// The time of a run outside of its steps, and findings about it.

#include "model/analysis/RunSummary.h"
#include "model/trace/kinds/allKinds.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1000;

/// Idle time of the launching thread in a function.
IdleCause inFunction(std::string file, uint32_t line, std::string function) {
    IdleCause cause{CauseKind::OutsideCalls};
    cause.activity.frame = {std::move(file), line, std::move(function)};
    cause.activity.observation = Observation::State;
    cause.activity.state = ThreadState::Running;
    return cause;
}

/// A run with pauses of a second between its steps, for this reason.
RunSummary withPauses(const IdleCause& cause, std::string path = {}) {
    MadeRun made;
    WorkerSummary& worker = made.run().workers[0];
    worker.pauses = {9, 9'000 * ms, 100 * ms, 1'000 * ms, 9'000 * ms};
    Contributor pause = contributor(StepPart::LaunchBound, ContributorKind::Idle, cause, 9'000 * ms);
    pause.path = std::move(path);
    worker.phases = {{RunPhase::Between, {std::move(pause)}}};
    return made.run();
}

}  // namespace

class tst_RestOfRun : public QObject {
    Q_OBJECT

  private slots:
    void phasesCoverTheRun() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        made.addApi(main, "cudaSetDevice", 0, 1 * ms);
        made.launch(main, stream, "init", 400 * ms, 401 * ms, 402 * ms);
        for (int64_t step = 0; step < 8; ++step) {
            const int64_t at = 500 * ms + step * 10 * ms + (step > 3 ? 50 * ms : 0);
            made.addNvtx(main, "step " + std::to_string(step), at, at + 9 * ms);
            made.launch(main, stream, "gemm", at, at + 10 * us, at + 9 * ms);
        }
        // An evaluation
        for (int64_t batch = 0; batch < 8; ++batch)
            made.launch(main, stream, "eval", 542 * ms + batch * 5 * ms, 543 * ms + batch * 5 * ms,
                        544 * ms + batch * 5 * ms);
        made.launch(main, stream, "test", 900 * ms, 901 * ms, 1'000 * ms);
        const TracePtr trace = made.finish();
        const WorkerSummary worker = summarizeRun(*trace)->workers.at(0);
        QCOMPARE(worker.runNs(), trace->processes[0].range.durationNs());
        const PhaseSummary* start = worker.phase(RunPhase::StartUp);
        QVERIFY(start != nullptr && worker.phase(RunPhase::End) != nullptr);
        // The time before the first work has a cause, too.
        QCOMPARE(start->contributors.front().name.idle.kind, CauseKind::OutsideCalls);
        QVERIFY(start->contributors.front().exposedNs > 450 * ms);
        const PhaseSummary* between = worker.phase(RunPhase::Between);
        QVERIFY(between != nullptr);
        std::string names;
        for (const Contributor& each : between->contributors) names += each.name.text() + ", ";
        HAS(names, "eval");
        const Explanation explained = explain::explain(*summarizeRun(*trace));
        HAS(explained.sentence, " of the 1.000 s of the run.");
        HAS(explained.steps, "Largest times outside of the steps: ");
        HAS(explained.steps, "(1) GPU idle for 498.0 ms before the first step, in host code");
    }

    void stepsOfMostOfTheRunNeedNoRemark() {
        MadeRun made;
        made.run().workers[0].phases = {
            {RunPhase::StartUp,
             {contributor(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 900 * ms)}}};
        HAS_NO(explain::explain(made.run()).sentence, "The explained steps are");
        HAS_NO(explain::explain(made.run()).steps, "Largest times outside");
        made.run().workers[0].phases[0].contributors[0].exposedNs = 9'000 * ms;
        const Explanation explained = explain::explain(made.run());
        HAS(explained.sentence, "The explained steps are 10.0 % of the 10.00 s of the run.");
        HAS(explained.steps,
            "Largest times outside of the steps: (1) GPU idle for 9.000 s before the first step, in host code");
        HAS_NO(explained.steps, "from the first to the last GPU work");
    }

    void firstLaunchesAreNamed() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        int64_t at = 0;
        for (int kernel = 0; kernel < 8; ++kernel) {
            const auto correlation = static_cast<uint32_t>(kernel + 1);
            made.addApi(main, "hipLaunchKernel", at, at + 70 * ms, correlation);
            made.addKernel(stream, "first" + std::to_string(kernel), at + 70 * ms, at + 70 * ms + 6 * us, correlation);
            at += 70 * ms + 10 * us;
        }
        for (int64_t step = 0; step < 3; ++step, at += 300 * us) {
            made.addNvtx(main, "norm " + std::to_string(step), at, at + 250 * us);
            for (int64_t kernel = 0; kernel < 10; ++kernel)
                made.launch(main, stream, "norm", at + kernel * 20 * us, at + kernel * 20 * us + 8 * us,
                            at + kernel * 20 * us + 14 * us);
        }
        const std::string steps = explain::explain(*summarizeRun(*made.finish())).steps;
        HAS(steps, "Largest times outside of the steps: (1) GPU idle for 560.0 ms before the first step, in hipLaunch");
    }

    void deferredWorkHasNoSteps() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        for (int64_t step = 0; step < 11; ++step) {
            const int64_t at = step * 34 * ms, correlation = step + 1;
            made.addNvtx(main, "step " + std::to_string(step), at, at + 3 * ms);
            made.addApi(main, "cudaGraphLaunch", at, at + 1 * ms, static_cast<uint32_t>(correlation));
            made.addGraph(stream, 1, 400 * ms + step * 2 * ms, 402 * ms + step * 2 * ms,
                          static_cast<uint32_t>(correlation));
        }
        const TracePtr trace = made.finish();
        const RunSummary run = *summarizeRun(*trace);
        QCOMPARE(test::listed(run.source, run.deferred), test::listed(StepSource::WholeRun, "step #"));
        const Explanation explanation = explain::explain(run);
        QVERIFY(std::ranges::any_of(explanation.caveats, [](const std::string& caveat) {
            return test::has(caveat, "The work of the ranges \"step #\" ran long after them") &&
                   test::has(caveat, "steps cannot be timed");
        }));
        QCOMPARE(findSteps(*trace, {.rangeName = "step #"})->workers.at(0).foundCount, int64_t{11});
    }

    /// A CPU ahead of a busy GPU is no sign of deferred work.
    void cpuThatRunsAheadKeepsItsSteps() {
        SimulatedTrace made;
        for (int64_t step = 0; step < 20; ++step) {
            made.addNvtx(made.defaultThread(), "step " + std::to_string(step), step * ms, step * ms + 900 * us);
            made.launch(made.defaultThread(), made.defaultStream(), "gemm", step * ms, 10 * ms + step * 10 * ms,
                        19 * ms + step * 10 * ms);
        }
        QCOMPARE(findSteps(*made.finish())->source, StepSource::NvtxRange);
    }

    void pausesNameTheirLine_data() {
        const test::Rows<QString, QString, QString> row;
        row("save", "save", "", "Save less often");
        row("range", "work", "write checkpoint", "Save less often");
        row("evaluation", "evaluate", "", "Evaluate less often");
        row("unknown", "work", "", "Do less there");
    }
    void pausesNameTheirLine() {
        const auto [function, path, advice] = test::row<QString, QString, QString>();
        const Explanation made =
            explain::explain(withPauses(inFunction("train.py", 34, function.toStdString()), path.toStdString()));
        const Finding found = foundBy(made, &idleBetweenStepsRule);
        HAS(found.sentence, "train.py:34 in " + function.toStdString());
        HAS(found.advice, advice.toStdString());
        QCOMPARE(test::has(found.advice, "Save"), advice.startsWith("Save"));
    }

    void allocationsPrecedeTheLaunchesThatTheyDelay() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 60 * ms);
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::InCall), 20 * ms,
                 ContributorTrait::Allocation);
        QCOMPARE(rulesOf(made).front(), &launchBoundRule);
        made.run().workers[0].allocations = {400, 300, "memory.py:224 in empty_cache, called at train.py:34 in train"};
        QCOMPARE(rulesOf(made), (std::vector{&allocationsRule, &launchBoundRule}));
        const Finding finding = explain::explain(made.run()).findings.front();
        HAS(finding.sentence,
            " 30 blocks per step are freed and 40 allocated. Most frees are at memory.py:224 in empty_cache, called at "
            "train.py:34 in train.");
        HAS(finding.advice, "torch.cuda.empty_cache()");
    }

    void freesAreCountedWithTheirLine() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        const uint32_t train = made.frame("train", "/src/train.py", 34);
        const uint32_t empty =
            made.frame("empty_cache", "/opt/venv/lib/python3.12/site-packages/torch/cuda/memory.py", 224, train);
        made.addSteps(main, 10, 10 * ms, 9 * ms, [&](int64_t at) {
            made.addApi(main, "cudaMalloc", at + 100 * us, at + 200 * us);
            made.launch(main, stream, "gemm", at + 300 * us, at + 310 * us, at + 9 * ms);
            made.addApi(main, "cudaFree", at + 9 * ms, at + 9 * ms + 100 * us, 0, empty);
        });
        const AllocationTimes found = summarizeRun(*made.finish())->workers.at(0).allocations;
        QVERIFY(found.frees >= 9 && found.allocations >= 9);
        QCOMPARE(found.freedAt.text, std::string("memory.py:224 in empty_cache, called at train.py:34 in train"));
        QCOMPARE(found.freedAt.line, std::string("memory.py:224 in empty_cache"));
        QCOMPARE(found.freedAt.caller, std::string("train.py:34 in train"));
    }

    void fp32ProductsNextToIdleTensorCores_data() {
        const test::Rows<QString, bool, bool> row;
        const QString fp32 = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize2x4x1_ffma";
        row("xmma", fp32, true, true);
        row("cuBLAS", "ampere_sgemm_128x64_nn", true, true);
        row("CUTLASS", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", true, true);
        row("GPU without", fp32, false, false);
        row("TF32", "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", true, false);
        row("tensor cores", "cutlass_80_tensorop_s1688gemm_128x64_nn_align4", true, false);
        row("bf16", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", true, false);
        row("double", "volta_dgemm_128x64_nn", true, false);
    }
    void fp32ProductsNextToIdleTensorCores() {
        const auto [kernel, hasTensorFloat, isFound] = test::row<QString, bool, bool>();
        MadeRun made;
        made.run().workers[0].contributors[0].name = "void at::native::softmax_warp_forward<float>(int)";
        made.run().workers[0].hasTensorFloat = hasTensorFloat;
        made.add(StepPart::Compute, ContributorKind::Kernel, kernel.toStdString(), 100 * ms);
        const Explanation explanation = explain::explain(made.run());
        const Finding* found = findingOf(explanation, &singlePrecisionRule);
        QCOMPARE(found != nullptr, isFound);
        if (found != nullptr) HAS(found->advice, "set_float32_matmul_precision");
    }

    void operationsThatAreDispatchedSinglyAreToBeCompiled() {
        const auto adviceOf = [](int programs, int kernels) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 200 * ms);
            for (int program = 0; program < programs; ++program)
                for (int kernel = 0; kernel < kernels; ++kernel) {
                    Contributor each =
                        contributor(StepPart::Compute, ContributorKind::Kernel, "fusion" + std::to_string(kernel), 0);
                    each.path = "jit_" + std::string(1, static_cast<char>('a' + program)) + " (XlaModule)/x (Thunk)";
                    each.count = 200 * MadeRun::steps;
                    made.add(0, each, 1 * ms);
                }
            const Explanation explanation = explain::explain(made.run());
            const Finding* found = findingOf(explanation, &launchBoundRule);
            return found == nullptr ? std::string() : found->advice;
        };
        constexpr const char* whole = "so that it launches one program";
        HAS(adviceOf(6, 1), whole);
        HAS_NO(adviceOf(1, 30), whole);
    }

    /// The first layer of each token is longer, but that is the token.
    void periodOfALargerUnitIsNoFinding() {
        MadeRun made;
        WorkerSummary& worker = made.run().workers[0];
        worker.steps.resize(1);
        lengthenSteps(worker, 60, StepPart::LaunchBound, 30 * ms, [](int64_t number) { return number % 6 == 0; });
        worker.foundSteps = 60;
        worker.contributors.push_back(
            contributor(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 300 * ms));
        made.run().source = StepSource::KernelPattern;
        QVERIFY(findingOf(explain::explain(made.run()), &stepPatternRule) != nullptr);
        made.run().units = {{StepSource::PythonLoop, "generate.py:30 in generate", 10}};
        QVERIFY(findingOf(explain::explain(made.run()), &stepPatternRule) == nullptr);
        // Steps that the program names are no parts: the first of each epoch is longer.
        made.run().source = StepSource::NvtxRange;
        QVERIFY(findingOf(explain::explain(made.run()), &stepPatternRule) != nullptr);
    }

    /// The time after the last work is a part of the run.
    void runLastsToItsLastEvent() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread();
        for (int64_t step = 0; step < 8; ++step) {
            made.addNvtx(main, "step " + std::to_string(step), step * 10 * ms, step * 10 * ms + 9 * ms);
            made.launch(main, made.defaultStream(), "gemm", step * 10 * ms, step * 10 * ms + 10 * us,
                        step * 10 * ms + 9 * ms);
        }
        made.addNvtx(main, "write report", 100 * ms, 900 * ms);
        const RunSummary run = *summarizeRun(*made.finish());
        QCOMPARE(run.workers.at(0).runNs(), 900 * ms);
        HAS(explain::explain(run).sentence, " of the 900.0 ms of the run.");
        HAS(explain::explain(run).steps, "Largest times outside of the steps: ");
        HAS(explain::explain(run).steps, "after the last step");
    }

    void pausesAreCountedInSteps() {
        const Finding found =
            foundBy(explain::explain(withPauses(inFunction("train.py", 34, "save"))), &idleBetweenStepsRule);
        HAS(found.sentence, "The GPU has no work for 9.000 s in 9 pauses between steps, ");
        HAS(found.sentence, "% of the time of steps and pauses: mostly in host code");
        HAS(found.sentence, " The longest pause takes 1.000 s, before step 1.");
        RunSummary rare = withPauses(inFunction("train.py", 34, "save"));
        rare.workers[0].pauses.count = 2;
        HAS(findingOf(explain::explain(rare), &idleBetweenStepsRule)->sentence,
            "in 2 pauses between steps, one every 5 steps, ");
    }

    /// A mean per step shows nothing of a pause every 20 steps.
    void rareGapsAreCountedInSteps() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle,
                 onMain(idle(CauseKind::OutsideCalls, ThreadState::Sleep), {"train.py", 7, "log"}), 20 * ms);
        Contributor& pause = made.run().workers[0].contributors.back();
        pause.count = 2;
        HAS(explain::explain(made.run()).findings.front().sentence, ", in 2 pauses of 100.0 ms, one every 5 steps.");
        pause.count = 20;
        HAS_NO(explain::explain(made.run()).findings.front().sentence, "pauses");
    }

    void findingsHaveDifferentPlaces() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 60 * ms);
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 20 * ms);
        made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 20 * ms);
        std::set<int64_t> places;
        const Explanation explanation = explain::explain(made.run());
        for (const Finding& each : explanation.findings) places.insert(each.atNs.value_or(-1));
        QCOMPARE(test::listed(explanation.findings.size(), places.size()), "3 | 3");
    }

    void adviceFitsTheProgram_data() {
        const test::Rows<QString, QString, QString, QString, QString> row;
        row("PyTorch", "void at::native::vectorized_elementwise_kernel<4>(int)", "", "cudaLaunchKernel",
            "torch.compile,CUDA graphs", "jax,HIP");
        row("PyTorch on ROCm", "void at::native::vectorized_elementwise_kernel<4>(int)", "", "hipLaunchKernel",
            "torch.compile,HIP graphs", "jax,CUDA");
        row("JAX", "loop_fusion", "jit_step (XlaModule)", "cuLaunchKernel", "jax.jit", "torch,CUDA graphs");
        row("CUDA", "gemm", "", "cudaLaunchKernel", "CUDA graphs", "torch,jax,Python,HIP");
        row("Ajax", "gemm", "ajax/train", "cudaLaunchKernel", "CUDA graphs", "torch,jax,Python,HIP");
        row("HIP", "gemm", "", "hipLaunchKernel", "HIP graphs", "torch,jax,Python,CUDA");
    }
    void adviceFitsTheProgram() {
        const auto [kernel, path, call, words, others] = test::row<QString, QString, QString, QString, QString>();
        MadeRun made;
        made.run().workers[0].contributors[0].name = kernel.toStdString();
        made.run().workers[0].contributors[0].path = path.toStdString();
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idleIn(call.toStdString()), 60 * ms);
        made.run().workers[0].launches = {300, 3 * us};
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(explanation.findings.front().rule, &launchBoundRule);
        const std::string& advice = explanation.findings.front().advice;
        for (const QString& word : words.split(',')) HAS(advice, word.toStdString());
        for (const QString& word : others.split(',')) HAS_NO(advice, word.toStdString());
        // Fewer launches than one or two are impossible.
        made.run().workers[0].launches.count = MadeRun::steps;
        HAS(explain::explain(made.run()).findings.front().advice, "do less");
        HAS_NO(explain::explain(made.run()).findings.front().advice, "larger kernels");
    }

    void copiesToTheHostAreNoBatches() {
        const auto adviceOf = [](const char* copy, ContributorTrait trait) {
            MadeRun made;
            made.run().workers[0].contributors[0].name = "void at::native::reduce_kernel<4>(int)";
            const bool isToHost = std::string_view(copy).starts_with("DtoH");
            made.add(isToHost ? StepPart::ExposedDtoH : StepPart::ExposedHtoD, ContributorKind::Copy, copy, 30 * ms,
                     trait);
            return explain::explain(made.run()).findings.front().advice;
        };
        HAS(adviceOf("HtoD from pageable", ContributorTrait::Pageable), "DataLoader(pin_memory=True)");
        HAS_NO(adviceOf("DtoH to pageable", ContributorTrait::Pageable), "DataLoader");
        HAS(adviceOf("DtoH to pageable", ContributorTrait::Pageable), "pinned memory");
        HAS(adviceOf("HtoD from pinned", ContributorTrait::None), "next batch");
        HAS_NO(adviceOf("DtoH to pinned", ContributorTrait::None), "next batch");
    }

    void holderOfTheGilIsPartOfTheAdvice() {
        MadeRun made;
        IdleCause cause = onMain(idle(CauseKind::OutsideCalls, ThreadState::Gil), {"train.py", 7, "train"});
        cause.activity.holder = {ThreadRole::Named, "logger"};
        cause.activity.holderFrame = {"log.py", 9, "write"};
        made.add(StepPart::LaunchBound, ContributorKind::Idle, cause, 60 * ms);
        const Finding finding = explain::explain(made.run()).findings.front();
        QCOMPARE(finding.rule, &hostWaitsRule);
        HAS(finding.advice, " The thread logger has the GIL meanwhile, at log.py:9 in write: move that work");
    }

    void oddStepsNameTheFindingWithTheirCause() {
        MadeRun made;
        const IdleCause cause = onMain(idle(CauseKind::OutsideCalls, ThreadState::Sleep), {"train.py", 7, "log"});
        made.add(StepPart::LaunchBound, ContributorKind::Idle, cause, 20 * ms);
        WorkerSummary& worker = made.run().workers[0];
        worker.steps[4].parts[StepPart::LaunchBound] += 100 * ms;
        worker.steps[4].wallNs += 100 * ms;
        worker.contributors.back().exposedNs += 100 * ms;
        worker.outliers = {{4, "", worker.steps[4].startNs, worker.steps[4].wallNs, 100 * ms, StepPart::LaunchBound,
                            100 * ms, cause, "forward"}};
        const Finding* odd = nullptr;
        const Explanation explanation = explain::explain(made.run());
        odd = findingOf(explanation, &oddStepsRule);
        QVERIFY(odd != nullptr);
        HAS(odd->advice, "Same cause as host_waits");
    }

    /// Most of the excess is captures and allocations of the same steps, which together save more.
    void causesPrecedeOddSteps() {
        for (const bool isCause : {true, false}) {
            MadeRun made;
            WorkerSummary& worker = made.run().workers[0];
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idleIn("cudaMalloc"), 2 * ms,
                     ContributorTrait::Allocation);
            worker.contributors.back().exposedNs += isCause ? 2 * 80 * ms : 0;
            Contributor capture = contributor(StepPart::LaunchBound, ContributorKind::Idle,
                                              onMain(IdleCause{CauseKind::CapturingGraph}), 2 * 120 * ms);
            worker.contributors.push_back(capture);
            if (!isCause)
                worker.contributors.push_back(
                    contributor(StepPart::LaunchBound, ContributorKind::Idle, idleIn("cudaOther"), 2 * 80 * ms));
            for (const size_t step : {2, 7}) {
                worker.steps[step].parts[StepPart::LaunchBound] += 200 * ms;
                worker.steps[step].wallNs += 200 * ms;
                worker.outliers.push_back({worker.steps[step].number, "", worker.steps[step].startNs,
                                           worker.steps[step].wallNs, 200 * ms, StepPart::LaunchBound, 200 * ms,
                                           capture.name, "forward"});
            }
            const Explanation explanation = explain::explain(made.run());
            QCOMPARE(explanation.findings.front().rule, isCause ? &graphCapturesRule : &oddStepsRule);
            const std::string odd = findingOf(explanation, &oddStepsRule)->sentence;
            QCOMPARE(test::has(odd, " Part of this finding's time may also be in graph_captures."), isCause);
            if (!isCause) continue;
            QCOMPARE(rulesOf(explanation), (std::vector{&graphCapturesRule, &oddStepsRule, &allocationsRule}));
            HAS(explanation.findings[2].sentence, " Part of this finding's time is also in odd_steps.");
        }
    }

    /// One of ten steps is 100 ms longer, only there a line of the program.
    void oddStepsFollowLargerLaunches() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 60 * ms);
        WorkerSummary& worker = made.run().workers[0];
        worker.steps[4].parts[StepPart::LaunchBound] += 100 * ms;
        worker.steps[4].wallNs += 100 * ms;
        worker.contributors.back().exposedNs += 100 * ms;
        worker.outliers = {{4,
                            "",
                            worker.steps[4].startNs,
                            worker.steps[4].wallNs,
                            100 * ms,
                            StepPart::LaunchBound,
                            100 * ms,
                            {},
                            {}}};
        worker.distinctions = {{DistinctionOf::Outliers, DistinctionKind::Line, "train.py:9 in log", 1, 90 * ms}};
        QCOMPARE(rulesOf(made), (std::vector{&launchBoundRule, &oddStepsRule}));
    }

    void findingsAtOneLineSaySo() {
        MadeRun made;
        const FrameRef line{"train.py", 7, "step"};
        made.add(StepPart::LaunchBound, ContributorKind::Idle,
                 onMain(idle(CauseKind::OutsideCalls, ThreadState::Running), line), 40 * ms);
        made.run().workers[0].contributors.back().workedNs = 40 * ms * MadeRun::steps;
        made.run().workers[0].contributors.back().longCount = 12 * MadeRun::steps;
        IdleCause wait = onMain(idleIn("cuStreamSynchronize"), line);
        wait.kind = CauseKind::AfterCall;
        made.add(StepPart::Synchronization, ContributorKind::Idle, wait, 20 * ms);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), (std::vector{&hostWorkRule, &hostSyncRule}));
        HAS(explanation.findings[0].sentence, ", in 12 intervals per step, each of 500.0 µs or more.");
        HAS(explanation.findings[1].sentence, " Same line as finding 1 (host_work).");
    }

    /// Outliers beyond the reported ones lie between these.
    void longestOutliersShowTheirPeriod() {
        MadeRun made;
        WorkerSummary& worker = made.run().workers[0];
        for (const int64_t number : {10, 20, 40, 50, 70, 90, 100, 120})
            worker.outliers.push_back({number, "", 0, 200 * ms, 100 * ms, StepPart::Compute, 100 * ms, {}, {}});
        const auto sentence = [&] { return findingOf(explain::explain(made.run()), &oddStepsRule)->sentence; };
        HAS(sentence(), "The long steps are every 10th step.");
        HAS(sentence(), "At least 8 of 10 steps");
        worker.outliers.pop_back();
        HAS_NO(sentence(), "The long steps are");
    }

    /// A cause that only some steps have is a fact, late launches are usual.
    void distinctCausePrecedesLateLaunches() {
        MadeRun made(2);
        for (const size_t rank : {0, 1})
            made.add(rank, contributor(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 0),
                     60 * ms);
        made.add(0, contributor(StepPart::WaitingForRanks, ContributorKind::Collective, "AllReduce", 0), 20 * ms);
        made.add(1, contributor(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::LoadingRange), 0),
                 20 * ms);
        const auto rules = [&] { return rulesOf(explain::explain(made.run())); };
        QCOMPARE(rules().front(), &launchBoundRule);
        made.run().workers[1].distinctions = {
            {DistinctionOf::Rank, DistinctionKind::Range, "tokenizer hiccup", 10, 20 * ms}};
        QCOMPARE(rules().front(), &lateRankRule);
    }
};

LANESCOPE_TEST(tst_RestOfRun, NoApplication)
#include "tst_RestOfRun.moc"
