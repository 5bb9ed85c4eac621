// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/text/kernelNames.h"
#include "model/text/knownRangeName.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Time of a path such as "step #/forward/gemm", for the first node of that name.
int64_t timeOf(const FlameTree& tree, const std::vector<std::string>& path) {
    uint32_t at = 0;
    for (const std::string& frame : path) {
        const auto children = tree.childrenOf(at);
        const auto found =
            std::find_if(children.begin(), children.end(), [&](uint32_t child) { return tree.nameOf(child) == frame; });
        if (found == children.end()) return -1;
        at = *found;
    }
    return tree.nodes()[at].totalNs;
}

QString svgOf(const FlameTree& tree, std::string_view title, uint32_t root = 0) {
    return QString::fromStdString(
        test::sinkText([&](const TextSink& sink) { writeFlameSvg(tree, root, title, sink); }));
}

constexpr int64_t us = 1'000;

/// A report row, found by its path of names.
struct Row {
    std::string kind;
    int64_t totalNs = 0, selfNs = 0;
    std::optional<int64_t> calls;
    std::optional<double> perStepNs;
    size_t depth = 0;
};

ReportTable reportOf(const Trace& trace, std::optional<TimeRange> range = {}, std::string_view name = {}) {
    Result<ReportTable> made = makeReport(trace, "gpu_time_tree", range, name);
    return made ? std::move(*made) : ReportTable{};
}

/// Rebuilds the tree from the table as a consumer would, and checks the sums.
std::map<std::string, Row> rebuilt(const ReportTable& table) {
    std::vector<std::string> paths;
    std::vector<int64_t> within(table.rows.size(), 0);
    std::map<std::string, Row> rows;
    for (size_t index = 0; index < table.rows.size(); ++index) {
        const std::vector<Cell>& cells = table.rows[index];
        if (std::get<int64_t>(cells[0]) != static_cast<int64_t>(index)) qFatal("number of a row");
        const std::string& name = std::get<std::string>(cells[9]);
        Row row;
        row.depth = static_cast<size_t>(std::get<int64_t>(cells[2]));
        row.kind = std::get<std::string>(cells[3]);
        row.totalNs = std::get<int64_t>(cells[5]);
        row.selfNs = std::get<int64_t>(cells[6]);
        if (const auto* calls = std::get_if<int64_t>(&cells[7])) row.calls = *calls;
        if (const auto* mean = std::get_if<double>(&cells[8])) row.perStepNs = *mean;
        if (const auto* parent = std::get_if<int64_t>(&cells[1])) {
            const auto around = static_cast<size_t>(*parent);
            if (around >= index) qFatal("a row stands before what is around it");
            within[around] += row.totalNs;
            paths.push_back(around == 0 ? name : paths[around] + "|" + name);
        } else {
            paths.emplace_back();
        }
        if (!rows.emplace(paths.back(), row).second) qFatal("a path is there twice");
    }
    for (size_t index = 0; index < table.rows.size(); ++index) {
        const Row& row = rows.at(paths[index]);
        if (within[index] + row.selfNs != row.totalNs) qFatal("children and self are no parent");
    }
    return rows;
}

