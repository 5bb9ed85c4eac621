// SPDX-License-Identifier: Apache-2.0
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/xplane/readXplaneTrace.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/files.h"
#include "tests/support/protoTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/torchTrace.h"

using namespace lanescope;

namespace fs = std::filesystem;

namespace {

/// The tables of one process in a simulated rocpd file, as rocprofv3 creates them.
std::string rocpdTables(const std::string& id) {
    const auto table = [&id](const std::string& name, const std::string& columns) {
        return "CREATE TABLE \"" + name + "_" + id + "\" (id INTEGER PRIMARY KEY, " + columns + ");";
    };
    return table("rocpd_string", "guid TEXT, string TEXT") + table("rocpd_info_node", "hostname TEXT") +
           table("rocpd_info_process", "nid INTEGER, pid INTEGER, command TEXT, \"end\" BIGINT") +
           table("rocpd_info_thread", "nid INTEGER, pid INTEGER, tid INTEGER, name TEXT") +
           table("rocpd_info_agent", "nid INTEGER, pid INTEGER, type TEXT, type_index INTEGER, product_name TEXT") +
           table("rocpd_info_kernel_symbol", "kernel_name TEXT, display_name TEXT, arch_vgpr_count INTEGER") +
           table("rocpd_event", "category_id INTEGER, stack_id INTEGER, correlation_id INTEGER, extdata TEXT") +
           table("rocpd_region",
                 "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "
                 "\"end\" BIGINT, name_id INTEGER, event_id INTEGER") +
           table("rocpd_kernel_dispatch",
                 "pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, stream_id INTEGER, start BIGINT,"
                 " \"end\" BIGINT, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER,"
                 " workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id"
                 " INTEGER") +
           table("rocpd_memory_copy",
                 "pid INTEGER, start BIGINT, \"end\" BIGINT, name_id INTEGER, dst_agent_id INTEGER,"
                 " src_agent_id INTEGER, size INTEGER, stream_id INTEGER, event_id INTEGER") +
           table("rocpd_memory_allocate",
                 "pid INTEGER, agent_id INTEGER, type TEXT, level TEXT, start BIGINT,"
                 " address INTEGER, size INTEGER, event_id INTEGER") +
           table("rocpd_pmc_event", "value REAL");
}

/// Simulated events of the process with that PID on a node.
std::string rocpdRows(const std::string& id, int pid, int node, const std::string& host) {
    const auto into = [&id](const std::string& name, const std::string& rows) {
        return "INSERT INTO \"" + name + "_" + id + "\" VALUES " + rows + ";";
    };
    const std::string process = std::to_string(pid), on = std::to_string(node);
    return into("rocpd_string",
                "(1,'g','HIP_RUNTIME_API_EXT'),(2,'g','MARKER_CORE_API'),(3,'g','KERNEL_DISPATCH'),"
                "(4,'g','hipLaunchKernel'),(5,'g','roctxRangePushA'),"
                "(6,'g','MEMORY_COPY_HOST_TO_DEVICE'),(7,'g','hipMemcpy'),(8,'g','OTHER')") +
           into("rocpd_info_node", "(" + on + ",'" + host + "')") +
           into("rocpd_info_process", "(1," + on + "," + process + ",'./bin/train --fast',9000)") +
           into("rocpd_info_thread", "(5," + on + ",1," + process + ",'main')") +
           into("rocpd_info_agent", "(0," + on + ",1,'CPU',0,'Xeon'),(3," + on + ",1,'GPU',1,'AMD Instinct MI300X')") +
           into("rocpd_info_kernel_symbol", "(10,'_Z4gemmPfi.kd','_Z4gemmPfi',64)") +
           into("rocpd_event",
                "(1,1,77,0,'{}'),(2,2,78,0,'{\"message\":\"step 1\"}'),(3,3,77,0,'{}'),"
                "(4,1,79,0,'{}'),(5,3,79,0,'{}'),(6,8,80,0,'{}')") +
           into("rocpd_region", "(1," + on + ",1,5,5000,5010,4,1),(2," + on + ",1,5,4990,5300,5,2),(3," + on +
                                    ",1,5,5020,5030,7,4),(4," + on + ",1,5,5040,5050,8,6)") +
           into("rocpd_kernel_dispatch", "(1,1,5,3,10,2,5100,5200,128,256,1,1,1000,2,1,3)") +
           into("rocpd_memory_copy", "(1,1,5210,5220,6,3,0,4096,2,5)") +
           into("rocpd_memory_allocate",
                "(1,1,3,'ALLOC','REAL',5001,1000,64,1),"
                "(2,1,NULL,'FREE','REAL',5250,1000,0,1),"
                "(3,1,3,'ALLOC','SCRATCH',5251,2000,64,1)") +
           into("rocpd_pmc_event", "(1,2.5)");
}

void makeDatabase(const fs::path& path, const std::string& sql) {
    auto database = Database::create(path);
    if (!database || !database->execute(sql.c_str())) qFatal("no database");
}

TracePtr loaded(const fs::path& path) { return test::orFail(loadTrace(path)); }

std::string nameOf(const Trace& trace, EventKind kind, uint32_t row) { return trace.nameOf(EventRef(kind, row)); }

int64_t answer(const fs::path& path, const char* sql) {
    const Result<Database> database = Database::openReadOnly(path);
    if (!database) return -1;
    Result<Statement> statement = database->prepare(sql);
    return statement && statement->step().value_or(false) ? statement->integer(0) : -1;
}

fs::path realFile(const char* name) { return fs::path(qgetenv("LANESCOPE_TEST_DATA").toStdString()) / "rocm" / name; }

TracePtr loaded(const std::string& bytes) {
    TraceBuilder builder;
    builder.setPath("host.xplane.pb");
    if (!readXplaneTrace(protoTrace::sourceOf(bytes), builder, [] { return 0.0; }, {}) || !builder.finish())
        qFatal("not read");
    return builder.take();
}

/// A plain count of a file without the readers: events per line, by names of plane and line. Only for valid files.
class PlainCount {
  public:
    explicit PlainCount(std::string_view space) {
        forEach(space, [this](uint64_t field, std::string_view plane, uint64_t) {
            if (field == 1) countPlane(plane);
        });
    }
    int64_t onStreams = 0, onHosts = 0, allocations = 0;
    int64_t streamPs = 0;

