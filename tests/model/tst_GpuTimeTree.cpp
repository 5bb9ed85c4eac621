// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/StepSelection.h"
#include "model/analysis/rangePattern.h"
#include "model/flame/RangeTree.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/kinds/workStacks.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

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
        const int64_t backwardNs = at;
        const int64_t nodeNs = at;
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

}  // namespace

class TestGpuTimeTree : public QObject {
    Q_OBJECT

  private slots:
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
        for (int64_t step = 0; step < 4; ++step) {
            const int64_t at = step * 1'000 * us;
            made.addNvtx(main, "step " + std::to_string(step), at, at + 900 * us);
            made.addNvtx(main, "forward", at, at + 500 * us);
            made.addNvtx(main, "aten::mm, seq = " + std::to_string(step) + ", op_id = 7", at + 10 * us, at + 400 * us);
            made.launch(main, stream, "gemm", at + 20 * us, at + 30 * us, at + 130 * us);
            made.launch(main, stream, "gemm", at + 40 * us, at + 130 * us, at + 230 * us);
            made.launch(main, stream, "loss", at + 600 * us, at + 610 * us, at + 660 * us);
        }
        const TracePtr trace = made.finish();
        const ReportTable table = reportOf(*trace);
        const std::map<std::string, Row> rows = rebuilt(table);
        QCOMPARE(rows.at("").kind, std::string("all"));
        const Row& step = rows.at("step #");
        QCOMPARE(step.kind, std::string("step"));
        QCOMPARE(step.totalNs, int64_t{4} * 250 * us);
        QCOMPARE(step.selfNs, int64_t{0});
        QCOMPARE(step.calls.value_or(0), int64_t{4});
        QCOMPARE(step.perStepNs.value_or(0), 250.0 * us);
        const Row& gemm = rows.at("step #|forward|aten::mm|gemm");
        QCOMPARE(gemm.kind, std::string("kernel"));
        QCOMPARE(gemm.calls.value_or(0), int64_t{8});
        QCOMPARE(gemm.perStepNs.value_or(0), 200.0 * us);
        QCOMPARE(rows.at("step #|forward|aten::mm").kind, std::string("operator"));
        QCOMPARE(rows.at("step #|forward").kind, std::string("range"));
        QCOMPARE(rows.at("step #|loss").totalNs, int64_t{4} * 50 * us);
        // Text output is indented and contains no row numbers.
        const std::string text = formatTable(table, TableFormat::Text);
        QVERIFY2(text.find("  step #\n") != std::string::npos, text.c_str());
        QVERIFY2(text.find("        gemm\n") != std::string::npos, text.c_str());
        QVERIFY2(text.find("Parent") == std::string::npos, text.c_str());
        const std::string csv = formatTable(table, TableFormat::Csv);
        QVERIFY2(csv.starts_with("Id,Parent,Depth,Kind,Time (%),Total Time (ns),Self Time (ns),"
                                 "Calls,Per Step (ns),Name\r\n0,,0,all,100,"),
                 csv.c_str());
        const auto json = nlohmann::json::parse(formatTable(table, TableFormat::Json));
        QCOMPARE(json[0]["Parent"].is_null(), true);
        QCOMPARE(json[1]["Parent"].get<int>(), 0);
        QCOMPARE(json[1]["Name"].get<std::string>(), std::string("step #"));
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
        QVERIFY(tree.tree.nodes().size() <= RangeTree::maxNodes);
        QVERIFY(tree.tree.depth() <= RangeTree::maxDepth);
        QVERIFY(tree.gathered > 0);
        const ReportTable table = reportOf(*trace);
        rebuilt(table);
        QVERIFY(table.notes.back().find("too many names") != std::string::npos);
    }
};

LANESCOPE_TEST(TestGpuTimeTree, NoApplication)
#include "tst_GpuTimeTree.moc"
