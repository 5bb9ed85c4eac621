// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/loadTrace.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t pid = globalPid(4242);

}  // namespace

class tst_LoadMemory : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryFolder> folder_;

    std::filesystem::path file() const { return *folder_ / "trace"; }
    /// Writes a trace file with the rows that `sql` inserts; "$pid" in it is the process.
    void write(QString sql) const {
        auto database = Database::create(file());
        QVERIFY(database);
        QVERIFY(createTraceTables(*database));
        sql.replace("$pid", QString::number(pid));
        const auto done = database->execute(sql.toUtf8().constData());
        QVERIFY2(done, done ? "" : done.error().sentence.c_str());
    }
    TracePtr load() const {
        const auto trace = loadTrace(file());
        if (!trace) qFatal("%s", trace.error().sentence.c_str());
        return *trace;
    }

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

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
        write(
            "INSERT INTO CUDA_GPU_MEMORY_POOL_EVENTS (start, globalPid, deviceId, address,"
            " operationType, poolType, localMemoryPoolSize) VALUES"
            " (10, $pid, 0, 4096, 1, 1, 0), (500, $pid, 0, 4096, 3, 1, 100),"
            " (900, $pid, 0, 4096, 2, 1, 100), (20, $pid, 0, 8192, 1, 2, 77);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId,"
            " address, pc, bytes, memKind, memoryOperationType, localMemoryPoolAddress,"
            " localMemoryPoolSize) VALUES (100, $pid, 0, 1, 5000, 0, 64, 2, 0, 4096, 1024)");
        const TracePtr trace = load();
        QCOMPARE(trace->allocations.isPooled, Column<uint8_t>{1});
        QCOMPARE(trace->counters.size(), size_t{2});
        const CounterSeries& pools = trace->counters[1];
        QCOMPARE(pools.name, "Memory pools");
        QCOMPARE(pools.maximum(), 1024.0);
        QCOMPARE(pools.value(*pools.sampleAt(600)), 100.0);
        QCOMPARE(pools.value(pools.size() - 1), 0.0);
    }

    void badRowsAreSkippedAndReported() {
        write(
            "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid) VALUES"
            " ('CUDA_GPU_MEMORY_USAGE_EVENTS', $pid);"
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId,"
            " address, pc, bytes, memKind, memoryOperationType) VALUES"
            " ('noon', $pid, 0, 1, 1, 0, 64, 2, 0),"               // No time.
            " (9223372036854775807, $pid, 0, 1, 1, 0, 64, 2, 0),"  // No time of any clock.
            " (10, $pid, -5, 1, 1, 0, 64, 2, 0),"                  // No device.
            " (11, $pid, 0, 1, 'there', 0, 64, 2, 0),"             // No address.
            " (12, $pid, 0, 1, 2, 0, 64, 2, 7),"                   // No operation.
            " (13, $pid, 0, 1, 3, 0, -64, 2, 0),"                  // No size: counts as 0.
            " (14, $pid, 0, 1, 4, 0, 9223372036854775807, 2, 0),"  // No size either.
            " (15, $pid, 0, 1, 5, 0, 64, 'soft', 0),"              // No kind: unknown.
            " (16, $pid, 0, 1, 99, 0, 64, 2, 1);");                // Freed, never allocated.
        const TracePtr trace = load();
        QCOMPARE(trace->memoryEvents.size(), 4u);
        QCOMPARE(trace->allocations.size(), 3u);
        QCOMPARE(trace->allocations.bytes, (Column<int64_t>{0, 0, 64}));
        QCOMPARE(trace->allocations.kind[2], MemoryKind::Unknown);
        QVERIFY(hasNote(*trace, "5 rows of CUDA_GPU_MEMORY_USAGE_EVENTS were skipped"));
        QVERIFY(hasNote(*trace, "1 of 10 memory events have no time"));
        QVERIFY(hasNote(*trace, "1 frees of memory match no allocation"));
    }

    void skipsBadFaultsAndGraphs() {
        write(
            "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, \"end\", globalPid, deviceId,"
            " address, numberOfPageFaults, faultAccessType) VALUES"
            " (NULL, NULL, $pid, 0, 1, 1, 1), (10, 5, $pid, 0, 1, -3, 99),"
            " (10, 20, $pid, -1, 1, 1, 1), (10, 20, $pid, 0, 'a', 'b', 'c');"
            "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address,"
            " CpuInstruction) VALUES (30, $pid, 1, 424242), ('x', $pid, 1, 1);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId,"
            " streamId, correlationId, globalPid, graphId, graphExecId) VALUES"
            " (10, 20, 0, 1, 7, -1, $pid, 'g', 1), (10, 20, -1, 1, 7, 1, $pid, 1, 1),"
            " (0, 0, 0, 1, 7, 1, $pid, 1, 1)");
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
        write(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId,"
            " streamId, correlationId, globalPid, graphId, graphExecId) VALUES"
            " (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs) VALUES"
            " ($pid, 2, 800, NULL), ($pid, 0, 100, 300), ($pid, 1, 200, 400),"
            " ($pid, 3, 600, 500), ('me', 0, 1, 2), ($pid, 0, 'x', 9);"
            "INSERT INTO LANESCOPE_GAPS (globalPid, what, startNs, endNs, count) VALUES"
            " ($pid, 2, 50, 10, -4), ($pid, 9, 50, 100, 1), ($pid, 1, 'x', 100, 1)");
        const TracePtr trace = load();
        const Process& process = trace->processes[0];
        QCOMPARE(process.windows.size(), size_t{3});
        QCOMPARE(process.windows[0], (TimeRange{100, 400}));
        QCOMPARE(process.windows[1], (TimeRange{600, 600}));
        QCOMPARE(process.windows[2].startNs, 800);
        QCOMPARE(process.gaps.size(), size_t{2});
        QCOMPARE(process.gaps[0].range, (TimeRange{50, 50}));
        QCOMPARE(process.gaps[0].count, 0);
        QCOMPARE(process.gaps[1].what, static_cast<Loss>(9));  // From a newer recorder.
        QCOMPARE(process.gaps[1].range, (TimeRange{50, 100}));
        for (const Track& track : trace->tracks)
            QCOMPARE(*track.unrecorded, (std::vector<TimeRange>{{0, 100}, {400, 600}, {600, 800}}));
    }

    void manyWindowsAreBounded() {
        write(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId, contextId,"
            " streamId, correlationId, globalPid, graphId, graphExecId) VALUES"
            " (0, 1000, 0, 1, 7, 1, $pid, 1, 1);"
            "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs)"
            " WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
            " SELECT $pid, i, i * 10, i * 10 + 5 FROM n");
        const TracePtr trace = load();
        QCOMPARE(trace->processes[0].windows.size(), size_t{4096});
        QVERIFY(hasNote(*trace, "rows of LANESCOPE_WINDOWS were skipped"));
    }

    void ranksOfAProcessAreRead() {
        write(
            "INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, localRank, worldSize) VALUES"
            " ($pid, 5, 1, 8)");
        const TracePtr trace = load();
        QCOMPARE(trace->processes[0].rank, 5);
        QCOMPARE(trace->processes[0].localRank, 1);
        QCOMPARE(trace->processes[0].worldSize, 8);
    }

    void firstFormatVersionIsRead() {
        write(
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

LANESCOPE_TEST(tst_LoadMemory, NoApplication)
#include "tst_LoadMemory.moc"
