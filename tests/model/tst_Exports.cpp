// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/RunSummary.h"
#include "model/importers/TraceFormat.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/exported.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace {

TracePtr readBack(const Trace& trace) { return test::readPerfetto(test::perfettoOf(trace)); }

/// Start, end, name and "launched by a call" of all events of a kind, in order.
using Shown = std::vector<std::tuple<int64_t, int64_t, std::string, bool>>;
Shown shownOf(const Trace& trace, EventKind kind, int64_t zeroNs) {
    Shown shown;
    for (uint32_t row = 0; row < trace.rowCount(kind); ++row) {
        const EventRef event(kind, row);
        const TimeRange range = trace.rangeOf(event);
        shown.emplace_back(range.startNs - zeroNs, range.endNs - zeroNs, trace.nameOf(event),
                           kind != EventKind::Sync && trace.launchingCall(event).isValid());
    }
    std::sort(shown.begin(), shown.end());
    return shown;
}

int64_t firstNs(const Trace& trace) {
    int64_t first = INT64_MAX;
    for (const EventKind kind :
         {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api, EventKind::Nvtx, EventKind::Sync})
        for (uint32_t row = 0; row < trace.rowCount(kind); ++row)
            first = std::min(first, trace.rangeOf(EventRef(kind, row)).startNs);
    return first;
}

void sameEvents(const Trace& first, const Trace& second) {
    const int64_t zeroOfFirst = firstNs(first), zeroOfSecond = firstNs(second);
    for (const EventKind kind :
         {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api, EventKind::Nvtx}) {
        const Shown expected = shownOf(first, kind, zeroOfFirst), found = shownOf(second, kind, zeroOfSecond);
        QCOMPARE(found.size(), expected.size());
        for (size_t at = 0; at < expected.size(); ++at)
            QVERIFY2(found[at] == expected[at], std::get<2>(expected[at]).c_str());
    }
}

constexpr int64_t ms = 1'000'000;

/// A thread in train and in forward below it, with the GIL there, running native code.
TracePtr threadsOf(bool isSampled) {
    SimulatedTrace builder;
    const auto frame = [&](uint32_t parent, const char* function, uint32_t line) {
        return builder.frame(function, "/home/ada/train.py", line, parent);
    };
    const uint32_t train = frame(noIndex, "train", 10), forward = frame(train, "forward", 22);
    const auto state = [&](int64_t startMs, int64_t endMs, ThreadState what, uint32_t stack,
                           StateSource source = StateSource::StateSamples) {
        builder.add<kinds::CpuState>({.startNs = startMs * ms,
                                      .endNs = endMs * ms,
                                      .thread = builder.defaultThread(),
                                      .state = what,
                                      .source = source,
                                      .cpuNs = what == ThreadState::Running ? (endMs - startMs) * ms : 0,
                                      .call = what == ThreadState::Running ? 0 : builder.intern("futex"),
                                      .stack = stack});
    };
    state(0, 10, ThreadState::Running, train);
    state(10, 30, ThreadState::Running, forward);
    state(30, 45, ThreadState::Gil, forward);
    state(45, 50, ThreadState::Running, noIndex);
    if (isSampled) state(12, 22, ThreadState::Running, train, StateSource::Samples);
    // The agent's own threads are no part of the program.
    builder.add<kinds::CpuState>({.startNs = 0,
                                  .endNs = 50 * ms,
                                  .thread = builder.addThread(0, 77, "lanescope-flush"),
                                  .state = ThreadState::Sleep,
                                  .source = StateSource::StateSamples,
                                  .stack = noIndex});
    return builder.finish();
}

TracePtr vectorAdd(bool hasPeer = false) {
    SimulatedTrace builder;
    builder.addGpu("Tesla T4");
    builder.addGpu("Tesla T4");
    const uint32_t stream = builder.addStream(0, 0, 7, true);
    builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 126'780'000);
    builder.addMemcpy(stream, MemcpyKind::HtoD, 256 << 10, 465'870'000, 465'896'016, 1, MemoryKind::Pageable);
    builder.addKernel(stream, "vectorAdd", 466'210'000, 466'214'992, 130);
    builder.addMemset(stream, 1, 467'000'000, 467'000'640);
    if (hasPeer) builder.addPeerCopy(stream, 0, 1, 1 << 20, 468'000'000, 468'010'000);
    return builder.finish();
}

QStringList linesOf(const Trace& trace, const char* report) {
    const Result<ReportTable> table = makeReport(trace, report);
    return QString::fromStdString(formatTable(*table, TableFormat::Text)).split('\n');
}

}  // namespace

class tst_Exports : public QObject {
    Q_OBJECT

