// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <ctime>

#include "model/analysis/StepSelection.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/events/JsonCursor.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace fs = std::filesystem;

class tst_JsonTraces : public QObject {
    Q_OBJECT

  private slots:
    void decimalNumbersAreExact_data() {
        const test::Rows<QString, bool, qint64> add;
        const auto row = [&](const char* text, qint64 value) { add(text, QString(text), true, value); };
        row("0", 0);
        row("12", 12000);
        row("12.5", 12500);
        row("-0.001", -1);
        row("1712195495502094.565", 1712195495502094565);
        row("1e-06", 0);
        row("1.5e+3", 1500000);
        row("0.0004999", 0);
        row("0.0005", 0);
        row("0.00050000001", 1);
        row("0.0015", 2);
        row("0.0025", 2);
        row("000000000000000000000000000000001.000", 1000);
        row("0e999999999999999999999", 0);
        for (const char* text : {"", "-", ".", "inf", "NaN", "null", "1.2.3", "1e", "0x10", "12 ",
                                 "9223372036854775808", "1e30", "1e999999999999999999999"})
            add(text, QString(text), false, qint64{0});
    }
    void decimalNumbersAreExact() {
        const auto [text, isNumber, value] = test::row<QString, bool, qint64>();
        const std::optional<int64_t> found = decimalOf(text.toStdString(), 3);
        QCOMPARE(found.has_value(), isNumber);
        if (found) QCOMPARE(*found, value);
    }

