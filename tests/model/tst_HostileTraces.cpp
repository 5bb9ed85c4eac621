// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "model/analysis/RunSummary.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/reports/reports.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/files.h"
#include "tests/support/loadWithinBounds.h"
#include "tests/support/notes.h"
#include "tests/support/openForWriting.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr int64_t mainTid = globalTid(4242, 4242);

using Write = std::function<void(const std::filesystem::path&)>;

/// The number of names that costs most: GPUs, streams and processes are bounded, and a larger file may take more.
constexpr int count = 20'000, countInTables = 65'000;

/// JSON with that many events; '#' is another number in each.
Write json(const char* event, int events = count) {
    return [=](const std::filesystem::path& path) {
        std::ofstream file(path);
        file << R"({"schemaVersion":1,"traceEvents":[)";
        for (int number = 0; number < events; ++number)
            file << (number > 0 ? ",\n" : "") << QString(event).replace('#', QString::number(number)).toStdString();
        file << "]}";
    };
}

/// A table with that many rows, with numbers `i` from 1 on.
std::string table(const std::string& name, const std::string& columns, const std::string& values,
                  int rows = countInTables) {
    return fmt::format(
        "CREATE TABLE {} ({});WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
        " LIMIT {}) INSERT INTO {} SELECT {} FROM n;",
        name, columns, rows, name, values);
}

Write sqlite(std::initializer_list<std::string> statements, int64_t mark = 0) {
    std::string sql = fmt::format("PRAGMA page_size = 65536; PRAGMA application_id = {};", mark);
    for (const std::string& each : statements) sql += each;
    return [sql](const std::filesystem::path& path) {
        auto database = Database::create(path);
        if (!database || !database->execute(sql.c_str())) qFatal("no database");
    };
}
Write nsight(std::initializer_list<std::string> statements) { return sqlite(statements); }
Write native(std::initializer_list<std::string> statements) { return sqlite(statements, traceApplicationId); }

Write bytes(const std::function<std::string()>& make) {
    return [make](const std::filesystem::path& path) { std::ofstream(path, std::ios::binary) << make(); };
}

/// A packed id of the `i`th process of several hosts, and of its main thread.
const char* const pid = "((i / 60000 + 1) << 48 | (i % 60000 + 1) << 24)";
const char* const tid = "((i / 60000 + 1) << 48 | (i % 60000 + 1) << 24 | (i % 60000 + 1))";

struct Kind {
    const char* name;
    Write write;
    int threads = 0;  ///< Minimum number shown.
};

