// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

// Runs in the style of programs of several frameworks, all simulated: realistic names and order, invented times.

namespace {

constexpr int64_t us = 1000;
constexpr int64_t ms = 1'000'000;

/// A CPU that launches and a GPU that runs one piece after the other.
class Program {
  public:
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread();
    uint32_t stream = builder.defaultStream();
    int64_t cpuNs = ms;
    int64_t gpuNs = 0;

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

class TestStepFamilies : public QObject {
    Q_OBJECT

  private slots:
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
        StepSelection selection;
        selection.rangeName = "forward";
        const RunSteps run = program.find(selection);
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
        StepSelection selection;
        selection.rangeName = "tokenize";
        const RunSteps run = program.find(selection);
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
        QCOMPARE(run.source, StepSource::KernelPattern);
        QCOMPARE(run.workers.at(0).foundCount, int64_t{25});
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
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        for (int64_t step = 0; step < 12; ++step) {
            const auto correlation = static_cast<uint32_t>(step + 1);
            builder.addApi(thread, "cudaGraphLaunch", step * ms, step * ms + us, correlation);
            builder.addGraph(stream, 5, step * ms + 10 * us, step * ms + 900 * us, correlation);
        }
        const Result<RunSteps> run = findSteps(*builder.finish());
        QCOMPARE(run->source, StepSource::KernelPattern);
        QCOMPARE(run->pattern, std::string("CUDA graph 5"));
        QCOMPARE(run->workers.at(0).steps.size(), size_t{11});
    }

    void frameworkStepsAreFound_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("pattern");
        QTest::newRow("torch.profiler") << "ProfilerStep#%1"
                                        << "ProfilerStep##";
        QTest::newRow("lightning") << "[pl][profile]run_training_batch"
                                   << "[pl][profile]run_training_batch";
        QTest::newRow("megatron") << "iteration%1"
                                  << "iteration#";
        QTest::newRow("vllm") << "execute_context_0(0)_generation_%1(%1)"
                              << "execute_context_#(#)_generation_#(#)";
        QTest::newRow("marks") << "step %1"
                               << "step #";
        QTest::newRow("plain") << "iter"
                               << "iter";
        QTest::newRow("words") << "train_batch_%1"
                               << "train_batch_#";
    }
    void frameworkStepsAreFound() {
        QFETCH(QString, name);
        QFETCH(QString, pattern);
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
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("count");
        QTest::newRow("two of torch.profiler") << "ProfilerStep#%1" << 2;
        QTest::newRow("one of torch.profiler") << "ProfilerStep#%1" << 1;
        QTest::newRow("two that are called so") << "train step %1" << 2;
    }
    /// Four exchanges per step, each in a PyTorch range, as in a profile of two steps.
    void fewAnnouncedStepsTakePrecedenceOverFrequentRanges() {
        QFETCH(QString, name);
        QFETCH(int, count);
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
        QTest::addColumn<int>("pieces");
        QTest::addColumn<int>("length");
        QTest::addColumn<bool>("isFound");
        QTest::newRow("three of ten kernels") << 3 << 10 << false;
        QTest::newRow("three of twenty") << 3 << 20 << true;
        QTest::newRow("five of ten") << 5 << 10 << true;
    }
    void aFewShortKernelsAreNoPattern() {
        QFETCH(int, pieces);
        QFETCH(int, length);
        QFETCH(bool, isFound);
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
            QVERIFY(step.number % 10 != 4);
            QVERIFY(step.range.durationNs() >= 6 * 201 * us);
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
        QVERIFY(worker.steps.size() >= 18);
        QVERIFY(worker.steps.back().range.startNs > 5 * ms);
    }

    void eachGpuOfAProcessHasItsOwnSteps() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t first = builder.defaultStream();
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

LANESCOPE_TEST(TestStepFamilies, NoApplication)
#include "tst_StepFamilies.moc"
