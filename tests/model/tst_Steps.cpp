// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunContext.h"
#include "model/analysis/StepSelection.h"
#include "model/analysis/WorkerLaunches.h"
#include "model/analysis/requestSteps.h"
#include "model/analysis/stepRanges.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr int64_t ms = 1'000'000;

/// Ranges "step 0", "step 1" ... with these lengths, `pauseMs` apart, each with one kernel.
TracePtr stepsOf(const std::vector<int64_t>& lengthsMs, int64_t pauseMs = 0) {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    int64_t at = 5 * ms;
    for (size_t index = 0; index < lengthsMs.size(); ++index) {
        const int64_t end = at + lengthsMs[index] * ms;
        builder.addNvtx(thread, "step " + std::to_string(index), at, end);
        builder.addNvtx(thread, "forward", at, at + (end - at) / 3);
        builder.addKernel(stream, "gemm", at, end - ms);
        at = end + pauseMs * ms;
    }
    return builder.finish();
}

/// A run without ranges: the steps repeat the same kernels after a different beginning.
TracePtr kernelsOnly(int steps, int layers, bool logsEveryThird = false) {
    SimulatedTrace builder;
    const uint32_t stream = builder.defaultStream();
    int64_t at = 0;
    const auto add = [&](const std::string& name) {
        builder.addKernel(stream, name, at, at + 1000);
        at += 1100;
    };
    for (int index = 0; index < 40; ++index) add("init" + std::to_string(index % 7));
    for (int step = 0; step < steps; ++step) {
        at += 50'000;
        add("embedding");
        for (int layer = 0; layer < layers; ++layer)
            for (const char* name : {"attention", "gemm", "norm"}) add(name);
        add("loss");
        for (int layer = 0; layer < layers; ++layer)
            for (const char* name : {"norm_bwd", "gemm", "gemm", "attention_bwd"}) add(name);
        add("adam");
        if (logsEveryThird && step % 3 == 0) add("log");
    }
    return builder.finish();
}

WorkerSteps stepsIn(const TracePtr& trace, const StepSelection& selection = {}) {
    const Result<RunSteps> run = findSteps(*trace, selection);
    return run && !run->workers.empty() ? run->workers.front() : WorkerSteps{};
}

constexpr int64_t us = 1000;

/// A CPU that launches and a GPU that runs one piece after the other.
class Program {
  public:
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    int64_t cpuNs = ms, gpuNs = 0;

    void launch(const std::string& name, int64_t durationNs) {
        const int64_t startNs = std::max(gpuNs + us, cpuNs + 6 * us);
        gpuNs = startNs + durationNs;
        builder.launch(thread, stream, name, cpuNs, startNs, gpuNs);
        cpuNs += 10 * us;
    }
    /// Launches `count` different kernels, like those of a model.
    void launchModel(int count, int64_t durationNs, const std::string& prefix = "kernel") {
        for (int index = 0; index < count; ++index) launch(prefix + static_cast<char>('a' + index), durationNs);
    }
    void wait() { cpuNs = std::max(cpuNs, gpuNs + 5 * us); }
    void range(const std::string& name, const std::function<void()>& body, std::string_view domain = {}) {
        const int64_t startNs = cpuNs;
        body();
        builder.addNvtx(thread, name, startNs, cpuNs, NvtxStyle::PushPop, domain);
        cpuNs += us;
    }
    RunSteps find(const StepSelection& selection = {}) {
        trace = builder.finish();
        const Result<RunSteps> steps = findSteps(*trace, selection);
        return steps ? *steps : RunSteps{};
    }
    TracePtr trace;
};

std::string numbered(const std::string& name, int number) { return name + std::to_string(number); }

int64_t medianStepNs(const WorkerSteps& worker) {
    std::vector<int64_t> ns;
    for (const StepSpan& step : worker.steps) ns.push_back(step.range.durationNs());
    std::sort(ns.begin(), ns.end());
    return ns.empty() ? 0 : ns[ns.size() / 2];
}

}  // namespace

// Runs in the style of programs of several frameworks, all simulated: realistic names and order, invented times.

class tst_Steps : public QObject {
    Q_OBJECT

