// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/sqlite/LoadContext.h"
#include "tests/support/Rows.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/has.h"
#include "tests/support/listed.h"
#include "tests/support/notes.h"
#include "tests/support/orFail.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// The packed ids of process 4242 and its main thread.
constexpr int64_t pid = globalPid(4242);
constexpr int64_t tid = globalTid(4242, 4242);

QString healthNotesOf(const Trace& trace) {
    QStringList notes;
    for (const HealthNote& note : trace.health) notes << QString::fromStdString(note.sentence);
    return notes.join('\n');
}

/// Compares a column of texts that two traces intern in different orders.
bool isSameText(const Trace& a, const Column<StringIndex>& x, const Trace& b, const Column<StringIndex>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i)
        if (a.strings.at(x[i]) != b.strings.at(y[i])) return false;
    return true;
}

}  // namespace

class tst_loadTrace : public QObject {
    Q_OBJECT

    std::filesystem::path file() const { return *folder_ / "trace"; }
    /// Writes a trace file with the rows that `sql` inserts.
    void write(const QString& sql) const {
        auto database = test::orFail(Database::create(file()));
        QVERIFY(createTraceTables(database));
        test::orFail(database.execute(sql.toUtf8().constData()));
    }
    TracePtr load() const { return test::orFail(loadTrace(file())); }

    std::unique_ptr<TemporaryFolder> folder_;
    /// Writes a trace file with the rows that `sql` inserts; "$pid" in it is the process.
    void writeRows(QString sql) const {
        auto database = test::orFail(Database::create(file()));
        QVERIFY(createTraceTables(database));
        sql.replace("$pid", QString::number(pid));
        test::orFail(database.execute(sql.toUtf8().constData()));
    }

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void traceFileRoundTrips() {
        const TracePtr written = simulatedTraining({.ncclPlugin = true});
        test::orFail(writeTraceFile(*written, file()));
        const TracePtr read = load();
        QVERIFY2(read->health.empty(), qPrintable(healthNotesOf(*read)));
        QCOMPARE(read->producer, written->producer);
        QCOMPARE(read->title, std::string("trace"));
        QCOMPARE(read->range, written->range);

        QVERIFY(read->kernels.startNs == written->kernels.startNs);
        QVERIFY(read->kernels.endNs == written->kernels.endNs);
        QVERIFY(read->kernels.correlation == written->kernels.correlation);
        QVERIFY(read->memcpys.bytes == written->memcpys.bytes);
        QVERIFY(read->memcpys.kind == written->memcpys.kind);
        QVERIFY(read->memcpys.sourceMemory == written->memcpys.sourceMemory);
        QVERIFY(read->memsets.startNs == written->memsets.startNs);
        QVERIFY(read->apiCalls.startNs == written->apiCalls.startNs);
        QVERIFY(isSameText(*read, read->apiCalls.name, *written, written->apiCalls.name));
        QVERIFY(read->syncs.type == written->syncs.type);
        QVERIFY(read->nvtx.startNs == written->nvtx.startNs);
        QVERIFY(read->nvtx.depth == written->nvtx.depth);
        QVERIFY(isSameText(*read, read->nvtx.text, *written, written->nvtx.text));
        QVERIFY(isSameText(*read, read->nvtx.domain, *written, written->nvtx.domain));
        QVERIFY(read->nccl.nvtx == written->nccl.nvtx);
        QCOMPARE(read->nccl.facts.size(), size_t{read->nccl.size()});
        for (uint32_t row = 0; row < read->nccl.size(); ++row) {
            const NcclFacts& got = read->nccl.facts[row];
            const NcclFacts& expected = written->nccl.facts[row];
            QCOMPARE(test::listed(read->strings.at(got.datatype), read->strings.at(got.algorithm)), "bfloat16 | RING");
            QCOMPARE(got.sequence, expected.sequence);
            QCOMPARE(got.count, expected.count);
            QCOMPARE(got.launch, expected.launch);
            QCOMPARE(got.gpu, expected.gpu);
            QCOMPARE(got.operationCount, 1u);
        }
        QVERIFY(read->nccl.bytes == written->nccl.bytes);
        QVERIFY(read->nccl.communicator == written->nccl.communicator);
        QVERIFY(read->projections.startNs == written->projections.startNs);
        for (uint32_t row = 0; row < read->kernels.size(); ++row) {
            const EventRef kernel(EventKind::Kernel, row);
            QCOMPARE(read->nameOf(kernel), written->nameOf(kernel));
            QCOMPARE(read->launchingCall(kernel), written->launchingCall(kernel));
        }

        QCOMPARE(read->tracks.size(), written->tracks.size());
        for (size_t i = 0; i < read->tracks.size(); ++i) {
            QCOMPARE(read->tracks[i].title, written->tracks[i].title);
            QCOMPARE(read->tracks[i].subtitle, written->tracks[i].subtitle);
            QCOMPARE(read->tracks[i].lanes.size(), written->tracks[i].lanes.size());
            for (size_t lane = 0; lane < read->tracks[i].lanes.size(); ++lane)
                QVERIFY(read->tracks[i].lanes[lane].category == written->tracks[i].lanes[lane].category);
        }
    }

