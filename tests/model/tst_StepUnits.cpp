// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/text/knownRangeName.h"
#include "model/trace/kinds/allKinds.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t us = 1000, ms = 1'000'000;
constexpr std::string_view adam = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float> >";

/// A Python program of one thread whose GPU runs everything as soon as it is launched.
class PythonProgram {
  public:
    /// A frame on the stack while it lives.
    class Frame {
      public:
        Frame(PythonProgram& program, std::string_view function, std::string_view file = "/src/train.py")
            : program_(program), function_(function), file_(file) {
            program_.frames_.push_back(this);
        }
        ~Frame() { program_.frames_.pop_back(); }
        Frame(const Frame&) = delete;
        Frame& operator=(const Frame&) = delete;
        void at(uint32_t line) { line_ = line; }

      private:
        friend class PythonProgram;
        PythonProgram& program_;
        std::string function_, file_;
        uint32_t line_ = 0;
    };

    /// Launches a graph whose only node has this number, or without a number a kernel.
    void launch(std::string_view kernel, int64_t gpuNs = 100 * us, uint64_t graphNode = 0) {
        const uint32_t correlation = next_++;
        made.addApi(thread_, graphNode == 0 ? "cudaLaunchKernel" : "cuGraphLaunch", nowNs, nowNs + 5 * us, correlation,
                    stack());
        made.add<kinds::Kernel>({.startNs = nowNs + 6 * us,
                                 .endNs = nowNs + 6 * us + gpuNs,
                                 .stream = stream_,
                                 .correlation = correlation,
                                 .graphNode = graphNode,
                                 .config = made.launchOf(kernel)});
        nowNs += gpuNs + 10 * us;
    }
    /// Calls a module of this class, as PyTorch does.
    template <class Body>
    void module(std::string_view forward, Body body) {
        Frame call(*this, "Module._call_impl", "/lib/torch/nn/modules/module.py");
        call.at(1790);
        Frame own(*this, forward, "/src/model.py");
        body(own);
    }
    /// A model of layers, all called from one line.
    void model(int layers) {
        module("GPT.forward", [&](Frame& frame) {
            frame.at(24);
            launch("embedding");
            frame.at(25);
            for (int layer = 0; layer < layers; ++layer)
                module("Block.forward", [&](Frame& block) {
                    block.at(13);
                    launch("attention");
                    block.at(19);
                    launch("gemm");
                    launch("gelu");
                });
            frame.at(26);
            launch("norm");
        });
    }
    RunSteps find(const StepSelection& selection = {}) {
        trace_ = made.finish();
        const Result<RunSteps> steps = findSteps(*trace_, selection);
        return steps ? *steps : RunSteps{};
    }

    SimulatedTrace made;
    int64_t nowNs = ms;

  private:
    uint32_t stack() {
        uint32_t stack = noIndex;
        for (const Frame* frame : frames_) stack = made.frame(frame->function_, frame->file_, frame->line_, stack);
        return stack;
    }

    uint32_t thread_ = made.defaultThread(), stream_ = made.defaultStream(), next_ = 1;
    std::vector<Frame*> frames_;
    TracePtr trace_;
};

}  // namespace

class tst_StepUnits : public QObject {
    Q_OBJECT

  private slots:
    /// Frames further inside than loops are searched for cost nothing.
    void veryDeepStacksAreSearchedToALimit() {
        SimulatedTrace made;
        uint32_t stack = noIndex;
        const uint32_t function = made.intern("recurse"), file = made.intern("/src/deep.py");
        int64_t at = 0;
        uint32_t correlation = 0;
        for (uint32_t depth = 0; depth < 200'000; ++depth) {
            stack = made.stack(stack, function, file, depth + 1);
            if (depth % 4 != 0) continue;
            ++correlation;
            made.addApi(made.defaultThread(), "cudaLaunchKernel", at, at + us, correlation, stack);
            made.addKernel(made.defaultStream(), "gemm", at + us, at + 2 * us, correlation);
            at += 3 * us;
        }
        QVERIFY(findSteps(*made.finish()));
    }

    void librariesNameTheirOwnRanges_data() {
        const test::Rows<QString, QString, bool> row;
        row("CUB", "cub::DeviceRadixSort", "CCCL", true);
        row("Thrust", "thrust::sort", "", true);
        row("domain", "step 3", "cuDNN", true);
        row("cuBLAS", "cublasLtMatmul", "", true);
        row("PyTorch's collective", "nccl:all_reduce", "", true);
        row("thunk", "Thunk:#hlo_op=fusion.3#", "TSL", true);
        row("operator", "aten::mm, seq = 3, op_id = 12", "", true);
        row("DALI", "[DALI][Executor] RunGPU", "", true);
        row("benchmark of a library", "cublas benchmark", "", false);
        row("program", "train_step 7", "my domain", false);
        row("annotated step", "train#step_num=5#", "TSL", false);
    }
    void librariesNameTheirOwnRanges() {
        const auto [name, domain, isLibrary] = test::row<QString, QString, bool>();
        QCOMPARE(rangeAuthor(name.toStdString(), domain.toStdString()) == RangeAuthor::Library, isLibrary);
    }

