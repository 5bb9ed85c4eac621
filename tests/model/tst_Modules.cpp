// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunContext.h"
#include "model/reports/reports.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr const char* moduleFile = "/venv/torch/nn/modules/module.py";

/// A model whose layers launch, with kernels of a microsecond.
struct SimulatedModel {
    SimulatedTrace made;
    uint32_t main = made.addThread(0, 4242, "python3");
    uint32_t other = made.addThread(0, 4250, "pt_autograd_0"), stream = made.defaultStream();
    uint32_t correlation = 0, train = frame(noIndex, "train", "/home/ada/train.py");

    uint32_t frame(uint32_t outer, const char* function, const char* file, const char* module = "",
                   const char* operators = "") {
        return made.stack(outer, made.intern(function), made.intern(file), 7, made.intern(module),
                          made.intern(operators));
    }
    uint32_t call(uint32_t outer, const char* module, const char* forward) {
        const uint32_t called = frame(outer, "Module._wrapped_call_impl", moduleFile, module);
        return frame(frame(called, "Module._call_impl", moduleFile), forward, "/home/ada/model.py");
    }
    void launch(uint32_t thread, uint32_t stack, int64_t atNs, const char* name = "gemm", uint64_t node = 0) {
        ++correlation;
        made.addApi(thread, "cuLaunchKernel", atNs, atNs + 10, correlation, stack);
        const StringIndex text = made.intern(name);
        made.add<kinds::Kernel>(
            {.startNs = atNs + 100,
             .endNs = atNs + 1'100,
             .stream = stream,
             .correlation = correlation,
             .graphNode = node,
             .config = made.launchConfig({.demangledName = text, .shortName = text, .mangledName = text})});
    }
    void range(uint32_t thread, const char* text, const char* category, int64_t startNs, int64_t endNs,
               std::string_view domain = {}) {
        made.add<kinds::Nvtx>({.startNs = startNs,
                               .endNs = endNs,
                               .text = made.intern(text),
                               .domain = made.intern(domain),
                               .category = made.intern(category),
                               .thread = thread});
    }
};

/// "GPT.layers.0 (Block)" of each kernel, by start.
std::vector<std::string> modulesOf(const Trace& trace) {
    WorkModules modules(trace);
    std::vector<std::string> found;
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        const uint32_t index = modules.of(EventRef(EventKind::Kernel, row));
        found.push_back(index == noIndex ? ""
                                         : modules.modules()[index].path + " (" + modules.modules()[index].type + ")");
    }
    // The same in a pass over all work.
    WorkModules again(trace);
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        if (work.work.kind() != EventKind::Kernel) return;
        const uint32_t index = again.of(work);
        const std::string text =
            index == noIndex ? "" : again.modules()[index].path + " (" + again.modules()[index].type + ")";
        if (text != found[work.work.row()]) found[work.work.row()] += " or " + text;
    });
    return found;
}

std::string valueOf(const std::vector<Property>& facts, std::string_view name) {
    for (const Property& fact : facts)
        if (fact.name == name) return fact.value;
    return {};
}

std::string cellText(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* whole = std::get_if<int64_t>(&cell)) return std::to_string(*whole);
    return {};
}

using Texts = std::vector<std::string>;

}  // namespace

class tst_Modules : public QObject {
    Q_OBJECT