    void everyKindOfRowIsRead() {
        write(QString("INSERT INTO StringIds VALUES (0, 'void gemm<float>(float*)'), (1, 'gemm'),"
                      " (2, '_Z4gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'main'), (5, 'registered');"
                      "INSERT INTO PROCESSES VALUES (%1, 4242, 'python3');"
                      "INSERT INTO ThreadNames VALUES (4, 10, %2);"
                      "INSERT INTO LANESCOPE_PROCESSES VALUES (%1, 3, 0, 1000, 0, NULL, 'x.log', 1, 8);"
                      "INSERT INTO LANESCOPE_HEALTH VALUES (1, 'dropped', %1, NULL, 7, '7 were lost.');"
                      "INSERT INTO LANESCOPE_PROPERTIES VALUES (NULL, 'Command', 'python3 train.py'),"
                      " (%1, 'CUDA', '13.0');"
                      "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 1, 3, 'It failed.', NULL),"
                      " (0, 1, 1, 1, 'It went well.', NULL);"
                      "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs) VALUES (1700000000000000000);"
                      "INSERT INTO TARGET_INFO_GPU (id, name, smCount, computeMajor, totalMemory)"
                      " VALUES (0, 'NVIDIA H200', 132, 9, 150754820096);"
                      "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, 4242, 0, 1, NULL, 0);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                      " (100, 110, 0, %2, 9, 3, 2, NULL), (120, 130, 1, %2, 10, 3, 0, NULL);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId,"
                      " correlationId, globalPid, demangledName, shortName, mangledName, registersPerThread, gridX,"
                      " gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,"
                      " localMemoryPerThread, localMemoryTotal, gridId, graphNodeId) VALUES "
                      "(150, 250, 0, 1, 7, 9, %1, 0, 1, 2, 64, 4, 5, 6, 32, 2, 1, 1024, 2048, 0, 0, 1, 77);")
                  .arg(pid)
                  .arg(tid) +
              QString("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                      " correlationId, globalPid, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId) VALUES "
                      "(260, 300, 0, 1, 7, 10, %1, 4096, 10, 2, 2, 0, 1);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId,"
                      " streamId, correlationId, globalPid, value, bytes, memKind)"
                      " VALUES (310, 320, 0, 1, 7, 11, %1, 255, 128, 2);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId, contextId, streamId,"
                      " globalPid, syncType, eventId) VALUES (330, 340, 0, 1, 4294967295, %1, 4, 0);"
                      "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, textId, text, globalTid, domainId, category,"
                      " color, int64Value) VALUES (0, NULL, 75, NULL, 'NCCL', %2, 3, NULL, NULL, NULL), "
                      "(0, NULL, 33, NULL, 'comms', %2, 3, 8, NULL, NULL), "
                      "(90, 240, 59, NULL, 'ncclAllReduce', %2, 3, 8, 4278190335, 42), "
                      "(95, NULL, 60, 5, NULL, %2, 0, NULL, NULL, NULL), "
                      "(99, NULL, 34, NULL, 'mark', %2, 0, NULL, NULL, NULL);"
                      "INSERT INTO LANESCOPE_NCCL_OPERATIONS VALUES (3, 'AllReduce', 1048576, -1, 0, NULL, NULL, %2);")
                  .arg(pid)
                  .arg(tid));
        const TracePtr trace = load();