    void rangesOfALibraryAreNoSteps() {
        PythonProgram program;
        for (int step = 0; step < 20; ++step) {
            for (const char* kernel : {"a", "b", "c", "d", "e"}) program.launch(kernel);
            const int64_t startNs = program.nowNs;
            for (const char* kernel : {"sort", "unique", "scan", "f"}) program.launch(kernel, 300 * us);
            program.made.addNvtx(program.made.defaultThread(), "cub::DeviceRadixSort", startNs, program.nowNs,
                                 NvtxStyle::PushPop, "CCCL");
        }
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::KernelPattern);
        QVERIFY(run.units.empty());
    }

    void stepsHaveTheNumbersOfTheirNames_data() {
        const test::Rows<QStringList, QList<int>> row;
        row("torch.profiler", QStringList{"ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"}, QList<int>{5, 6, 7});
        row("with a rank", QStringList{"rank 3 step 10", "rank 3 step 11", "rank 3 step 12"}, QList<int>{10, 11, 12});
        row("every hundredth", QStringList{"it 100", "it 200", "it 300"}, QList<int>{100, 200, 300});
        row("counted again", QStringList{"it 0", "it 1", "it 0", "it 1"}, QList<int>{0, 1, 2, 3});
        row("two numbers", QStringList{"iter 1 of 1", "iter 2 of 2", "iter 3 of 3"}, QList<int>{0, 1, 2});
        row("none", QStringList{"step", "step", "step"}, QList<int>{0, 1, 2});
    }
    void stepsHaveTheNumbersOfTheirNames() {
        const auto [names, numbers] = test::row<QStringList, QList<int>>();
        const auto run = [&names](const StepSelection& selection) {
            PythonProgram program;
            for (const QString& name : names) {
                const int64_t startNs = program.nowNs;
                for (int kernel = 0; kernel < 4; ++kernel) program.launch("gemm");
                program.made.addNvtx(program.made.defaultThread(), name.toStdString(), startNs, program.nowNs);
                program.nowNs += us;
            }
            return program.find(selection);
        };
        QList<int> found;
        const RunSteps all = run({});
        for (const StepSpan& step : all.workers.at(0).steps) found.push_back(static_cast<int>(step.number));
        QCOMPARE(found, numbers);
        const int64_t chosen = numbers[1];
        const RunSteps one = run({.numbers = StepRange{chosen, chosen}});
        QCOMPARE(one.workers.at(0).steps.size(), size_t{1});
        QCOMPARE(QString::fromStdString(one.workers.at(0).steps[0].name), names[1]);
    }

    void unknownStepNumberNamesTheKnownOnes() {
        SimulatedTrace made;
        for (int64_t step = 0; step < 4; ++step) {
            made.addNvtx(made.defaultThread(), "step " + std::to_string(20 + step), step * ms, (step + 1) * ms);
            made.addKernel(made.defaultStream(), "gemm", step * ms, step * ms + 900 * us);
        }
        const auto found = findSteps(*made.finish("run.sqlite"), {.numbers = StepRange{0, 3}});
        QCOMPARE(found.error().sentence, std::string("run.sqlite has no steps 0 to 3. Choose among steps 20 to 23."));
    }

    void iterationOfAPythonLoopIsAStep() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            main.at(3);
            for (int weight = 0; weight < 300; ++weight) program.launch("copy", us);
            for (int step = 0; step < 12; ++step) {
                main.at(5);
                program.launch("randn");
                main.at(6);
                program.model(24);
                main.at(7);
                program.launch(adam);
                if (step % 4 == 3) {
                    PythonProgram::Frame save(program, "save");
                    main.at(9);
                    save.at(40);
                    for (int weight = 0; weight < 30; ++weight) program.launch("copy", 9 * ms);
                }
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(test::listed(run.source, run.pattern), test::listed(StepSource::PythonLoop, "train.py:6 in main"));
        const WorkerSteps& worker = run.workers.at(0);
        QCOMPARE(worker.foundCount, int64_t{12});
        // A checkpoint is no part of a step.
        for (const StepSpan& step : worker.steps) QVERIFY(step.range.durationNs() < 20 * ms);
        const auto layers = std::ranges::find(run.units, StepSource::KernelPattern, &StepUnit::source);
        QVERIFY(layers != run.units.end() && layers->count > 200);
    }

    void partsOfAStepCanBeChosen() {
        const auto made = [] {
            PythonProgram program;
            PythonProgram::Frame main(program, "generate");
            for (int token = 0; token < 10; ++token) {
                main.at(6);
                program.model(24);
                main.at(7);
                program.launch("argmax");
            }
            return program.made.finish();
        };
        const TracePtr trace = made();
        const RunSteps tokens = *findSteps(*trace);
        QCOMPARE(tokens.workers.at(0).foundCount, int64_t{10});
        for (const StepUnit& unit : tokens.units) {
            const auto chosen = findSteps(*trace, {.rangeName = unit.pattern});
            QVERIFY2(chosen.has_value(), unit.pattern.c_str());
            QCOMPARE(chosen->workers.at(0).foundCount, unit.count);
        }
        QVERIFY(!tokens.units.empty());
    }

    void layersOfOneCallAreNoSteps() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "serve");
            main.at(6);
            program.model(36);
        }
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::WholeRun);
        HAS(run.onlyCall, "GPT.forward");
        QCOMPARE(run.units.size(), size_t{1});
        QCOMPARE(run.units[0].count, int64_t{36});
    }

    void trainingWithinEpochsHasItsOwnSteps() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int epoch = 0; epoch < 6; ++epoch) {
                {
                    main.at(10);
                    PythonProgram::Frame train(program, "train");
                    for (int batch = 0; batch < 8; ++batch) {
                        train.at(20);
                        program.model(4);
                        train.at(21);
                        program.launch(adam);
                    }
                }
                main.at(11);
                program.launch("accuracy");
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(test::listed(run.pattern, run.workers.at(0).foundCount), "train.py:20 in train | 48");
        QCOMPARE(run.units.at(0).pattern, std::string("train.py:10 in main"));
    }

    /// The line that calls a step interrupts it only to log.
    void callsBetweenLogsAreSteps() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int step = 0; step < 60; ++step) {
                {
                    main.at(10);
                    PythonProgram::Frame train(program, "step");
                    for (int part = 0; part < 2; ++part) {
                        train.at(20);
                        program.model(4);
                        train.at(21);
                        program.launch("add");
                    }
                    train.at(22);
                    program.launch(adam);
                }
                main.at(12);
                if (step % 20 == 19) program.launch("loss", us);
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::PythonLoop);
        QCOMPARE(test::listed(run.pattern, run.workers.at(0).foundCount), "train.py:10 in main | 60");
    }

    void launchesOfAGraphAreSteps() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "serve");
            for (int token = 0; token < 120; ++token) {
                main.at(10);
                if (token % 10 == 0) program.model(4);
                main.at(11);
                program.launch("decode", 3 * ms, 7);
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(test::listed(run.pattern, run.workers.at(0).foundCount), "train.py:11 in serve | 120");
    }

    /// Several graphs of a step, or several launches of one, are parts of it.
    void graphsWithinAStepAreParts_data() {
        const test::Rows<uint64_t, QString> row;
        row("one graph, then the optimizer", uint64_t{1}, QString::fromUtf8(adam));
        row("a graph for each layer", uint64_t{4}, "head");
    }
    void graphsWithinAStepAreParts() {
        const auto [graphs, then] = test::row<uint64_t, QString>();
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int step = 0; step < 60; ++step) {
                main.at(10);
                for (uint64_t part = 0; part < 4; ++part) program.launch("layer", ms, 7 + part % graphs);
                main.at(12);
                for (int kernel = 0; kernel < 30; ++kernel) program.launch(then.toStdString(), 20 * us);
            }
        }
        QCOMPARE(program.find().workers.at(0).foundCount, int64_t{60});
    }

    void microBatchesOfAStepAreParts() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int batch = 0; batch < 240; ++batch) {
                main.at(9);
                program.launch("copy", 20 * us);
                main.at(10);
                for (int kernel = 0; kernel < 20; ++kernel) program.launch("gemm");
                main.at(12);
                if (batch % 4 == 3)
                    for (int kernel = 0; kernel < 200; ++kernel) program.launch(adam, us);
            }
        }
        QCOMPARE(program.find().workers.at(0).foundCount, int64_t{60});
    }

    /// A recording that begins and ends within a step, and a function with a loop of its own.
    void callsWithLoopsAreNotDivided_data() {
        test::rows<bool>("isTraining", {{"part of a training", true}, {"tokens of a request", false}});
    }
    void callsWithLoopsAreNotDivided() {
        QFETCH(bool, isTraining);
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int call = 0; call < 40; ++call) {
                {
                    main.at(10);
                    PythonProgram::Frame inner(program, "step");
                    for (int layer = call == 0 ? 6 : 0; layer < (call == 39 ? 5 : 12); ++layer) {
                        inner.at(20);
                        program.launch("attention");
                        inner.at(21);
                        program.launch("gemm");
                    }
                    inner.at(23);
                    if (isTraining && call < 39) program.launch(adam);
                }
                main.at(12);
                if (!isTraining || call % 5 == 4) program.launch("loss", us);
            }
        }
        const int64_t found = program.find().workers.at(0).foundCount;
        QVERIFY2(found >= 38 && found <= 40, std::to_string(found).c_str());
    }

    void accumulatedIterationsAreOneStep() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int batch = 0; batch < 32; ++batch) {
                main.at(10);
                program.model(4);
                main.at(11);
                program.launch("loss");
                main.at(12);
                if (batch % 4 == 3) program.launch(adam);
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(test::listed(run.rangesPerStep, run.workers.at(0).foundCount), "4 | 8");
    }

    void rangesWithinAnIterationArePartsOfIt() {
        PythonProgram program;
        {
            PythonProgram::Frame main(program, "main");
            for (int token = 0; token < 10; ++token) {
                for (int layer = 0; layer < 6; ++layer) {
                    main.at(10);
                    const int64_t startNs = program.nowNs;
                    for (const char* kernel : {"attention", "gemm", "gelu"}) program.launch(kernel);
                    program.made.addNvtx(program.made.defaultThread(), "block", startNs, program.nowNs);
                }
                main.at(11);
                program.launch("argmax");
            }
        }
        const RunSteps run = program.find();
        QCOMPARE(run.source, StepSource::PythonLoop);
        QCOMPARE(test::listed(run.workers.at(0).foundCount, run.units.at(0).pattern), "10 | block");
    }

    void numberedLayersAreOneStep() {
        SimulatedTrace made;
        int64_t at = 0;
        for (int token = 0; token < 10; ++token)
            for (int layer = 0; layer < 6; ++layer) {
                made.addNvtx(made.defaultThread(), "layer " + std::to_string(layer), at, at + ms);
                made.launch(made.defaultThread(), made.defaultStream(), "gemm", at + 1 * us, at + 10 * us, at + ms);
                at += ms + 20 * us;
            }
        const Result<RunSteps> run = findSteps(*made.finish());
        QCOMPARE(test::listed(run->rangesPerStep, run->workers.at(0).steps.size()), "6 | 9");
    }

    void layersBetweenOtherKernelsAreOneStep_data() {
        const test::Rows<QStringList, QStringList, int> row;
        QStringList layer;
        for (int kernel = 0; kernel < 10; ++kernel) layer << QString("kernel%1").arg(QChar('a' + kernel));
        row("token", {"embedding", "head", "argmax"}, layer, 12);
        row("report", {"mean"}, layer, 12 * 24);
        row("report of a training", {"mean", "max", "print"}, layer + QStringList{"FusedAdam"}, 12 * 24);
    }
    void layersBetweenOtherKernelsAreOneStep() {
        const auto [around, layer, found] = test::row<QStringList, QStringList, int>();
        SimulatedTrace made;
        int64_t at = 0;
        const auto launch = [&](const QString& kernel) {
            made.addKernel(made.defaultStream(), kernel.toStdString(), at, at + 10 * us);
            at += 12 * us;
        };
        for (int token = 0; token < 12; ++token) {
            for (const QString& kernel : around) launch(kernel);
            for (int index = 0; index < 24; ++index)
                for (const QString& kernel : layer) launch(kernel);
        }
        const Result<RunSteps> run = findSteps(*made.finish());
        QCOMPARE(run->source, StepSource::KernelPattern);
        QVERIFY2(std::abs(run->workers.at(0).foundCount - found) <= 1,
                 std::to_string(run->workers.at(0).foundCount).c_str());
    }

    void kernelsOfAGraphAreNoSteps() {
        SimulatedTrace made;
        for (int64_t step = 0; step < 12; ++step) {
            const auto correlation = static_cast<uint32_t>(step + 1);
            int64_t at = step * ms;
            made.addApi(made.defaultThread(), "cudaGraphLaunch", at, at + us, correlation);
            for (int layer = 0; layer < 20; ++layer)
                for (const char* kernel : {"attention", "gemm", "gelu"}) {
                    made.addKernel(made.defaultStream(), kernel, at + 2 * us, at + 10 * us, correlation);
                    at += 10 * us;
                }
        }
        const Result<RunSteps> run = findSteps(*made.finish());
        QCOMPARE(run->source, StepSource::KernelPattern);
        QCOMPARE(run->workers.at(0).foundCount, int64_t{12});
    }
};

LANESCOPE_TEST(tst_StepUnits, NoApplication)
#include "tst_StepUnits.moc"