/// Expected place of a piece of work, by testing every range of the trace.
class PlainTree {
  public:
    explicit PlainTree(const Trace& trace, std::string stepPattern) : trace_(trace), step_(std::move(stepPattern)) {
        std::map<std::string, std::set<std::string>> texts;
        for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
            const std::string text(trace.strings.at(trace.nvtx.text[row]));
            texts[rangePattern(text)].insert(text);
        }
        for (const auto& [pattern, all] : texts)
            if (all.size() == 1) alone_[pattern] = *all.begin();
        forEachLaunchedWork(trace, [this](const LaunchedWork& work) { add(work); });
    }

    std::map<std::string, int64_t> totals, calls;

  private:
    std::vector<uint32_t> openOn(uint32_t thread, int64_t timeNs) const {
        std::vector<uint32_t> rows;
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
            if (trace_.nvtx.thread[row] == thread && trace_.nvtx.startNs[row] <= timeNs &&
                trace_.nvtx.endNs[row] > timeNs)
                rows.push_back(row);
        return rows;
    }
    std::string nameOf(uint32_t row) const {
        const std::string pattern = rangePattern(trace_.strings.at(trace_.nvtx.text[row]));
        const auto alone = alone_.find(pattern);
        return alone == alone_.end() ? pattern : alone->second;
    }
    bool isStep(uint32_t row) const { return rangePattern(trace_.strings.at(trace_.nvtx.text[row])) == step_; }
    void add(const LaunchedWork& work) {
        std::vector<std::string> path;
        if (work.call != noIndex) {
            const uint32_t thread = trace_.apiCalls.thread[work.call];
            const int64_t timeNs = trace_.apiCalls.startNs[work.call];
            std::vector<uint32_t> own = openOn(thread, timeNs), around;
            uint32_t leader = noIndex;
            for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
                if (isStep(row)) leader = trace_.nvtx.thread[row];
            if (leader != thread &&
                std::none_of(own.begin(), own.end(), [this](uint32_t row) { return isStep(row); })) {
                around = openOn(leader, timeNs);
                const bool isAutograd = trace_.threads[thread].name.starts_with("pt_autograd");
                if (!own.empty() && !isAutograd) {
                    size_t kept = 0;
                    for (size_t at = 0; at < around.size(); ++at)
                        if (isStep(around[at]) && kept == 0) kept = at + 1;
                    around.resize(kept);
                }
            }
            around.insert(around.end(), own.begin(), own.end());
            for (const uint32_t row : around) path.push_back(nameOf(row));
        }
        if (path.empty()) path.push_back("(no range)");
        path.push_back(trace_.nameOf(work.work));
        std::string at;
        for (const std::string& frame : path) {
            at += at.empty() ? frame : "|" + frame;
            totals[at] += work.times.durationNs();
        }
        ++calls[at];
    }

    const Trace& trace_;
    const std::string step_;
    std::map<std::string, std::string> alone_;
};

