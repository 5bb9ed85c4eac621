// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"
#include "tests/support/cpuStates.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// A training that calls a package, which launches, and a thread without Python.
struct SimulatedTraining {
    SimulatedTrace builder;
    uint32_t main = builder.addThread(0, 4242, "python3");
    uint32_t other = builder.addThread(0, 4250, "pt_autograd_0"), stream = builder.defaultStream();
    uint32_t correlation = 0, module = frame(noIndex, "<module>", "/home/ada/train.py", 300);
    uint32_t forward = frame(module, "GPT.forward", "/home/ada/train.py", 212);
    uint32_t linear =
        frame(forward, "Linear.forward", "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", 117);
    uint32_t step = frame(module, "step", "/home/ada/train.py", 310);

    uint32_t frame(uint32_t parent, const char* function, const char* file, uint32_t line) {
        return builder.frame(function, file, line, parent);
    }
    /// Adds a call of a microsecond, and a kernel.
    void launch(uint32_t thread, uint32_t stack, int64_t atNs, int64_t kernelNs, int64_t kernelEndNs,
                const char* name = "gemm") {
        ++correlation;
        builder.addApi(thread, "cuLaunchKernel", atNs, atNs + 1'000, correlation, stack);
        builder.addKernel(stream, name, kernelNs, kernelEndNs, correlation);
    }
};

std::string valueOf(const std::vector<Property>& facts, std::string_view name) {
    for (const Property& fact : facts)
        if (fact.name == name) return fact.value;
    return {};
}

/// The cells of a row as text.
std::string textOf(const std::vector<Cell>& row) {
    std::string all;
    for (const Cell& cell : row) {
        if (!all.empty()) all += '|';
        if (const auto* text = std::get_if<std::string>(&cell)) all += *text;
        if (const auto* whole = std::get_if<int64_t>(&cell)) all += std::to_string(*whole);
    }
    return all;
}

std::vector<std::string> rowsOf(const Trace& trace, std::string_view report) {
    const Result<ReportTable> table = makeReport(trace, report, std::nullopt);
    std::vector<std::string> rows;
    if (!table) return rows;
    for (std::vector<Cell> row : table->rows) {
        // Total, count and share.
        row.erase(row.begin() + 3, row.begin() + 8);
        row.erase(row.begin());
        rows.push_back(textOf(row));
    }
    return rows;
}

using Rows = std::vector<std::string>;

}  // namespace

class tst_PythonLines : public QObject {
    Q_OBJECT

  private slots:
    void samplesAreSummedByFunction() {
        SimulatedTrace made;
        const uint32_t thread = made.addThread(0, 4242, "main");
        const auto frame = [&](uint32_t outer, const char* function) {
            return made.frame(function, "libwork.so", 0, outer);
        };
        const uint32_t main = frame(noIndex, "main"), twice = frame(frame(main, "recurse"), "recurse");
        const uint32_t leaf = frame(twice, "add");
        for (int64_t sample = 0; sample < 10; ++sample) {
            test::addSample(made, thread, sample * 10, sample < 7 ? leaf : twice);
        }
        const auto table = makeReport(*made.finish(), "cpu_functions");
        QVERIFY(table);
        std::vector<std::string> said;
        for (const auto& row : table->rows)
            said.push_back(std::get<std::string>(row[5]) + " " + std::to_string(std::get<int64_t>(row[2])) + " " +
                           std::to_string(std::get<int64_t>(row[3])));
        QCOMPARE(said, (std::vector<std::string>{"add 7 7", "recurse 3 10", "main 0 10"}));
        QCOMPARE(test::listed(std::get<double>(table->rows[0][0]), std::get<double>(table->rows[1][1])), "70 | 100");
    }

