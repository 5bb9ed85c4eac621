// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/trace/WorkRows.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// One process that runs a kernel with these microseconds on each GPU, without calls.
TracePtr onEachGpu(const std::vector<int64_t>& microseconds) {
    SimulatedTrace builder;
    for (size_t gpu = 0; gpu < microseconds.size(); ++gpu)
        builder.addKernel(builder.addStream(0, builder.addGpu(), 7), "gemm", 0, 1000 * microseconds[gpu]);
    return builder.finish();
}

bool reportsSkippedGpus(const Trace& trace) {
    return std::ranges::any_of(trace.health,
                               [](const HealthNote& note) { return note.code == HealthCode::GpusNotExplained; });
}

/// Several processes on several GPUs, with work of all kinds, unsorted.
TracePtr randomWork(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random); };
    SimulatedTrace builder;
    std::vector<uint32_t> streams;
    const uint32_t gpus = 1 + below(4), processes = 1 + below(4);
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) builder.addGpu();
    for (uint32_t process = 1; process < processes; ++process) builder.addProcess(5000 + process, "python3");
    for (uint32_t number = 0, count = 1 + below(12); number < count; ++number)
        streams.push_back(builder.addStream(below(processes), below(gpus), number));
    for (int number = 0; number < 200; ++number) {
        const uint32_t stream = streams[below(static_cast<uint32_t>(streams.size()))];
        const int64_t start = below(100'000), end = start + 1 + below(1000);
        switch (below(4)) {
            case 0: builder.addKernel(stream, "gemm", start, end); break;
            case 1: builder.addMemcpy(stream, MemcpyKind::HtoD, 8, start, end); break;
            case 2: builder.addMemset(stream, 8, start, end); break;
            default: builder.addGraph(stream, 1, start, end);
        }
    }
    return builder.finish();
}

/// The plain way: all rows in order.
template <class Table>
std::vector<uint32_t> rowsOf(const Trace& trace, const Table& table, uint32_t process, uint32_t gpu) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const Stream& stream = trace.streams[table.stream[row]];
        if (stream.process == process && stream.gpu == gpu) rows.push_back(row);
    }
    return rows;
}

bool areSame(std::span<const uint32_t> rows, const std::vector<uint32_t>& expected) {
    return std::ranges::equal(rows, expected);
}

}  // namespace

class tst_WorkRows : public QObject {
    Q_OBJECT

  private slots:
    void workRowsMatchPlainLoop() {
        for (unsigned seed = 0; seed < 100; ++seed) {
            const TracePtr trace = randomWork(seed);
            const WorkRows rows(*trace);
            for (uint32_t process = 0; process < trace->processes.size(); ++process) {
                for (uint32_t gpu = 0; gpu < trace->gpus.size(); ++gpu) {
                    const WorkRows::WorkerRows found = rows.of(process, gpu);
                    const auto plain = [&](const auto& table) { return rowsOf(*trace, table, process, gpu); };
                    QVERIFY(areSame(found.kernels, plain(trace->kernels)));
                    QVERIFY(areSame(found.memcpys, plain(trace->memcpys)));
                    QVERIFY(areSame(found.memsets, plain(trace->memsets)));
                    QVERIFY(areSame(found.graphs, plain(trace->graphs)));
                }
            }
            QVERIFY(rows.of(99, 0).kernels.empty());
        }
    }

    /// For any number of GPUs, each of which has less than a hundredth of all work.
    void manyEquallyUsedGpusAreAllExplained() {
        for (const size_t count : {size_t{1}, size_t{100}, size_t{101}, size_t{256}}) {
            const TracePtr trace = onEachGpu(std::vector<int64_t>(count, 10));
            QCOMPARE(GpusOfProcesses(*trace).of(0).size(), count);
            QVERIFY(!reportsSkippedGpus(*trace));
            const auto run = analysis::summarizeRun(*trace);
            QVERIFY(run && run->workers.size() == count);
            QVERIFY(explain::explain(*run).sentence.find("no GPU work") == std::string::npos);
        }
    }

    /// On the others, it has only a context or exchanges a few bytes.
    void barelyUsedGpusAreOmitted() {
        const TracePtr trace = onEachGpu({1000, 9, 10, 1});
        QCOMPARE(GpusOfProcesses(*trace).of(0), (std::vector<uint32_t>{0, 2}));
        QVERIFY(!reportsSkippedGpus(*trace));
    }

    /// A number that no machine has, so that the cost of a file is bounded.
    void mostUsedGpusAreKeptBeyondTheLimit() {
        std::vector<int64_t> microseconds(300, 10);
        for (size_t gpu = 100; gpu < 150; ++gpu) microseconds[gpu] = 20;
        microseconds[299] = 30;
        const TracePtr trace = onEachGpu(microseconds);
        const GpusOfProcesses gpus(*trace);
        std::vector<uint32_t> expected;
        for (uint32_t gpu = 0; gpu < 300; ++gpu)
            if (gpu < 255 || gpu == 299) expected.push_back(gpu);
        QCOMPARE(gpus.of(0), expected);
        QCOMPARE(gpus.countOf(0), size_t{300});
        QVERIFY(reportsSkippedGpus(*trace));
        const auto run = analysis::summarizeRun(*trace);
        QVERIFY(run && run->workers.size() == GpusOfProcesses::maxGpus);
        const std::vector<std::string> caveats = explain::explain(*run).caveats;
        QVERIFY(std::ranges::any_of(
            caveats, [](const std::string& doubt) { return doubt.starts_with("Process 4242 uses 300 GPUs: "); }));
    }
};

LANESCOPE_TEST(tst_WorkRows, NoApplication)
#include "tst_WorkRows.moc"