        QCOMPARE(test::listed(trace->startUtcNs, trace->facts.others.size()), "1700000000000000000 | 1");
        QCOMPARE(test::listed(trace->facts.others[0].name, trace->facts.others[0].value), "Command | python3 train.py");
        QCOMPARE(trace->processes[0].facts->others.size(), size_t{1});
        QCOMPARE(test::listed(trace->processes[0].facts->others[0].name, trace->processes[0].worldSize), "CUDA | 8");
        QCOMPARE(trace->health[0].severity, Severity::Warning);
        QCOMPARE(codeOf(trace->health[0]), std::string("dropped"));
        QCOMPARE(trace->health[0].globalPid, trace->processes[0].globalPid);
        QCOMPARE(trace->health[0].count, int64_t{7});
        QVERIFY(!trace->health[0].timeNs);
        QVERIFY(hasNote(*trace, "7 were lost."));
        QVERIFY(hasNote(*trace, "It failed."));
        QVERIFY(!hasNote(*trace, "It went well."));
        QVERIFY(hasNote(*trace, "no exit record"));

        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(test::listed(trace->processes[0].name, trace->processes[0].rank.value_or(-1)), "python3 | 3");
        QVERIFY(trace->processes[0].endedAbnormally);
        QCOMPARE(test::listed(trace->threads[0].name, trace->gpus[0].smCount), "main | 132");
        QVERIFY(trace->streams[0].isNullStream);

