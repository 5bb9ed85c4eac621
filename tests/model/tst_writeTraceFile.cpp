// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;
using namespace lanescope::torchTrace;
namespace fs = std::filesystem;

class tst_writeTraceFile : public QObject {
    Q_OBJECT

  private slots:
    void importedTraceEqualsItsLanescopeCopy() {
        std::vector<std::string> events = smallRun();
        events.push_back(slice("cpu_op", "record_param_comms", "4000", "4001", "1070.000", "9.000",
                               R"("Collective name": "allreduce", "In msg nelems": 10, "Seq": 3,
                              "Group size": 2, "dtype": "Float", "Process Group Name": "0",
                              "Process Group Ranks": "[0, 1]", "Out msg nelems": 10)"));
        events.push_back(R"({"ph": "C", "name": "queue", "pid": 4000, "ts": 1000, "args": {"n": 2.5}})");
        events.push_back(R"({"ph": "B", "name": "open", "cat": "mine", "pid": 4000, "tid": 4001, "ts": 1001})");
        events.push_back(R"({"ph": "s", "id": 1, "ts": 1.5, "cat": "fwdbwd"})");
        events.push_back(R"({"ph": "f", "id": 1, "ts": 2.5, "cat": "fwdbwd"})");
        const TracePtr imported =
            loaded(traceOf(events, "",
                           ",\n \"distributedInfo\": {\"rank\": 1, \"world_size\": 2},\n"
                           "\"host_name\": \"box\", \"baseTimeNanoseconds\": 1700000000000000000"));
        const fs::path path = folder_ / "native.sqlite";
        QVERIFY(writeTraceFile(*imported, path));
        const Result<TracePtr> opened = loadTrace(path);
        QVERIFY(opened);
        const Trace& native = **opened;
        QCOMPARE(native.producer, imported->producer);
        QCOMPARE(native.startUtcNs, imported->startUtcNs);
        QCOMPARE(native.facts.host, std::string("box"));
        QCOMPARE(native.processes[0].rank, std::optional<int>(1));
        QCOMPARE(eventsIn(native), eventsIn(*imported));
        QCOMPARE(native.kernels.startNs[0], imported->kernels.startNs[0]);
        QCOMPARE(native.launchConfigs[native.kernels.config[0]].grid,
                 imported->launchConfigs[imported->kernels.config[0]].grid);
        QVERIFY(native.launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        const uint32_t op = rangeCalled(native, "aten::mm");
        QCOMPARE(native.strings.at(native.nvtx.domain[op]), operatorDomain);
        QCOMPARE(native.strings.at(native.nvtx.payload[op]), std::string_view("[[8, 16], [16, 4]]"));
        QVERIFY(native.nvtx.isOpen[rangeCalled(native, "open")] != 0);
        QCOMPARE(native.projections.size(), imported->projections.size());
        QCOMPARE(native.nccl.size(), 1u);
        QCOMPARE(native.nccl.bytes[0], int64_t{40});
        QCOMPARE(native.nccl.communicator[0], imported->nccl.communicator[0]);
        QCOMPARE(native.nccl.facts[0].sequence, int64_t{3});
        QCOMPARE(native.nccl.facts[0].rank, 1);
        QCOMPARE(native.counters.size(), imported->counters.size());
        QCOMPARE(native.counters.back().value(0), imported->counters.back().value(0));
        QCOMPARE(sentenceOf(native, HealthCode::NotShown), sentenceOf(*imported, HealthCode::NotShown));
        QCOMPARE(native.health.size(), imported->health.size());
        QCOMPARE(native.tracks.size(), imported->tracks.size());
        Result<Database> database = Database::openReadOnly(path);
        QVERIFY(database);
        auto devices = database->prepare("SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE");
        QVERIFY(devices && *devices->step());
        QCOMPARE(devices->integer(0), native.gpus[0].id);
        QCOMPARE(devices->integer(1), native.gpus[0].id);
        QCOMPARE(devices->integer(2), int64_t{4000});
        // A join of threads with their names finds each; a thread without a name stays without.
        auto names = database->prepare("SELECT count(DISTINCT globalTid) FROM ThreadNames");
        QVERIFY(names && *names->step());
        QCOMPARE(names->integer(0), static_cast<int64_t>(imported->threads.size()));
        for (size_t thread = 0; thread < imported->threads.size(); ++thread)
            QCOMPARE(native.threads[thread].name, imported->threads[thread].name);
    }

    /// Sums use these values, for example the bytes over NVLink.
    void countersStayAsShown() {
        TracePtr before;
        QVERIFY(before = *loadTrace(fs::path(LANESCOPE_SAMPLES) / "resnet152-nvlink.sqlite.gz"));
        for (const char* name : {"once.sqlite", "twice.sqlite"}) {
            const fs::path path = folder_ / name;
            QVERIFY(writeTraceFile(*before, path));
            const Result<TracePtr> after = loadTrace(path);
            QVERIFY(after && (*after)->counters.size() == before->counters.size());
            for (size_t at = 0; at < before->counters.size(); ++at) {
                const CounterSeries &was = before->counters[at], &is = (*after)->counters[at];
                QCOMPARE(is.name, was.name);
                QCOMPARE(is.unit, was.unit);
                QCOMPARE(is.isMeanOfInterval, was.isMeanOfInterval);
                QCOMPARE(is.intervalNs, was.intervalNs);
                QCOMPARE(is.size(), was.size());
                QCOMPARE(is.endNs(), was.endNs());
                for (uint32_t sample = 0; sample < was.size(); ++sample) {
                    QCOMPARE(is.timeNs(sample), was.timeNs(sample));
                    QCOMPARE(is.value(sample), was.value(sample));
                }
            }
            before = *after;
        }
    }

    void existingFileIsNeverOverwritten() {
        const fs::path path = folder_ / "there.sqlite";
        std::ofstream(path) << "mine";
        QVERIFY(!writeTraceFile(*loaded(traceOf(smallRun())), path));
        QCOMPARE(fs::file_size(path), uintmax_t{4});
        QVERIFY(!fs::exists(folder_ / "there.sqlite.partial"));
        // The recording there belongs to another process.
        const fs::path other = folder_ / "other.sqlite";
        std::ofstream(folder_ / "other.sqlite.partial") << "recording";
        QVERIFY(!writeTraceFile(*loaded(traceOf(smallRun())), other));
        QVERIFY(fs::exists(folder_ / "other.sqlite.partial"));
    }

    void fileCreatedMeanwhileIsKept() {
        const fs::path path = folder_ / "late.sqlite", partial = folder_ / "late.sqlite.partial";
        const TracePtr trace = simulatedTraining({.steps = 100});
        Result<void> written;
        // The observer may be too late.
        for (int attempt = 0; attempt < 20 && written; ++attempt) {
            fs::remove(path);
            std::atomic<bool> isOver = false;
            std::thread other([&] {
                while (!isOver && !fs::exists(partial)) std::this_thread::yield();
                const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
                if (file < 0) return;
                if (::write(file, "theirs", 6) != 6) qFatal("nothing is written");
                ::close(file);
            });
            written = writeSealedTraceFile(*trace, path);
            isOver = true;
            other.join();
        }
        QVERIFY(!written);
        const std::string said = written.error().sentence;
        QVERIFY2(said.find("another program created the file in the meantime. The trace is in " + partial.string()) !=
                     std::string::npos,
                 said.c_str());
        QCOMPARE(fs::file_size(path), uintmax_t{6});
        const Result<TracePtr> kept = loadTrace(partial);
        QVERIFY(kept);
        QCOMPARE((*kept)->kernels.size(), trace->kernels.size());
    }

    void sqliteInputIsRecognized() {
        TraceBuilder builder;
        builder.setPath("run.sqlite");
        const uint32_t process = builder.process(int64_t{1} << 48);
        builder.add<kinds::Graph>(
            {.startNs = 1, .endNs = 2, .graph = 5, .stream = builder.stream(process, builder.gpu(0), 1, 7)});
        QVERIFY(builder.finish());
        const TracePtr trace = builder.take();
        QVERIFY(isOfSqlite(*trace));
        QVERIFY(!isOfSqlite(*loaded(traceOf(smallRun()))));
        // An explicit request, as by `merge`, writes everything.
        QVERIFY(writeTraceFile(*trace, folder_ / "copy.sqlite"));
        const Result<TracePtr> copy = loadTrace(folder_ / "copy.sqlite");
        QVERIFY(copy);
        QCOMPARE((*copy)->graphs.size(), 1u);
        QCOMPARE((*copy)->graphs.graph[0], int64_t{5});
    }

  private:
    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_writeTraceFile, NoApplication)
#include "tst_writeTraceFile.moc"