/// A simulated training: steps on the main thread, the backward pass on autograd's thread with its
/// own ranges, and a thread that copies for later steps.
TracePtr randomTraining(unsigned seed) {
    std::mt19937 random(seed);
    SimulatedTrace made;
    const uint32_t main = made.defaultThread(), stream = made.defaultStream();
    const uint32_t autograd = made.addThread(0, 77, "pt_autograd_0");
    const uint32_t loader = made.addThread(0, 78, "copies");
    int64_t at = 1'000, gpuNs = 0;
    const auto launch = [&](uint32_t thread) {
        const int64_t startNs = std::max(at + 10 * us, gpuNs);
        gpuNs = startNs + 1 + static_cast<int64_t>(random() % 50'000);
        made.launch(thread, stream, random() % 2 == 0 ? "gemm" : "add", at, startNs, gpuNs);
        at += 20 * us;
    };
    for (int step = 0; step < 12; ++step) {
        const int64_t beginNs = at;
        for (unsigned layer = 0; layer < 1 + random() % 4; ++layer) {
            const int64_t layerNs = at;
            launch(main);
            if (random() % 2 == 0) {
                const int64_t innerNs = at;
                launch(main);
                made.addNvtx(main, "norm", innerNs, at);
            }
            made.addNvtx(main, "layer " + std::to_string(layer), layerNs, at);
        }
        const int64_t backwardNs = at, nodeNs = at;
        launch(autograd);
        // More ranges than the main thread has.
        for (int inner = 0; inner < 9; ++inner)
            made.addNvtx(autograd, "AddmmBackward " + std::string(1, char('a' + inner)), nodeNs + inner, at - inner);
        if (random() % 2 == 0) launch(autograd);
        made.addNvtx(main, "backward", backwardNs, at);
        const int64_t copyNs = at;
        launch(loader);
        if (random() % 2 == 0) made.addNvtx(loader, "prefetch", copyNs, at);
        made.addNvtx(main, "step " + std::to_string(step), beginNs, at);
        if (random() % 3 == 0) launch(main);  // between steps
        at += 5 * us;
    }
    made.addKernel(stream, "unknown", at + 1'000'000, at + 1'000'100);
    return made.finish();
}

struct Named {
    std::string known, name;
};

/// Kernel names as profilers write them, and their short names.
std::vector<Named> recordedNames() {
    std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/model/kernelNames.tsv");
    std::vector<Named> names;
    for (std::string line; std::getline(file, line);) {
        const size_t tab = line.find('\t');
        if (!line.starts_with('#') && tab != std::string::npos)
            names.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return names;
}

constexpr const char* add =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> "
    ">(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)";

}  // namespace

class tst_FlameTree : public QObject {
    Q_OBJECT

  private slots:
    void equalFramesAtOnePlaceAreMerged() {
        FlameTree tree;
        tree.add({"a", "b"}, 10);
        tree.add({"a", "c"}, 30);
        tree.add({"b"}, 5);
        tree.add({"a", "b"}, 1);
        tree.add({"never"}, 0);
        tree.arrange();
        QCOMPARE(test::listed(tree.nodes().size(), tree.totalNs()), "5 | 46");
        QCOMPARE(test::listed(timeOf(tree, {"a"}), timeOf(tree, {"a", "b"})), "41 | 11");
        QCOMPARE(tree.depth(), 2u);
        const uint32_t first = tree.childrenOf(0)[0];
        QCOMPARE(test::listed(tree.nameOf(first), tree.nameOf(tree.childrenOf(first)[0])), "a | c");
    }

    /// The root frames that contain everything add no information.
    void treeFindsItsFirstSplit() {
        FlameTree tree;
        QCOMPARE(tree.firstSplit(), 0u);
        tree.add({"main", "loop", "step", "forward"}, 600);
        tree.add({"main", "loop", "step", "backward"}, 395);
        tree.add({"main", "checkpoint"}, 5);
        tree.arrange();
        QCOMPARE(tree.nameOf(tree.firstSplit()), std::string_view("step"));
        tree.add({"main", "checkpoint"}, 200);
        tree.arrange();
        QCOMPARE(tree.nameOf(tree.firstSplit()), std::string_view("main"));
        // A single chain has no split.
        FlameTree chain;
        chain.add({"main", "loop", "gemm"}, 10);
        chain.arrange();
        QCOMPARE(chain.nameOf(chain.firstSplit()), std::string_view("loop"));
    }

    /// A stack in a file may be as deep as its rows, with every event inside all frames.
    void stackDepthIsBounded() {
        SimulatedTrace made;
        const StringIndex name = made.intern("f");
        uint32_t stack = noIndex;
        for (int depth = 0; depth < 20'000; ++depth) stack = made.stack(stack, name, name, 1);
        const std::vector<uint32_t> frames = framesOf(*made.finish(), stack);
        QCOMPARE(frames.size(), size_t{1024});
        QCOMPARE(frames.front(), stack);
    }

    void workIsPlacedUnderItsLaunchingRanges() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread(), autograd = builder.addThread(0, 77, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream();
        builder.addSteps(main, 3, 100'000, 90'000, [&](int64_t at) {
            builder.addNvtx(main, "forward", at, at + 40'000);
            builder.launch(main, stream, "gemm", at + 10'000, at + 20'000, at + 30'000);
            // Work that runs after its range ended, launched by a thread without ranges.
            builder.launch(autograd, stream, "gemm_backward", at + 50'000, at + 95'000, at + 99'000);
        });
        builder.addKernel(stream, "unknown", 400'000, 400'100);
        const FlameTree tree = makeFlame(*builder.finish(), FlameBase::Ranges);
        QCOMPARE(timeOf(tree, {"step #"}), int64_t{3 * 14'000});
        QCOMPARE(timeOf(tree, {"step #", "forward", "gemm"}), int64_t{30'000});
        QCOMPARE(timeOf(tree, {"step #", "gemm_backward"}), int64_t{12'000});
        QCOMPARE(timeOf(tree, {"(no range)", "unknown"}), int64_t{100});
    }

    void treeContainsAllTimeOfTheWork() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        int64_t plainNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            plainNs += trace->kernels.endNs[row] - trace->kernels.startNs[row];
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
            plainNs += trace->memcpys.endNs[row] - trace->memcpys.startNs[row];
        for (uint32_t row = 0; row < trace->memsets.size(); ++row)
            plainNs += trace->memsets.endNs[row] - trace->memsets.startNs[row];
        for (const FlameBase base : {FlameBase::Lines, FlameBase::Functions, FlameBase::Ranges}) {
            const FlameTree tree = makeFlame(*trace, base);
            QCOMPARE(tree.totalNs(), plainNs);
            for (uint32_t index = 0; index < tree.nodes().size(); ++index) {
                const FlameTree::Node& node = tree.nodes()[index];
                int64_t within = 0;
                for (const uint32_t child : tree.childrenOf(index)) {
                    QCOMPARE(tree.nodes()[child].parent, index);
                    QCOMPARE(tree.nodes()[child].startNs, node.startNs + within);
                    within += tree.nodes()[child].totalNs;
                }
                QCOMPARE(within + node.selfNs, node.totalNs);
            }
            size_t inRows = 0;
            for (uint32_t depth = 0; depth <= tree.depth(); ++depth) {
                int64_t endNs = 0;
                for (const uint32_t index : tree.row(depth)) {
                    QCOMPARE(tree.nodes()[index].depth, depth);
                    QVERIFY(tree.nodes()[index].startNs >= endNs);
                    endNs = tree.nodes()[index].endNs();
                    ++inRows;
                }
            }
            QCOMPARE(inRows, tree.nodes().size());
            QVERIFY(tree.row(tree.depth() + 1).empty());
        }
    }

    void rangeCountsItsPartOfTheWork() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        const int64_t fourth = trace->range.durationNs() / 4;
        const TimeRange range{trace->range.startNs + fourth, trace->range.endNs - fourth};
        int64_t plainNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            plainNs += range.intersected({trace->kernels.startNs[row], trace->kernels.endNs[row]}).durationNs();
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row)
            plainNs += range.intersected({trace->memcpys.startNs[row], trace->memcpys.endNs[row]}).durationNs();
        for (uint32_t row = 0; row < trace->memsets.size(); ++row)
            plainNs += range.intersected({trace->memsets.startNs[row], trace->memsets.endNs[row]}).durationNs();
        QVERIFY(plainNs > 0 && plainNs < makeFlame(*trace, FlameBase::Ranges).totalNs());
        for (const FlameBase base : {FlameBase::Lines, FlameBase::Ranges})
            QCOMPARE(makeFlame(*trace, base, range).totalNs(), plainNs);
        QVERIFY(makeFlame(*trace, FlameBase::Ranges, TimeRange{-100, -50}).isEmpty());
    }

    void linesOfAFunctionAreMergedByFunction() {
        SimulatedTrace builder;
        const auto frame = [&](uint32_t outer, const char* function, const char* file, uint32_t line) {
            return builder.frame(function, file, line, outer);
        };
        const uint32_t early = frame(noIndex, "train", "/home/ada/train.py", 10);
        const uint32_t late = frame(noIndex, "train", "/home/ada/train.py", 20);
        const uint32_t package = frame(late, "forward", "/x/site-packages/nn.py", 7);
        uint32_t correlation = 0;
        for (const uint32_t stack : {early, late, package}) {
            ++correlation;
            const int64_t at = 1'000 * correlation;
            builder.addApi(builder.defaultThread(), "cuLaunchKernel", at, at + 10, correlation, stack);
            builder.addKernel(builder.defaultStream(), "gemm", at + 20, at + 120, correlation);
        }
        const TracePtr trace = builder.finish();
        QVERIFY(hasBase(*trace, FlameBase::Lines) && hasBase(*trace, FlameBase::Functions));
        QVERIFY(!hasBase(*trace, FlameBase::Ranges));
        const FlameTree lines = makeFlame(*trace, FlameBase::Lines);
        QCOMPARE(timeOf(lines, {"train (train.py:10)", "gemm"}), int64_t{100});
        QCOMPARE(timeOf(lines, {"train (train.py:20)"}), int64_t{200});
        const FlameTree functions = makeFlame(*trace, FlameBase::Functions);
        QCOMPARE(timeOf(functions, {"train (train.py)"}), int64_t{300});
        QCOMPARE(timeOf(functions, {"train (train.py)", "gemm"}), int64_t{200});
        QCOMPARE(timeOf(functions, {"train (train.py)", "forward (nn.py)", "gemm"}), int64_t{100});
        const uint32_t own = functions.childrenOf(0)[0];
        QVERIFY(functions.nodes()[own].frame.kind == FrameKind::Function);
        const uint32_t gemm = functions.childrenOf(own)[0];
        QVERIFY(functions.nodes()[gemm].frame.kind == FrameKind::Work);
        QCOMPARE(functions.pathTo(gemm), (std::vector<uint32_t>{0, own, gemm}));
        const uint32_t library = functions.childrenOf(own)[1];
        QVERIFY(functions.nodes()[library].frame.kind == FrameKind::LibraryFunction);
        std::string folded;
        writeFolded(functions, library, [&folded](std::string_view line) {
            folded += line;
            return true;
        });
        QCOMPARE(folded, std::string("train (train.py);forward (nn.py);gemm 100\n"));
    }

    void searchCountsEachStackOnce() {
        FlameTree tree;
        tree.add({"main", "forward", "forward", "gemm"}, 10);
        tree.add({"main", "forward", "copy"}, 5);
        tree.add({"main", "backward", "forward_hook", "add"}, 3);
        tree.add({"main", "backward", "add"}, 100);
        tree.arrange();
        const FlameMatches found =
            matchFrames(tree, [](std::string_view name) { return name.find("forward") != name.npos; });
        QCOMPARE(test::listed(found.frames, found.ns), "3 | 18");
        QVERIFY(!found.isMatch[0]);
        const FlameMatches all = matchFrames(tree, [](std::string_view) { return true; });
        QCOMPARE(all.ns, tree.totalNs());
        QCOMPARE(all.frames, static_cast<uint32_t>(tree.nodes().size() - 1));
        QCOMPARE(matchFrames(tree, [](std::string_view) { return false; }).ns, int64_t{0});
    }

    void pictureMayStartAtAFrame() {
        FlameTree tree;
        tree.add({"a", "b"}, 300);
        tree.add({"c", "d"}, 100);
        tree.arrange();
        const QString svg = svgOf(tree, "part", tree.childrenOf(0)[1]);
        QVERIFY(svg.contains("<title>c: 100.0 ns (100.0 %)") || svg.contains("<title>c: 100 ns (100.0 %)"));
        QVERIFY(svg.contains("<title>d") && !svg.contains("<title>a") && !svg.contains("<title>b"));
    }

    void pictureIsValidXmlForAnyName() {
        FlameTree tree;
        tree.add({"<script>alert(1)</script>", "a \"b\" & 'c'", std::string("\x01\xff\n bad")}, 1'000'000);
        tree.add({"thin"}, 1);
        tree.arrange();
        const QString svg = svgOf(tree, "<run> & \x02");
        QXmlStreamReader xml(svg);
        int frames = 0;
        QString titles;
        while (!xml.atEnd()) {
            xml.readNext();
            if (!xml.isStartElement()) continue;
            QVERIFY(xml.name() != QLatin1String("script"));
            if (xml.name() == QLatin1String("title")) {
                titles += xml.readElementText() + "\n";
                ++frames;
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(frames, 4);  // invisibly thin frames are omitted
        QVERIFY(titles.contains("<script>alert(1)</script>: 1.000 ms (100.0 %)"));
        QVERIFY(svgOf(FlameTree(), "nothing").contains("</svg>"));
    }

    void workPlacementMatchesPlainLoop() {
        for (unsigned seed = 1; seed <= 8; ++seed) {
            const TracePtr trace = randomTraining(seed);
            const PlainTree plain(*trace, "step #");
            std::map<std::string, Row> rows = rebuilt(reportOf(*trace));
            rows.erase("");
            QCOMPARE(rows.size(), plain.totals.size());
            for (const auto& [path, totalNs] : plain.totals) {
                QVERIFY2(rows.contains(path), path.c_str());
                QCOMPARE(rows.at(path).totalNs, totalNs);
                if (const auto calls = plain.calls.find(path); calls != plain.calls.end())
                    QCOMPARE(rows.at(path).calls.value_or(0), calls->second);
            }
        }
    }

    void stepsRangesOperatorsAndWorkAreDistinguished() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        made.addSteps(main, 4, 1'000 * us, 900 * us, [&](int64_t at, int64_t step) {
            made.addNvtx(main, "forward", at, at + 500 * us);
            made.addNvtx(main, "aten::mm, seq = " + std::to_string(step) + ", op_id = 7", at + 10 * us, at + 400 * us);
            made.launch(main, stream, "gemm", at + 20 * us, at + 30 * us, at + 130 * us);
            made.launch(main, stream, "gemm", at + 40 * us, at + 130 * us, at + 230 * us);
            made.launch(main, stream, "loss", at + 600 * us, at + 610 * us, at + 660 * us);
        });
        const ReportTable table = reportOf(*made.finish());
        const std::map<std::string, Row> rows = rebuilt(table);
        QCOMPARE(rows.at("").kind, std::string("all"));
        const Row& step = rows.at("step #");
        QCOMPARE(step.kind, std::string("step"));
        QCOMPARE(step.totalNs, int64_t{4} * 250 * us);
        QCOMPARE(test::listed(step.selfNs, step.calls.value_or(0)), "0 | 4");
        QCOMPARE(step.perStepNs.value_or(0), 250.0 * us);
        const Row& gemm = rows.at("step #|forward|aten::mm|gemm");
        QCOMPARE(test::listed(gemm.kind, gemm.calls.value_or(0)), "kernel | 8");
        QCOMPARE(gemm.perStepNs.value_or(0), 200.0 * us);
        QCOMPARE(rows.at("step #|forward|aten::mm").kind, std::string("operator"));
        QCOMPARE(rows.at("step #|forward").kind, std::string("range"));
        QCOMPARE(rows.at("step #|loss").totalNs, int64_t{4} * 50 * us);
        // Text output is indented and contains no row numbers.
        const std::string text = formatTable(table, TableFormat::Text);
        for (const char* part : {"  step #\n", "        gemm\n"}) HAS(text, part);
        HAS_NO(text, "Parent");
        const std::string csv = formatTable(table, TableFormat::Csv);
        QVERIFY2(csv.starts_with("Id,Parent,Depth,Kind,Time (%),Total Time (ns),Self Time (ns),"
                                 "Calls,Per Step (ns),Name\r\n0,,0,all,100,"),
                 csv.c_str());
        const auto json = nlohmann::json::parse(formatTable(table, TableFormat::Json));
        QCOMPARE(json[0]["Parent"].is_null(), true);
        QCOMPARE(test::listed(json[1]["Parent"].get<int>(), json[1]["Name"].get<std::string>()), "0 | step #");
    }

    void stepsWithoutRangesHaveTheirOwnFrame() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        made.launch(main, stream, "warm_up", 0, 10 * us, 500 * us);
        for (int64_t step = 0; step < 12; ++step)
            for (int64_t kernel = 0; kernel < 22; ++kernel) {
                const int64_t at = (1 + step) * 1'000 * us + kernel * 20 * us;
                made.launch(main, stream, "k" + std::string(1, char('a' + kernel)), at, at + 5 * us, at + 15 * us);
            }
        const TracePtr trace = made.finish();
        QVERIFY(findSteps(*trace)->source == StepSource::KernelPattern);
        const std::map<std::string, Row> rows = rebuilt(reportOf(*trace));
        QCOMPARE(rows.at("step").kind, std::string("step"));
        QCOMPARE(rows.at("step").perStepNs.value_or(0), 220.0 * us);
        QVERIFY(rows.contains("step|ka") && rows.contains("(no range)|warm_up"));
    }

    /// The weight update is in no batch but in the step.
    void stepsOfSeveralBatchesContainTheGapsBetweenThem() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        for (int64_t batch = 0; batch < 24; ++batch) {
            const int64_t at = batch * 1'000 * us;
            made.addNvtx(main, "batch " + std::to_string(batch), at, at + 700 * us);
            made.launch(main, stream, "gemm", at + 10 * us, at + 20 * us, at + 600 * us);
            if (batch % 4 == 3) made.launch(main, stream, "FusedAdam", at + 800 * us, at + 810 * us, at + 900 * us);
        }
        const std::map<std::string, Row> rows = rebuilt(reportOf(*made.finish()));
        QCOMPARE(rows.at("step").kind, std::string("step"));
        QCOMPARE(rows.at("step|FusedAdam").perStepNs.value_or(0), 90.0 * us);
        QCOMPARE(rows.at("step|batch #|gemm").perStepNs.value_or(0), 4 * 580.0 * us);
        QCOMPARE(rows.at("step|batch #").kind, std::string("range"));
    }

    void timeRangeCountsOnlyItsWork() {
        const TracePtr trace = simulatedTraining({.steps = 5});
        const int64_t fifth = trace->range.durationNs() / 5;
        const TimeRange range{trace->range.startNs + fifth, trace->range.endNs - fifth};
        int64_t plainNs = 0;
        forEachLaunchedWork(*trace, [&](const LaunchedWork& work) {
            plainNs += std::max<int64_t>(0, work.times.intersected(range).durationNs());
        });
        const std::map<std::string, Row> rows = rebuilt(reportOf(*trace, range));
        QCOMPARE(rows.at("").totalNs, plainNs);
        QVERIFY(reportOf(*trace, TimeRange{-100, -50}).rows.empty());
    }

    void hostileTraceIsBounded() {
        SimulatedTrace made;
        const uint32_t main = made.defaultThread(), stream = made.defaultStream();
        int64_t at = 0, plainNs = 0;
        for (uint32_t each = 0; each < RangeTree::maxNodes; ++each) {
            std::string name = "range ";
            for (uint32_t rest = each; rest > 0; rest /= 26) name += char('a' + rest % 26);
            made.addNvtx(main, name, at, at + 10);
            made.launch(main, stream, "k", at + 5, at + 5'000, at + 5'100);
            plainNs += 100;
            at += 5'200;
        }
        const int64_t deepNs = at;
        for (int64_t depth = 0; depth < 200; ++depth)
            made.addNvtx(main, std::string(1 + size_t(depth), 'x'), deepNs + depth, deepNs + 100'000 - depth);
        made.launch(main, stream, "k", deepNs + 1'000, deepNs + 6'000, deepNs + 6'100);
        plainNs += 100;
        const TracePtr trace = made.finish();
        const RangeTree tree = makeRangeTree(*trace);
        QCOMPARE(tree.tree.totalNs(), plainNs);
        QVERIFY(tree.tree.nodes().size() <= RangeTree::maxNodes && tree.tree.depth() <= RangeTree::maxDepth);
        QVERIFY(tree.gathered > 0);
        const ReportTable table = reportOf(*trace);
        rebuilt(table);
        QVERIFY(table.notes.back().find("too many names") != std::string::npos);
    }

    void kernelsHaveTheirCommonNames() {
        const std::vector<Named> names = recordedNames();
        QVERIFY(names.size() >= 100);
        for (const Named& each : names)
            QVERIFY2(knownKernelName(each.name) == each.known,
                     (knownKernelName(each.name) + " of " + each.name).c_str());
    }

    /// Kernels that no available recording contains.
    void syntheticKernelsHaveTheirCommonNames() {
        const std::string lambdas =
            "::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
            "const::{lambda(c10::BFloat16, c10::BFloat16)#1}";
        QCOMPARE(knownKernelName("void at::native::vectorized_elementwise_kernel<4, "
                                 "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
                                 "at::native::GeluType)" +
                                 lambdas + ", at::detail::Array<char*, 3> >(int)"),
                 std::string("GeluBackward bf16"));
        QCOMPARE(knownKernelName("void at::native::vectorized_elementwise_kernel<4, at::native::"
                                 "(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)" +
                                 lambdas + ", at::detail::Array<char*, 2> >(int)"),
                 std::string("silu bf16"));
        QCOMPARE(knownKernelName("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
                                 "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::"
                                 "(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::"
                                 "(anonymous namespace)::ADAM_MODE)0, false>, float const*, double>(int)"),
                 std::string("foreach FusedAdam f32"));
        QCOMPARE(knownKernelName("triton_red_fused__softmax_7"), std::string("fused softmax (Triton, reduction)"));
        QCOMPARE(knownKernelName("loop_add_fusion_3"), std::string("add (XLA, loop fusion)"));
        QCOMPARE(knownKernelName("input_reduce_fusion.2"), std::string("reduce (XLA, input fusion)"));
        QCOMPARE(knownKernelName("fusion_12"), std::string("fusion (XLA)"));
        QCOMPARE(knownKernelName("_attn_fwd_0d1d2d34d5de6de7c8c9d10d"), std::string("_attn_fwd (Triton)"));
        QCOMPARE(knownKernelName("add_kernel_0d1d2d3de"), std::string("add_kernel (Triton)"));
        QCOMPARE(knownKernelName("triton_poi_fused_add_relu_0_0d1d2de"),
                 std::string("fused add relu (Triton, pointwise)"));
        QCOMPARE(knownKernelName("triton_softmax_5"), std::string("softmax (XLA, Triton)"));
        QCOMPARE(knownKernelName("triton_gemm_dot_12"), std::string("dot (XLA, Triton gemm)"));
        QCOMPARE(knownKernelName("gemm_fusion_dot_general_12"), std::string("dot general (XLA, gemm fusion)"));
        for (const char* plain : {"gemm", "relu", "loop", "input_kernel", "conv_0d", "k_012", "k_0d2d", "_0d1d",
                                  "copy_1d", "void flash::fwd<Traits<64>, false>(P)"})
            QCOMPARE(knownKernelName(plain), std::string());
    }

    void xlaAnnotationsAreNamedBySubject() {
        QCOMPARE(knownRangeName("TSL:XlaModule:#hlo_module=jit_step,program_id=12#"),
                 std::string("jit_step (XlaModule)"));
        QCOMPARE(knownRangeName("XlaModule:#prefix=x,hlo_module=jit_step#"), std::string("jit_step (XlaModule)"));
        QCOMPARE(knownRangeName("Thunk:#hlo_op=loop_add_fusion#"), std::string("loop_add_fusion (Thunk)"));
        // Format of JAX 0.7.
        constexpr const char* thunk =
            "TSL:Thunk:#name=jit(step)/transpose(jvp())/dot_general,hlo_op=gemm_fusion_dot.16,"
            "unique_hlo_op_id=4294967315#";
        QCOMPARE(knownRangeName(thunk), std::string("gemm_fusion_dot.16 (Thunk)"));
        QVERIFY(xlaAnnotation(thunk)->source == "jit(step)/transpose(jvp())/dot_general");
        QVERIFY(xlaAnnotation(thunk)->what == "Thunk");
        QCOMPARE(knownRangeName("TSL:Thunk:#hlo_op=fusion.3,hlo_module=jit_step#"),
                 std::string("fusion.3 in jit_step (Thunk)"));
        QVERIFY(searchedPart("fusion.3 in jit_step (Thunk)") == "fusion.3");
        QVERIFY(searchedPart("layer #") == "layer ");
        QCOMPARE(knownRangeName("XlaPass:#name=algsimp,module=jit_step,program_id=6634#"),
                 std::string("algsimp (XlaPass)"));
        for (const char* plain : {"step 1", ":#a=b#", "a:#", "a:##", "a:#hlo_op=#", "#12", ""})
            QCOMPARE(knownRangeName(plain), std::string());
    }

    void pyTorchOperatorsInNvtxAreShortened() {
        QCOMPARE(knownRangeName("aten::mm, seq = 12, op_id = 345"), std::string("aten::mm"));
        QCOMPARE(knownRangeName("aten::to, op_id = 7"), std::string("aten::to"));
        QCOMPARE(knownRangeName("run_training_batch, op_id = #"), std::string("run_training_batch"));
        QCOMPARE(knownRangeName("aten::mm, sizes = [[2, 3], [3, 4]], input_op_ids = []"), std::string("aten::mm"));
        QCOMPARE(knownRangeName("autograd::engine::evaluate_function: AddmmBackward0, op_id = 9"),
                 std::string("autograd::engine::evaluate_function: AddmmBackward0"));
        for (const char* plain : {"x, seq = y", ", op_id = 3", "load, sizes = 3x4", "a, op_id"})
            QCOMPARE(knownRangeName(plain), std::string());
    }

    /// Names come from untrusted files.
    void oddNamesAreShortenedSafely() {
        std::mt19937 random(11);
        const std::string letters = "<>(){}[],: _:aZ09at::native::reduce_kernel<triton_poi_";
        for (int round = 0; round < 20'000; ++round) {
            std::string name = round % 3 == 0 ? add : std::string();
            const auto length = random() % 60;
            for (unsigned i = 0; i < length; ++i) {
                const char letter = letters[random() % letters.size()];
                if (name.empty() || random() % 2 == 0)
                    name += letter;
                else
                    name[random() % name.size()] = letter;
            }
            (void)knownKernelName(name);
            (void)knownRangeName(name);
        }
        std::string deep = "void at::native::vectorized_elementwise_kernel<4, ";
        for (int i = 0; i < 2'000; ++i) deep += "at::native::gpu_kernel_impl<";
        (void)knownKernelName(deep);
    }

    void slicesReportsAndDetailsUseShortNames() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addKernel(stream, add, 0, 100);
        builder.addKernel(stream, "gemm", 100, 150);
        builder.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 300);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->nameOf({EventKind::Kernel, 0}), std::string("add f32"));
        QCOMPARE(trace->nameOf({EventKind::Kernel, 1}), std::string("gemm"));
        const SliceLocation at = trace->locate({EventKind::Kernel, 0});
        const Lane& lane = trace->tracks[at.track].lanes[at.lane];
        QCOMPARE(trace->strings.at(lane.name[at.slice]), std::string_view("add f32"));
        const Result<ReportTable> families = makeReport(*trace, "cuda_gpu_kern_sum:family", std::nullopt);
        QVERIFY(families);
        QCOMPARE(families->rows.size(), size_t{3});
        const auto hasRow = [&](const std::string& name) {
            return std::ranges::any_of(families->rows, [&](const std::vector<Cell>& row) {
                return std::get<std::string>(row.back()) == name;
            });
        };
        for (const char* part : {"add f32", "gemm"}) QVERIFY2(hasRow(part), part);
    }
};

LANESCOPE_TEST(tst_FlameTree, NoApplication)
#include "tst_FlameTree.moc"