  private slots:
    void perfettoExportRoundTrips() {
        const TracePtr first = simulatedTraining(), second = readBack(*first);
        sameEvents(*first, *second);
        QCOMPARE(second->gpus.size(), first->gpus.size());
        QCOMPARE(second->gpus[0].name, first->gpus[0].name);
        QCOMPARE(second->producer, first->producer);
        QVERIFY(!hasNote(*second, HealthCode::RowsLeftOut));
    }

    void recordedRunRoundTrips() {
        const Result<TracePtr> first =
            loadTrace(std::filesystem::path(LANESCOPE_SAMPLES) / "resnet152-no-p2p.sqlite.gz");
        QVERIFY(first);
        const TracePtr second = readBack(**first);
        sameEvents(**first, *second);
        // Waits of whole contexts have no track.
        uint32_t ofStreams = 0;
        for (uint32_t row = 0; row < (*first)->syncs.size(); ++row)
            ofStreams += (*first)->syncs.stream[row] != noIndex ? 1 : 0;
        QCOMPARE(second->syncs.size(), ofStreams);
        QCOMPARE(second->startUtcNs - firstNs(*second) > 0, true);
        uint64_t before = 0, after = 0;
        for (const CounterSeries& counter : (*first)->counters)
            for (uint32_t sample = 0; sample < counter.size(); ++sample)
                before += counter.value(sample) == counter.value(sample) ? 1 : 0;
        for (const CounterSeries& counter : second->counters) after += counter.size();
        QCOMPARE(after, before);
    }