    void samplesAreSummedPerThread() {
        SimulatedTrace made;
        const uint32_t first = made.addThread(0, 4242, "main"), second = made.addThread(0, 4243, "load"),
                       nameless = made.addThread(0, 4244, "");
        const auto function = [&](const char* name) { return made.frame(name, "libwork.so", 0); };
        const uint32_t add = function("add"), read = function("read");
        for (int64_t sample = 0; sample < 12; ++sample) {
            test::addSample(made,
                            sample < 6    ? first
                            : sample < 10 ? second
                                          : nameless,
                            sample * 10, sample < 7 ? add : read);
        }
        const auto table = makeReport(*made.finish(), "cpu_functions_by_thread");
        QVERIFY(table);
        std::vector<std::string> said;
        for (const auto& row : table->rows)
            said.push_back(std::to_string(std::get<int64_t>(row[2])) + " " + std::get<std::string>(row[5]) + " " +
                           std::get<std::string>(row[6]));
        QCOMPARE(said, (std::vector<std::string>{"6 4242 (main) add", "3 4243 (load) read", "2 4244 read",
                                                 "1 4243 (load) add"}));
        QCOMPARE(test::listed(std::get<double>(table->rows[0][0]), std::get<double>(table->rows[1][0])), "100 | 75");
    }

    void ownFilesAreDistinguishedFromLibraries() {
        for (const char* part : {"/home/ada/train.py", "train.py"}) QVERIFY2(!isLibraryFile(part), part);
        for (const char* part :
             {"/usr/lib/python3/dist-packages/torch/nn/linear.py", "/usr/lib/python3.11/contextlib.py",
              "/opt/venv/lib/python3.12/site-packages/lightning/loop.py", "<frozen importlib._bootstrap>",
              "<eval_with_key>.7", "/tmp/torchinductor_ada/ab/cabd.py", ""})
            QVERIFY2(isLibraryFile(part), part);
        for (const char* part : {"/tmp/ipykernel_17/123.py", "<ipython-input-3-abc>", "<stdin>"})
            QVERIFY2(!isLibraryFile(part), part);
    }

    void pathsAreShortenedByTheProgramFolders() {
        const SourceFolders folders{"/home/ada/project", "/home/ada"};
        const std::vector<std::pair<std::string, std::string>> both{
            {"/home/ada/project/train.py", "train.py"},
            {"/home/ada/project/models/gpt.py", "models/gpt.py"},
            {"/home/ada/other/tool.py", "~/other/tool.py"},
            {"/home/ada/.venv/lib/python3.12/site-packages/torch/nn/linear.py",
             "~/.venv/lib/python3.12/site-packages/torch/nn/linear.py"},
            {"/home/adam/x.py", "/home/adam/x.py"},  // another user's
            {"/home/ada/project", "~/project"},
            {"/home/ada", "/home/ada"},
            {"/usr/lib/python3.12/random.py", "/usr/lib/python3.12/random.py"},
            {"<string>", "<string>"},
            {"/home/ada/project/~/odd.py", "~/project/~/odd.py"},
            {"", ""}};
        for (const auto& [whole, brief] : both) QCOMPARE(shortSourcePath(whole, folders), brief);
        // The path by which a program was started is the same file.
        QCOMPARE(shortSourcePath("train.py", folders), std::string("train.py"));
        QCOMPARE(shortSourcePath("./train.py", folders), std::string("train.py"));
        // A folder called "~" (a free choice of the program) is no home folder.
        for (const char* const odd : {"~/odd.py", "~root/odd.py", "~"}) {
            const std::string brief = shortSourcePath(odd, folders);
            QCOMPARE(brief, std::string("./") + odd);
            QCOMPARE(shortSourcePath(brief, folders), brief);
        }
        // Files of a package stay marked as such.
        const SourceFolders within{"/opt/venv/lib/python3.12/site-packages", "/"};
        const std::string package = "/opt/venv/lib/python3.12/site-packages/lightning/loop.py";
        QCOMPARE(shortSourcePath(package, within), package);
        QCOMPARE(shortSourcePath("/srv/a.py", {"/", "/"}), std::string("/srv/a.py"));
        // Old traces have no folders.
        QCOMPARE(shortSourcePath("/home/ada/train.py", {}), std::string("/home/ada/train.py"));
    }