std::vector<Kind> jsonKinds() {
    return {
        {"JSON, threads with names", json(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":"t#","ts":#,"dur":1})"),
         count},
        {"JSON, threads that are named",
         json(R"({"ph":"M","name":"thread_name","pid":1,"tid":#,"args":{"name":"worker #"}},)"
              R"({"ph":"X","name":"a","pid":1,"tid":#,"ts":#,"dur":1})"),
         count},
        {"JSON, threads that call",
         json(R"({"ph":"X","cat":"cuda_runtime","name":"a","pid":1,"tid":"t#","ts":#,"dur":1})"), count},
        {"JSON, GPUs in as many processes",
         json(R"({"ph":"X","cat":"kernel","name":"a","pid":#,"tid":7,"ts":#,"dur":1,)"
              R"("args":{"device":#,"stream":7}})")},
        {"JSON, processes", json(R"({"ph":"X","name":"a","pid":#,"tid":#,"ts":#,"dur":1})"), count},
        {"JSON, processes with names", json(R"({"ph":"X","name":"a","pid":"p#","tid":"t","ts":#})"), count},
        {"JSON, processes that are named",
         json(R"({"ph":"M","name":"process_name","pid":#,"args":{"name":"worker #"}},)"
              R"({"ph":"X","name":"a","pid":#,"tid":#,"ts":#,"dur":1})"),
         count},
        {"JSON, processes that launch on streams of their own",
         json(R"({"ph":"X","cat":"cuda_runtime","name":"a","pid":#,"tid":1,"ts":#,"dur":1,)"
              R"("args":{"correlation":#}},)"
              R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":#,"ts":#,"dur":1,)"
              R"("args":{"device":7,"stream":#,"correlation":#}})")},
        {"JSON, processes that launch on GPUs of their own",
         json(R"({"ph":"X","cat":"cuda_runtime","name":"a","pid":#,"tid":1,"ts":#,"dur":1,)"
              R"("args":{"correlation":#}},)"
              R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":#,"ts":#,"dur":1,)"
              R"("args":{"device":#,"stream":#,"correlation":#}})")},
        {"JSON, streams", json(R"({"ph":"X","cat":"kernel","name":"a","pid":0,"tid":"stream #","ts":#})")},
        {"JSON, streams with annotations",
         json(R"({"ph":"X","cat":"gpu_user_annotation","name":"a","pid":0,"tid":#,"ts":#})")},
        {"JSON, kernels", json(R"({"ph":"X","cat":"kernel","name":"k#","pid":0,"tid":7,"ts":#})")},
        {"JSON, domains", json(R"({"ph":"X","cat":"c#","name":"a","pid":1,"tid":1,"ts":#})")},
        {"JSON, domains of threads", json(R"({"ph":"X","cat":"c#","name":"a","pid":1,"tid":#,"ts":#})")},
        {"JSON, counters", json(R"({"ph":"C","name":"c#","pid":1,"ts":#,"args":{"v":#}})")},
        {"JSON, counters of processes", json(R"({"ph":"C","name":"c","pid":#,"ts":#,"args":{"v":#}})")},
        {"JSON, ranges by number", json(R"({"ph":"b","cat":"a","name":"a","id":#,"pid":#,"tid":1,"ts":#},)"
                                        R"({"ph":"e","cat":"a","name":"a","id":#,"pid":#,"tid":1,"ts":#})")},
        {"JSON, communicators", json(R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":#,"ts":#,)"
                                     R"("dur":1,"args":{"Collective name":"allreduce","Process Group Name":"#",)"
                                     R"("Group size":#}})")},
    };
}

std::vector<Kind> exportKinds() {
    const std::string ofThreads = fmt::format("i, i, 59, {}", tid);
    return {
        {"Nsight, processes", nsight({table("NVTX_EVENTS", "start, end, eventType, globalTid", ofThreads)})},
        {"Nsight, threads of one process",
         nsight({table("NVTX_EVENTS", "start, end, eventType, globalTid", "i, i, 59, 16777216 + i")})},
        {"Nsight, processes that call",
         nsight({table("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid", fmt::format("i, i, {}", tid))})},
        {"Nsight, streams of processes",
         nsight({table("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, streamId, globalPid, shortName",
                       fmt::format("i, i, i % 1024, i, {}, 0", pid))})},
        {"Nsight, GPUs that copy to each other",
         nsight({table("CUPTI_ACTIVITY_KIND_MEMCPY",
                       "start, end, deviceId, streamId, bytes, copyKind, srcDeviceId, dstDeviceId",
                       "i, i + 1, i % 1024, i % 9, 1, 10, i % 1023, i % 1024")})},
        {"Nsight, allocations of processes on GPUs",
         nsight(
             {table("CUDA_GPU_MEMORY_USAGE_EVENTS", "start, globalPid, deviceId, address, bytes, memoryOperationType",
                    fmt::format("i, {}, i % 1024, i, i, 0", pid))})},
        {"Nsight, allocations on each GPU by each process",
         nsight(
             {table("CUDA_GPU_MEMORY_USAGE_EVENTS", "start, globalPid, deviceId, address, bytes, memoryOperationType",
                    "i, 1 << 48 | (i / 1000 + 1) << 24, i % 1000, i, i, 0", 300'000)})},
        {"Nsight, page faults of processes",
         nsight({table("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start, globalPid, address, CpuInstruction",
                       fmt::format("i, {}, i, 0", pid))})},
        {"Nsight, GPU metrics",
         nsight({table("TARGET_INFO_GPU_METRICS", "typeId, metricId, metricName", "i % 256, i / 256, i || ' [%]'"),
                 table("GPU_METRICS", "timestamp, typeId, metricId, value", "i, i % 65000 % 256, i % 65000 / 256, i",
                       2 * countInTables)})},
        {"Lanescope, processes with facts",
         native({table("NVTX_EVENTS", "start, end, eventType, globalTid", ofThreads),
                 table("PROCESSES", "globalPid, pid, name", fmt::format("{}, i, i", pid)),
                 table("ThreadNames", "nameId, priority, globalTid", fmt::format("0, 1, {}", tid)),
                 "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                 "INSERT INTO StringIds VALUES (0, 'a')"})},
        {"Lanescope, counters", native({table("LANESCOPE_COUNTERS", "counterId, name, unit, meaning", "i, 'c', 'B', 0"),
                                        table("LANESCOPE_COUNTER_SAMPLES", "counterId, timestamp, value", "i, i, i")})},
        {"Lanescope, counters of GPUs and processes",
         native({table("LANESCOPE_COUNTERS", "counterId, name, unit, meaning, gpuId, globalPid, link",
                       fmt::format("i, 'nvlink.tx', 'B/s', 0, i % 1024, {}, i % 18", pid)),
                 table("LANESCOPE_COUNTER_SAMPLES", "counterId, timestamp, value", "i, i, i")})},
        {"Lanescope, communicators",
         native({table("NVTX_EVENTS", "start, end, eventType, globalTid", ofThreads),
                 table("LANESCOPE_NCCL_OPERATIONS", "nvtxRow, operation, bytes, communicator", "i, 'AllReduce', i, i"),
                 table("LANESCOPE_NCCL_COMMUNICATORS", "globalPid, communicator, rank, rankCount, name",
                       fmt::format("{}, i, 1, 2, i", pid))})},
        {"nvprof, threads and streams",
         sqlite(
             {table("StringTable", "_id_, value", "i, i", 10),
              table("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, cbid, threadId, correlationId", "i, i, i, i, i"),
              table("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                    "start, end, deviceId, contextId, streamId, correlationId, name", "i, i, i % 1024, i, i, i, 1")})},
        {"RPD, processes and queues",
         sqlite({table("rocpd_string", "id INTEGER PRIMARY KEY, string", "i, 'Kernel' || i", 10),
                 table("rocpd_api", "id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id", "i, i, i, i, i, 1"),
                 table("rocpd_op", "id INTEGER PRIMARY KEY, gpuId, queueId, start, end, opType_id",
                       "i, i % 1024, i, i, i, 1"),
                 table("rocpd_api_ops", "api_id, op_id", "i, i")})},
        {"RPD, counters", sqlite({"CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string);"
                                  "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY);",
                                  table("rocpd_monitor", "deviceType, deviceId, monitorType, start, end, value",
                                        "'gpu', i % 1024, i, i, i, '1'")})},
        {"rocpd, threads and queues",
         sqlite({table("rocpd_string_a", "id INTEGER PRIMARY KEY, guid, string", "i, '', i", 10),
                 "CREATE TABLE rocpd_info_process_a (id, nid, pid, command, end);"
                 "INSERT INTO rocpd_info_process_a VALUES (1, 1, 7, 'a', 1);",
                 table("rocpd_info_thread_a", "id, nid, pid, tid, name", "i, 1, 1, i, i"),
                 table("rocpd_info_agent_a", "id, nid, pid, type, type_index, product_name", "i, 1, 1, 'GPU', i, 'a'",
                       255),
                 table("rocpd_region_a", "id, nid, pid, tid, start, end, name_id, event_id", "i, 1, 1, i, i, i, 1, i"),
                 table("rocpd_kernel_dispatch_a", "id, pid, tid, agent_id, kernel_id, stream_id, start, end, event_id",
                       "i, 1, i, i % 255, 1, i, i, i, i")})},
    };
}

std::vector<Kind> protobufKinds() {
    using namespace protoTrace;
    return {
        {"XPlane, threads", bytes([] {
             Plane host("/host:CPU");
             for (int i = 1; i <= count; ++i) host.line(i, "t", i, {host.event("a", 0, 1'000'000)});
             ProtoWriter space;
             space.bytes(1, host.bytes());
             return space.bytes();
         }),
         count},
        {"XPlane, streams of GPUs", bytes([] {
             ProtoWriter space;
             for (int gpu = 0; gpu < 1000; ++gpu) {
                 Plane plane(fmt::format("/device:GPU:{}", gpu));
                 for (int i = 1; i <= 16; ++i)
                     plane.line(i, fmt::format("Stream #{}", i), i, {plane.event("k", 0, 1'000'000)});
                 space.bytes(1, plane.bytes());
             }
             return space.bytes();
         })},
        {"XPlane, planes", bytes([] {
             ProtoWriter space;
             for (int i = 0; i < count; ++i) {
                 Plane plane(fmt::format("/custom:{}", i));
                 plane.line(i, "t", i, {plane.event("k", 0, 1'000'000)});
                 space.bytes(1, plane.bytes());
             }
             return space.bytes();
         })},
        {"Perfetto, threads of processes", bytes([] {
             std::string trace;
             for (int i = 1; i <= count; ++i) trace += track(i, i, i, "t") + trackEvent(3, i, i, "a");
             return trace;
         })},
        {"Perfetto, processes with names", bytes([] {
             std::string trace;
             for (int i = 1; i <= count; ++i) trace += track(i, i, -1, "process") + trackEvent(3, i, i, "a");
             return trace;
         })},
        {"Perfetto, tracks without a description", bytes([] {
             std::string trace;
             for (int i = 1; i <= count; ++i) trace += trackEvent(3, i, i, "a");
             return trace;
         })},
        {"Perfetto, streams of GPUs", bytes([] {
             std::string trace;
             for (int i = 1; i <= count; ++i) {
                 ProtoWriter stage, content;
                 stage.number(2, 1);
                 stage.number(11, i % 1024);
                 stage.number(3, i);
                 content.number(8, i);
                 content.message(53, stage);
                 trace += packet(content);
             }
             return trace;
         })},
    };
}

std::vector<Kind> allKinds() {
    std::vector<Kind> kinds = jsonKinds();
    for (auto make : {exportKinds, protobufKinds})
        for (Kind& kind : make()) kinds.push_back(std::move(kind));
    return kinds;
}

}  // namespace

/// Tests of files built to cost more than their size: each opens in time and memory proportional to its size.
class tst_HostileTraces : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        path_ = *folder_ / "run.sqlite";
    }

    /// Rows with almost no content, so that as many as possible fit into the file.
    void shortRowsTakeBoundedTimeAndMemory_data() {
        QTest::addColumn<QString>("sql");
        const auto row = [](const char* name, const char* columns, const char* values) {
            QTest::newRow(name) << QString(
                                       "PRAGMA page_size = 65536; CREATE TABLE %1 (%2);"
                                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                       " LIMIT 400000) INSERT INTO %1 SELECT %3 FROM n")
                                       .arg(name, columns, values);
        };
        row("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId", "1, 1, 0");
        row("CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, bytes", "1, 1, 0, 1");
        row("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid", "1, 1, 16777217");
        row("NVTX_EVENTS", "start, end, eventType, globalTid", "1, 1, 59, 16777217");
    }
    void shortRowsTakeBoundedTimeAndMemory() {
        QFETCH(QString, sql);
        write(sql.toStdString());
        QVERIFY(load().has_value());
    }

    void computedColumnsAreNotRead() {
        // Doubling texts: the last would have 200 MB, in a file of some kilobytes.
        std::string sql = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, seed TEXT", before = "seed";
        for (int i = 0; i < 21; ++i) {
            const std::string name = i < 20 ? fmt::format("g{}", i) : "value";
            sql += fmt::format(", {} TEXT AS ({}||{})", name, before, before);
            before = name;
        }
        sql +=
            ");INSERT INTO StringIds (id, seed) VALUES (0, hex(zeroblob(50)));"
            "INSERT INTO StringIds (id, seed) SELECT id + 1, seed FROM StringIds";
        write(sql);
        const auto trace = test::orFail(load());
        const auto database = Database::openReadOnly(path_);
        QVERIFY(database && database->hasColumn("StringIds", "SEED"));
        QVERIFY(!database->hasColumn("StringIds", "value"));
        for (uint32_t i = 0; i < trace->strings.size(); ++i) QVERIFY(trace->strings.at(i).size() < 200);
    }

    void sharedTextsAreReadOnce() {
        write(
            fmt::format("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
                        " INSERT INTO NVTX_EVENTS SELECT i, i + 1, 59, {} FROM n;"
                        "ALTER TABLE NVTX_EVENTS ADD COLUMN text TEXT DEFAULT '{}'",
                        mainTid, std::string(450'000, 'x')));
        test::CpuTimer timer;
        const auto trace = load();
        QVERIFY(timer.elapsed() < 5000);
        QVERIFY(trace.has_value());
        QVERIFY(hasNote(**trace, HealthCode::TableDamaged));
    }

    void rowsSharingOverflowPagesAreReadOnce() {
        constexpr int rows = 6;
        // A size that leaves so little in the leaf that the leaf contains all rows.
        constexpr size_t textBytes = 489 + 293 * 4092 + 31;
        write(
            fmt::format("PRAGMA page_size = 4096;"
                        "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
                        " globalTid INTEGER, text TEXT);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) INSERT INTO"
                        " NVTX_EVENTS SELECT i, i + 1, 59, {}, hex(zeroblob({})) FROM n",
                        rows, mainTid, textBytes / 2));
        const size_t before = std::filesystem::file_size(path_);
        shareFirstChain();
        QVERIFY(std::filesystem::file_size(path_) < before / 4);
        const auto trace = test::orFail(load());
        QVERIFY(hasNote(*trace, HealthCode::TableDamaged));
        QVERIFY(trace->nvtx.size() < rows);
    }

    void longTextDoesNotSlowOtherRows() {
        write(
            fmt::format("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
                        " globalTid INTEGER, text TEXT);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 8000) INSERT INTO"
                        " NVTX_EVENTS SELECT i, i + 1, 59, {}, 'step' FROM n;"
                        "UPDATE NVTX_EVENTS SET text = hex(zeroblob(9000000)) WHERE start = 4",
                        mainTid));
        const auto trace = test::orFail(load());
        QCOMPARE(trace->nvtx.size(), 8000u);
        QVERIFY(!hasNote(*trace, HealthCode::TableDamaged));
        // Every event can still be drawn, searched and exported by name.
        for (uint32_t i = 0; i < trace->strings.size(); ++i)
            QVERIFY(trace->strings.at(i).size() <= TraceBuilder::maxNameBytes);
    }

    void truncatedLongNamesStayDistinct() {
        TraceBuilder builder;
        const std::string common(100'000, 'a');
        std::set<StringIndex> names;
        for (const char* end : {"", "b", "c", "bb"}) names.insert(builder.intern(common + end));
        QCOMPARE(names.size(), size_t{4});
        QVERIFY(builder.intern(common + "b") == *std::next(names.begin()));
        const std::string fits(TraceBuilder::maxNameBytes, 'a');
        QCOMPARE(builder.text(builder.intern(fits)), std::string_view(fits));
        std::string wide;
        while (wide.size() < 3 * TraceBuilder::maxNameBytes) wide += "\xe2\x82\xac";
        const std::string_view shown = builder.text(builder.intern(wide));
        QVERIFY(shown.find("...") % 3 == 0);
    }

    void collidingIdsDoNotSlowTheReader() {
        // A bucket count that the standard library's tables reach as they grow: without a mixed hash, all ids collide.
        std::unordered_map<int64_t, int> like;
        constexpr int64_t count = 60'000;
        while (like.size() < count) like.emplace(like.size(), 0);
        const auto step = static_cast<int64_t>(like.bucket_count());
        write(
            fmt::format("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                        " LIMIT {}) INSERT INTO StringIds SELECT {} * (i + 10000000), i FROM n",
                        count, step));
        test::CpuTimer timer;
        QVERIFY(load().has_value());
        QVERIFY2(timer.elapsed() < 4000, qPrintable(QString::number(timer.elapsed())));
    }

    void collidingTextsDoNotSlowTheReader() {
        // Texts with one hash in the standard library: two blocks of each pair differ so that the
        // second reverts the first's change of the hash.
        constexpr uint64_t factor = 0xc6a4a7935bd1e995u;
        const auto mix = [](uint64_t block) {
            block *= factor;
            return (block ^ block >> 47) * factor;
        };
        uint64_t inverse = 1;
        for (int round = 0; round < 6; ++round) inverse *= 2 - factor * inverse;
        const auto unmix = [inverse](uint64_t mixedBlock) {
            mixedBlock *= inverse;
            return (mixedBlock ^ mixedBlock >> 47) * inverse;
        };
        constexpr int pairs = 14;
        std::vector<std::string> texts;
        for (uint64_t choice = 0; choice < uint64_t{1} << pairs; ++choice) {
            std::string& text = texts.emplace_back();
            for (uint64_t pair = 0; pair < pairs; ++pair) {
                uint64_t block = pair + 1;
                if ((choice >> pair & 1) != 0) block = unmix(mix(block) ^ uint64_t{1} << 63);
                for (int twice = 0; twice < 2; ++twice)
                    text.append(reinterpret_cast<const char*>(&block), sizeof block);
            }
        }
        const std::hash<std::string_view> standardHash;
        QCOMPARE(standardHash(texts.front()), standardHash(texts.back()));
        test::CpuTimer timer;
        StringTable strings;
        for (const std::string& text : texts) strings.intern(text);
        QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(strings.size(), static_cast<uint32_t>(texts.size()) + 1);
    }

    void leftoverJournalIsReported() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        {
            auto database = openForWriting(path_);
            // So little cache that pages are written before the transaction ends.
            QVERIFY(database && database->execute("PRAGMA cache_size = 2; BEGIN;"
                                                  "UPDATE StringIds SET value = value || 'x';"
                                                  "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 1;"
                                                  "UPDATE NVTX_EVENTS SET start = 1"));
            std::filesystem::copy_file(path_, *folder_ / "copy");
            std::filesystem::copy_file(path_.string() + "-journal", *folder_ / "copy-journal");
        }
        const auto trace = loadTrace(*folder_ / "copy");
        QVERIFY(!trace);
        HAS(trace.error().sentence, "left a journal");
    }

    void writeAheadLogLeavesNoFiles() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        {
            auto database = openForWriting(path_);
            QVERIFY(database && database->execute("PRAGMA locking_mode = NORMAL;"
                                                  "PRAGMA journal_mode = WAL;"
                                                  "CREATE TABLE more (a)"));
            // A copy without the index of the log.
            std::filesystem::copy_file(path_, *folder_ / "copy");
            std::filesystem::copy_file(path_.string() + "-wal", *folder_ / "copy-wal");
        }
        const auto rows = Database::openReadOnly(*folder_ / "copy");
        QVERIFY(rows && rows->hasTable("more"));
        QVERIFY(loadTrace(*folder_ / "copy").has_value());
        QVERIFY(!std::filesystem::exists(*folder_ / "copy-shm"));
        std::filesystem::remove(path_.string() + "-wal");
        std::filesystem::remove(path_.string() + "-shm");
        QVERIFY(loadTrace(path_).has_value());
        QVERIFY(!std::filesystem::exists(path_.string() + "-shm"));
    }

    void uniqueSubjectsTakeBoundedTimeAndMemory_data() {
        QTest::addColumn<int>("number");
        int number = 0;
        for (const Kind& kind : kinds_) QTest::newRow(kind.name) << number++;
    }
    void uniqueSubjectsTakeBoundedTimeAndMemory() {
        QFETCH(int, number);
        const TemporaryFolder folder;
        const auto path = folder / "run";
        const Kind& kind = kinds_[static_cast<size_t>(number)];
        kind.write(path);
        test::CpuTimer timer;
        const auto trace = test::loadWithinBounds(path);
        QVERIFY2(trace.has_value(), trace ? "" : trace.error().sentence.c_str());
        const Trace& whole = **trace;
        qInfo("%lld ms; %zu processes, %zu threads, %zu GPUs, %zu streams, %zu counters, %zu tracks",
              static_cast<long long>(timer.elapsed()), whole.processes.size(), whole.threads.size(), whole.gpus.size(),
              whole.streams.size(), whole.counters.size(), whole.tracks.size());
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
        timer.restart();
        const auto summary = analysis::summarizeRun(whole);
        const size_t workers = summary ? summary->workers.size() : 0;
        qInfo("%lld ms for a summary of %zu workers", static_cast<long long>(timer.elapsed()), workers);
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!whole.tracks.empty());
        QVERIFY(static_cast<int>(whole.threads.size()) >= kind.threads);
    }

  private:
    Result<TracePtr> load() const { return test::loadWithinBounds(path_); }

    /// For a table whose only leaf is page 2: gives all rows the overflow pages of the first, and
    /// cuts off those of the others, as in SQLite's file format.
    void shareFirstChain() {
        constexpr size_t page = 4096, leaf = page, firstPointer = leaf + 8;
        std::string bytes = contentOf(path_);
        const auto byteAt = [&bytes](size_t at) { return static_cast<uint8_t>(bytes[at]); };
        const auto varint = [&](size_t& at) {
            uint64_t value = 0;
            do value = value << 7 | (byteAt(at) & 0x7f);
            while ((byteAt(at++) & 0x80) != 0);
            return value;
        };
        const auto number = [&](size_t at) {
            return uint32_t{byteAt(at)} << 24 | uint32_t{byteAt(at + 1)} << 16 | uint32_t{byteAt(at + 2)} << 8 |
                   byteAt(at + 3);
        };
        QCOMPARE(byteAt(leaf), uint8_t{0x0d});
        const size_t cells = size_t{byteAt(leaf + 3)} << 8 | byteAt(leaf + 4);
        std::string chain;
        for (size_t cell = 0; cell < cells; ++cell) {
            const size_t pointer = firstPointer + 2 * cell;
            size_t at = leaf + (size_t{byteAt(pointer)} << 8 | byteAt(pointer + 1));
            const uint64_t payload = varint(at);
            varint(at);  // the row number
            constexpr uint64_t least = (page - 12) * 32 / 255 - 23, most = page - 35;
            const uint64_t local = least + (payload - least) % (page - 4);
            at += static_cast<size_t>(local <= most ? local : least);
            if (cell == 0) chain = bytes.substr(at, 4);
            bytes.replace(at, 4, chain);
        }
        // The chain occupies consecutive pages.
        uint32_t last = 0;
        for (uint32_t next = uint32_t{static_cast<uint8_t>(chain[2])} << 8 | static_cast<uint8_t>(chain[3]); next != 0;
             next = number((next - 1) * page))
            last = std::max(last, next);
        bytes.resize(last * page);
        for (int part = 0; part < 4; ++part)
            bytes[28 + static_cast<size_t>(part)] = static_cast<char>(last >> (24 - 8 * part));
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    }

    /// Writes a file with a table that makes it an export, and these rows.
    void write(const std::string& sql) {
        auto database = test::orFail(Database::create(path_));
        const auto done =
            database.execute((sql + ";CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)").c_str());
        QVERIFY2(done.has_value(), done ? "" : done.error().sentence.c_str());
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_;

    const std::vector<Kind> kinds_ = allKinds();
};

LANESCOPE_TEST(tst_HostileTraces, NoApplication)
#include "tst_HostileTraces.moc"