    void packetsAreReadableByOtherTools() {
        const TracePtr trace = simulatedTraining();
        const TemporaryFolder folder;
        const std::string bytes = test::perfettoOf(*trace);
        std::ofstream(folder / "run.pftrace", std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        std::ofstream(folder / "count.py") << R"(
import collections, sys
try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
except ImportError:
    sys.exit(77)
trace = protos.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
categories, count = {}, collections.Counter()
for packet in trace.packet:
    for entry in packet.interned_data.event_categories:
        categories[entry.iid] = entry.name
    event = packet.track_event
    if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
        count[categories.get(event.category_iids[0]) if event.category_iids else ""] += 1
    if event.type == protos.TrackEvent.TYPE_SLICE_END:
        count["ends"] += 1
print(count["kernel"], count["gpu_memcpy"], count["gpu_memset"],
      count["cuda_runtime"] + count["cuda_driver"], sum(count.values()) - 2 * count["ends"])
)";
        const QByteArray chosen = qgetenv("LANESCOPE_TEST_PYTHON");
        QProcess python;
        python.start(chosen.isEmpty() ? "python3" : QString::fromLocal8Bit(chosen),
                     {(folder / "count.py").c_str(), (folder / "run.pftrace").c_str()});
        if (!python.waitForStarted()) QSKIP("There is no Python.");
        QVERIFY(python.waitForFinished(60'000));
        if (python.exitCode() == 77) QSKIP("Perfetto's Python package is not installed.");
        QCOMPARE(python.readAllStandardError(), QByteArray());
        QCOMPARE(python.readAllStandardOutput().trimmed(),
                 QByteArray::fromStdString(
                     std::to_string(trace->kernels.size()) + " " + std::to_string(trace->memcpys.size()) + " " +
                     std::to_string(trace->memsets.size()) + " " + std::to_string(trace->apiCalls.size()) + " 0"));
    }

    void perfettoExportStopsWhenTheSinkCloses() {
        int pieces = 0;
        writePerfettoTrace(*simulatedTraining(), [&pieces](std::string_view) {
            ++pieces;
            return false;
        });
        QCOMPARE(pieces, 1);
    }

    void kinetoExportRoundTrips() {
        std::vector<std::string> events = smallRun();
        events.push_back(slice("cpu_op", "record_param_comms", "4000", "4001", "1070.000", "9.000",
                               R"("Collective name": "allreduce", "In msg nelems": 10, "Seq": 3,
                              "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                              "Out msg nelems": 10)"));
        events.push_back(R"({"ph": "i", "name": "here", "pid": 4000, "tid": 4001, "ts": 1030.5})");
        events.push_back(slice("cuda_sync", "Stream Sync", "0", "7", "1080.000", "2.000",
                               R"("stream": 7, "context": 1, "device": 0, "correlation": 90)"));
        const TracePtr first = loaded(traceOf(events, "", ",\n \"distributedInfo\": {\"rank\": 1, \"world_size\": 2}"));
        const std::string text = test::kinetoOf(*first);
        const auto json = nlohmann::json::parse(text, nullptr, false);
        QVERIFY(!json.is_discarded());
        QCOMPARE(json["distributedInfo"]["rank"].get<int>(), 1);
        const TracePtr second = loaded(text);
        QCOMPARE(eventsIn(*second), eventsIn(*first));
        QCOMPARE(second->kernels.startNs[0], first->kernels.startNs[0]);
        QCOMPARE(second->kernels.endNs[0], first->kernels.endNs[0]);
        QVERIFY(second->memcpys.sourceMemory[0] == MemoryKind::Pinned);
        QVERIFY(second->syncs.type[0] == SyncType::Stream);
        QVERIFY(second->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        const uint32_t op = rangeCalled(*second, "aten::mm");
        QCOMPARE(second->strings.at(second->nvtx.domain[op]), operatorDomain);
        QCOMPARE(second->strings.at(second->nvtx.payload[op]), std::string_view("[[8, 16], [16, 4]]"));
        QCOMPARE(second->strings.at(second->nvtx.domain[rangeCalled(*second, "ProfilerStep#1")]), annotationDomain);
        QCOMPARE(second->nccl.size(), 1u);
        QCOMPARE(test::listed(second->nccl.bytes[0], second->nccl.facts[0].sequence), "40 | 3");
        QCOMPARE(second->processes[0].rank, std::optional<int>(1));
        QCOMPARE(second->health.size(), first->health.size());
        // The operator of the kernel, by its id.
        int operatorId = -1, kernelsId = -2;
        for (const auto& each : json["traceEvents"]) {
            if (each.value("name", "") == "aten::mm") operatorId = each["args"]["External id"];
            if (each.value("cat", "") == "kernel") kernelsId = each["args"]["External id"];
        }
        QCOMPARE(kernelsId, operatorId);
    }

    void eachRankIsExportedToItsOwnFile() {
        const TracePtr trace = simulatedTraining();
        const std::vector<uint32_t> processes = kinetoProcesses(*trace);
        QVERIFY(!processes.empty());
        size_t kernels = 0;
        for (const uint32_t process : processes) {
            const TracePtr one = loaded(test::kinetoOf(*trace, process));
            QCOMPARE(one->processes.size(), size_t{1});
            QCOMPARE(one->processes[0].rank, trace->processes[process].rank);
            kernels += one->kernels.size();
        }
        QCOMPARE(kernels, size_t{trace->kernels.size()});
    }

    void kinetoExportStopsWhenTheSinkCloses() {
        int pieces = 0;
        writeKinetoTrace(*simulatedTraining(), 0, [&pieces](std::string_view) {
            ++pieces;
            return false;
        });
        QCOMPARE(pieces, 1);
    }

    void foldedTextListsEachThreadWithItsStacks() {
        const TracePtr trace = threadsOf(false);
        const Process& process = trace->processes[0];
        const Thread& thread = trace->threads[0];
        const std::string own = process.name +
                                (process.rank ? " (rank " + std::to_string(*process.rank) + ", PID " : " (PID ") +
                                std::to_string(process.pid) + ");" +
                                (thread.name.empty() ? "thread " + std::to_string(thread.tid)
                                                     : thread.name + " (TID " + std::to_string(thread.tid) + ")");
        QCOMPARE(test::foldedOf(makeThreadFlame(*trace, FlameBase::Lines)),
                 own + ";(no Python stack) 5000000\n" + own + ";train (train.py:10) 10000000\n" + own +
                     ";train (train.py:10);forward (train.py:22) 20000000\n" + own +
                     ";train (train.py:10);forward (train.py:22);[GIL] 15000000\n");
        QCOMPARE(makeThreadFlame(*trace, FlameBase::Functions, TimeRange{5 * ms, 12 * ms}).totalNs(), 7 * ms);
        // CPU samples give running time, state samples give waiting time.
        QCOMPARE(test::foldedOf(makeThreadFlame(*threadsOf(true), FlameBase::Functions)),
                 own + ";train (train.py) 10000000\n" + own + ";train (train.py);forward (train.py);[GIL] 15000000\n");
    }

    void perfettoExportHasStatesAndStacksOnThreadTracks() {
        const TracePtr read = readBack(*threadsOf(false));
        QStringList found;
        for (uint32_t row = 0; row < read->nvtx.size(); ++row)
            found.append(QString("%1 %2+%3")
                             .arg(QString::fromStdString(std::string(read->strings.at(read->nvtx.text[row]))))
                             .arg((read->nvtx.startNs[row] - read->nvtx.startNs[0]) / ms)
                             .arg((read->nvtx.endNs[row] - read->nvtx.startNs[row]) / ms));
        found.sort();
        QStringList expected{"Running 0+10", "Running 10+20", "GIL 30+15",
                             "Running 45+5", "train 0+45",    "forward 10+35"};
        expected.sort();
        QCOMPARE(found, expected);
    }

    /// States and stacks of an export are no ranges of the program: neither steps nor places.
    void statesOfAnExportAreNoSteps() {
        constexpr int64_t ms = 1'000'000;
        SimulatedTrace made;
        const uint32_t main = made.defaultThread();
        for (int64_t at = 0; at < 20; ++at) {
            made.addNvtx(main, "Lock", at * 10 * ms, at * 10 * ms + 9 * ms, NvtxStyle::PushPop, threadStateDomain);
            made.addNvtx(main, "train", at * 10 * ms, at * 10 * ms + 9 * ms, NvtxStyle::PushPop, stackDomain);
            for (int64_t kernel = 0; kernel < 3; ++kernel)
                made.launch(main, made.defaultStream(), "gemm", (at * 10 + kernel) * ms,
                            (at * 10 + kernel) * ms + 6'000, (at * 10 + kernel) * ms + 500'000);
        }
        const auto run = analysis::summarizeRun(*made.finish());
        QVERIFY(run && run->source != StepSource::NvtxRange);
        for (const analysis::Contributor& each : run->workers.at(0).contributors) QCOMPARE(each.path, std::string());
    }

    void numbersAreFormattedLikeNvprof() {
        QCOMPARE(test::listed(nvprofTime(640), nvprofTime(1'280), nvprofTime(26'016)), "640ns | 1.2800us | 26.016us");
        QCOMPARE(test::listed(nvprofTime(335'240'000), nvprofTime(3'168'100'000.0)), "335.24ms | 3.16810s");
        QCOMPARE(nvprofTime(13'069'600'000.0), std::string("13.0696s"));
        QCOMPARE(test::listed(nvprofSize(0), nvprofSize(4), nvprofSize(1'142)), "0B | 4B | 1.1152KB");
        QCOMPARE(test::listed(nvprofSize(256 << 10), nvprofSize(201'326'592)), "256.00KB | 192.00MB");
        QCOMPARE(nvprofThroughput(262'144.0 / 26'016), std::string("9.3842GB/s"));
        QCOMPARE(nvprofThroughput(1.0 / 1'280), std::string("762.94KB/s"));
    }

    void traceReportHasNvprofColumns() {
        const QStringList lines = linesOf(*vectorAdd(), "nvprof_gpu_trace");
        QCOMPARE(lines[0], QString("   Start  Duration            Grid Size      Block Size     Regs*    SSMem*   "
                                   " DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context   "
                                   " Stream  Name"));
        QCOMPARE(lines[1], QString("465.87ms  26.016us                    -               -         -         -        "
                                   " -  256.00KB  9.3842GB/s    Pageable      Device     Tesla T4 (0)         1        "
                                   " 7  [CUDA memcpy HtoD]"));
        QVERIFY(lines[2].startsWith("466.21ms  4.9920us"));
        QVERIFY(lines[2].endsWith("void vectorAdd<float>(float*, int) [130]"));
        QVERIFY(lines[3].endsWith("[CUDA memset]"));
    }

    void copiesBetweenGpusAddColumns() {
        QVERIFY(!linesOf(*vectorAdd(), "nvprof_gpu_trace")[0].contains("Src Dev"));
        const QStringList lines = linesOf(*vectorAdd(true), "nvprof_gpu_trace");
        QVERIFY(lines[0].contains("Src Dev   Src Ctx") && lines[4].contains("Tesla T4 (1)"));
        QVERIFY(lines[4].endsWith("[CUDA memcpy PtoP]"));
    }

    void summaryHasTwoSections() {
        const QStringList lines = linesOf(*vectorAdd(), "nvprof_summary");
        QCOMPARE(lines[0], QString("            Type  Time(%)      Time     Calls       Avg"
                                   "       Min       Max  Name"));
        QVERIFY(lines[1].startsWith(" GPU activities:   82.20%  26.016us         1  26.016us"));
        QVERIFY(lines[2].startsWith("                   15.77%  4.9920us         1"));
        QVERIFY(lines[4].startsWith("      API calls:  100.00%  126.78ms         1  126.78ms"));
        QVERIFY(lines[4].endsWith("cudaMalloc"));
    }

    void copiesWithoutDurationHaveNoThroughput() {
        SimulatedTrace builder;
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 8, 5, 5);
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 0, 6, 8);
        const QStringList lines = linesOf(*builder.finish(), "nvprof_gpu_trace");
        QVERIFY(!lines[1].contains("/s") && !lines[2].contains("/s"));
    }
};

LANESCOPE_TEST(tst_Exports, QCoreApplication)
#include "tst_Exports.moc"
