// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunContext.h"
#include "model/analysis/StepSelection.h"
#include "model/analysis/WorkerLaunches.h"
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
    const uint32_t thread = builder.defaultThread();
    const uint32_t stream = builder.defaultStream();
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

}  // namespace

class TestFindSteps : public QObject {
    Q_OBJECT

  private slots:
    void repeatedOuterRangesAreTheSteps() {
        const TracePtr trace = stepsOf({10, 10, 11, 10});
        const Result<RunSteps> run = findSteps(*trace);
        QVERIFY(run.has_value());
        QCOMPARE(run->source, StepSource::NvtxRange);
        QCOMPARE(run->pattern, std::string("step #"));
        const WorkerSteps& process = run->workers.at(0);
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
        QCOMPARE(stepsIn(trace).warmUpCount, int64_t{2});
        QCOMPARE(stepsIn(trace).steps.size(), size_t{5});
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
        QVERIFY(QString::fromStdString(none.error().sentence).contains("has 5 steps"));
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
        const Result<RunSteps> run = findSteps(*builder.finish());
        QCOMPARE(run->pattern, std::string("train_step"));
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
        QCOMPARE(patternOf("reduce", 10), std::string("reduce"));
        QCOMPARE(patternOf("batch", 0), std::string("batch"));
    }

    void repeatedKernelsAreStepsWithoutRanges() {
        const TracePtr trace = kernelsOnly(12, 4);
        const Result<RunSteps> run = findSteps(*trace);
        QCOMPARE(run->source, StepSource::KernelPattern);
        QCOMPARE(run->pattern, std::string("void embedding<float>(float*, int)"));
        QCOMPARE(run->workers.at(0).foundCount, int64_t{12});
        QCOMPARE(run->workers.at(0).steps.size(), size_t{11});  // the end of the last step is estimated
    }

    void occasionalWorkDoesNotMaskTheSteps() {
        const TracePtr trace = kernelsOnly(30, 12, true);
        const KernelPattern pattern = findKernelPattern(*trace, WorkRows(*trace).of(0, 0));
        QCOMPARE(pattern.kernel, std::string("void embedding<float>(float*, int)"));
        QCOMPARE(pattern.startsNs.size(), size_t{30});
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
        const uint32_t first = builder.defaultThread();
        const uint32_t firstStream = builder.defaultStream();
        const uint32_t process = builder.addProcess(4243, "python3", 1);
        const uint32_t second = builder.addThread(process, 4243);
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
        QCOMPARE(textAt(5), std::string("epoch #"));
        QCOMPARE(textAt(15), std::string());
        QCOMPARE(textAt(22), std::string("forward"));
        QCOMPARE(textAt(27), std::string("forward/layer #"));
        QCOMPARE(textAt(30), std::string("forward"));
        QCOMPARE(textAt(60), std::string("epoch #"));
        QCOMPARE(textAt(100), std::string());
        QCOMPARE(paths.text(paths.at(noIndex, 5)), std::string());
    }
};

LANESCOPE_TEST(TestFindSteps, NoApplication)
#include "tst_FindSteps.moc"
