// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/inspector/readInspectorTrace.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/Api.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/files.h"
#include "tests/support/inspectorLog.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;

namespace {

std::string launch(int number, double atUs, const std::string& pid = "4100",
                   const std::string& name = "cudaLaunchKernel") {
    return slice("cuda_runtime", name, pid, pid, fmt::format("{:.3f}", atUs), "5",
                 fmt::format("\"correlation\": {}", number));
}

std::string kernel(int number, double atUs, double forUs, const std::string& name = "gemm", int device = 0) {
    return slice("kernel", name, std::to_string(device), "7", fmt::format("{:.3f}", atUs), fmt::format("{:.3f}", forUs),
                 fmt::format("\"device\": {}, \"context\": 1, \"stream\": 7, \"correlation\": {}", device, number));
}

std::string step(int number, double atUs, double forUs, const std::string& pid = "4100") {
    return slice("user_annotation", fmt::format("ProfilerStep#{}", number), pid, pid, fmt::format("{:.3f}", atUs),
                 fmt::format("{:.3f}", forUs));
}

/// Creates a closed database.
void makeDatabase(const std::filesystem::path& path, const char* sql) {
    auto database = Database::create(path);
    if (!database || !database->execute(sql)) qFatal("no database");
}

TracePtr opened(const std::filesystem::path& path) { return test::orFail(loadTrace(path)); }

explain::Explanation explained(const Trace& trace) {
    const analysis::RunSummary run = test::orFail(analysis::summarizeRun(trace));
    return explain::explain(run);
}

analysis::WorkerSummary workerOf(const Trace& trace, size_t index = 0) {
    const Result<analysis::RunSummary> run = analysis::summarizeRun(trace);
    if (!run || run->workers.size() <= index) qFatal("no worker");
    return run->workers[index];
}

int64_t kernelNs(const Trace& trace) {
    int64_t ns = 0;
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        ns += trace.kernels.endNs[row] - trace.kernels.startNs[row];
    return ns;
}

}  // namespace