  private:
    static uint64_t number(std::string_view& rest) {
        uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            value |= uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
    }
    template <class Visitor>
    static void forEach(std::string_view rest, Visitor visit) {
        while (!rest.empty()) {
            const uint64_t key = number(rest), value = (key & 7) == 0 || (key & 7) == 2 ? number(rest) : 0;
            const size_t length = (key & 7) == 2 ? value : (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
            visit(key >> 3, rest.substr(0, length), value);
            rest.remove_prefix(length);
        }
    }
    void countPlane(std::string_view plane) {
        std::string name;
        std::map<uint64_t, std::string> events;
        forEach(plane, [&](uint64_t field, std::string_view bytes, uint64_t) {
            if (field == 2) name = bytes;
            if (field != 4) return;
            uint64_t id = 0;
            forEach(bytes, [&](uint64_t part, std::string_view value, uint64_t own) {
                if (part == 1) id = own;
                if (part == 2)
                    forEach(value, [&](uint64_t each, std::string_view text, uint64_t) {
                        if (each == 2) events[id] = text;
                    });
            });
        });
        forEach(plane, [&](uint64_t field, std::string_view line, uint64_t) {
            if (field == 3) countLine(name, line, events);
        });
    }
    void countLine(const std::string& plane, std::string_view line, const std::map<uint64_t, std::string>& names) {
        forEach(line, [&](uint64_t field, std::string_view event, uint64_t) {
            if (field != 4) return;
            (plane.starts_with("/device:GPU:") ? onStreams : onHosts) += 1;
            forEach(event, [&](uint64_t part, std::string_view, uint64_t value) {
                if (part == 3 && plane.starts_with("/device:GPU:")) streamPs += static_cast<int64_t>(value);
                if (part == 1 && names.contains(value) && names.at(value) == "MemoryAllocation") ++allocations;
                if (part == 1 && names.contains(value) && names.at(value) == "MemoryDeallocation") ++allocations;
            });
        });
    }
};

}  // namespace

class tst_RocmTraces : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;