    void detailsShowTheLineAndTheWholeStack() {
        SimulatedTraining training;
        training.launch(training.main, training.linear, 1'000, 5'000, 6'000);
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        for (const EventRef event : {EventRef(EventKind::Api, 0), EventRef(EventKind::Kernel, 0)}) {
            const std::vector<Property> facts = describe(*trace, event);
            QCOMPARE(valueOf(facts, "Python line"), std::string("train.py:212 in GPT.forward"));
            QCOMPARE(valueOf(facts, "Python stack"), std::string("linear.py:117 in Linear.forward\n"
                                                                 "train.py:212 in GPT.forward\n"
                                                                 "train.py:300 in <module>"));
            QCOMPARE(valueOf(facts, "Called from"), std::string());
        }
    }

    void rangesShowTheLineOfTheirStart() {
        SimulatedTraining training;
        training.builder.add<kinds::Nvtx>({.startNs = 100,
                                           .endNs = 900,
                                           .text = training.builder.intern("forward"),
                                           .thread = training.main,
                                           .stack = training.linear});
        training.builder.addNvtx(training.other, "backward", 200, 800);
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        const std::vector<Property> own = describe(*trace, EventRef(EventKind::Nvtx, 0));
        QCOMPARE(valueOf(own, "Python line"), std::string("train.py:212 in GPT.forward"));
        QVERIFY(!valueOf(own, "Python stack").empty());
        const std::vector<Property> lent = describe(*trace, EventRef(EventKind::Nvtx, 1));
        QCOMPARE(valueOf(lent, "Called from"), std::string("train.py:212 in GPT.forward"));
    }

    void graphKernelsAreAttributedToTheCapture() {
        SimulatedTraining training;
        const auto node = [&](int64_t timeNs, uint32_t thread, uint64_t number, uint64_t original, uint32_t stack) {
            training.builder.add<kinds::GraphNode>(
                {.timeNs = timeNs, .thread = thread, .node = number, .original = original, .stack = stack});
        };
        node(10, training.main, 11, 0, training.linear);
        node(20, training.main, 21, 11, noIndex);
        const uint32_t stranger = training.builder.addThread(training.builder.addProcess(5000, "python3"), 5000);
        node(30, stranger, 22, 0, training.step);  // numbers are unique per process only
        for (const uint64_t number : {uint64_t{21}, uint64_t{22}}) {
            const int64_t atNs = static_cast<int64_t>(number) * 1'000;
            const auto correlation = static_cast<uint32_t>(number);
            training.builder.addApi(training.main, "cuGraphLaunch", atNs, atNs + 10, correlation, training.step);
            const StringIndex name = training.builder.intern("gemm");
            training.builder.add<kinds::Kernel>({.startNs = atNs + 20,
                                                 .endNs = atNs + 120,
                                                 .stream = training.stream,
                                                 .correlation = correlation,
                                                 .graphNode = number,
                                                 .config = training.builder.launchConfig(
                                                     {.demangledName = name, .shortName = name, .mangledName = name})});
        }
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        const EventRef captured(EventKind::Kernel, 0), launched(EventKind::Kernel, 1);
        QCOMPARE(pythonLine(*trace, captured), std::string("called at capture: train.py:212 in GPT.forward"));
        QCOMPARE(pythonLine(*trace, launched), std::string("train.py:310 in step"));
        const std::vector<Property> facts = describe(*trace, captured);
        QCOMPARE(valueOf(facts, "Called at capture"), std::string("train.py:212 in GPT.forward"));
        QCOMPARE(valueOf(facts, "Graph launched at"), std::string("train.py:310 in step"));
        QVERIFY(valueOf(facts, "Python stack").starts_with("linear.py:117"));
        QCOMPARE(valueOf(facts, "Python line"), std::string());
        QCOMPARE(rowsOf(*trace, "kernels_by_line"),
                 (Rows{"100|1|at|train.py:310|step|/home/ada/train.py",
                       "100|1|captured at|train.py:212|GPT.forward|/home/ada/train.py"}));
    }

    void operatorRangesOfABackwardAreNotItsPython() {
        SimulatedTraining training;
        // Only the functions of `lanescope.torch.shapes` run on the thread of a backward; a repeated forward is there,
        // too.
        const char* const file = "/opt/venv/lib/python3.12/site-packages/lanescope/torch.py";
        const auto ranges = [&](uint32_t outer) {
            const uint32_t dispatch = training.frame(outer, "_Shapes.__torch_dispatch__", file, 130);
            return training.frame(dispatch, "OpOverload.__call__", "/lib/python3.12/site-packages/torch/_ops.py", 860);
        };
        training.launch(training.main, ranges(training.forward), 1'000, 5'000, 6'000);
        training.launch(training.other, ranges(noIndex), 2'000, 7'000, 8'000);
        training.launch(training.other, ranges(training.forward), 3'000, 9'000, 9'100);
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        std::vector<std::string> lines;
        for (uint32_t call = 0; call < 3; ++call) lines.push_back(pythonLine(*trace, EventRef(EventKind::Api, call)));
        const std::string line = "train.py:212 in GPT.forward";
        QCOMPARE(lines, (Rows{line, "called from " + line, line}));
        QVERIFY(isLibraryFile("/home/ada/lanescope/torch.py"));
    }

    void threadsWithoutPythonAreAttributedToTheMainThread() {
        SimulatedTraining training;
        const uint32_t loader = training.builder.addThread(0, 4260, "loader");
        training.launch(training.other, noIndex, 500, 4'000, 4'100);  // before the first line
        training.launch(training.main, training.linear, 1'000, 5'000, 6'000);
        training.launch(loader, training.module, 2'000, 6'500, 6'600);  // its client is unknown
        training.launch(training.other, noIndex, 3'000, 7'000, 8'000);
        training.launch(training.main, noIndex, 4'000, 9'000, 9'100);  // it has none of its own
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        const ApiTable& calls = trace->apiCalls;
        QCOMPARE(test::listed(calls.stack[0], calls.stack[1]), test::listed(noIndex, training.linear));
        QCOMPARE(test::listed(int(calls.isStackLent[1]), calls.stack[2]), test::listed(0, training.module));
        QCOMPARE(test::listed(calls.stack[3], int(calls.isStackLent[3])), test::listed(training.linear, 1));
        QCOMPARE(calls.stack[4], noIndex);
        const std::vector<Property> facts = describe(*trace, EventRef(EventKind::Kernel, 3));
        QCOMPARE(valueOf(facts, "Called from"), std::string("train.py:212 in GPT.forward"));
        QCOMPARE(valueOf(facts, "Python line"), std::string());
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Kernel, 3)),
                 std::string("called from train.py:212 in GPT.forward"));
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Api, 1)), std::string("train.py:212 in GPT.forward"));
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Kernel, 0)), std::string());
    }

    void reportsGroupByLine() {
        SimulatedTraining training;
        const uint32_t other =
            training.frame(training.forward, "Linear.forward", "/x/site-packages/torch/nn/modules/linear.py", 120);
        training.launch(training.main, training.linear, 1'000, 10'000, 20'000);
        training.launch(training.main, other, 2'000, 20'000, 25'000);
        training.launch(training.main, training.step, 3'000, 40'000, 41'000, "adam");
        training.launch(training.other, noIndex, 4'000, 45'000, 46'000, "backward");
        training.builder.addKernel(training.stream, "unknown", 50'000, 50'100);
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        QCOMPARE(rowsOf(*trace, "kernels_by_line"),
                 (Rows{"15000|2|at|train.py:212|GPT.forward|/home/ada/train.py",
                       "1000|1|at|train.py:310|step|/home/ada/train.py",
                       "1000|1|called from|train.py:310|step|/home/ada/train.py", "100|1||(no Python line)||"}));
        QCOMPARE(rowsOf(*trace, "launches_by_line"), (Rows{"2000|2|at|train.py:212|GPT.forward|/home/ada/train.py",
                                                           "1000|1|at|train.py:310|step|/home/ada/train.py",
                                                           "1000|1|called from|train.py:310|step|/home/ada/train.py"}));
        QCOMPARE(rowsOf(*trace, "idle_by_line"),
                 (Rows{"15000|1|train.py:212|train.py:310|GPT.forward|step",
                       "4000|1|train.py:310|(no Python line)|step|", "4000|1|train.py:310|train.py:310|step|step"}));
    }

    void tracesWithoutStacksHaveNoLines() {
        SimulatedTrace builder;
        builder.addApi(builder.defaultThread(), "cuLaunchKernel", 0, 10, 1);
        builder.addKernel(builder.defaultStream(), "gemm", 20, 30, 1);
        const TracePtr trace = builder.finish();
        for (const char* report : {"kernels_by_line", "idle_by_line", "launches_by_line"})
            QCOMPARE(rowsOf(*trace, report), Rows{});
        QCOMPARE(valueOf(describe(*trace, EventRef(EventKind::Api, 0)), "Python stack"), std::string());
    }

    void timeIsFoldedOverStacks() {
        SimulatedTraining training;
        training.launch(training.main, training.linear, 1'000, 10'000, 20'000, "gemm<1;2>");
        training.launch(training.main, training.linear, 2'000, 20'000, 25'000, "gemm<1;2>");
        training.launch(training.other, noIndex, 4'000, 45'000, 46'000, "backward");
        training.builder.addKernel(training.stream, "unknown", 50'000, 50'100);
        const TracePtr trace = training.builder.finish();
        const std::string linear = "<module> (train.py:300);GPT.forward (train.py:212);Linear.forward (linear.py:117);";
        QCOMPARE(test::foldedOf(makeFlame(*trace, FlameBase::Lines)), "(no Python stack);unknown 100\n" + linear +
                                                                          "[pt_autograd_0];backward 1000\n" + linear +
                                                                          "gemm<1:2> 15000\n");
    }

    void agreesWithPlainLoops() {
        std::mt19937 random(3);
        SimulatedTraining training;
        std::vector<uint32_t> stacks{training.module, training.forward, training.linear, training.step};
        for (int i = 0; i < 200; ++i)
            stacks.push_back(training.frame(stacks[random() % stacks.size()], random() % 2 ? "a" : "b",
                                            random() % 3 ? "/home/ada/train.py" : "/x/site-packages/torch/b.py",
                                            random() % 20 + 1));
        int64_t timeNs = 0;
        for (int i = 0; i < 3'000; ++i) {
            timeNs += random() % 3'000 + 1;
            const bool isOther = random() % 4 == 0;
            training.launch(isOther ? training.other : training.main,
                            isOther ? noIndex : stacks[random() % stacks.size()], timeNs, timeNs + 5'000,
                            timeNs + 5'000 + random() % 4'000);
        }
        const TracePtr trace = training.builder.finish();
        QVERIFY(trace);
        std::map<std::string, int64_t> wanted;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            const EventRef kernel(EventKind::Kernel, row), call = trace->launchingCall(kernel);
            const uint32_t stack = trace->apiCalls.stack[call.row()];
            const std::string line = stack == noIndex ? "(no Python line)" : placeText(*trace, ownFrame(*trace, stack));
            wanted[line] += trace->rangeOf(kernel).durationNs();
        }
        std::map<std::string, int64_t> found;
        const Result<ReportTable> table = makeReport(*trace, "kernels_by_line", std::nullopt);
        QVERIFY(table);
        for (const std::vector<Cell>& row : table->rows)
            found[std::get<std::string>(row[9])] += std::get<int64_t>(row[1]);
        QCOMPARE(found, wanted);

        int64_t idleNs = 0, busyUntilNs = trace->kernels.startNs[0];
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            idleNs += std::max<int64_t>(0, trace->kernels.startNs[row] - busyUntilNs);
            busyUntilNs = std::max(busyUntilNs, trace->kernels.endNs[row]);
        }
        const Result<ReportTable> idle = makeReport(*trace, "idle_by_line", std::nullopt);
        QVERIFY(idle);
        int64_t reportedNs = 0;
        for (const std::vector<Cell>& row : idle->rows) reportedNs += std::get<int64_t>(row[1]);
        QCOMPARE(reportedNs, idleNs);
    }
};

LANESCOPE_TEST(tst_PythonLines, NoApplication)
#include "tst_PythonLines.moc"
