// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/loadWithinBounds.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

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

/// Tests of files whose events each name a new subject. A thread, process, stream or counter costs more than an event.
/// Each file opens and is summarized (as `explain` and `compare` do) in time and memory proportional to its size.
class tst_HostileNames : public QObject {
    Q_OBJECT

  private slots:
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
    const std::vector<Kind> kinds_ = allKinds();
};

LANESCOPE_TEST(tst_HostileNames, NoApplication)
#include "tst_HostileNames.moc"