/// Files that lack something, or have it at an unusual place, of which the rest must still be right.
class tst_IncompleteTraces : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

    TracePtr written(const char* name, const std::string& text) {
        put(folder_ / name, text);
        return opened(folder_ / name);
    }

  private slots:
    void eventsAfterLongMetadataAreFound() {
        std::string metadata;
        for (int index = 0; index < 1000; ++index)
            metadata += fmt::format("{}\"V{}\": \"value {}\"", index > 0 ? ", " : "", index, index);
        std::vector<std::string> events;
        for (int each = 1; each <= 50; ++each) {
            events.push_back(launch(each, each * 100));
            events.push_back(kernel(each, each * 100 + 10, 50));
        }
        const TracePtr trace =
            written("harness.json", "{\"metadata\": {\"environment\": {" + metadata + "}}, \"traceEvents\": [" +
                                        joined(events) + "], \"schemaVersion\": 1}");
        QCOMPARE(test::listed(trace->kernels.size(), kernelNs(*trace)), "50 | 2500000");
        QVERIFY(trace->health.empty() || !hasNote(*trace, HealthCode::JsonDamaged));
    }

    void metadataWithoutEventsIsNoTrace() {
        put(folder_ / "settings.json",
            "{\"metadata\": {\"text\": \"" + std::string(20'000, 'x') + "\"}, \"rows\": []}");
        QVERIFY(!loadTrace(folder_ / "settings.json"));
    }

    void collectivesOfEveryLibraryAreCommunication() {
        const std::vector<std::string> names{
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)",
            "void deep_ep::internode::dispatch<false, 8, false>(int4*, float*)",
            "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
            "nvshmemi_transfer_rma_put_nbi",
            "mscclpp::allreduce7"};
        std::vector<std::string> events;
        int number = 0;
        for (int each = 0; each < 10; ++each) {
            const double atUs = 1000 + each * 2000;
            events.push_back(step(each, atUs, 1999));
            events.push_back(launch(++number, atUs + 1));
            events.push_back(kernel(number, atUs + 10, 800));
            for (size_t name = 0; name < names.size(); ++name) {
                events.push_back(launch(++number, atUs + 2));
                events.push_back(kernel(number, atUs + 810 + 100.0 * double(name), 100, names[name]));
            }
        }
        const TracePtr trace = loaded(traceOf(events));
        const analysis::WorkerSummary worker = workerOf(*trace);
        const auto steps = static_cast<int64_t>(worker.steps.size());
        QVERIFY(steps >= 9);
        const analysis::StepParts parts = worker.totalParts();
        QCOMPARE(parts[analysis::StepPart::Compute] / steps, int64_t{800'000});
        QCOMPARE(parts[analysis::StepPart::ExposedCommunication] / steps, int64_t{600'000});
        const Lane& lane =
            trace->tracks.at(0).lanes.empty() ? trace->tracks.at(1).lanes.at(0) : trace->tracks[0].lanes[0];
        QVERIFY(lane.size() > 0);
    }

    void kernelsWithoutATimeAreCountedAndNotJudged() {
        std::vector<std::string> events;
        for (int each = 1; each <= 80; ++each) {
            const double atUs = 7'164'224'529'396.468 + each * 25;
            if (each % 4 == 1) events.push_back(step(each / 4, atUs, 99));
            events.push_back(launch(each, atUs + 5));
            events.push_back(each <= 40 ? kernel(each, atUs + 15, 18) : kernel(each, 0, 0));
        }
        const TracePtr trace = loaded(traceOf(events));
        QCOMPARE(trace->kernels.size(), 40u);
        QVERIFY(trace->range.durationNs() < 3'000'000);
        QVERIFY2(QString::fromStdString(sentenceOf(*trace, HealthCode::Untimed)).contains("40 of 80 kernels"),
                 sentenceOf(*trace, HealthCode::Untimed).c_str());
        const analysis::WorkerSummary worker = workerOf(*trace);
        QVERIFY(worker.steps.size() >= 8 && worker.steps.size() <= 10);
        for (const analysis::StepSummary& each : worker.steps) QVERIFY(each.wallNs <= 130'000);
        QVERIFY(explained(*trace).findings.empty() || explained(*trace).findings[0].rule->id != "step_pattern");
    }

    void kernelsAtTheZeroOfTheBaseHaveNoTime() {
        const std::vector<std::string> events{launch(1, 5000), kernel(1, 5010, 20), launch(2, 5100),
                                              kernel(2, -1'700'000'000'000'000, 0)};
        const TracePtr trace = loaded(traceOf(events, "  \"baseTimeNanoseconds\": 1700000000000000000,\n"));
        QCOMPARE(test::listed(trace->kernels.size(), trace->range.durationNs()), "1 | 105000");
        QVERIFY(!sentenceOf(*trace, HealthCode::Untimed).empty());
    }

    void clockOfAGpuThatIsDaysOffLeavesCausesUnknown() {
        std::vector<std::string> events;
        for (int each = 1; each <= 100; ++each) {
            if (each % 10 == 1) events.push_back(step(each / 10, each * 100, 999));
            events.push_back(launch(each, each * 100));
            events.push_back(kernel(each, 414'278'000'000.0 + each * 100 + 10, 20));
        }
        const TracePtr trace = loaded(traceOf(events));
        QVERIFY(trace->gpus[0].isClockInconsistent);
        const std::string sentence = sentenceOf(*trace, HealthCode::GpuClockInconsistent);
        QVERIFY2(sentence.find("do not agree") != std::string::npos &&
                     sentence.find("414,278 s after its launches") != std::string::npos,
                 sentence.c_str());
        for (const explain::Finding& each : explained(*trace).findings) QVERIFY(each.rule->id != "queued_idle");
        // A queue of some seconds is no other clock.
        std::vector<std::string> queued;
        for (int each = 1; each <= 100; ++each) {
            queued.push_back(launch(each, each * 100));
            queued.push_back(kernel(each, each * 200'000 + 110, 150'000));
        }
        QVERIFY(!loaded(traceOf(queued))->gpus[0].isClockInconsistent);
    }

    void workBeforeItsLaunchesIsOfAnotherClock() {
        std::vector<std::string> events;
        for (int each = 1; each <= 20; ++each) {
            events.push_back(launch(each, 1'000'000 + each * 100));
            events.push_back(kernel(each, each * 100, 20));
        }
        const TracePtr trace = loaded(traceOf(events));
        QVERIFY(trace->gpus[0].isClockInconsistent);
        QVERIFY(sentenceOf(*trace, HealthCode::GpuClockInconsistent).find("before its launches") != std::string::npos);
    }

    void launchesWithoutAnyWorkAreReported() {
        std::vector<std::string> events;
        for (int each = 1; each <= 32; ++each) events.push_back(launch(each, each * 1000, "4100", "hipGraphLaunch"));
        const TracePtr trace = loaded(traceOf(events));
        const std::string sentence = sentenceOf(*trace, HealthCode::GpuWorkMissing);
        QVERIFY2(sentence.starts_with("32 calls launched GPU work, but the file has no row of it. Record again"),
                 sentence.c_str());
        QVERIFY(!hasNote(*trace, HealthCode::CallsWithoutWork));
        const explain::Explanation explanation = explained(*trace);
        HAS(explanation.sentence, "32 calls launched GPU work");
        QVERIFY(explanation.caveats.empty());
    }

    /// A call that failed launched nothing, and a few calls prove nothing.
    void launchesThatFailedAreNotLost() {
        const auto noted = [](int launches, int failed, bool isOurs = false) {
            SimulatedTrace made;
            if (isOurs) made.description().producer = "Lanescope 1.0";
            for (int each = 0; each < launches; ++each)
                made.add<kinds::Api>({.startNs = each * 1000,
                                      .endNs = each * 1000 + 500,
                                      .name = made.intern("cudaLaunchKernel"),
                                      .thread = made.defaultThread(),
                                      .correlation = static_cast<uint32_t>(each + 1),
                                      .returnValue = each < failed ? 98 : 0});
            return sentenceOf(*made.finish(), HealthCode::GpuWorkMissing);
        };
        QVERIFY(noted(40, 0).starts_with("40 calls launched GPU work"));
        QVERIFY(noted(40, 10).starts_with("30 calls launched GPU work"));
        QCOMPARE(test::listed(noted(40, 40), noted(3, 0)), test::listed(std::string(), std::string()));
        HAS(noted(40, 0, true), "lanescope doctor");
    }

    /// A launch into a graph that is captured does no work yet, as with JAX. A host function is no work of the GPU.
    void launchesIntoACaptureAreNotLost() {
        std::vector<std::string> events;
        int number = 0;
        for (int each = 1; each <= 40; ++each) {
            const double atUs = each * 1000;
            events.push_back(launch(0, atUs, "4100", "cuStreamBeginCaptureToGraph"));
            events.push_back(launch(++number, atUs + 10, "4100", "cuLaunchKernelEx"));
            events.push_back(launch(0, atUs + 20, "4100", "cuStreamEndCapture"));
            events.push_back(launch(++number, atUs + 30, "4100", "cuLaunchHostFunc"));
            events.push_back(launch(++number, atUs + 40, "4100", "cuLaunchKernel"));
            events.push_back(kernel(number, atUs + 50, 20));
        }
        QVERIFY(!hasNote(*loaded(traceOf(events)), HealthCode::CallsWithoutWork));
    }

    void exportWithoutGpuTablesIsReported() {
        makeDatabase(folder_ / "wsl.sqlite",
                     "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                     "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000');"
                     "CREATE TABLE ThreadNames (nameId INTEGER);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, \"end\" INTEGER, "
                     "globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                     "SELECT i + 1 FROM n WHERE i < 500) SELECT i * 1000, i * 1000 + 500, "
                     "282574488338432 + 83886080000 + 5000, i, 1 FROM n");
        const TracePtr trace = opened(folder_ / "wsl.sqlite");
        QVERIFY2(sentenceOf(*trace, HealthCode::GpuWorkMissing).starts_with("500 calls launched GPU work"),
                 sentenceOf(*trace, HealthCode::GpuWorkMissing).c_str());
    }

    void lostWorkBetweenOtherWorkIsAWarning() {
        std::vector<std::string> events;
        for (int each = 1; each <= 40; ++each) {
            events.push_back(launch(each, each * 100));
            if (each % 2 == 0) events.push_back(kernel(each, each * 100 + 10, 20));
        }
        const std::string sentence = sentenceOf(*loaded(traceOf(events)), HealthCode::CallsWithoutWork);
        QVERIFY2(sentence.starts_with("20 of 40 calls that launch GPU work have none in the file"), sentence.c_str());
    }

    void ranksInOneFileKeepTheirWorkDespiteEqualCorrelations() {
        std::vector<std::string> events;
        for (int each = 1; each <= 10; ++each)
            for (int rank = 0; rank < 2; ++rank) {
                const std::string pid = std::to_string(4100 + rank);
                const double atUs = each * 1000 + rank * 5;
                events.push_back(step(each, atUs, 900, pid));
                events.push_back(launch(each, atUs + 10, pid, "cudaGraphLaunch"));
                for (int work = 0; work < 20; ++work)
                    events.push_back(kernel(each, each * 1000 + 50 - 15 * rank + work * 30, 20 + 5 * rank,
                                            fmt::format("rank{}_kernel", rank), rank));
            }
        const TracePtr trace = loaded(traceOf(events));
        QCOMPARE(trace->kernels.size(), 400u);
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            const Stream& stream = trace->streams[trace->kernels.stream[row]];
            QCOMPARE(trace->processes[stream.process].pid, 4100 + trace->gpus[stream.gpu].id);
        }
        QVERIFY(!hasNote(*trace, HealthCode::CallsWithoutWork) && !hasNote(*trace, HealthCode::WorkWithoutCall));
    }

    void traceOfProtonHasItsStreams() {
        std::string text;
        for (const int stream : {7, 13}) {
            std::vector<std::string> events;
            for (int each = 0; each < 100; ++each)
                events.push_back(fmt::format(
                    "{{\"args\": {{\"call_stack\": [\"ROOT\", \"layer\"]}}, \"cat\": \"kernel\", \"dur\": {}, "
                    "\"name\": \"k{}\", \"ph\": \"X\", \"tid\": {}, \"ts\": {:.1f}}}",
                    stream == 7 ? "30.25" : "12.5", stream, stream, each * 50.5 + stream));
            text += "{\"displayTimeUnit\": \"us\", \"traceEvents\": [" + joined(events) + "]}\n";
        }
        const TracePtr trace = written("proton.chrome_trace", text);
        QCOMPARE(test::listed(trace->kernels.size(), kernelNs(*trace)), "200 | 4275000");
        std::set<int64_t> streams;
        for (const uint32_t stream : trace->kernels.stream) streams.insert(trace->streams[stream].streamId);
        QCOMPARE(streams, (std::set<int64_t>{7, 13}));
        QCOMPARE(trace->nvtx.size(), 0u);
        QVERIFY(!hasNote(*trace, HealthCode::JsonDamaged) && !hasNote(*trace, HealthCode::FileCut));
    }

    void corruptListAfterTheEventsIsNoTruncation() {
        std::vector<std::string> events;
        for (int each = 1; each <= 50; ++each) {
            events.push_back(launch(each, each * 50));
            events.push_back(kernel(each, each * 50 + 10, 30));
        }
        const std::string before = "{\"schemaVersion\": 1, \"traceEvents\": [" + joined(events) + "], ";
        const TracePtr trace =
            loaded(before + "\"INFO\": [\"device = {\"event_id\": 5, \"correlation\": 12}\", \"INFO: done\"]}");
        QCOMPARE(test::listed(trace->kernels.size(), kernelNs(*trace)), "50 | 1500000");
        QVERIFY(!hasNote(*trace, HealthCode::FileCut));
        QVERIFY(sentenceOf(*trace, HealthCode::JsonDamaged).starts_with("Some metadata of the file is corrupt"));
        const TracePtr cut = loaded(before + "\"deviceProperties\": [{\"id\": 0, \"na");
        const std::string sentence = sentenceOf(*cut, HealthCode::FileCut);
        HAS(sentence, "facts about GPUs and ranks are missing");
    }

    void databaseOfRocprofIsRead() {
        makeDatabase(
            folder_ / "results.db",
            "CREATE TABLE HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT, "
            "\"Index\" INTEGER);"
            "CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, "
            "pid INTEGER, tid INTEGER, \"Index\" INTEGER);"
            "CREATE TABLE COPY (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, "
            "pid INTEGER, tid INTEGER, \"Index\" INTEGER);"
            "CREATE TABLE KERN (\"Index\" INTEGER, KernelName TEXT);"
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19) "
            "INSERT INTO HIP SELECT 1000000000 + i * 100000, 1000005000 + i * 100000, 77, 77, 'hipLaunchKernel', '', i "
            "FROM n;"
            "INSERT INTO OPS SELECT BeginNs + 9000, BeginNs + 49000, 0, 0, 'bmm_kernel', 77, 77, \"Index\" FROM HIP;"
            "INSERT INTO COPY VALUES (1002000000, 1002000500, 0, 1, 'CopyHostToDevice', 77, 77, 50)");
        const TracePtr trace = opened(folder_ / "results.db");
        QCOMPARE(test::listed(trace->producer, trace->kernels.size()), "rocprof | 20");
        QCOMPARE(test::listed(kernelNs(*trace), trace->nameOf({EventKind::Kernel, 0})), "800000 | bmm_kernel");
        const EventRef call = trace->launchingCall({EventKind::Kernel, 19});
        QVERIFY(call.isValid());
        QCOMPARE(test::listed(trace->rangeOf(call).startNs, trace->memcpys.size()), "1900000 | 1");
        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::HtoD);
    }

    void databaseOfHipprofIsRead() {
        makeDatabase(
            folder_ / "hip-prof.db",
            "CREATE TABLE COPY (BeginNs INTEGER, EndNs INTEGER, dev_id INTEGER, queue_id TEXT, Kind INTEGER, pid "
            "INTEGER, tid INTEGER, _Index INTEGER, DurationNs INTEGER);"
            "CREATE TABLE HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name INTEGER, args TEXT, "
            "_Index INTEGER, State INTEGER, DurationNs INTEGER);"
            "CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, dev_id INTEGER, queue_id TEXT, Name TEXT, pid INTEGER, "
            "tid INTEGER, _Index INTEGER, DurationNs INTEGER);"
            "CREATE TABLE STR_TABLE (PID INTEGER, STR_ID INTEGER, STR_NAME TEXT);"
            "INSERT INTO STR_TABLE VALUES (9, 1, '_Z3addPf'), (8, 1, 'other');"
            "INSERT INTO HIP VALUES (1000, 2000, 9, 9, 67, 'hipLaunchKernel(stream=0)', 5, 0, 1000);"
            "INSERT INTO OPS VALUES (3000, 7000, 2, '9', '1', 9, 0, 5, 4000);"
            "INSERT INTO COPY VALUES (8000, 9000, 2, '9', 4596, 9, 0, 6, 1000), (9000, 9500, 2, '9', 4615, 9, 0, 7, "
            "500)");
        const TracePtr trace = opened(folder_ / "hip-prof.db");
        QCOMPARE(test::listed(trace->producer, trace->nameOf({EventKind::Kernel, 0})), "hipprof | add");
        QCOMPARE(trace->nameOf(trace->launchingCall({EventKind::Kernel, 0})), std::string("hipLaunchKernel"));
        QCOMPARE(trace->gpus.at(0).id, int64_t{2});
        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::HtoD);
        QCOMPARE(trace->memsets.size(), 1u);
    }

    void logThatLacksOperationsBlamesNoRank() {
        using namespace inspectorLog;
        std::string log;
        for (int rank = 0; rank < 3; ++rank)
            for (int number = 1; number <= 60; ++number) {
                if (rank == 2 && number % 3 == 0) continue;
                // Rank 1 comes last.
                const int64_t atUs = dayUs + number * 2000, lateUs = rank == 1 ? 150 : 0;
                log += line(context({.rank = rank, .ranks = 3, .pid = 9000 + rank}, atUs + 1000),
                            collective({.number = number, .tookUs = 700 - lateUs, .kernelUs = atUs + lateUs}));
            }
        const TracePtr trace = written("node-pid9000.log", log);
        const std::string sentence = sentenceOf(*trace, HealthCode::OperationsMissing);
        QVERIFY2(sentence.starts_with("Rank 2: the log lacks 20 of 60 operations (AllReduce, numbers 3, 6, 9 ...)"),
                 sentence.c_str());
        const analysis::RunSummary run = test::orFail(analysis::summarizeRun(*trace));
        const uint32_t critical = run.criticalWorker();
        QVERIFY(critical != noIndex);
        QCOMPARE(run.workers[critical].rank, std::optional<int>(1));
        for (const explain::Finding& each : explain::explain(run).findings)
            QCOMPARE(run.workers[each.worker].rank, std::optional<int>(1));
    }
};

LANESCOPE_TEST(tst_IncompleteTraces, NoApplication)
#include "tst_IncompleteTraces.moc"