  private slots:
    void repeatedOuterRangesAreTheSteps() {
        const TracePtr trace = stepsOf({10, 10, 11, 10});
        const RunSteps run = test::orFail(findSteps(*trace));
        QCOMPARE(test::listed(run.source, run.pattern), test::listed(StepSource::NvtxRange, "step #"));
        const WorkerSteps& process = run.workers.at(0);
        QCOMPARE(process.steps.size(), size_t{4});
        QCOMPARE(process.steps[2].name, std::string("step 2"));
        QCOMPARE(process.steps[2].range, (TimeRange{25 * ms, 36 * ms}));
        QCOMPARE(process.warmUpCount, int64_t{0});
        QVERIFY(!process.isLastLeftOut);
    }

    void stepLastsToTheNextAcrossPauses() {
        const WorkerSteps process = stepsIn(stepsOf({10, 10, 10, 10}, 5));
        QCOMPARE(process.steps.size(), size_t{3});
        for (const StepSpan& step : process.steps) QCOMPARE(step.range.durationNs(), 15 * ms);
        QVERIFY(process.isLastLeftOut);
        QCOMPARE(process.foundCount, int64_t{4});
    }

    void slowFirstStepsAreWarmUpUnlessKept() {
        const TracePtr trace = stepsOf({300, 30, 10, 10, 50, 10, 10});
        QCOMPARE(test::listed(stepsIn(trace).warmUpCount, stepsIn(trace).steps.size()), "2 | 5");
        StepSelection selection;
        selection.keepsWarmUp = true;
        QCOMPARE(stepsIn(trace, selection).steps.size(), size_t{7});
    }

    void stepsAreSelectedByNumber() {
        const TracePtr trace = stepsOf({300, 10, 10, 10, 10});
        StepSelection selection;
        selection.numbers = {0, 2};
        QCOMPARE(stepsIn(trace, selection).steps.size(), size_t{3});
        QCOMPARE(stepsIn(trace, selection).steps.front().number, int64_t{0});
        selection.numbers = {4, 90};
        QCOMPARE(stepsIn(trace, selection).steps.size(), size_t{1});
        selection.numbers = {5, 9};
        const Result<RunSteps> none = findSteps(*trace, selection);
        QVERIFY(!none);
        QVERIFY(QString::fromStdString(none.error().sentence).contains("Choose among steps 0 to 4"));
    }

    void stepNumbersAreParsed() {
        QCOMPARE(*parseStepNumbers("5-20"), (StepRange{5, 20}));
        QCOMPARE(*parseStepNumbers("7"), (StepRange{7, 7}));
        for (const char* text : {"", "-", "5-", "-3", "9-5", "a", "1-2-3", "1 - 2", "99999999999999999999"})
            QVERIFY2(!parseStepNumbers(text), text);
    }

    void namedRangesAreUsedAsSteps() {
        const TracePtr trace = stepsOf({30, 30, 30});
        StepSelection selection;
        selection.rangeName = "forward";
        const WorkerSteps process = stepsIn(trace, selection);
        QCOMPARE(process.steps.size(), size_t{3});
        for (const StepSpan& step : process.steps) QCOMPARE(step.range.durationNs(), 10 * ms);
        selection.rangeName = "step";
        const Result<RunSteps> none = findSteps(*trace, selection);
        QVERIFY(!none);
        QVERIFY(QString::fromStdString(none.error().sentence).contains("\"step #\""));
    }

    void timeRangeIsTheOnlyStep() {
        StepSelection selection;
        selection.stretch = TimeRange{7 * ms, 9 * ms};
        const WorkerSteps process = stepsIn(stepsOf({30, 30, 30}), selection);
        QCOMPARE(process.steps.size(), size_t{1});
        QCOMPARE(process.steps[0].range, (TimeRange{7 * ms, 9 * ms}));
    }