    void torchProfileIsReadCompletely() {
        const TracePtr trace = loaded(traceOf(smallRun()));
        QCOMPARE(test::listed(trace->kernels.startNs, trace->kernels.endNs), "10001 | 40001");
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{512, 2, 1}));
        QCOMPARE(config.registersPerThread, 40u);
        QCOMPARE(trace->strings.at(config.shortName), std::string_view("gemm"));
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QCOMPARE(test::listed(trace->nameOf(call), trace->memcpys.bytes[0]), "cudaLaunchKernel | 4096");
        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::HtoD);
        QVERIFY(trace->memcpys.sourceMemory[0] == MemoryKind::Pinned);
        QVERIFY(trace->memsets.memory[0] == MemoryKind::Device);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[rangeCalled(*trace, "ProfilerStep#1")]), annotationDomain);
        const uint32_t op = rangeCalled(*trace, "aten::mm");
        QCOMPARE(trace->strings.at(trace->nvtx.domain[op]), operatorDomain);
        QCOMPARE(trace->strings.at(trace->nvtx.payload[op]), std::string_view("[[8, 16], [16, 4]]"));
        QCOMPARE(trace->nvtx.endNs[op] - trace->nvtx.startNs[op], int64_t{20'002});
        QCOMPARE(trace->strings.at(trace->nvtx.domain[rangeCalled(*trace, "train.py(12): step")]), pythonDomain);
        // Ranges that launch work are projected to the GPU; Python functions are not.
        QCOMPARE(trace->projections.size(), 2u);
        QVERIFY(!hasNote(*trace, HealthCode::JsonDamaged) && !hasNote(*trace, HealthCode::FileCut));
        QCOMPARE(trace->producer, std::string("torch.profiler"));
    }

    void ranksGpusAndTimesAreReadFromMetadata() {
        const std::string before =
            "  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA Test\", \"totalGlobalMem\": 1024, "
            "\"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}],\n";
        const std::string after =
            ",\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8},\n"
            "  \"baseTimeNanoseconds\": 1700000000000000000";
        std::vector<std::string> events = smallRun();
        events.push_back(
            R"raw({"name": "thread_name", "ph": "M", "pid": 4000, "tid": 4001,
              "args": {"name": "thread 4001 (trainer)"}})raw");
        events.push_back(R"({"name": "process_name", "ph": "M", "pid": 4000, "tid": 0, "args": {"name": "python3"}})");
        const TracePtr trace = loaded(traceOf(events, before, after));
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(test::listed(trace->processes[0].pid, trace->processes[0].name), "4000 | python3");
        QCOMPARE(trace->processes[0].rank, std::optional<int>(3));
        QCOMPARE(trace->processes[0].worldSize, std::optional<int>(8));
        QCOMPARE(test::listed(trace->threads[0].name, trace->gpus[0].name), "trainer | NVIDIA Test");
        QCOMPARE(test::listed(trace->gpus[0].smCount, trace->startUtcNs), "132 | 1700000000001000000");
        QCOMPARE(loaded(traceOf(smallRun()), "job_rank-5.json")->processes[0].rank, std::optional<int>(5));
    }

    void timesOfNineteenDigitsAreExact() {
        const TracePtr trace = loaded(traceOf({
            slice("cpu_op", "first", "1", "1", "1712195495502094.565", "1.001"),
            slice("cpu_op", "second", "1", "1", "1712195495502095.568", "0.002"),
        }));
        QCOMPARE(test::listed(trace->nvtx.startNs[1] - trace->nvtx.startNs[0], trace->nvtx.endNs[0]), "1003 | 1001");
        QCOMPARE(trace->startUtcNs, int64_t{1'712'195'495'502'094'565});
    }

    /// Format of versions 1.8 and 1.9: other categories, texts for threads, whole microseconds.
    void oldFilesReadTheSame() {
        const TracePtr trace = loaded(traceOf({
            slice("Operator", "ProfilerStep#5", "9", R"("9")", "1623142623460111", "90"),
            slice("Operator", "aten::add", "9", R"("9")", "1623142623460112", "25",
                  R"("Call stack": "a.py(1): f;b.py(2): g")"),
            slice("Runtime", "cudaLaunchKernel", "9", R"("9")", "1623142623460113", "2",
                  R"("correlation": 3, "external id": 1)"),
            slice("Kernel", "add(int)", "0", R"("stream 7")", "1623142623460120", "2",
                  R"("device": 0, "context": 1, "stream": 7, "correlation": 3)"),
            slice("Memcpy", "Memcpy DtoH (Device -> Pageable)", "0", R"("stream 7")", "1623142623460130", "2",
                  R"("bytes": 8, "context": 1, "correlation": 4)"),
        }));
        QCOMPARE(test::listed(trace->kernels.size(), trace->streams.size()), "1 | 1");
        QCOMPARE(trace->streams[0].streamId, int64_t{7});
        QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        QCOMPARE(trace->strings.at(trace->nvtx.domain[rangeCalled(*trace, "ProfilerStep#5")]), annotationDomain);
        QVERIFY(hasNote(*trace, HealthCode::CoarseTimes));
        QVERIFY(sentenceOf(*trace, HealthCode::NotShown).find("1 call stacks") != std::string::npos);
    }

    void workOfSeveralProcessesIsLinkedToItsCall() {
        const TracePtr trace = loaded(traceOf({
            slice("cuda_runtime", "cudaLaunchKernel", "0", "10", "1.0", "1.0", R"("correlation": 1)"),
            slice("cuda_runtime", "cudaLaunchKernel", "0", "10", "3.0", "1.0", R"("correlation": 2)"),
            slice("cuda_runtime", "cudaLaunchKernel", "1", "11", "5.0", "1.0", R"("correlation": 9)"),
            slice("kernel", "k", "0", "7", "10.0", "1.0", R"("correlation": 9, "device": 0)"),
            slice("kernel", "k", "1", "7", "12.0", "1.0", R"("correlation": 2, "device": 1)"),
        }));
        QCOMPARE(trace->processes.size(), size_t{2});
        const auto pidOf = [&](uint32_t kernel) {
            return trace->processes[trace->streams[trace->kernels.stream[kernel]].process].pid;
        };
        QCOMPARE(test::listed(pidOf(0), pidOf(1)), "1 | 0");
    }

    void collectivesAreReadAsNcclCalls() {
        const std::string arguments =
            R"("Collective name": "_allgather_base", "In msg nelems": 1000, "Out msg nelems": 4000,
           "Group size": 4, "dtype": "BFloat16", "Process Group Name": "2", "Seq": 17,
           "Process Group Description": "tp", "Process Group Ranks": "[1, 3, 5, 7]")";
        const std::string rank = ",\n \"distributedInfo\": {\"rank\": 5, \"world_size\": 8}";
        const TracePtr trace = loaded(traceOf(
            {
                slice("cpu_op", "record_param_comms", "9", "9", "10.000", "20.000", arguments),
                slice("cuda_runtime", "cudaLaunchKernelExC", "9", "9", "12.000", "3.000", R"("correlation": 4)"),
                slice("kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", "0", "20", "40.000", "8.000",
                      R"("correlation": 4, "device": 0, "stream": 20)"),
                slice("cpu_op", "record_param_comms", "9", "9", "60.000", "2.000",
                      R"("Collective name": "wait", "In msg nelems": 1, "dtype": "Byte")"),
            },
            "", rank));
        QCOMPARE(trace->nccl.size(), 1u);
        const NcclFacts facts = trace->nccl.facts[0];
        QCOMPARE(test::listed(trace->strings.at(trace->nccl.operation[0]), trace->nccl.bytes[0]), "AllGather | 2000");
        QCOMPARE(test::listed(facts.count, trace->strings.at(facts.datatype)), "1000 | bfloat16");
        QCOMPARE(trace->strings.at(facts.communicatorName), std::string_view("tp"));
        QCOMPARE(test::listed(facts.rank, facts.rankCount, facts.sequence, facts.operationCount), "2 | 4 | 17 | 1");
        QCOMPARE(facts.gpu.durationNs(), int64_t{8000});
    }

    void memoryEventsAreReadAsCounters() {
        std::vector<std::string> events = smallRun();
        const auto memory = [&](const char* time, const char* arguments) {
            events.push_back(std::string(R"({"ph": "i", "s": "t", "name": "[memory]", "pid": 4000, )") +
                             R"("tid": 4001, "ts": )" + time + ", \"args\": {" + arguments + "}}");
        };
        memory("1001.000", R"("Device Type": 1, "Device Id": 0, "Bytes": 512, "Addr": 4096,
                          "Total Allocated": 1024, "Total Reserved": 4096)");
        memory("1002.000", R"("Device Type": 1, "Device Id": 0, "Bytes": -512, "Addr": 4096,
                          "Total Allocated": 512, "Total Reserved": 4096)");
        memory("1003.000", R"("Device Type": 0, "Device Id": -1, "Bytes": 100)");
        memory("1004.000", R"("Device Type": 0, "Device Id": -1, "Bytes": -60)");
        events.push_back(R"({"ph": "C", "name": "queue", "pid": 4000, "tid": 1, "ts": 1000, "args": {"depth": 2.5}})");
        const TracePtr trace = loaded(traceOf(events));
        std::map<std::string, const CounterSeries*> byName;
        for (const CounterSeries& each : trace->counters) byName[each.name] = &each;
        const CounterSeries* const allocated = byName["Memory allocated by PyTorch"];
        QVERIFY(allocated != nullptr);
        QCOMPARE(test::listed(allocated->gpu, allocated->value(0), allocated->value(1)), "0 | 1024 | 512");
        QCOMPARE(byName["Memory reserved by PyTorch"]->value(0), 4096.0);
        const CounterSeries* const change = byName["Memory allocated by PyTorch since the beginning on the CPU"];
        QVERIFY(change != nullptr);
        QCOMPARE(test::listed(change->value(1), byName["queue: depth"]->value(0)), "40 | 2.5");
    }

    void rangeEndsAreMatched() {
        const TracePtr trace = loaded(R"([
        {"ph": "B", "name": "outer", "cat": "app", "pid": 1, "tid": "worker", "ts": 10},
        {"ph": "B", "name": "inner", "cat": "app", "pid": 1, "tid": "worker", "ts": 12},
        {"ph": "E", "pid": 1, "tid": "worker", "ts": 15},
        {"ph": "E", "pid": 1, "tid": "worker", "ts": 20},
        {"ph": "E", "pid": 1, "tid": "worker", "ts": 21},
        {"ph": "b", "name": "request", "cat": "net", "id": 7, "pid": 1, "tid": 2, "ts": 11},
        {"ph": "e", "name": "request", "cat": "net", "id": 7, "pid": 1, "tid": 3, "ts": 31},
        {"ph": "B", "name": "never closed", "pid": 1, "tid": "worker", "ts": 40},
        {"ph": "i", "name": "here", "pid": 1, "tid": "worker", "ts": 41},
        {"ph": "X", "name": "odd", "cat": "mine", "pid": "main", "tid": -5, "ts": "42", "dur": 1},
        {"ph": "Q", "name": "unknown"}, {},
    ])");
        const auto range = [&](std::string_view name) {
            const uint32_t row = rangeCalled(*trace, name);
            return TimeRange{trace->nvtx.startNs[row], trace->nvtx.endNs[row]};
        };
        QCOMPARE(range("outer"), (TimeRange{0, 10'000}));
        QCOMPARE(range("inner"), (TimeRange{2'000, 5'000}));
        QCOMPARE(range("request"), (TimeRange{1'000, 21'000}));
        QVERIFY(trace->nvtx.style[rangeCalled(*trace, "request")] == NvtxStyle::StartEnd);
        QVERIFY(trace->nvtx.isOpen[rangeCalled(*trace, "never closed")] != 0);
        QVERIFY(trace->nvtx.style[rangeCalled(*trace, "here")] == NvtxStyle::Mark);
        const uint32_t odd = rangeCalled(*trace, "odd");
        QCOMPARE(trace->strings.at(trace->nvtx.domain[odd]), std::string_view("mine"));
        const Thread& thread = trace->threads[trace->nvtx.thread[odd]];
        QCOMPARE(test::listed(thread.name, trace->processes[thread.process].name), "Thread -5 | main");
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut));  // an end without a beginning
        QVERIFY(sentenceOf(*trace, HealthCode::NotShown).find("2 events") != std::string::npos);
    }

    void pythonFunctionsAreNoSteps() {
        std::vector<std::string> events;
        for (int step = 0; step < 6; ++step) {
            const auto at = [step](int us) { return std::to_string(step * 1000 + us) + ".000"; };
            const std::string number = std::to_string(step + 3), call = std::to_string(step + 1);
            events.push_back(slice("user_annotation", "ProfilerStep#" + number, "1", "1", at(10), "900.000"));
            events.push_back(slice("cpu_op", "train_step", "1", "1", at(1), "950.000"));
            events.push_back(slice("python_function", "a.py(1): step", "1", "1", at(1), "990.000"));
            events.push_back(
                slice("cuda_runtime", "cudaLaunchKernel", "1", "1", at(100), "5.000", "\"correlation\": " + call));
            events.push_back(
                slice("kernel", "k", "0", "7", at(200), "300.000", "\"device\": 0, \"correlation\": " + call));
        }
        const TracePtr trace = loaded(traceOf(events));
        QCOMPARE(test::orFail(findSteps(*trace)).pattern, std::string("ProfilerStep##"));
        // Named ranges are used.
        StepSelection named;
        named.rangeName = "train_step";
        QVERIFY(findSteps(*trace, named));
    }

    /// Matched by time, because ids of older versions name other operators.
    void kernelOperatorIsFoundByTime() {
        std::vector<std::string> events = smallRun();
        events.push_back(slice("cpu_op", "aten::inner", "4000", "4001", "1004.000", "6.000", R"("External id": 99)"));
        events.push_back(slice("cpu_op", "aten::after", "4000", "4001", "1012.000", "6.000", R"("External id": 5)"));
        const TracePtr trace = loaded(traceOf(events));
        std::map<std::string, std::string> details;
        for (const Property& line : describe(*trace, EventRef(EventKind::Kernel, 0))) details[line.name] = line.value;
        QCOMPARE(test::listed(details["Operator"], details["Python function"]), "aten::inner | train.py(12): step");
        QCOMPARE(details["Launched by"], std::string("cudaLaunchKernel"));
    }

    /// The number of AMD's first stream elsewhere denotes migrations of managed memory.
    void streamWithKernelsIsNoUnifiedMemory() {
        const TracePtr trace =
            loaded(traceOf({slice("kernel", "k", "0", "0", "100.000", "300.000", R"("device": 0, "stream": 0)")}));
        size_t streams = 0;
        for (const Track& track : trace->tracks) {
            if (track.kind != TrackKind::Stream) continue;
            ++streams;
            HAS(track.title, "tream 0");
        }
        QCOMPARE(streams, size_t{1});
    }

    /// A trace holds 65,536 processes. Events of the others are counted, and calls of one number are no slow search.
    void moreProcessesThanATraceHoldsAreSkipped() {
        std::vector<std::string> events;
        for (int process = 0; process < 70'000; ++process)
            events.push_back(slice("cuda_runtime", "cudaLaunchKernel", std::to_string(100'000 + process), "1", "1000",
                                   "5", R"("correlation": 7)"));
        for (int each = 0; each < 20'000; ++each)
            events.push_back(slice("kernel", "gemm", "0", "7", std::to_string(2'000 + each * 10), "5",
                                   R"("device": 0, "context": 1, "stream": 7, "correlation": 7)"));
        const TracePtr trace = loaded(traceOf(events));
        QCOMPARE(test::listed(trace->processes.size(), trace->kernels.size()), "65536 | 20000");
    }

    void inconsistentEventsAreCounted() {
        std::vector<std::string> events = smallRun();
        events.push_back(
            slice("cuda_runtime", "cudaLaunchKernel", "4000", "4001", "1080.000", "1.000", R"("correlation": 500)"));
        events.push_back(slice("kernel", "late(int)", "0", "7", "1039.001", "5.000",
                               R"("device": 0, "context": 1, "stream": 7, "correlation": 600)"));
        events.push_back(R"({"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1.5, "cat": "fwdbwd"})");
        events.push_back(R"({"ph": "f", "id": 1, "pid": 1, "tid": 1, "ts": 2.5, "cat": "fwdbwd"})");
        events.push_back(slice("overhead", "Buffer Flush", "-1", "0", "1020.000", "7.000"));
        events.push_back(slice("cpu_op", "backwards", "4000", "4001", "1090.000", "-5.000"));
        events.push_back(slice("cpu_op", "no time", "4000", "4001", "NaN", "5.000"));
        const TracePtr trace = loaded(traceOf(events));
        QVERIFY(sentenceOf(*trace, HealthCode::CallsWithoutWork).starts_with("1 calls"));
        // The copy, the memset and the late kernel.
        QVERIFY(sentenceOf(*trace, HealthCode::WorkWithoutCall).starts_with("3 GPU operations"));
        QVERIFY(sentenceOf(*trace, HealthCode::StreamOverlap).find("by up to 1.000 µs") != std::string::npos);
        QVERIFY(hasNote(*trace, HealthCode::ProfilerOverhead) && hasNote(*trace, HealthCode::ValuesIgnored));
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut));
        QVERIFY(sentenceOf(*trace, HealthCode::BackwardUnknown).starts_with("2 ends"));
        QCOMPARE(trace->kernels.size(), 2u);  // The second kernel is kept, in its own lane.
    }

    void corruptionCostsOnlyTheCorruptEvents_data() {
        const test::Rows<QString, int, bool> rows;
        const QString whole = QString::fromStdString(traceOf(smallRun(), "  \"distributedInfo\": {\"rank\": 2},\n"));
        const auto row = [&](const char* name, const QString& from, const QString& to, int lost, bool isNoted = true) {
            QString text = whole;
            const auto at = text.indexOf(from);
            QVERIFY2(at >= 0, name);
            text.replace(at, from.size(), to);
            rows(name, text, lost, isNoted);
        };
        row("a quote in a name", "aten::mm", "aten::\"mm\" of", 1);
        row("a path of Windows", "train.py", "C:\\Users\\x\\train.py", 0, false);
        row("a log line", "  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "WARNING: [x] {something} \"odd\"\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("a value without quotes", "\"Memset (Device)\"", "Memset (Device)", 1);
        row("a word without quotes", "\"cudaLaunchKernel\"", "cudaLaunchKernel", 0, false);
        row("no closing brace", "\"cbid\": 211, \"correlation\": 77\n    }\n  }",
            "\"cbid\": 211, \"correlation\": 77\n    }", 1);
        row("a brace too many", "\"grid\": [512", "\"grid\": {[512", 1);
        row("a bracket open", "[8, 16], [16, 4]]", "[8, 16], [16, 4]", 1);
        row("the end in the middle", "    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "    }\n  }]\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("all ends in the middle", "    }\n  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "    }\n  }]}\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0);
        row("the object ends before the events", "\"schemaVersion\": 1", "\"schemaVersion\": 1 }", 0);
        row("no comma between events", "  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "  }\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0, false);
        row("commas too many", "  },\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\"",
            "  },,\n,  {\n    \"ph\": \"X\", \"cat\": \"kernel\"", 0, false);
        row("a key twice", "\"correlation\": 77,", "\"correlation\": 1, \"correlation\": 77,", 0, false);
        row("corruption before the events", "\"schemaVersion\": 1", "\"job\": {\"a\" 1}, \"schemaVersion\": 1", 0);
        row("any bytes", "aten::mm", QString::fromLatin1("aten\x01\n\xff"), 0, false);
    }
    void corruptionCostsOnlyTheCorruptEvents() {
        const auto [corrupt, lost, isNoted] = test::row<QString, int, bool>();
        const TracePtr trace = loaded(corrupt.toLatin1().toStdString());
        QCOMPARE(eventsIn(*trace), smallRun().size() - static_cast<size_t>(lost));
        QCOMPARE(hasNote(*trace, HealthCode::JsonDamaged), isNoted);
        QVERIFY(!hasNote(*trace, HealthCode::FileCut));
        QCOMPARE(trace->processes[0].rank, std::optional<int>(2));
    }

    void truncatedFileKeepsCompleteEvents() {
        TemporaryFolder folder;
        const std::string text = traceOf(manyOperators(3000)), half = text.substr(0, text.size() / 2);
        size_t whole = 0;
        for (size_t at = 0; (at = half.find("    }\n  },", at)) != std::string::npos; ++at) ++whole;
        const TracePtr cut = loaded(half);
        QCOMPARE(size_t{cut->nvtx.size()}, whole);
        QVERIFY(sentenceOf(*cut, HealthCode::FileCut).find("is truncated") != std::string::npos);

        const fs::path packed = folder / "run.json.gz";
        const gzFile file = gzopen(packed.c_str(), "wb6");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        QCOMPARE(test::orFail(loadTrace(packed))->nvtx.size(), 3000u);
        fs::resize_file(packed, fs::file_size(packed) * 2 / 3);
        const TracePtr truncated = test::orFail(loadTrace(packed));
        QVERIFY(truncated->nvtx.size() > 1500 && truncated->nvtx.size() < 2500);
        QVERIFY(sentenceOf(*truncated, HealthCode::FileCut).find("the compressed file is truncated") !=
                std::string::npos);
    }

    void concatenatedPiecesAreOneFile() {
        TemporaryFolder folder;
        const int count = 60'000;
        const std::string text = traceOf(manyOperators(count));
        QVERIFY(text.size() > (size_t{8} << 20));
        const fs::path path = folder / "long.json";
        std::ofstream(path, std::ios::binary) << text;
        for (const unsigned threads : {1u, 4u}) {
            const TracePtr trace = test::orFail(loadTrace(path, {}, LoadOptions{.threads = threads}));
            QCOMPARE(trace->nvtx.size(), static_cast<uint32_t>(count));
            for (uint32_t row = 0; row < 1000; ++row) QCOMPARE(trace->nvtx.startNs[row], int64_t{row} * 10'000);
            QVERIFY(trace->health.size() == 0);
        }
    }

    /// Simulated corruption of any kind costs only the affected and adjacent events.
    void anyCorruptionKeepsTheRest() {
        const int count = 400;
        const std::string text = traceOf(manyOperators(count));
        std::mt19937 random(20);
        const std::array<std::string, 10> junk{
            "\"", "{", "}", "]", "[", "\\", "]}", ",", "{\"ph\": \"X\"", "INFO: a line\n"};
        for (int round = 0; round < 600; ++round) {
            std::string corrupt = text;
            const size_t at = random() % text.size();
            if (round % 2 == 0)
                corrupt[at] = static_cast<char>(corrupt[at] ^ (1 << (random() % 8)));
            else
                corrupt.insert(at, junk[random() % junk.size()]);
            TraceBuilder builder;
            builder.setPath("run.json");
            QVERIFY(readKinetoBytes(corrupt, builder));
            const uint32_t kept = builder.trace().nvtx.size();
            const std::string what = "round " + std::to_string(round) + " at " + std::to_string(at);
            QVERIFY2(kept >= count - 2 && kept <= count + 1, what.c_str());
        }
    }

    void deepAndLongValuesAreHarmless() {
        const std::string deep = std::string(1'000'000, '['), longName(3'000'000, 'x'), manyDigits(1'000'000, '9');
        std::vector<std::string> events = smallRun();
        events.push_back(R"({"ph": "X", "name": "deep", "ts": 1, "dur": 1, "args": {"a": )" + deep + "}}");
        events.push_back(slice("cpu_op", longName, "4000", "4001", "1000", "1"));
        events.push_back(slice("cpu_op", "far", "4000", "4001", manyDigits, "1"));
        events.push_back(slice("cpu_op", "after", "4000", "4001", "1000", "1"));
        const TracePtr trace = loaded(traceOf(events));
        QVERIFY(rangeCalled(*trace, "after") != noIndex);
        QCOMPARE(rangeCalled(*trace, "deep"), noIndex);
        QCOMPARE(rangeCalled(*trace, "far"), noIndex);
        QCOMPARE(eventsIn(*trace), smallRun().size() + 2);
        for (const char* text : {"{", "[", "[]", "{}", "[[", "{\"traceEvents\": [", "{\"traceEvents\"", "]",
                                 "[{\"ph\":\"X\"}", "[{\"ph\":\"X\",\"ts\":1e300}]"}) {
            TraceBuilder builder;
            QVERIFY(readKinetoBytes(text, builder));
            QVERIFY(builder.finish());
        }
    }

    /// Each case once took minutes to hours because of a repeated search for every event, bracket or array.
    void readingTimeIsLinear_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind :
             {"threads with names", "processes with names", "streams of no call", "brackets", "arrays of events"})
            QTest::newRow(kind) << kind;
    }
    void readingTimeIsLinear() {
        QFETCH(QString, kind);
        const std::string whole = traceOf({slice("cpu_op", "aten::mm", "1", "1", "1", "1")});
        std::string text = "{\"schemaVersion\": 1,";
        if (kind == "brackets") {
            text = "{\"traceEvents\": [";
            for (int number = 0; number < 300'000; ++number) text += "],\"a\":";
        } else if (kind == "arrays of events") {
            for (int number = 0; number < 100'000; ++number) text += "\"traceEvents\":[],";
            text += whole.substr(whole.find("\"traceEvents\""));
        } else {
            std::vector<std::string> events;
            for (int number = 0; number < 60'000; ++number) {
                const std::string name = std::to_string(number);
                if (kind == "threads with names")
                    events.push_back(slice("cpu_op", "a", "1", "\"t" + name + "\"", name, "1"));
                else if (kind == "processes with names")
                    events.push_back(slice("cpu_op", "a", "\"p" + name + "\"", "1", name, "1"));
                else
                    events.push_back(
                        slice("gpu_user_annotation", "a", "0", "7", name, "1", "\"device\": 0, \"stream\": " + name));
            }
            text = traceOf(events);
        }
        const std::clock_t begun = std::clock();  // time of this process only
        TraceBuilder builder;
        QVERIFY(readKinetoBytes(text, builder));
        const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        // Sanitizers take many times as long.
        const double limit = test::hasAddressSanitizer || test::hasThreadSanitizer ? 120 : 12;
        QVERIFY2(seconds < limit, qPrintable(QString::number(seconds)));
        if (kind == "arrays of events") {
            // The rest is corrupt and reported.
            QVERIFY(builder.finish());
            const TracePtr trace = builder.take();
            QVERIFY(trace->nvtx.size() == 1 || !sentenceOf(*trace, HealthCode::JsonDamaged).empty());
        }
    }

    void corruptCompressedFileKeepsTheEventsBefore() {
        TemporaryFolder folder;
        const fs::path path = folder / "run.json.gz";
        // Smaller than any buffer, with numbers that compress badly, so that corruption is detected at once.
        std::vector<std::string> events;
        std::mt19937 random(5);
        for (int number = 0; number < 2'000; ++number)
            events.push_back(slice("cpu_op", "op" + std::to_string(random()), "1", "1",
                                   std::to_string(10 * number) + ".0", "5.0", ""));
        const std::string text = traceOf(events);
        gzFile file = gzopen(path.c_str(), "wb9");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        // Zeros from the middle on.
        const auto bytes = fs::file_size(path);
        std::fstream corrupt(path, std::ios::in | std::ios::out | std::ios::binary);
        corrupt.seekp(static_cast<std::streamoff>(bytes / 2));
        const std::string nothing(bytes / 2, '\xff');
        corrupt.write(nothing.data(), static_cast<std::streamsize>(nothing.size()));
        corrupt.close();
        const TracePtr trace = test::orFail(loadTrace(path));
        QVERIFY2(trace->nvtx.size() > 900, qPrintable(QString::number(trace->nvtx.size())));
        QVERIFY(sentenceOf(*trace, HealthCode::FileCut).find("the compressed file is corrupt") != std::string::npos);
    }

    void decompressionIsBounded() {
        TemporaryFolder folder;
        const fs::path path = folder / "bomb.json.gz";
        gzFile file = gzopen(path.c_str(), "wb9");
        const std::string start = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
        gzwrite(file, start.data(), static_cast<unsigned>(start.size()));
        // 600 MB of spaces, which compress to less than one.
        const std::string nothing(size_t{1} << 20, ' ');
        for (int number = 0; number < 600; ++number)
            gzwrite(file, nothing.data(), static_cast<unsigned>(nothing.size()));
        gzclose(file);
        QVERIFY(sentenceOf(*test::orFail(loadTrace(path)), HealthCode::FileCut).starts_with("Only the first"));
    }
};

LANESCOPE_TEST(tst_JsonTraces, NoApplication)
#include "tst_JsonTraces.moc"