  private slots:
    void modulesComeFromTheStack() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "GPT", "GPT.forward");
        const uint32_t first = model.call(gpt, "Block layers.0", "Block.forward");
        const uint32_t second = model.call(gpt, "Block layers.1", "Block.forward");
        const uint32_t proj = model.call(second, "Linear attn.proj", "Linear.forward");
        model.launch(model.main, first, 10'000);
        model.launch(model.main, second, 20'000, "relu");
        model.launch(model.main, proj, 30'000);
        model.launch(model.main, gpt, 40'000);
        model.launch(model.main, model.train, 50'000);
        model.launch(model.other, noIndex, 60'000);  // lent
        const TracePtr trace = model.made.finish();
        QVERIFY(trace);
        QCOMPARE(modulesOf(*trace), (Texts{"GPT.layers.0 (Block)", "GPT.layers.1 (Block)",
                                           "GPT.layers.1.attn.proj (Linear)", "GPT (GPT)", "", ""}));
        QCOMPARE(valueOf(describe(*trace, EventRef(EventKind::Kernel, 2)), "Module"),
                 std::string("GPT.layers.1.attn.proj (Linear)"));
        QCOMPARE(valueOf(describe(*trace, EventRef(EventKind::Kernel, 4)), "Module"), std::string());

        const Result<ReportTable> table = makeReport(*trace, "kernels_by_module", std::nullopt);
        QVERIFY(table);
        Texts rows;
        for (const auto& row : table->rows)
            rows.push_back(cellText(row[1]) + "|" + cellText(row[2]) + "|" + cellText(row[8]) + "|" + cellText(row[9]));
        QCOMPARE(rows, (Texts{"2000|2|(no module)|", "1000|1|GPT|GPT", "1000|1|GPT.layers.0|Block",
                              "1000|1|GPT.layers.1|Block", "1000|1|GPT.layers.1.attn.proj|Linear"}));
        QCOMPARE(table->searches[2], std::string("module:\"GPT.layers.0\""));

        QVERIFY(hasBase(*trace, FlameBase::Modules));
        QCOMPARE(test::foldedOf(makeFlame(*trace, FlameBase::Modules)),
                 std::string("(no module);gemm 2000\nGPT;gemm 1000\nGPT;layers.0 (Block);gemm 1000\n"
                             "GPT;layers.1 (Block);attn.proj (Linear);gemm 1000\nGPT;layers.1 (Block);relu 1000\n"));
    }

    void compiledModulesAreNamedLikeTheirOriginals() {
        SimulatedModel model;
        const uint32_t compiled = model.call(model.train, "OptimizedModule", "compile_wrapper");
        const uint32_t gpt = model.call(compiled, "GPT _orig_mod", "GPT.forward");
        const uint32_t layer = model.call(gpt, "OptimizedModule layers.0", "compile_wrapper");
        model.launch(model.main, gpt, 10'000);
        model.launch(model.main, model.call(layer, "Block _orig_mod", "Block.forward"), 20'000);
        model.launch(model.main, compiled, 30'000);
        QCOMPARE(modulesOf(*model.made.finish()),
                 (Texts{"GPT (GPT)", "GPT.layers.0 (Block)", "OptimizedModule (OptimizedModule)"}));
    }

    void searchFindsModules() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "GPT", "GPT.forward");
        model.launch(model.main, model.call(gpt, "Block layers.0", "Block.forward"), 10'000);
        model.launch(model.main, model.call(gpt, "Block layers.1", "Block.forward"), 20'000);
        model.launch(model.main, gpt, 30'000);
        const TracePtr trace = model.made.finish();
        const auto found = [&](const char* asked) {
            const StackFilter filter(*trace, splitTerms(asked).stack);
            std::vector<uint32_t> rows;
            for (uint32_t row = 0; row < trace->kernels.size(); ++row)
                if (filter.holds(EventRef(EventKind::Kernel, row))) rows.push_back(row);
            return rows;
        };
        QCOMPARE(found("module:layers.1"), std::vector<uint32_t>{1});
        QCOMPARE(found("module:block gemm"), (std::vector<uint32_t>{0, 1}));
        QCOMPARE(found("module:gpt function:forward"), (std::vector<uint32_t>{0, 1, 2}));
        QCOMPARE(found("module:gpt function:nothing"), std::vector<uint32_t>{});
        QCOMPARE(found("module:lstm"), std::vector<uint32_t>{});
    }

    /// As of Python before 3.11, of which attributes are unreadable, and of older recordings.
    void classesComeFromFunctions() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "", "GPT.forward");
        model.launch(model.main, model.call(gpt, "", "Block.forward"), 10'000);
        model.launch(model.main, model.frame(model.train, "Block.forward", "/home/ada/model.py"), 20'000);
        QCOMPARE(modulesOf(*model.made.finish()), (Texts{"GPT.Block (Block)", ""}));
        SimulatedModel old;
        const uint32_t outer = old.call(old.train, "GPT", "forward");
        old.launch(old.main, old.call(outer, "Block", "forward"), 10'000);
        QCOMPARE(modulesOf(*old.made.finish()), Texts{"GPT.Block (Block)"});
    }

    void replaysHaveTheModulesAndRangesOfTheCapture() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "GPT", "GPT.forward");
        const uint32_t block = model.call(gpt, "Block layers.3", "Block.forward");
        const auto node = [&](int64_t timeNs, uint64_t number, uint64_t original, uint32_t stack) {
            model.made.add<kinds::GraphNode>(
                {.timeNs = timeNs, .thread = model.main, .node = number, .original = original, .stack = stack});
        };
        model.range(model.main, "capture", "", 1'000, 3'000);
        model.range(model.main, "layer 3", "", 1'500, 2'500);
        node(2'000, 11, 0, block);
        node(5'000, 21, 11, noIndex);
        node(5'100, 31, 21, noIndex);
        node(2'100, 12, 0, noIndex);
        node(5'200, 32, 12, noIndex);
        model.range(model.main, "step", "", 9'000, 30'000);
        for (const int64_t atNs : {10'000, 20'000}) {
            model.launch(model.main, model.train, atNs, "gemm", 31);
            model.launch(model.main, model.train, atNs + 2'000, "copy", 32);
        }
        const TracePtr trace = model.made.finish();
        QCOMPARE(modulesOf(*trace), (Texts{"GPT.layers.3 (Block)", "", "GPT.layers.3 (Block)", ""}));
        QCOMPARE(test::foldedOf(makeFlame(*trace, FlameBase::Ranges)),
                 std::string("step;capture;layer 3;copy 2000\nstep;capture;layer 3;gemm 2000\n"));
        QCOMPARE(valueOf(describe(*trace, EventRef(EventKind::Kernel, 3)), "Ranges at capture"),
                 std::string("capture / layer 3"));
    }

    void modulesComeFromAnnotatedRanges() {
        SimulatedModel model;
        model.range(model.main, "GPT", "nn.Module: GPT", 1'000, 50'000);
        model.range(model.main, "layers.0", "nn.Module: Block", 2'000, 20'000);
        model.range(model.main, "layers.0.fc", "nn.Module: Linear", 3'000, 15'000);
        model.range(model.main, "own", "", 4'000, 14'000);
        model.launch(model.main, noIndex, 10'000);
        model.launch(model.main, noIndex, 16'000);
        model.launch(model.main, noIndex, 30'000);
        model.launch(model.main, noIndex, 60'000);
        model.range(model.other, "GPT backward", "nn.Module: GPT", 70'000, 90'000);
        model.range(model.other, "layers.0 backward", "nn.Module: Block", 71'000, 80'000);
        model.launch(model.other, noIndex, 75'000);
        QCOMPARE(modulesOf(*model.made.finish()),
                 (Texts{"GPT.layers.0.fc (Linear)", "GPT.layers.0 (Block)", "GPT (GPT)", "", "GPT.layers.0 (Block)"}));
    }

    void modulesComeFromTorchProfiler() {
        SimulatedModel model;
        model.range(model.main, "train.py(3): step", "", 1'000, 50'000, pythonDomain);
        model.range(model.main, "nn.Module: GPT_0", "", 2'000, 40'000, pythonDomain);
        model.range(model.main, "model.py(7): forward", "", 2'500, 39'000, pythonDomain);
        model.range(model.main, "nn.Module: Linear_1", "", 3'000, 20'000, pythonDomain);
        model.launch(model.main, noIndex, 10'000);
        model.launch(model.main, noIndex, 30'000);
        model.launch(model.main, noIndex, 45'000);
        QCOMPARE(modulesOf(*model.made.finish()), (Texts{"GPT_0.Linear_1 (Linear)", "GPT_0 (GPT)", ""}));
    }

    void compiledKernelsHaveTheirOperators() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "GPT", "GPT.forward");
        const uint32_t call =
            model.frame(gpt, "Runner.call", "/tmp/x/ab/cab.py", "", "aten.relu, aten.addmm of y, linear");
        model.launch(model.main, model.frame(call, "run", "/venv/torch/_inductor/runtime/triton_heuristics.py"),
                     10'000);
        model.launch(model.main, gpt, 20'000);
        const TracePtr trace = model.made.finish();
        const auto operators = [&](uint32_t kernel) {
            return valueOf(describe(*trace, EventRef(EventKind::Kernel, kernel)), "Compiled from");
        };
        QCOMPARE(operators(0), std::string("aten.relu, aten.addmm of y, linear"));
        QCOMPARE(operators(1), std::string());
    }

    /// Modules are paths of work outside of ranges, so that runs are compared by module.
    void modulesArePathsOfWork() {
        SimulatedModel model;
        const uint32_t gpt = model.call(model.train, "GPT", "GPT.forward");
        const uint32_t first = model.call(gpt, "Block layers.0", "Block.forward");
        const uint32_t second = model.call(gpt, "Block layers.1", "Block.forward");
        model.launch(model.main, first, 10'000);
        const TracePtr trace = model.made.finish();
        const analysis::RangePaths paths(*trace, "");
        QVERIFY(paths.hasModules());
        QCOMPARE(paths.text(paths.ofStack(first)), std::string("GPT/layers.#"));
        QCOMPARE(paths.ofStack(first), paths.ofStack(second));
        QCOMPARE(test::listed(paths.text(paths.ofStack(gpt)), paths.ofStack(model.train)), "GPT | 0");
        QCOMPARE(paths.ofStack(noIndex), 0u);
    }

    void tracesWithoutModulesHaveNone() {
        SimulatedTrace made;
        made.addApi(made.defaultThread(), "cuLaunchKernel", 0, 10, 1);
        made.addKernel(made.defaultStream(), "gemm", 20, 30, 1);
        const TracePtr trace = made.finish();
        QVERIFY(!hasBase(*trace, FlameBase::Modules));
        QVERIFY(makeReport(*trace, "kernels_by_module", std::nullopt)->rows.empty());
        QCOMPARE(modulesOf(*trace), Texts{""});
    }
};

LANESCOPE_TEST(tst_Modules, NoApplication)
#include "tst_Modules.moc"