  private slots:
    void rocpdFileIsRead() {
        const fs::path path = folder_ / "run.db";
        makeDatabase(path, rocpdTables("00ab_12") + rocpdRows("00ab_12", 4000, 7, "node7") +
                               "CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string_00ab_12");
        const TracePtr trace = loaded(path);
        QCOMPARE(test::listed(trace->producer, trace->facts.host), "rocprofiler-sdk | node7");
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(test::listed(trace->processes[0].pid, trace->processes[0].name), "4000 | train");
        QCOMPARE(trace->gpus.size(), size_t{1});
        QCOMPARE(test::listed(trace->gpus[0].id, trace->gpus[0].name), "1 | AMD Instinct MI300X");
        QCOMPARE(trace->threads[0].name, std::string("main"));
        // The first event is the marked range.
        QCOMPARE(test::listed(trace->range.startNs, trace->kernels.size()), "0 | 1");
        QCOMPARE(trace->kernels.startNs[0], int64_t{110});
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(trace->strings.at(config.demangledName), std::string_view("gemm(float*, int)"));
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{4, 2, 1}));
        QCOMPARE(config.block, (std::array<uint32_t, 3>{256, 1, 1}));
        QCOMPARE(config.registersPerThread, 64u);
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QVERIFY(call.isValid());
        QCOMPARE(trace->nameOf(call), std::string("hipLaunchKernel"));
        QCOMPARE(describe(*trace, call).front().name, std::string("HIP runtime call"));
        QVERIFY(std::ranges::any_of(trace->tracks, [](const Track& track) {
            return track.kind == TrackKind::ThreadApi && track.title == "HIP API";
        }));
        QCOMPARE(test::listed(trace->memcpys.kind[0], trace->memcpys.bytes), test::listed(MemcpyKind::HtoD, 4096));
        QCOMPARE(trace->nameOf(trace->launchingCall(EventRef(EventKind::Memcpy, 0))), std::string("hipMemcpy"));
        QCOMPARE(trace->apiCalls.size(), 2u);
        // The marker by its message; an event that is neither is a range of its category.
        QCOMPARE(trace->nvtx.size(), 2u);
        QCOMPARE(nameOf(*trace, EventKind::Nvtx, 0), std::string("step 1"));
        QCOMPARE(test::listed(trace->strings.at(trace->nvtx.domain[1]), trace->projections.size()), "OTHER | 1");
        QCOMPARE(test::listed(trace->allocations.isLive), "0");
        const bool isShown = std::any_of(trace->health.begin(), trace->health.end(), [](const auto& note) {
            return note.code == HealthCode::NotShown && note.count == 1;
        });
        QVERIFY(isShown);
    }

    void processesOfSeveralHostsAreDistinguished() {
        const fs::path path = folder_ / "two.db";
        makeDatabase(path, rocpdTables("a") + rocpdTables("b") + rocpdRows("a", 4000, 7, "node7") +
                               rocpdRows("b", 4000, 8, "node8"));
        const TracePtr trace = loaded(path);
        QCOMPARE(trace->processes.size(), size_t{2});
        QVERIFY(hostOf(trace->processes[0].globalPid) != hostOf(trace->processes[1].globalPid));
        QCOMPARE(test::listed(trace->processes[1].facts->host, trace->gpus.size()), "node8 | 2");
        QCOMPARE(trace->kernels.size(), 2u);
        for (uint32_t row = 0; row < 2; ++row)
            QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, row)).isValid());
    }

    void hostileTableNamesAreNotQueried() {
        const fs::path path = folder_ / "odd.db";
        makeDatabase(path, rocpdTables("a\"\" (x); --") + rocpdTables("c") + rocpdRows("c", 4000, 7, "node7"));
        QCOMPARE(loaded(path)->kernels.size(), 1u);
    }

    void rpdFileIsRead() {
        const fs::path path = folder_ / "run.rpd";
        makeDatabase(path,
                     "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
                     "INSERT INTO rocpd_string VALUES "
                     "(1,''),(2,'hipLaunchKernel'),(3,'hipExtModuleLaunchKernel'),"
                     "(4,'UserMarker'),(5,'step 1'),(6,'KernelExecution'),(7,'CopyHostToDevice'),"
                     "(8,'FillBuffer'),(9,'gemm'),(10,'hipMemcpy'),(11,'Odd');"
                     "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,"
                     " \"end\" INTEGER, apiName_id INTEGER, args_id INTEGER);"
                     "INSERT INTO rocpd_api VALUES (1,50,51,1000,1010,2,1),(2,50,51,1020,1030,3,1),"
                     "(3,50,51,990,1200,4,5),(4,50,51,1040,1050,10,1);"
                     "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER,"
                     " start INTEGER, \"end\" INTEGER, description_id INTEGER, opType_id INTEGER);"
                     "INSERT INTO rocpd_op VALUES (1,2,0,1100,1110,9,6),(2,2,0,1120,1130,9,6),"
                     "(3,2,0,1140,1150,1,7),(4,2,0,1160,1165,1,8),(5,2,0,1170,1175,1,11);"
                     "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);"
                     "INSERT INTO rocpd_api_ops VALUES (1,1,1),(2,2,2),(3,4,3),(4,4,4);"
                     "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size INTEGER, kind INTEGER,"
                     " dstDevice INTEGER, srcDevice INTEGER);"
                     "INSERT INTO rocpd_copyapi VALUES (4,777,1,0,0);"
                     "CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, gridX INTEGER,"
                     " gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,"
                     " groupSegmentSize INTEGER, kernelName_id INTEGER);"
                     "INSERT INTO rocpd_kernelapi VALUES (1,512,1,1,256,1,1,0,9),(2,512,1,1,256,1,1,0,9);"
                     "CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER,"
                     " monitorType TEXT, start INTEGER, \"end\" INTEGER, value TEXT);"
                     "INSERT INTO rocpd_monitor VALUES (1,'gpu',2,'sclk',1000,1100,'800'),"
                     "(2,'gpu',2,'sclk',1100,1200,'1700')");
        const TracePtr trace = loaded(path);
        QCOMPARE(test::listed(trace->producer, trace->kernels.size()), "RPD | 2");
        // One call counts blocks, the other threads.
        QCOMPARE(trace->launchConfigs[trace->kernels.config[0]].grid[0], 512u);
        QCOMPARE(trace->launchConfigs[trace->kernels.config[1]].grid[0], 2u);
        QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, 0)).isValid());
        QCOMPARE(test::listed(trace->memcpys.bytes, trace->memsets.size(), trace->apiCalls.size()), "777 | 1 | 3");
        QCOMPARE(nameOf(*trace, EventKind::Nvtx, 0), std::string("step 1"));
        QCOMPARE(trace->range, (TimeRange{0, 210}));
        QCOMPARE(test::listed(trace->gpus.size(), trace->counters.size()), "1 | 1");
        QCOMPARE(trace->counters[0].unit, CounterUnit::Hertz);
        QCOMPARE(trace->counters[0].value(1), 1.7e9);
    }

    void realRocpdHasAllItsRows() {
        const fs::path path = realFile("rocpd-3.db");
        if (!fs::exists(path)) QSKIP("LANESCOPE_TEST_DATA names no folder with rocm/rocpd-3.db.");
        const TracePtr trace = loaded(path);
        const std::string id = "_00003fdc_92cb_72cb_9169_c7e541b1fcdf";
        QCOMPARE(int64_t{trace->kernels.size()},
                 answer(path, ("SELECT count(*) FROM rocpd_kernel_dispatch" + id).c_str()));
        QCOMPARE(int64_t{trace->apiCalls.size()}, answer(path, ("SELECT count(*) FROM rocpd_region" + id).c_str()));
        int64_t busyNs = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            busyNs += trace->kernels.endNs[row] - trace->kernels.startNs[row];
            QVERIFY(trace->launchingCall(EventRef(EventKind::Kernel, row)).isValid());
        }
        QCOMPARE(busyNs, answer(path, ("SELECT sum(\"end\" - start) FROM rocpd_kernel_dispatch" + id).c_str()));
        QCOMPARE(trace->gpus[0].name, std::string("AMD Instinct MI300X"));
    }

    void realRpdHasAllItsRows() {
        const fs::path path = realFile("matmul.rpd");
        if (!fs::exists(path)) QSKIP("LANESCOPE_TEST_DATA names no folder with rocm/matmul.rpd.");
        const TracePtr trace = loaded(path);
        QCOMPARE(int64_t{trace->kernels.size()} + trace->memcpys.size() + trace->memsets.size(),
                 answer(path, "SELECT count(*) FROM rocpd_op"));
        QCOMPARE(int64_t{trace->apiCalls.size()} + trace->nvtx.size(), answer(path, "SELECT count(*) FROM rocpd_api"));
        QCOMPARE(trace->counters.size(), size_t{1});
        int64_t bytes = 0;
        for (uint32_t row = 0; row < trace->memcpys.size(); ++row) bytes += trace->memcpys.bytes[row];
        QCOMPARE(bytes, answer(path,
                               "SELECT sum(c.size) FROM rocpd_copyapi c JOIN rocpd_api_ops j ON "
                               "j.api_id = c.api_ptr_id JOIN rocpd_op o ON o.id = j.op_id JOIN "
                               "rocpd_string s ON s.id = o.opType_id WHERE s.string LIKE 'Copy%'"));
    }

    void workIsOnItsStream() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(test::listed(trace->kernels.size(), trace->memcpys.size(), trace->memsets.size()), "1 | 1 | 1");
        const LaunchConfig config = trace->launchConfigs[trace->kernels.config[0]];
        QCOMPARE(trace->strings.at(config.demangledName), std::string_view("gemm(float*, int)"));
        QCOMPARE(config.grid, (std::array<uint32_t, 3>{512, 2, 1}));
        QCOMPARE(config.block, (std::array<uint32_t, 3>{128, 1, 1}));
        QCOMPARE(test::listed(config.registersPerThread, config.dynamicSharedBytes), "40 | 416");
        // Time 0 is the start of the first event, at 1000 ns; 5,000,500 ps later is 5000 ns.
        QCOMPARE(test::listed(trace->memcpys.startNs[0], trace->memcpys.endNs[0]), "5000 | 7000");
        QCOMPARE(trace->memcpys.bytes[0], int64_t{4096});
        QVERIFY(trace->memcpys.kind[0] == MemcpyKind::HtoD);
        QVERIFY(trace->memcpys.sourceMemory[0] == MemoryKind::Pinned);
        QVERIFY(trace->memcpys.destinationMemory[0] == MemoryKind::Device);
        QCOMPARE(test::listed(trace->memsets.bytes[0], trace->streams[trace->kernels.stream[0]].streamId), "64 | 20");
        const EventRef call = trace->launchingCall(EventRef(EventKind::Kernel, 0));
        QVERIFY(call.isValid());
        QCOMPARE(trace->nameOf(call), std::string("cudaLaunchKernel"));
    }

    void callsAndRangesAreOnTheirThread() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(trace->apiCalls.size(), 2u);
        QCOMPARE(test::listed(int(trace->apiCalls.isDriver[0]), int(trace->apiCalls.isDriver[1])), "1 | 0");
        const auto domainOf = [&](std::string_view name) {
            const uint32_t row = torchTrace::rangeCalled(*trace, name);
            return row == noIndex ? std::string_view("none") : trace->strings.at(trace->nvtx.domain[row]);
        };
        QCOMPARE(test::listed(domainOf("train 7"), domainOf("Step 7")), test::listed(xlaStepDomain, xlaStepDomain));
        QCOMPARE(domainOf("train.py:12 step"), pythonDomain);
        QCOMPARE(domainOf("PjitFunction(step)"), xlaDomain);
        QVERIFY(trace->nvtx.style[torchTrace::rangeCalled(*trace, "Marked")] == NvtxStyle::Mark);
        const uint32_t thread = trace->nvtx.thread[torchTrace::rangeCalled(*trace, "train 7")];
        QCOMPARE(test::listed(trace->threads[thread].name, trace->threads[thread].tid), "python | 4242");
        QCOMPARE(trace->apiCalls.thread[0], thread);
    }

    void threadsWithEqualPrefixStayDistinct() {
        protoTrace::Plane host("/host:CPU"), gpu("/device:GPU:0");
        for (const uint64_t id : {4242u, 4243u, 4244u})
            host.line(id, fmt::format("worker/{}", id), 1000, {host.event(fmt::format("of {}", id), 0, 1'000'000)});
        for (const char* title : {"Steps", "Other", "Third"})
            gpu.line(1, title, 1000, {gpu.event("derived", 0, 1'000'000)});
        const TracePtr trace = loaded(protoTrace::message({{1, host.bytes()}, {1, gpu.bytes()}}).bytes());
        QCOMPARE(trace->threads.size(), size_t{6});
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row) {
            const std::string_view text = trace->strings.at(trace->nvtx.text[row]);
            if (text.starts_with("of "))
                QCOMPARE(std::to_string(trace->threads[trace->nvtx.thread[row]].tid), std::string(text.substr(3)));
        }
    }

    void operationsArePlacedAtTheirLaunch() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        const uint32_t operation = torchTrace::rangeCalled(*trace, "dot.3");
        const uint32_t module = torchTrace::rangeCalled(*trace, "jit_step");
        QVERIFY(operation != noIndex && module != noIndex);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[operation]), xlaOperationDomain);
        QCOMPARE(trace->strings.at(trace->nvtx.domain[module]), xlaModuleDomain);
        QCOMPARE(test::listed(trace->nvtx.startNs[operation], trace->nvtx.endNs[operation]), "3000 | 3700");
        // The range is projected onto its work on the GPU.
        bool isProjected = false;
        for (uint32_t row = 0; row < trace->projections.size(); ++row)
            isProjected |= trace->projections.nvtx[row] == operation;
        QVERIFY(isProjected);
    }

    void fileGivesHostAndTime() {
        const TracePtr trace = loaded(protoTrace::smallXplane());
        QCOMPARE(trace->facts.host, std::string("node7"));
        QCOMPARE(trace->startUtcNs, int64_t{1771595639214724894 + 1000});
        QCOMPARE(trace->gpus.size(), size_t{1});
        QCOMPARE(test::listed(trace->gpus[0].smCount, trace->gpus[0].computeMajor), "132 | 9");
        QCOMPARE(trace->gpus[0].memoryBytes, int64_t{150000000000});
    }

    void eventDetailsAreRead() {
        const ImportedLaunch launch = launchOf(" grid:16,4,1 block:512,1,1 private_mem:0 group_mem:64 occ_pct:0");
        QCOMPARE(launch.grid, (std::array<uint32_t, 3>{16, 4, 1}));
        QCOMPARE(launch.sharedBytes, 64u);
        QVERIFY(copyOf("MemcpyD2D", "kind:Unknown size:7").kind == MemcpyKind::DtoD);
        QCOMPARE(copyOf("MemcpyD2D", "kind:Unknown size:7").bytes, int64_t{7});
        QVERIFY(copyOf("MemcpyD2D", "size:-3 size").bytes == 0);
        QVERIFY(isDriverName("cuLaunchKernel") && !isDriverName("cudaLaunchKernel"));
        QVERIFY(isApiName("hipMemcpyAsync") && !isApiName("customThing") && !isApiName("cu"));
        QCOMPARE(numberAfter("Stream #17(Kernel)", "Stream #"), int64_t{17});
        QCOMPARE(numberAfter("Stream #", "Stream #"), int64_t{-1});
        QCOMPARE(numberAfter("/device:GPU:-3", "/device:GPU:"), int64_t{-1});
    }

    void truncatedPlaneKeepsTheOthers() {
        const std::string whole = protoTrace::smallXplane();
        const TracePtr trace = loaded(whole.substr(0, whole.size() - 40));
        QCOMPARE(trace->kernels.size(), 1u);
        QVERIFY(hasNote(*trace, HealthCode::FileCut));
        const TracePtr broken = loaded(whole + "\x0b\x0b");
        QCOMPARE(broken->apiCalls.size(), 2u);
        QVERIFY(hasNote(*broken, HealthCode::FileDamaged));
    }

    void onlyTimedEventsAreRead() {
        protoTrace::Plane gpu("/device:GPU:0");
        ProtoWriter counted = gpu.event("kernel", 0, 1000);
        counted.number(5, 12);
        gpu.line(1, "Stream #1(Kernel)", 5, {counted, gpu.event("kernel", 2000, 1000)});
        gpu.line(2, "Stream #2(Kernel)", INT64_MAX, {gpu.event("kernel", 2000, 1000)});
        gpu.line(3, "Stream #3(Kernel)", 5, {gpu.event("kernel", UINT64_MAX / 2, UINT64_MAX / 2)});
        const TracePtr trace = loaded(protoTrace::message({{1, gpu.bytes()}}).bytes());
        QVERIFY(trace->kernels.size() <= 2);
        QCOMPARE(trace->kernels.startNs[0], int64_t{0});
        QVERIFY(hasNote(*trace, HealthCode::RowsLeftOut));
    }

    void realFileIsReadCompletely() {
        const char* folder = std::getenv("LANESCOPE_TEST_DATA");
        if (folder == nullptr) QSKIP("LANESCOPE_TEST_DATA names no folder with real files.");
        std::error_code error;
        int files = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
            if (!entry.path().string().ends_with(".xplane.pb")) continue;
            ++files;
            const PlainCount plain(contentOf(entry.path()));
            const TracePtr trace = test::orFail(loadTrace(entry.path()));
            const Trace& found = *trace;
            QCOMPARE(int64_t{found.kernels.size()} + found.memcpys.size() + found.memsets.size(), plain.onStreams);
            int64_t samples = 0, derived = 0, streamNs = 0;
            for (const CounterSeries& counter : found.counters) samples += counter.size();
            for (uint32_t row = 0; row < found.nvtx.size(); ++row) {
                const std::string_view domain = found.strings.at(found.nvtx.domain[row]);
                derived += domain == xlaOperationDomain || domain == xlaModuleDomain ? 1 : 0;
            }
            for (uint32_t row = 0; row < found.kernels.size(); ++row)
                streamNs += found.kernels.endNs[row] - found.kernels.startNs[row];
            QCOMPARE(int64_t{found.apiCalls.size()} + found.nvtx.size() - derived + plain.allocations, plain.onHosts);
            // Only the last of simultaneous samples is kept.
            QVERIFY(samples <= plain.allocations);
            QVERIFY(std::abs(streamNs - plain.streamPs / 1000) <= plain.onStreams);
        }
        if (files == 0) QSKIP("There is no real file of JAX.");
    }
};

LANESCOPE_TEST(tst_RocmTraces, NoApplication)
#include "tst_RocmTraces.moc"
