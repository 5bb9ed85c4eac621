// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/sqlite/LoadContext.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/notes.h"
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
    TracePtr load() const { return test::orFail(loadTrace(file())); }
    /// Loads a trace file with the rows that `sql` inserts; "$pid" and "$tid" in it are the process and its thread.
    TracePtr load(QString sql) const {
        {
            auto database = test::orFail(Database::create(file()));
            test::orFail(createTraceTables(database));
            sql.replace("$pid", QString::number(pid)).replace("$tid", QString::number(tid));
            test::orFail(database.execute(sql.toUtf8().constData()));
        }
        return load();
    }
    std::unique_ptr<TemporaryFolder> folder_;

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void traceFileRoundTrips() {
        const TracePtr written = simulatedTraining({.ncclPlugin = true});
        test::orFail(writeTraceFile(*written, file()));
        const TracePtr read = load();
        QVERIFY2(read->health.empty(), qPrintable(healthNotesOf(*read)));
        QCOMPARE(test::listed(read->producer, read->title), test::listed(written->producer, "trace"));
        QCOMPARE(read->range, written->range);

        const auto columns = [](const Trace& trace) {
            return test::listed(trace.kernels.startNs, trace.kernels.endNs, trace.kernels.correlation,
                                trace.memcpys.bytes, trace.memcpys.kind, trace.memcpys.sourceMemory,
                                trace.memsets.startNs, trace.apiCalls.startNs, trace.syncs.type, trace.nvtx.startNs,
                                trace.nvtx.depth, trace.nccl.nvtx, trace.nccl.bytes, trace.nccl.communicator,
                                trace.projections.startNs);
        };
        QCOMPARE(columns(*read), columns(*written));
        QVERIFY(isSameText(*read, read->apiCalls.name, *written, written->apiCalls.name));
        QVERIFY(isSameText(*read, read->nvtx.text, *written, written->nvtx.text));
        QVERIFY(isSameText(*read, read->nvtx.domain, *written, written->nvtx.domain));
        QCOMPARE(read->nccl.facts.size(), size_t{read->nccl.size()});
        for (uint32_t row = 0; row < read->nccl.size(); ++row) {
            const NcclFacts &got = read->nccl.facts[row], &expected = written->nccl.facts[row];
            QCOMPARE(test::listed(read->strings.at(got.datatype), read->strings.at(got.algorithm)), "bfloat16 | RING");
            QCOMPARE(test::listed(got.sequence, got.count, got.launch, got.gpu, got.operationCount),
                     test::listed(expected.sequence, expected.count, expected.launch, expected.gpu, 1));
        }
        for (uint32_t row = 0; row < read->kernels.size(); ++row) {
            const EventRef kernel(EventKind::Kernel, row);
            QCOMPARE(read->nameOf(kernel), written->nameOf(kernel));
            QCOMPARE(read->launchingCall(kernel), written->launchingCall(kernel));
        }

        QCOMPARE(read->tracks.size(), written->tracks.size());
        for (size_t i = 0; i < read->tracks.size(); ++i) {
            const Track &got = read->tracks[i], &expected = written->tracks[i];
            QCOMPARE(test::listed(got.title, got.subtitle, got.lanes.size()),
                     test::listed(expected.title, expected.subtitle, expected.lanes.size()));
            for (size_t lane = 0; lane < got.lanes.size(); ++lane)
                QVERIFY(got.lanes[lane].category == expected.lanes[lane].category);
        }
    }

    void everyKindOfRowIsRead() {
        const TracePtr trace = load(
            "INSERT INTO StringIds VALUES (0, 'void gemm<float>(float*)'), (1, 'gemm'),"
            " (2, '_Z4gemm'), (3, 'cudaLaunchKernel_v7000'), (4, 'main'), (5, 'registered');"
            "INSERT INTO PROCESSES VALUES ($pid, 4242, 'python3');"
            "INSERT INTO ThreadNames VALUES (4, 10, $tid);"
            "INSERT INTO LANESCOPE_PROCESSES VALUES ($pid, 3, 0, 1000, 0, NULL, 'x.log', 1, 8);"
            "INSERT INTO LANESCOPE_HEALTH VALUES (1, 'dropped', $pid, NULL, 7, '7 were lost.');"
            "INSERT INTO LANESCOPE_PROPERTIES VALUES (NULL, 'Command', 'python3 train.py'), ($pid, 'CUDA', '13.0');"
            "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 1, 3, 'It failed.', NULL), (0, 1, 1, 1, 'It went well.', NULL);"
            "INSERT INTO TARGET_INFO_SESSION_START_TIME (utcEpochNs) VALUES (1700000000000000000);"
            "INSERT INTO TARGET_INFO_GPU (id, name, smCount, computeMajor, totalMemory)"
            " VALUES (0, 'NVIDIA H200', 132, 9, 150754820096);"
            "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, 4242, 0, 1, NULL, 0);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
            " (100, 110, 0, $tid, 9, 3, 2, NULL), (120, 130, 1, $tid, 10, 3, 0, NULL);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId,"
            " correlationId, globalPid, demangledName, shortName, mangledName, registersPerThread, gridX,"
            " gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,"
            " localMemoryPerThread, localMemoryTotal, gridId, graphNodeId) VALUES "
            "(150, 250, 0, 1, 7, 9, $pid, 0, 1, 2, 64, 4, 5, 6, 32, 2, 1, 1024, 2048, 0, 0, 1, 77);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
            " correlationId, globalPid, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId) VALUES "
            "(260, 300, 0, 1, 7, 10, $pid, 4096, 10, 2, 2, 0, 1);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, value, bytes, memKind) VALUES (310, 320, 0, 1, 7, 11, $pid, 255, 128, 2);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId, contextId, streamId,"
            " globalPid, syncType, eventId) VALUES (330, 340, 0, 1, 4294967295, $pid, 4, 0);"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, textId, text, globalTid, domainId, category,"
            " color, int64Value) VALUES (0, NULL, 75, NULL, 'NCCL', $tid, 3, NULL, NULL, NULL), "
            "(0, NULL, 33, NULL, 'comms', $tid, 3, 8, NULL, NULL), "
            "(90, 240, 59, NULL, 'ncclAllReduce', $tid, 3, 8, 4278190335, 42), "
            "(95, NULL, 60, 5, NULL, $tid, 0, NULL, NULL, NULL), "
            "(99, NULL, 34, NULL, 'mark', $tid, 0, NULL, NULL, NULL);"
            "INSERT INTO LANESCOPE_NCCL_OPERATIONS VALUES (3, 'AllReduce', 1048576, -1, 0, NULL, NULL, $tid);");

        QCOMPARE(test::listed(trace->startUtcNs, trace->facts.others.size()), "1700000000000000000 | 1");
        QCOMPARE(test::listed(trace->facts.others[0].name, trace->facts.others[0].value), "Command | python3 train.py");
        QCOMPARE(test::listed(trace->processes.size(), trace->processes[0].facts->others.size()), "1 | 1");
        const Process& process = trace->processes[0];
        QCOMPARE(test::listed(process.facts->others[0].name, process.worldSize, process.name, process.rank),
                 "CUDA | 8 | python3 | 3");
        QVERIFY(process.endedAbnormally);
        const HealthNote& note = trace->health[0];
        QVERIFY(note.severity == Severity::Warning && note.globalPid == process.globalPid && !note.timeNs);
        QCOMPARE(test::listed(codeOf(note), note.count), "dropped | 7");
        for (const char* part : {"7 were lost.", "It failed.", "no exit record"}) QVERIFY2(hasNote(*trace, part), part);
        QVERIFY(!hasNote(*trace, "It went well."));
        QCOMPARE(test::listed(trace->threads[0].name, trace->gpus[0].smCount, trace->streams[0].isNullStream),
                 "main | 132 | true");

        const ApiTable& calls = trace->apiCalls;
        QCOMPARE(test::listed(calls.returnValue, calls.isDriver), "2, 0 | 0, 1");
        QCOMPARE(trace->nameOf(EventRef(EventKind::Api, 0)), std::string("cudaLaunchKernel"));
        QCOMPARE(trace->launchingCall(EventRef(EventKind::Kernel, 0)), EventRef(EventKind::Api, 0));
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(test::listed(config.grid, config.block, config.dynamicSharedBytes), "4, 5, 6 | 32, 2, 1 | 2048");
        QCOMPARE(test::listed(trace->strings.at(config.mangledName), trace->kernels.graphNode[0]), "_Z4gemm | 77");

        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::PtoP && trace->memcpys.sourceMemory[0] == MemoryKind::Device);
        QCOMPARE(test::listed(trace->memcpys.destinationDevice[0], trace->memsets.value[0]), "1 | 255");
        QVERIFY(trace->syncs.type[0] == SyncType::Context && trace->syncs.stream[0] == noIndex);

        const NvtxTable& ranges = trace->nvtx;
        QCOMPARE(ranges.size(), 3u);
        const auto textOf = [&](StringIndex text) { return trace->strings.at(text); };
        QCOMPARE(test::listed(textOf(ranges.domain[0]), textOf(ranges.category[0]), textOf(ranges.payload[0])),
                 "NCCL | comms | 42");
        QCOMPARE(ranges.colorArgb[0], 0xff0000ffu);
        QVERIFY(ranges.style[1] == NvtxStyle::StartEnd && ranges.style[2] == NvtxStyle::Mark);
        QCOMPARE(test::listed(ranges.isOpen[1], ranges.endNs[1], ranges.isOpen[2]), "1 | 1000 | 0");
        QCOMPARE(trace->nameOf(EventRef(EventKind::Nvtx, 1)), std::string("registered"));
        QCOMPARE(test::listed(trace->nccl.nvtx, trace->nccl.bytes), "0 | 1048576");
        QCOMPARE(trace->nccl.communicator[0], ~uint64_t{0});
        // The range launched the kernel and the copy.
        QCOMPARE(trace->projections.operationCount[0], 2u);
        QCOMPARE(trace->range, (TimeRange{90, 1000}));
    }

    void devicesOfAProcessAreMappedToGpus() {
        const TracePtr trace =
            load(QString("INSERT INTO TARGET_INFO_GPU (id, name) VALUES (0, 'first'), (1, 'second');"
                         "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 4242), (1, 0, 5000);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId,"
                         " globalPid, value, bytes) VALUES (1, 2, 0, 1, 7, %1, 0, 4), (3, 4, 0, 1, 7, %2, 0, 4)")
                     .arg(pid)
                     .arg(globalPid(5000)));
        QCOMPARE(trace->gpus[trace->streams[trace->memsets.stream[0]].gpu].name, std::string("first"));
        QCOMPARE(trace->gpus[trace->streams[trace->memsets.stream[1]].gpu].name, std::string("second"));
    }

    void untimedEventsAreNotDrawn() {
        // The form before version 7, and its replacement.
        const TracePtr trace = load(
            "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET;"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, \"end\" INTEGER,"
            " deviceId, contextId, streamId, globalPid, value, bytes);"
            "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid) VALUES ('CUPTI_ACTIVITY_KIND_MEMSET', $pid), "
            "('CUPTI_ACTIVITY_KIND_KERNEL', $pid), ('CUPTI_ACTIVITY_KIND_KERNEL', $pid), ('no table', $pid);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId,"
            " globalPid, value, bytes) VALUES (NULL, NULL, 0, 1, 7, $pid, 0, 4), (0, 0, 0, 1, 7, $pid, 0, 4), "
            "(5, NULL, 0, 1, 7, $pid, 0, 4), (10, 20, 0, 1, 7, $pid, 0, 4)");
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
        const TracePtr trace = load(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId, streamId, globalPid, value, "
            "bytes) VALUES ('soon', 20, 0, 1, 7, $pid, 0, 4), (10, 9223372036854775807, 0, 1, 7, $pid, 0, 4), "
            "(-9223372036854775808, 10, 0, 1, 7, $pid, 0, 4), (30, 20, 0, 1, 7, $pid, 0, 4), "
            "(40, 50, 0, 1, 7, $pid, 0, -4), (60, 70, x'00ff', 1.5, 7, $pid, 99999999999, 'many')");
        QCOMPARE(trace->memsets.size(), 3u);
        QCOMPARE(test::listed(trace->memsets.endNs[0], trace->memsets.bytes[1]), "30 | 0");
        for (const char* part :
             {"3 rows of CUPTI_ACTIVITY_KIND_MEMSET were skipped", "values in CUPTI_ACTIVITY_KIND_MEMSET were ignored"})
            QVERIFY2(hasNote(*trace, part), qPrintable(healthNotesOf(*trace)));
    }

    void textsMayBeInlineOrById() {
        const TracePtr trace = load(
            "INSERT INTO StringIds VALUES (1, 'by id'), (-5, 'odd id'), (4000000000000, 'far id');"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid) VALUES "
            "(1, 2, 59, 'inline', NULL, $tid), (3, 4, 59, NULL, 1, $tid), (5, 6, 59, NULL, -5, $tid), "
            "(7, 8, 59, NULL, 4000000000000, $tid), (9, 10, 59, NULL, 999, $tid), (11, 12, 59, NULL, NULL, $tid)");
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
        const TracePtr trace = load(
            sql + QString("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                          " globalPid, bytes, copyKind, srcKind, dstKind) VALUES (1, 2, 0, 1, 7, %1, 4, 1, %2, %3)")
                      .arg(pid)
                      .arg(pageable)
                      .arg(device));
        QCOMPARE(trace->memcpys.sourceMemory[0], MemoryKind::Pageable);
        QCOMPARE(trace->memcpys.destinationMemory[0], MemoryKind::Device);
    }

    void traceWithoutEventsIsOpened() {
        const TracePtr trace = load("");
        QVERIFY(trace->isEmpty() && trace->tracks.empty());
        QVERIFY(hasNote(*trace, "has no events"));
    }

    void newerTraceIsOpened() {
        const TracePtr trace = load(
            "PRAGMA user_version = 9; CREATE TABLE LANESCOPE_FUTURE (a);"
            "ALTER TABLE NVTX_EVENTS ADD COLUMN future TEXT;"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid) VALUES (1, 2, 59, 'range', $tid)");
        QCOMPARE(trace->nvtx.size(), 1u);
        QVERIFY(hasNote(*trace, "newer Lanescope"));
    }

    void newerExportIsDetected() {
        for (const auto& [major, isNewer] : {std::pair("3", false), {"4", true}, {"10", true}}) {
            std::filesystem::remove(file());
            const TracePtr trace =
                load(QString("DROP TABLE IF EXISTS META_DATA_EXPORT;"
                             "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                             "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '%1')")
                         .arg(major));
            QCOMPARE(hasNote(*trace, "newer than this program"), isNewer);
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
            QVERIFY(!trace && !trace.error().sentence.empty());
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
        QVERIFY(!trace && trace.error().sentence.find("cancelled") != std::string::npos);
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
        const auto columns = [](const Trace& trace) {
            return test::listed(trace.graphs.startNs, trace.graphs.graph, trace.graphs.correlation,
                                trace.allocations.startNs, trace.allocations.endNs, trace.allocations.bytes,
                                trace.allocations.address, trace.allocations.kind, trace.allocations.isLive,
                                trace.migrations.memcpy, trace.migrations.address, trace.migrations.cause,
                                trace.pageFaults.address, trace.pageFaults.count, trace.pageFaults.access,
                                trace.pageFaults.gpu, trace.processes[0].windows);
        };
        QCOMPARE(columns(*after), columns(*before));
        QVERIFY(after->processes[0].hasWindows);
        QCOMPARE(after->processes[0].gaps.size(), size_t{1});
        QCOMPARE(after->processes[0].gaps[0].range, (TimeRange{200, 250}));
        QCOMPARE(after->processes[0].gaps[0].what, Loss::NvtxCalls);
        QCOMPARE(after->counters.size(), before->counters.size());
        for (size_t i = 0; i < after->counters.size(); ++i) {
            const CounterSeries &got = after->counters[i], &expected = before->counters[i];
            QCOMPARE(test::listed(got.name, got.size(), got.maximum()),
                     test::listed(expected.name, expected.size(), expected.maximum()));
        }
        QCOMPARE(after->tracks.size(), before->tracks.size());
    }

    void poolsAreReadAsACounter() {
        const TracePtr trace = load(
            "INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS (start, globalPid, deviceId, address, operationType, poolType,"
            " localMemoryPoolSize) VALUES (10, $pid, 0, 4096, 1, 1, 0), (500, $pid, 0, 4096, 3, 1, 100), "
            "(900, $pid, 0, 4096, 2, 1, 100), (20, $pid, 0, 8192, 1, 2, 77);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId,"
            " address, pc, bytes, memKind, memoryOperationType, localMemoryPoolAddress,"
            " localMemoryPoolSize) VALUES (100, $pid, 0, 1, 5000, 0, 64, 2, 0, 4096, 1024)");
        QCOMPARE(trace->allocations.isPooled, Column<uint8_t>{1});
        QCOMPARE(trace->counters.size(), size_t{2});
        const CounterSeries& pools = trace->counters[1];
        QCOMPARE(test::listed(pools.name, pools.maximum()), "Memory pools | 1024");
        QCOMPARE(test::listed(pools.value(*pools.sampleAt(600)), pools.value(pools.size() - 1)), "100 | 0");
    }

    void badRowsAreSkippedAndReported() {
        const TracePtr trace = load(
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
        QCOMPARE(test::listed(trace->memoryEvents.size(), trace->allocations.size()), "4 | 3");
        QCOMPARE(trace->allocations.bytes, (Column<int64_t>{0, 0, 64}));
        QCOMPARE(trace->allocations.kind[2], MemoryKind::Unknown);
        for (const char* part :
             {"5 rows of CUDA_GPU_MEMORY_USAGE_EVENTS were skipped", "1 of 10 memory events have no start and end",
              "1 frees of memory match no allocation"})
            QVERIFY2(hasNote(*trace, part), part);
    }

    void skipsBadFaultsAndGraphs() {
        const TracePtr trace = load(
            "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, \"end\", globalPid, deviceId, address,"
            " numberOfPageFaults, faultAccessType) VALUES (NULL, NULL, $pid, 0, 1, 1, 1), (10, 5, $pid, 0, 1, -3, 99), "
            "(10, 20, $pid, -1, 1, 1, 1), (10, 20, $pid, 0, 'a', 'b', 'c');"
            "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address,"
            " CpuInstruction) VALUES (30, $pid, 1, 424242), ('x', $pid, 1, 1);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (10, 20, 0, 1, 7, -1, $pid, 'g', 1), "
            "(10, 20, -1, 1, 7, 1, $pid, 1, 1), (0, 0, 0, 1, 7, 1, $pid, 1, 1)");
        QCOMPARE(test::listed(trace->pageFaults.endNs, trace->pageFaults.count), "20, 10, 30 | 1, 0, 1");
        QCOMPARE(trace->pageFaults.access[1], FaultAccess::Unknown);
        QCOMPARE(test::listed(trace->pageFaults.instruction[2], trace->graphs.graph), "0 | 0");
    }

    void windowsMayComeInAnyOrder() {
        const TracePtr trace = load(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs) VALUES ($pid, 2, 800, NULL), "
            "($pid, 0, 100, 300), ($pid, 1, 200, 400), ($pid, 3, 600, 500), ('me', 0, 1, 2), ($pid, 0, 'x', 9);"
            "INSERT INTO LANESCOPE_GAPS (globalPid, what, startNs, endNs, count) VALUES"
            " ($pid, 2, 50, 10, -4), ($pid, 9, 50, 100, 1), ($pid, 1, 'x', 100, 1)");
        const Process& process = trace->processes[0];
        QCOMPARE(test::listed(process.windows.size(), process.gaps.size()), "3 | 2");
        QCOMPARE(test::listed(process.windows[0], process.windows[1], process.windows[2].startNs),
                 "100..400 | 600..600 | 800");
        QCOMPARE(test::listed(process.gaps[0].range, process.gaps[0].count), "50..50 | 0");
        QCOMPARE(test::listed(process.gaps[1].what, process.gaps[1].range), "9 | 50..100");  // From a newer recorder.
        for (const Track& track : trace->tracks)
            QCOMPARE(*track.unrecorded, (std::vector<TimeRange>{{0, 100}, {400, 600}, {600, 800}}));
    }

    void manyWindowsAreBounded() {
        const TracePtr trace = load(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId, streamId, correlationId,"
            " globalPid, graphId, graphExecId) VALUES (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs) WITH RECURSIVE n(i) AS (SELECT 0"
            " UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT $pid, i, i * 10, i * 10 + 5 FROM n");
        QCOMPARE(trace->processes[0].windows.size(), size_t{4096});
        QVERIFY(hasNote(*trace, "rows of LANESCOPE_WINDOWS were skipped"));
    }

    void ranksOfAProcessAreRead() {
        const TracePtr trace =
            load("INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, localRank, worldSize) VALUES ($pid, 5, 1, 8)");
        const Process& process = trace->processes[0];
        QCOMPARE(test::listed(process.rank, process.localRank, process.worldSize), "5 | 1 | 8");
    }

    void firstFormatVersionIsRead() {
        const TracePtr trace = load(
            "PRAGMA user_version = 1; DROP TABLE LANESCOPE_WINDOWS; DROP TABLE LANESCOPE_GAPS;"
            "DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE; DROP TABLE CUDA_GPU_MEMORY_USAGE_EVENTS;"
            "DROP TABLE CUDA_GPU_MEMORY_POOL_EVENTS; DROP TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS;"
            "DROP TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS; DROP TABLE LANESCOPE_PROCESSES;"
            "CREATE TABLE LANESCOPE_PROCESSES (globalPid INTEGER NOT NULL, rank INTEGER);"
            "INSERT INTO LANESCOPE_PROCESSES VALUES ($pid, 3)");
        QCOMPARE(trace->processes[0].rank, 3);
        QVERIFY(!trace->processes[0].localRank && trace->counters.empty());
    }
};

LANESCOPE_TEST(tst_loadTrace, NoApplication)
#include "tst_loadTrace.moc"