        QCOMPARE(trace->apiCalls.size(), 2u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Api, 0)), std::string("cudaLaunchKernel"));
        QCOMPARE(test::listed(trace->apiCalls.returnValue[0], trace->apiCalls.isDriver[0]), "2 | 0");
        QCOMPARE(trace->apiCalls.isDriver[1], uint8_t{1});
        QCOMPARE(trace->launchingCall(EventRef(EventKind::Kernel, 0)), EventRef(EventKind::Api, 0));
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QVERIFY(config.grid == (std::array<uint32_t, 3>{4, 5, 6}));
        QVERIFY(config.block == (std::array<uint32_t, 3>{32, 2, 1}));
        QCOMPARE(config.dynamicSharedBytes, 2048u);
        QCOMPARE(test::listed(trace->strings.at(config.mangledName), trace->kernels.graphNode[0]), "_Z4gemm | 77");

        QCOMPARE(trace->memcpys.kind[0], MemcpyKind::PtoP);
        QCOMPARE(trace->memcpys.sourceMemory[0], MemoryKind::Device);
        QCOMPARE(test::listed(trace->memcpys.destinationDevice[0], trace->memsets.value[0]), "1 | 255");
        QCOMPARE(trace->syncs.type[0], SyncType::Context);
        QCOMPARE(trace->syncs.stream[0], noIndex);

        QCOMPARE(trace->nvtx.size(), 3u);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[0]), std::string_view("NCCL"));
        QCOMPARE(trace->strings.at(trace->nvtx.category[0]), std::string_view("comms"));
        QCOMPARE(trace->strings.at(trace->nvtx.payload[0]), std::string_view("42"));
        QCOMPARE(trace->nvtx.colorArgb[0], 0xff0000ffu);
        QCOMPARE(trace->nvtx.style[1], NvtxStyle::StartEnd);
        QCOMPARE(test::listed(trace->nvtx.isOpen[1], trace->nvtx.endNs[1]), "1 | 1000");
        QCOMPARE(trace->nameOf(EventRef(EventKind::Nvtx, 1)), std::string("registered"));
        QCOMPARE(trace->nvtx.style[2], NvtxStyle::Mark);
        QCOMPARE(test::listed(trace->nvtx.isOpen[2], trace->nccl.size()), "0 | 1");
        QCOMPARE(test::listed(trace->nccl.nvtx[0], trace->nccl.bytes[0]), "0 | 1048576");
        QCOMPARE(trace->nccl.communicator[0], ~uint64_t{0});
        // The range launched the kernel and the copy.
        QCOMPARE(trace->projections.operationCount[0], 2u);
        QCOMPARE(trace->range, (TimeRange{90, 1000}));
    }

    void devicesOfAProcessAreMappedToGpus() {
        const int64_t other = globalPid(5000);
        write(QString("INSERT INTO TARGET_INFO_GPU (id, name) VALUES (0, 'first'), (1, 'second');"
                      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 4242), (1, 0, 5000);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId,"
                      " globalPid, value, bytes) VALUES (1, 2, 0, 1, 7, %1, 0, 4), (3, 4, 0, 1, 7, %2, 0, 4)")
                  .arg(pid)
                  .arg(other));
        const TracePtr trace = load();
        QCOMPARE(trace->gpus[trace->streams[trace->memsets.stream[0]].gpu].name, std::string("first"));
        QCOMPARE(trace->gpus[trace->streams[trace->memsets.stream[1]].gpu].name, std::string("second"));
    }

    void untimedEventsAreNotDrawn() {
        // The form before version 7, and its replacement.
        write(QString("DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET;"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, \"end\" INTEGER,"
                      " deviceId, contextId, streamId, globalPid, value, bytes);"
                      "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid) VALUES ('CUPTI_ACTIVITY_KIND_MEMSET', %1), "
                      "('CUPTI_ACTIVITY_KIND_KERNEL', %1), ('CUPTI_ACTIVITY_KIND_KERNEL', %1), ('no table', %1);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId,"
                      " globalPid, value, bytes) VALUES (NULL, NULL, 0, 1, 7, %1, 0, 4), (0, 0, 0, 1, 7, %1, 0, 4), "
                      "(5, NULL, 0, 1, 7, %1, 0, 4), (10, 20, 0, 1, 7, %1, 0, 4)")
                  .arg(pid));
        const TracePtr trace = load();
        QCOMPARE(trace->memsets.size(), 1u);
        QCOMPARE(trace->range, (TimeRange{10, 20}));
        QVERIFY(hasNote(*trace, "4 of 5 memsets have no start and end"));
        QVERIFY(hasNote(*trace, "1 row of LANESCOPE_UNTIMED was skipped"));
        std::map<std::string, std::pair<int64_t, int64_t>> counts;
        for (const EventCount& each : trace->counts) counts[each.name] = {each.total, each.untimed};
        QCOMPARE(counts["memsets"], std::pair(int64_t{5}, int64_t{4}));
        QCOMPARE(counts["kernels"], std::pair(int64_t{2}, int64_t{2}));
    }

    void badCellsAreSkippedAndReported() {
        write(QString("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId,"
                      " globalPid, value, bytes) VALUES ('soon', 20, 0, 1, 7, %1, 0, 4), "
                      "(10, 9223372036854775807, 0, 1, 7, %1, 0, 4), (-9223372036854775808, 10, 0, 1, 7, %1, 0, 4), "
                      "(30, 20, 0, 1, 7, %1, 0, 4), (40, 50, 0, 1, 7, %1, 0, -4), "
                      "(60, 70, x'00ff', 1.5, 7, %1, 99999999999, 'many')")
                  .arg(pid));
        const TracePtr trace = load();
        QCOMPARE(trace->memsets.size(), 3u);
        QCOMPARE(test::listed(trace->memsets.endNs[0], trace->memsets.bytes[1]), "30 | 0");
        QVERIFY2(hasNote(*trace, "3 rows of CUPTI_ACTIVITY_KIND_MEMSET were skipped"),
                 qPrintable(healthNotesOf(*trace)));
        QVERIFY2(hasNote(*trace, "values in CUPTI_ACTIVITY_KIND_MEMSET were ignored"),
                 qPrintable(healthNotesOf(*trace)));
    }

    void textsMayBeInlineOrById() {
        write(QString("INSERT INTO StringIds VALUES (1, 'by id'), (-5, 'odd id'), (4000000000000, 'far id');"
                      "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid) VALUES "
                      "(1, 2, 59, 'inline', NULL, %1), (3, 4, 59, NULL, 1, %1), (5, 6, 59, NULL, -5, %1), "
                      "(7, 8, 59, NULL, 4000000000000, %1), (9, 10, 59, NULL, 999, %1), (11, 12, 59, NULL, NULL, %1)")
                  .arg(tid));
        const TracePtr trace = load();
        QStringList names;
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row)
            names << QString::fromStdString(trace->nameOf(EventRef(EventKind::Nvtx, row)));
        QCOMPARE(names, (QStringList{"inline", "by id", "odd id", "far id", "", ""}));
    }

    void memoryKindsAreTranslated_data() {
        const test::Rows<QString, int, int> row;
        row("native numbers", "", 0, 2);
        row("numbers of the file", "UPDATE ENUM_CUDA_MEM_KIND SET id = id + 20;", 20, 22);
        row("no names, counted from 0", "DROP TABLE ENUM_CUDA_MEM_KIND;", 0, 2);
        row("no names, CUPTI's numbers", "DROP TABLE ENUM_CUDA_MEM_KIND;", 1, 3);
    }
    void memoryKindsAreTranslated() {
        const auto [sql, pageable, device] = test::row<QString, int, int>();
        write(sql + QString("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                            " globalPid, bytes, copyKind, srcKind, dstKind) VALUES (1, 2, 0, 1, 7, %1, 4, 1, %2, %3)")
                        .arg(pid)
                        .arg(pageable)
                        .arg(device));
        const TracePtr trace = load();
        QCOMPARE(trace->memcpys.sourceMemory[0], MemoryKind::Pageable);
        QCOMPARE(trace->memcpys.destinationMemory[0], MemoryKind::Device);
    }

    void traceWithoutEventsIsOpened() {
        write("");
        const TracePtr trace = load();
        QVERIFY(trace->isEmpty());
        QVERIFY(trace->tracks.empty());
        QVERIFY(hasNote(*trace, "has no events"));
    }

    void newerTraceIsOpened() {
        write(QString("PRAGMA user_version = 9; CREATE TABLE LANESCOPE_FUTURE (a);"
                      "ALTER TABLE NVTX_EVENTS ADD COLUMN future TEXT;"
                      "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid)"
                      " VALUES (1, 2, 59, 'range', %1)")
                  .arg(tid));
        const TracePtr trace = load();
        QCOMPARE(trace->nvtx.size(), 1u);
        QVERIFY(hasNote(*trace, "newer Lanescope"));
    }

    void newerExportIsDetected() {
        for (const auto& [major, isNewer] : {std::pair("3", false), {"4", true}, {"10", true}}) {
            std::filesystem::remove(file());
            write(QString("DROP TABLE IF EXISTS META_DATA_EXPORT;"
                          "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                          "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '%1')")
                      .arg(major));
            QCOMPARE(hasNote(*load(), "newer than this program"), isNewer);
        }
    }

    void openErrorGivesTheReason_data() {
        const test::Rows<QString, QByteArray, QString> row;
        row("missing", QString(), QByteArray(), "no such file");
        row("empty", QString(), "", "is empty");
        row("text", QString(), "start,end\n1,2\n", "not a trace in a supported format");
        row("other database", "CREATE TABLE bookmarks (url TEXT)", QByteArray(), "not a trace in a supported format");
    }
    void openErrorGivesTheReason() {
        const auto [sql, bytes, fragment] = test::row<QString, QByteArray, QString>();
        if (!sql.isEmpty()) QVERIFY(Database::create(file())->execute(sql.toUtf8().constData()));
        if (!bytes.isNull()) std::ofstream(file(), std::ios::binary) << bytes.toStdString();
        const Result<TracePtr> trace = loadTrace(file());
        QVERIFY(!trace);
        const QString sentence = QString::fromStdString(trace.error().sentence);
        QVERIFY2(sentence.contains(fragment), qPrintable(sentence));
        QVERIFY2(sentence.contains(QString::fromStdString(file().string())), qPrintable(sentence));
    }

    void truncatedFileNeverCrashes() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 1}), file()));
        const auto size = std::filesystem::file_size(file());
        std::string bytes(size, '\0');
        std::ifstream(file(), std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(size));
        for (size_t kept = 0; kept < size; kept += kept < 200 ? 7 : 4093) {
            std::ofstream(*folder_ / "truncated", std::ios::binary | std::ios::trunc) << bytes.substr(0, kept);
            const Result<TracePtr> trace = loadTrace(*folder_ / "truncated");
            QVERIFY(!trace);
            QVERIFY(!trace.error().sentence.empty());
        }
    }

    void viewIsNotReadAsATable() {
        QVERIFY(Database::create(file())->execute(
            "CREATE TABLE StringIds (id, value); CREATE TABLE PROCESSES (globalPid, name);"
            "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL"
            " SELECT start + 1 FROM c) SELECT start, start AS \"end\", 59 AS eventType FROM c"));
        QCOMPARE(load()->nvtx.size(), 0u);
    }

    void unfinishedTraceIsReported() {
        auto writer = Database::create(file());
        QVERIFY(createTraceTables(*writer));
        const Result<TracePtr> trace = loadTrace(file());
        QVERIFY(!trace);
        HAS(trace.error().sentence, "still being written");
    }

    void canBeCancelled() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), file()));
        const Result<TracePtr> trace = loadTrace(file(), [](double, std::string_view) { return false; });
        QVERIFY(!trace);
        QVERIFY(trace.error().sentence.find("cancelled") != std::string::npos);
    }

    void progressNeverDecreases() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 300}), file()));
        double last = 0;
        int calls = 0;
        bool isRising = true;
        const auto progress = [&](double fraction, std::string_view what) {
            isRising &= fraction >= last && fraction <= 1 && !what.empty();
            last = fraction;
            ++calls;
            return true;
        };
        QVERIFY(loadTrace(file(), progress));
        QVERIFY(calls > 0);
        QVERIFY(isRising);
    }

    void versionSuffixesOfApiNamesAreStripped_data() {
        const test::Rows<QString, QString> row;
        row("runtime", "cudaLaunchKernel_v7000", "cudaLaunchKernel");
        row("per-thread stream", "cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync");
        row("five digits", "cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC");
        row("driver", "cuMemAlloc_v2", "cuMemAlloc_v2");
        row("plain", "cudaFree", "cudaFree");
        row("no digits", "cuda_value", "cuda_value");
        row("empty", "", "");
    }
    void versionSuffixesOfApiNamesAreStripped() {
        const auto [entryPoint, expected] = test::row<QString, QString>();
        QCOMPARE(std::string(plainApiName(entryPoint.toStdString())), expected.toStdString());
    }

    void memoryRoundTrips() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addApi(builder.defaultThread(), "cudaGraphLaunch", 10, 20, 7);
        builder.addGraph(stream, 3, 100, 900, 7);
        builder.addAllocation(0, 0, MemoryKind::Device, 0xffff'0000'0000'1000, 4096, 30);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x2000, 512, 40);
        builder.addFree(0, 0, 0xffff'0000'0000'1000, 800);
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x7000, 4096, 310, 390, MigrationCause::Eviction);
        builder.addPageFault(0, 0, 0x7000, 12, FaultAccess::Write, 300, 400);
        builder.addPageFault(0, noIndex, 0x8000, 1, FaultAccess::Unknown, 500, 500);
        builder.addWindow(0, 0, 600);
        builder.addWindow(0, 700, 1000);
        builder.addGap(0, Loss::NvtxCalls, 200, 250, 4);
        const TracePtr before = builder.finish();
        QVERIFY(writeTraceFile(*before, file()));
        const TracePtr after = load();
        QCOMPARE(after->graphs.startNs, before->graphs.startNs);
        QCOMPARE(after->graphs.graph, before->graphs.graph);
        QCOMPARE(after->graphs.correlation, before->graphs.correlation);
        QCOMPARE(after->allocations.startNs, before->allocations.startNs);
        QCOMPARE(after->allocations.endNs, before->allocations.endNs);
        QCOMPARE(after->allocations.bytes, before->allocations.bytes);
        QCOMPARE(after->allocations.address, before->allocations.address);
        QCOMPARE(after->allocations.kind, before->allocations.kind);
        QCOMPARE(after->allocations.isLive, before->allocations.isLive);
        QCOMPARE(after->migrations.memcpy, before->migrations.memcpy);
        QCOMPARE(after->migrations.address, before->migrations.address);
        QCOMPARE(after->migrations.cause, before->migrations.cause);
        QCOMPARE(after->pageFaults.address, before->pageFaults.address);
        QCOMPARE(after->pageFaults.count, before->pageFaults.count);
        QCOMPARE(after->pageFaults.access, before->pageFaults.access);
        QCOMPARE(after->pageFaults.gpu, before->pageFaults.gpu);
        QCOMPARE(after->processes[0].windows, before->processes[0].windows);
        QVERIFY(after->processes[0].hasWindows);
        QCOMPARE(after->processes[0].gaps.size(), size_t{1});
        QCOMPARE(after->processes[0].gaps[0].range, (TimeRange{200, 250}));
        QCOMPARE(after->processes[0].gaps[0].what, Loss::NvtxCalls);
        QCOMPARE(after->counters.size(), before->counters.size());
        for (size_t i = 0; i < after->counters.size(); ++i) {
            QCOMPARE(after->counters[i].name, before->counters[i].name);
            QCOMPARE(after->counters[i].size(), before->counters[i].size());
            QCOMPARE(after->counters[i].maximum(), before->counters[i].maximum());
        }
        QCOMPARE(after->tracks.size(), before->tracks.size());
    }

    void poolsAreReadAsACounter() {
        writeRows(
            "INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS (start, globalPid, deviceId, address, operationType, poolType,"
            " localMemoryPoolSize) VALUES (10, $pid, 0, 4096, 1, 1, 0), (500, $pid, 0, 4096, 3, 1, 100), "
            "(900, $pid, 0, 4096, 2, 1, 100), (20, $pid, 0, 8192, 1, 2, 77);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId,"
            " address, pc, bytes, memKind, memoryOperationType, localMemoryPoolAddress,"
            " localMemoryPoolSize) VALUES (100, $pid, 0, 1, 5000, 0, 64, 2, 0, 4096, 1024)");
        const TracePtr trace = load();
        QCOMPARE(trace->allocations.isPooled, Column<uint8_t>{1});
        QCOMPARE(trace->counters.size(), size_t{2});
        const CounterSeries& pools = trace->counters[1];
        QCOMPARE(test::listed(pools.name, pools.maximum()), "Memory pools | 1024");
        QCOMPARE(test::listed(pools.value(*pools.sampleAt(600)), pools.value(pools.size() - 1)), "100 | 0");
    }

    void badRowsAreSkippedAndReported() {
        writeRows(
            "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid) VALUES ('CUDA_GPU_MEMORY_USAGE_EVENTS', $pid);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId, address, pc, bytes,"
            " memKind, memoryOperationType) VALUES ('noon', $pid, 0, 1, 1, 0, 64, 2, 0),"  // No time.
            " (9223372036854775807, $pid, 0, 1, 1, 0, 64, 2, 0),"                          // No time of any clock.
            " (10, $pid, -5, 1, 1, 0, 64, 2, 0),"                                          // No device.
            " (11, $pid, 0, 1, 'there', 0, 64, 2, 0),"                                     // No address.
            " (12, $pid, 0, 1, 2, 0, 64, 2, 7),"                                           // No operation.
            " (13, $pid, 0, 1, 3, 0, -64, 2, 0),"                                          // No size: counts as 0.
            " (14, $pid, 0, 1, 4, 0, 9223372036854775807, 2, 0),"                          // No size either.
            " (15, $pid, 0, 1, 5, 0, 64, 'soft', 0),"                                      // No kind: unknown.
            " (16, $pid, 0, 1, 99, 0, 64, 2, 1);");                                        // Freed, never allocated.
        const TracePtr trace = load();
        QCOMPARE(test::listed(trace->memoryEvents.size(), trace->allocations.size()), "4 | 3");
        QCOMPARE(trace->allocations.bytes, (Column<int64_t>{0, 0, 64}));
        QCOMPARE(trace->allocations.kind[2], MemoryKind::Unknown);
        QVERIFY(hasNote(*trace, "5 rows of CUDA_GPU_MEMORY_USAGE_EVENTS were skipped"));
        QVERIFY(hasNote(*trace, "1 of 10 memory events have no start and end"));
        QVERIFY(hasNote(*trace, "1 frees of memory match no allocation"));
    }

    void skipsBadFaultsAndGraphs() {
        writeRows(
            "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, \"end\", globalPid, deviceId, address,"
            " numberOfPageFaults, faultAccessType) VALUES (NULL, NULL, $pid, 0, 1, 1, 1), (10, 5, $pid, 0, 1, -3, 99), "
            "(10, 20, $pid, -1, 1, 1, 1), (10, 20, $pid, 0, 'a', 'b', 'c');"
            "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address,"
            " CpuInstruction) VALUES (30, $pid, 1, 424242), ('x', $pid, 1, 1);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (10, 20, 0, 1, 7, -1, $pid, 'g', 1), "
            "(10, 20, -1, 1, 7, 1, $pid, 1, 1), (0, 0, 0, 1, 7, 1, $pid, 1, 1)");
        const TracePtr trace = load();
        QCOMPARE(trace->pageFaults.size(), 3u);
        QCOMPARE(trace->pageFaults.endNs, (Column<int64_t>{20, 10, 30}));
        QCOMPARE(trace->pageFaults.count, (Column<int64_t>{1, 0, 1}));
        QCOMPARE(trace->pageFaults.access[1], FaultAccess::Unknown);
        QCOMPARE(trace->pageFaults.instruction[2], StringIndex{0});
        QCOMPARE(trace->graphs.size(), 1u);
        QCOMPARE(trace->graphs.graph[0], 0);
    }

    void windowsMayComeInAnyOrder() {
        writeRows(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs) VALUES ($pid, 2, 800, NULL), "
            "($pid, 0, 100, 300), ($pid, 1, 200, 400), ($pid, 3, 600, 500), ('me', 0, 1, 2), ($pid, 0, 'x', 9);"
            "INSERT INTO LANESCOPE_GAPS (globalPid, what, startNs, endNs, count) VALUES"
            " ($pid, 2, 50, 10, -4), ($pid, 9, 50, 100, 1), ($pid, 1, 'x', 100, 1)");
        const TracePtr trace = load();
        const Process& process = trace->processes[0];
        QCOMPARE(process.windows.size(), size_t{3});
        QCOMPARE(process.windows[0], (TimeRange{100, 400}));
        QCOMPARE(process.windows[1], (TimeRange{600, 600}));
        QCOMPARE(test::listed(process.windows[2].startNs, process.gaps.size()), "800 | 2");
        QCOMPARE(process.gaps[0].range, (TimeRange{50, 50}));
        QCOMPARE(process.gaps[0].count, 0);
        QCOMPARE(process.gaps[1].what, static_cast<Loss>(9));  // From a newer recorder.
        QCOMPARE(process.gaps[1].range, (TimeRange{50, 100}));
        for (const Track& track : trace->tracks)
            QCOMPARE(*track.unrecorded, (std::vector<TimeRange>{{0, 100}, {400, 600}, {600, 800}}));
    }

    void manyWindowsAreBounded() {
        writeRows(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs) WITH RECURSIVE n(i) AS (SELECT 0"
            " UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT $pid, i, i * 10, i * 10 + 5 FROM n");
        const TracePtr trace = load();
        QCOMPARE(trace->processes[0].windows.size(), size_t{4096});
        QVERIFY(hasNote(*trace, "rows of LANESCOPE_WINDOWS were skipped"));
    }

    void ranksOfAProcessAreRead() {
        writeRows("INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, localRank, worldSize) VALUES ($pid, 5, 1, 8)");
        const TracePtr trace = load();
        QCOMPARE(test::listed(trace->processes[0].rank, trace->processes[0].localRank), "5 | 1");
        QCOMPARE(trace->processes[0].worldSize, 8);
    }

    void firstFormatVersionIsRead() {
        writeRows(
            "PRAGMA user_version = 1; DROP TABLE LANESCOPE_WINDOWS; DROP TABLE LANESCOPE_GAPS;"
            "DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE; DROP TABLE CUDA_GPU_MEMORY_USAGE_EVENTS;"
            "DROP TABLE CUDA_GPU_MEMORY_POOL_EVENTS; DROP TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS;"
            "DROP TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS; DROP TABLE LANESCOPE_PROCESSES;"
            "CREATE TABLE LANESCOPE_PROCESSES (globalPid INTEGER NOT NULL, rank INTEGER);"
            "INSERT INTO LANESCOPE_PROCESSES VALUES ($pid, 3)");
        const TracePtr trace = load();
        QCOMPARE(trace->processes[0].rank, 3);
        QVERIFY(!trace->processes[0].localRank);
        QVERIFY(trace->counters.empty());
    }
};

LANESCOPE_TEST(tst_loadTrace, NoApplication)
#include "tst_loadTrace.moc"