    void unfinishedRangesAreNoSteps() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        for (int step = 0; step < 4; ++step) {
            builder.addKernel(builder.defaultStream(), "gemm", step * 10 * ms, step * 10 * ms + ms);
            builder.addNvtx(thread, "step " + std::to_string(step), step * 10 * ms, (step + 1) * 10 * ms);
        }
        builder.addOpenNvtx(thread, "step 4", 40 * ms);  // the process was killed inside this step
        QCOMPARE(stepsIn(builder.finish()).steps.size(), size_t{4});
    }

    void stepsTakePrecedenceOverEpochsAndPartsOfSteps() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        for (int epoch = 0; epoch < 4; ++epoch)
            builder.addNvtx(thread, "epoch " + std::to_string(epoch), epoch * 100 * ms, (epoch + 1) * 100 * ms);
        for (int step = 0; step < 40; ++step) {
            builder.addKernel(builder.defaultStream(), "gemm", step * 10 * ms, step * 10 * ms + ms);
            builder.addNvtx(thread, "train_step", step * 10 * ms, step * 10 * ms + 9 * ms);
        }
        QCOMPARE(findSteps(*builder.finish())->pattern, std::string("train_step"));
    }

    void unnamedStepsMustBePeriodic() {
        const auto patternOf = [](const std::string& name, int64_t everyMs) {
            SimulatedTrace builder;
            int64_t at = 0;
            for (int64_t each = 0; each < 24; ++each) {
                // 1, 4, 16, 1, 4, 16 ... ms: a third is within twice the median.
                const int64_t periodMs = everyMs > 0 ? everyMs : int64_t{1} << (2 * (each % 3));
                builder.addNvtx(builder.defaultThread(), name, at, at + ms / 2);
                builder.addKernel(builder.defaultStream(), "k" + std::to_string(each), at, at + ms / 4);
                // The range has no second kernel either, so it contains half of all work.
                builder.addKernel(builder.defaultStream(), "o" + std::to_string(each), at + ms * 3 / 4,
                                  at + ms * 7 / 8);
                at += periodMs * ms;
            }
            return findSteps(*builder.finish())->pattern;
        };
        QCOMPARE(patternOf("reduce", 0), std::string());
        QCOMPARE(test::listed(patternOf("reduce", 10), patternOf("batch", 0)), "reduce | batch");
    }

    void repeatedKernelsAreStepsWithoutRanges() {
        const TracePtr trace = kernelsOnly(12, 4);
        const Result<RunSteps> run = findSteps(*trace);
        QCOMPARE(run->source, StepSource::KernelPattern);
        QCOMPARE(test::listed(run->pattern, run->workers.at(0).foundCount), "void embedding<float>(float*, int) | 12");
        QCOMPARE(run->workers.at(0).steps.size(), size_t{11});  // the end of the last step is estimated
    }

    void occasionalWorkDoesNotMaskTheSteps() {
        const TracePtr trace = kernelsOnly(30, 12, true);
        const KernelPattern pattern = findKernelPattern(*trace, WorkRows(*trace).of(0, 0), LaunchRows(*trace));
        QCOMPARE(test::listed(pattern.kernel, pattern.startsNs.size()), "void embedding<float>(float*, int) | 30");
    }

    void runWithoutRepetitionIsOneStep() {
        SimulatedTrace builder;
        for (int index = 0; index < 20; ++index)
            builder.addKernel(builder.defaultStream(), "kernel" + std::to_string(index), index * ms, (index + 1) * ms);
        const Result<RunSteps> run = findSteps(*builder.finish());
        QCOMPARE(run->source, StepSource::WholeRun);
        QCOMPARE(run->workers.at(0).steps.at(0).range, (TimeRange{0, 20 * ms}));
        QVERIFY(findSteps(*SimulatedTrace().finish())->workers.empty());
    }

    void warmUpIsEqualForAllRanks() {
        SimulatedTrace builder;
        const uint32_t first = builder.defaultThread(), firstStream = builder.defaultStream();
        const uint32_t process = builder.addProcess(4243, "python3", 1), second = builder.addThread(process, 4243);
        const uint32_t secondStream = builder.addStream(process, builder.addGpu(), 7);
        int64_t at = 0;
        for (int step = 0; step < 6; ++step) {
            const int64_t length = step == 0 ? 50 : 10;
            for (const uint32_t stream : {firstStream, secondStream})
                builder.addKernel(stream, "gemm", at * ms, (at + 1) * ms);
            builder.addNvtx(first, "step", at * ms, (at + length) * ms);
            builder.addNvtx(second, "step", at * ms, (at + 10) * ms);
            at += length;
        }
        const Result<RunSteps> run = findSteps(*builder.finish());
        QCOMPARE(run->workers.size(), size_t{2});
        for (const WorkerSteps& each : run->workers) QCOMPARE(each.warmUpCount, int64_t{1});
    }

    void commonNamesAreSortedByFrequency() {
        SimulatedTrace first, second;
        for (SimulatedTrace* builder : {&first, &second}) {
            const uint32_t thread = builder->defaultThread();
            builder->addNvtx(thread, "epoch", 0, 1000);
            for (int step = 0; step < 4; ++step) builder->addNvtx(thread, "step", step * 10, step * 10 + 5);
        }
        first.addNvtx(0, "only here", 1, 2);
        QCOMPARE(commonRangeNames(*first.finish(), *second.finish()), (std::vector<std::string>{"step", "epoch"}));
        const TracePtr numbered = stepsOf({10, 10, 10, 10});
        QVERIFY(commonRangeNames(*numbered, *numbered).front() == "forward" ||
                commonRangeNames(*numbered, *numbered).front() == "step #");
    }

    void stepsAcrossRecordingWindowsAreSkipped() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        for (const int step : {0, 1, 2, 3, 40, 41, 42, 43}) {
            builder.addKernel(builder.defaultStream(), "gemm", step * 10 * ms, step * 10 * ms + ms);
            builder.addNvtx(thread, "step " + std::to_string(step), step * 10 * ms, (step + 1) * 10 * ms);
        }
        Process& process = builder.processes()[0];
        process.hasWindows = true;
        process.windows = {{0, 45 * ms}, {395 * ms, 450 * ms}};
        const WorkerSteps steps = stepsIn(builder.finish());
        for (const StepSpan& step : steps.steps) QCOMPARE(step.range.durationNs(), 10 * ms);
        QCOMPARE(steps.steps.size(), size_t{7});  // step 3 would last until step 40
        QCOMPARE(steps.foundCount, int64_t{8});
    }

    void dataLoadingNamesAreRecognized() {
        for (const char* name : {"data", "next_data", "DataLoader.__next__", "load batch",
                                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "Data", "dataset",
                                 "pt_data_worker", "prefetch", "next batch", "get_batch", "fetchBatch"})
            QVERIFY2(isDataLoadingName(name), name);
        for (const char* name : {"", "forward", "DistributedDataParallel.forward", "overload", "metadata", "download",
                                 "update", "batch 12", "forward_batch"})
            QVERIFY2(!isDataLoadingName(name), name);
    }

    void rangePathsBeginWithinTheStep() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "epoch 1", 0, 100);
        builder.addNvtx(thread, "step 7", 10, 60);
        builder.addNvtx(thread, "forward", 20, 40);
        builder.addNvtx(thread, "layer 3", 25, 30);
        builder.addNvtx(thread, "ncclAllReduce", 26, 28, NvtxStyle::PushPop, "NCCL");
        const TracePtr trace = builder.finish();
        const RangePaths paths(*trace, "step #");
        const auto textAt = [&](int64_t timeNs) { return paths.text(paths.at(thread, timeNs)); };
        QCOMPARE(test::listed(textAt(5), textAt(15)), test::listed("epoch 1", std::string()));
        QCOMPARE(test::listed(textAt(22), textAt(27), textAt(30)), "forward | forward/layer 3 | forward");
        QCOMPARE(test::listed(textAt(60), textAt(100)), test::listed("epoch 1", std::string()));
        QCOMPARE(paths.text(paths.at(noIndex, 5)), std::string());
    }

    void stepDurationIsItsGpuWork() {
        Program program;
        for (int step = 0; step < 20; ++step)
            program.range(numbered("it ", step), [&] { program.launchModel(10, 300 * us); });
        program.wait();
        const RunSteps run = program.find();
        QCOMPARE(run.pattern, std::string("it #"));
        const WorkerSteps& worker = run.workers.at(0);
        QVERIFY(worker.steps.size() >= 18);
        for (size_t index = 0; index < worker.steps.size(); ++index) {
            const StepSpan& step = worker.steps[index];
            QCOMPARE(step.onCpu.durationNs(), 100 * us);  // the CPU runs ahead
            if (index == 0) continue;
            QCOMPARE(step.range.durationNs(), 10 * 301 * us);
            QCOMPARE(step.range.startNs, worker.steps[index - 1].range.endNs);
        }
    }

    void workBelongsToTheStepThatLaunchedIt() {
        Program program;
        const uint32_t copies = program.builder.addStream(0, 0, 20);
        for (int step = 0; step < 10; ++step) {
            program.range(numbered("step ", step), [&] {
                program.launchModel(5, 400 * us);
                // The next batch, while this step computes.
                const auto correlation = static_cast<uint32_t>(100 + step);
                program.builder.addApi(program.thread, "cudaMemcpyAsync", program.cpuNs, program.cpuNs + us,
                                       correlation);
                program.builder.addMemcpy(copies, MemcpyKind::HtoD, 1 << 20, program.cpuNs + 5 * us,
                                          program.cpuNs + 50 * us, correlation);
                program.cpuNs += 2 * us;
            });
        }
        const RunSteps run = program.find();
        const WorkerSteps& worker = run.workers.at(0);
        const MemcpyTable& table = program.trace->memcpys;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const EventRef call = program.trace->launchingCall({EventKind::Memcpy, row});
            const uint32_t step = worker.stepOf(table.startNs[row], program.trace->rangeOf(call).startNs);
            if (step != noIndex) QCOMPARE(worker.steps[step].number, int64_t{row});
        }
        const StepSpan& last = worker.steps.back();
        QVERIFY(last.range.startNs > table.endNs[table.size() - 1]);  // its copy ran long before
        QCOMPARE(last.range.durationNs(), 5 * 401 * us);
        QCOMPARE(worker.stepOf(last.range.startNs + us, std::nullopt), static_cast<uint32_t>(worker.steps.size() - 1));
    }

    void copyOnlyRangesAreNoStepsOfARunWithKernels() {
        Program program;
        for (int layer = 0; layer < 8; ++layer)
            program.range(numbered("Conv2d.cuda ", layer), [&] {
                const auto correlation = static_cast<uint32_t>(5000 + layer);
                program.builder.addApi(program.thread, "cudaMemcpyAsync", program.cpuNs, program.cpuNs + us,
                                       correlation);
                program.builder.addMemcpy(program.stream, MemcpyKind::HtoD, 1 << 24, program.cpuNs + 5 * us,
                                          program.cpuNs + 900 * us, correlation);
                program.cpuNs += ms;
            });
        program.launch("forward", 100 * us);
        program.launch("backward", 200 * us);
        QCOMPARE(program.find().pattern, std::string());
    }

    void namedRangesSpanTheirGpuWork() {
        Program program;
        for (int step = 0; step < 8; ++step)
            program.range(numbered("step ", step), [&] {
                program.range("forward", [&] { program.launchModel(4, 250 * us, "f"); });
                program.range("backward", [&] { program.launchModel(8, 250 * us, "b"); });
            });
        const RunSteps run = program.find(StepSelection{.rangeName = "forward"});
        const WorkerSteps& worker = run.workers.at(0);
        QVERIFY(worker.steps.size() > 4);
        for (const StepSpan& step : worker.steps)
            if (step.number > 0) QCOMPARE(step.range.durationNs(), 4 * 251 * us);
    }

    void namedRangesWithoutGpuWorkUseCpuTime() {
        Program program;
        for (int step = 0; step < 5; ++step)
            program.range(numbered("step ", step), [&] {
                program.range("tokenize", [&] { program.cpuNs += 3 * ms; });
                program.launchModel(4, 250 * us);
            });
        const RunSteps run = program.find(StepSelection{.rangeName = "tokenize"});
        for (const StepSpan& step : run.workers.at(0).steps) QCOMPARE(step.range.durationNs(), 3 * ms);
    }

    void compilerPassesAreNoSteps() {
        Program program;
        for (int module = 0; module < 6; ++module) {
            program.range(
                numbered("XlaCompile:#module=jit_train_step,program_id=", module),
                [&] {
                    for (int pass = 0; pass < 5; ++pass)
                        program.range(
                            "XlaPass:#name=simplify_step#", [&] { program.cpuNs += 2 * ms; }, "TSL");
                    program.range(
                        "Autotuner", [&] { program.launchModel(12, 90 * us, "tried"); }, "TSL");
                    program.wait();
                },
                "TSL");
        }
        for (int step = 0; step < 60; ++step)
            program.range(
                numbered("train#step_num=", step),
                [&] {
                    program.range(
                        "XlaModule:#hlo_module=jit_train_step,program_id=3#",
                        [&] { program.launchModel(10, 100 * us, "fusion"); }, "TSL");
                },
                "TSL");
        const RunSteps run = program.find();
        QCOMPARE(run.pattern, std::string("train#step_num=#"));
        QVERIFY(run.workers.at(0).foundCount == 60);
        QCOMPARE(medianStepNs(run.workers.at(0)), 10 * 101 * us);
    }

    void modulesAreTheStepsWithoutAnnotations() {
        Program program;
        for (int pass = 0; pass < 200; ++pass)
            program.range(
                "algsimp", [&] { program.cpuNs += ms; }, "TSL");
        for (int step = 0; step < 30; ++step)
            program.range(
                "XlaModule:#hlo_module=jit_update,program_id=7#", [&] { program.launchModel(10, 100 * us, "fusion"); },
                "TSL");
        const RunSteps run = program.find();
        QCOMPARE(run.pattern, std::string("XlaModule:#hlo_module=jit_update,program_id=##"));
        QCOMPARE(run.workers.at(0).foundCount, int64_t{30});
    }

    void rangesWithoutGpuWorkKeepTheKernelPattern() {
        Program program;
        program.range("load", [&] { program.cpuNs += 20 * ms; });
        for (int pass = 0; pass < 40; ++pass) program.range("lower", [&] { program.cpuNs += ms; });
        program.launchModel(20, 90 * us, "tried");
        for (int step = 0; step < 25; ++step) {
            program.launchModel(9, 100 * us, "fusion");
            program.wait();
            program.cpuNs += 50 * us;
        }
        const RunSteps run = program.find();
        QCOMPARE(test::listed(run.source, run.workers.at(0).foundCount), test::listed(StepSource::KernelPattern, 25));
    }

    void earlyTrialsDoNotMaskThePattern() {
        Program program;
        for (int tried = 0; tried < 400; ++tried) program.launch(numbered("t", tried * tried), us);
        for (int step = 0; step < 30; ++step) {
            program.launchModel(9, 100 * us, "fusion");
            program.wait();
            program.cpuNs += 50 * us;
        }
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::KernelPattern);
        QVERIFY(run.workers.at(0).foundCount >= 20);
        QCOMPARE(run.workers.at(0).steps.front().range.durationNs() / us,
                 run.workers.at(0).steps.back().range.durationNs() / us);
    }

    void repeatedGraphsAreAPattern() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        for (int64_t step = 0; step < 12; ++step) {
            const auto correlation = static_cast<uint32_t>(step + 1);
            builder.addApi(thread, "cudaGraphLaunch", step * ms, step * ms + us, correlation);
            builder.addGraph(stream, 5, step * ms + 10 * us, step * ms + 900 * us, correlation);
        }
        const Result<RunSteps> run = findSteps(*builder.finish());
        QCOMPARE(run->source, StepSource::KernelPattern);
        QCOMPARE(test::listed(run->pattern, run->workers.at(0).steps.size()), "CUDA graph 5 | 11");
    }

    void frameworkStepsAreFound_data() {
        const test::Rows<QString, QString> row;
        row("torch.profiler", "ProfilerStep#%1", "ProfilerStep##");
        row("lightning", "[pl][profile]run_training_batch", "[pl][profile]run_training_batch");
        row("megatron", "iteration%1", "iteration#");
        row("vllm", "execute_context_0(0)_generation_%1(%1)", "execute_context_#(#)_generation_#(#)");
        row("marks", "step %1", "step #");
        row("plain", "iter", "iter");
        row("words", "train_batch_%1", "train_batch_#");
    }
    void frameworkStepsAreFound() {
        const auto [name, pattern] = test::row<QString, QString>();
        Program program;
        program.range("fit", [&] {
            for (int step = 0; step < 12; ++step) {
                program.range("next batch", [&] { program.cpuNs += 30 * us; });
                const QString text = name.contains("%1") ? name.arg(step) : name;
                program.range(text.toStdString(), [&] {
                    program.range("forward", [&] { program.launchModel(5, 200 * us, "f"); });
                    program.range("backward", [&] { program.launchModel(9, 200 * us, "b"); });
                    program.range("optimizer.step", [&] { program.launch("adam", 300 * us); });
                });
            }
        });
        const RunSteps run = program.find();
        QCOMPARE(QString::fromStdString(run.pattern), pattern);
        QCOMPARE(medianStepNs(run.workers.at(0)), (14 * 201 + 301) * us);
    }

    void fewAnnouncedStepsTakePrecedenceOverFrequentRanges_data() {
        const test::Rows<QString, int> row;
        row("two of torch.profiler", "ProfilerStep#%1", 2);
        row("one of torch.profiler", "ProfilerStep#%1", 1);
        row("two that are called so", "train step %1", 2);
    }
    /// Four exchanges per step, each in a PyTorch range, as in a profile of two steps.
    void fewAnnouncedStepsTakePrecedenceOverFrequentRanges() {
        const auto [name, count] = test::row<QString, int>();
        Program program;
        for (int step = 0; step < count; ++step)
            program.range(name.arg(step).toStdString(), [&] {
                for (int part = 0; part < 4; ++part)
                    program.range("nccl:all_to_all", [&] { program.launchModel(3 + part, 200 * us, "f"); });
            });
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::NvtxRange);
        QCOMPARE(QString::fromStdString(run.pattern), name.arg("#"));
        QCOMPARE(run.workers.at(0).foundCount, int64_t{count});
    }

    void aFewShortKernelsAreNoPattern_data() {
        const test::Rows<int, int, bool> row;
        row("three of ten kernels", 3, 10, false);
        row("three of twenty", 3, 20, true);
        row("five of ten", 5, 10, true);
    }
    void aFewShortKernelsAreNoPattern() {
        const auto [pieces, length, isFound] = test::row<int, int, bool>();
        Program program;
        for (int piece = 0; piece < pieces; ++piece) program.launchModel(length, 100 * us);
        QCOMPARE(program.find().source, isFound ? StepSource::KernelPattern : StepSource::WholeRun);
    }

    void pyTorchCollectivesAreNoSteps() {
        Program program;
        for (int step = 0; step < 12; ++step) {
            program.range("nccl:all_reduce", [&] { program.launchModel(2, 900 * us, "r"); });
            program.range("shard", [&] { program.launchModel(4, 100 * us, "m"); });
        }
        QCOMPARE(program.find().pattern, std::string("shard"));
    }

    void inferenceEnginesUseTheirMostFrequentRange() {
        Program program;
        for (int step = 0; step < 10; ++step) {
            program.range("DeepSpeedEngine.forward", [&] { program.launchModel(5, 200 * us, "f"); });
            program.range("DeepSpeedEngine.backward", [&] { program.launchModel(10, 200 * us, "b"); });
            program.range("DeepSpeedEngine.step", [&] { program.launch("adam", 300 * us); });
        }
        const RunSteps run = program.find();
        QCOMPARE(run.pattern, std::string("DeepSpeedEngine.backward"));
        QCOMPARE(medianStepNs(run.workers.at(0)), (15 * 201 + 301) * us);
    }

    void accumulatedBatchesArePartsOfAStep() {
        Program program;
        for (int step = 0; step < 8; ++step)
            program.range(numbered("iteration ", step), [&] {
                for (int part = 0; part < 4; ++part)
                    program.range(numbered("micro batch ", part), [&] { program.launchModel(6, 200 * us); });
                program.launch("adam", 300 * us);
            });
        QCOMPARE(program.find().pattern, std::string("iteration #"));
    }

    void evaluationIsNoPartOfThePreviousStep() {
        Program program;
        for (int step = 0; step < 30; ++step) {
            program.range(numbered("step ", step), [&] { program.launchModel(6, 200 * us, "t"); });
            if (step % 10 != 9) continue;
            program.range("evaluate", [&] {
                for (int batch = 0; batch < 20; ++batch) {
                    program.launchModel(6, 100 * us, "v");
                    program.wait();
                }
            });
        }
        const WorkerSteps worker = program.find().workers.at(0);
        QCOMPARE(worker.steps.size() + static_cast<size_t>(worker.warmUpCount), size_t{30});
        for (const StepSpan& step : worker.steps) QVERIFY(step.range.durationNs() < 2 * ms);
    }

    void dataWaitIsPartOfThePreviousStep() {
        Program program;
        for (int step = 0; step < 20; ++step) {
            program.range(numbered("step ", step), [&] {
                program.launchModel(6, 200 * us);
                program.wait();
            });
            if (step == 12) program.cpuNs += 80 * ms;
        }
        int64_t maxStepNs = 0;
        const RunSteps run = program.find();
        for (const StepSpan& step : run.workers.at(0).steps) maxStepNs = std::max(maxStepNs, step.range.durationNs());
        QVERIFY(maxStepNs > 80 * ms);
    }

    void rangesWithoutWorkAreNoSteps() {
        Program program;
        for (int step = 0; step < 20; ++step) {
            program.range(numbered("step ", step), [&] {
                if (step % 10 == 4)
                    program.cpuNs += 5 * us;  // skipped
                else
                    program.launchModel(6, 200 * us);
            });
        }
        const WorkerSteps worker = program.find().workers.at(0);
        for (const StepSpan& step : worker.steps) {
            QVERIFY(step.number % 10 != 4 && step.range.durationNs() >= 6 * 201 * us);
        }
    }

    void workAfterItsWindowBelongsToItsStep() {
        Program program;
        for (int step = 0; step < 20; ++step)
            program.range(numbered("step ", step), [&] { program.launchModel(10, 300 * us); });
        Process& process = program.builder.processes()[0];
        process.hasWindows = true;
        process.windows = {{0, program.cpuNs}};  // the GPU is far behind
        const WorkerSteps worker = program.find().workers.at(0);
        QVERIFY(worker.steps.size() >= 18 && worker.steps.back().range.startNs > 5 * ms);
    }

    void eachGpuOfAProcessHasItsOwnSteps() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), first = builder.defaultStream();
        const uint32_t second = builder.addStream(0, builder.addGpu(), 7);
        for (int64_t step = 0; step < 8; ++step) {
            const int64_t cpuNs = 100 * us * step;
            builder.launch(thread, first, "gemm", cpuNs, ms * step + 10 * us, ms * (step + 1));
            // The second half of a pipeline runs one step later.
            builder.launch(thread, second, "gemm", cpuNs + 20 * us, ms * (step + 1) + 10 * us, ms * (step + 2));
            builder.addNvtx(thread, numbered("step ", int(step)), cpuNs, cpuNs + 100 * us);
        }
        StepSelection selection;
        selection.keepsWarmUp = true;  // the second GPU is idle at first
        const Result<RunSteps> run = findSteps(*builder.finish(), selection);
        QCOMPARE(run->workers.size(), size_t{2});
        QCOMPARE(run->workers[0].steps[3].range, (TimeRange{3 * ms, 4 * ms}));
        QCOMPARE(run->workers[1].steps[3].range, (TimeRange{4 * ms, 5 * ms}));
    }

    void alternatingThreadsMakeOneSequence() {
        Program program;
        const uint32_t main = program.thread;
        const std::vector<uint32_t> pool{program.builder.addThread(0, 5001, "pool 1"),
                                         program.builder.addThread(0, 5002, "pool 2")};
        for (int step = 0; step < 20; ++step) {
            program.thread = pool[static_cast<size_t>(step % 2)];
            program.range("run module", [&] { program.launchModel(6, 200 * us); });
        }
        program.thread = main;
        const RunSteps run = program.find();
        QCOMPARE(run.workers.at(0).foundCount, int64_t{20});
        QCOMPARE(medianStepNs(run.workers.at(0)), 6 * 201 * us);
    }
};

LANESCOPE_TEST(tst_Steps, NoApplication)
#include "tst_Steps.moc"
