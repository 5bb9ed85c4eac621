// SPDX-License-Identifier: Apache-2.0

#include "capture/collector/compiledCode.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

namespace {

/// A log with windows, and with stack records of a program.
struct StackLog : TestLog {
    using TestLog::TestLog;

    void stack(uint32_t number, uint32_t parent, std::string_view function, std::string_view file, uint32_t line) {
        StackRecord record{
            .stack = number, .parent = parent, .function = string(function), .file = string(file), .line = line};
        add(record);
    }
    void call(uint32_t correlation, uint32_t stackNumber) {
        add(ApiRecord{.startNs = startNs + correlation * 100,
                      .endNs = startNs + correlation * 100 + 10,
                      .name = string("cuLaunchKernel"),
                      .threadId = 4242,
                      .correlationId = correlation,
                      .isDriver = 1,
                      .stack = stackNumber});
    }
    void range(NvtxEvent event, std::string_view text, int64_t afterNs, int32_t level, uint32_t stackNumber = 0,
               uint32_t threadId = 4242) {
        NvtxRecord record = nvtx(event, afterNs, level, string(text));
        record.threadId = threadId;
        record.rangeId = event == NvtxEvent::Start || event == NvtxEvent::End ? 9 : 0;
        setStack(record, stackNumber);
        add(record);
    }
    void window(int64_t afterNs, bool isBegin, uint32_t index = 0) {
        add(WindowRecord{.timestampNs = startNs + afterNs, .index = index, .isBegin = isBegin ? 1u : 0u});
    }
    void node(uint64_t number, uint64_t original, int64_t afterNs, uint32_t stackNumber, uint32_t threadId = 4242) {
        add(GraphNodeRecord{.timestampNs = startNs + afterNs,
                            .node = number,
                            .original = original,
                            .threadId = threadId,
                            .stack = stackNumber});
    }
    void kernel(uint32_t correlation, uint64_t graphNode) {
        add(KernelRecord{.startNs = startNs + correlation * 100 + 50,
                         .endNs = startNs + correlation * 100 + 50 + 10,
                         .graphNodeId = graphNode,
                         .name = string("gemm"),
                         .contextId = 1,
                         .streamId = 7,
                         .correlationId = correlation});
    }
};

}  // namespace

class tst_CollectMemory : public QObject {
    Q_OBJECT

    std::unique_ptr<CollectorFixture> fixture_;

    std::string logPath(const std::string& name) const { return fixture_->logPath(name); }
    CollectedRun collect(TestLog& log, int64_t endNs = startNs + 1000) const { return fixture_->collect(log, endNs); }
    std::string row(const char* sql) const { return fixture_->row(sql); }
    std::string rows(const char* sql) const { return fixture_->rows(sql); }

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void writesGraphLaunches() {
        TestLog log;
        log.add(GraphRecord{.startNs = startNs + 100,
                            .endNs = startNs + 900,
                            .graphId = 5,
                            .deviceId = 1,
                            .contextId = 2,
                            .streamId = 7,
                            .correlationId = 55});
        QCOMPARE(collect(log).counts.of(ImportedKind::Graph), 1);
        QCOMPARE(row("SELECT start, \"end\", deviceId, contextId, streamId, correlationId, graphId,"
                     " graphExecId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
                 "100|900|1|2|7|55|5|5");
    }

    void writesAllocationsAndPools() {
        TestLog log;
        DeviceMemoryRecord memory{.timestampNs = startNs + 10,
                                  .address = 0x7f0000000000,
                                  .bytes = 1 << 20,
                                  .deviceId = 1,
                                  .contextId = 2,
                                  .streamId = 7,
                                  .correlationId = 9,
                                  .operation = 1,
                                  .memoryKind = 3};
        log.add(memory);
        memory.timestampNs = startNs + 20;
        memory.operation = 2;
        memory.poolAddress = 0xabc000;
        memory.poolType = 1;
        memory.poolBytes = 4096;
        memory.poolUsedBytes = 1024;
        log.add(memory);
        memory.timestampNs = startNs + 30;
        memory.poolType = 2;
        memory.poolProcessId = 77;
        log.add(memory);
        memory.operation = 9;  // CUPTI has no such operation.
        log.add(memory);
        MemoryPoolRecord pool{
            .timestampNs = startNs + 5, .address = 0xabc000, .bytes = 8192, .operation = 1, .poolType = 1};
        log.add(pool);
        pool.operation = 0;
        log.add(pool);
        QCOMPARE(collect(log, startNs + 100).counts.of(ImportedKind::MemoryEvent), 3);
        const char* usage =
            "SELECT start, deviceId, contextId, address, bytes, memKind, memoryOperationType, name, correlationId,"
            " streamId, localMemoryPoolAddress, localMemoryPoolSize, localMemoryPoolUtilizedSize,"
            " importedMemoryPoolAddress, importedMemoryPoolProcessId FROM CUDA_GPU_MEMORY_USAGE_EVENTS LIMIT 1 OFFSET ";
        const auto event = [&](const char* offset) { return row((std::string(usage) + offset).c_str()); };
        QCOMPARE(event("0"), "10|1|2|139637976727552|1048576|2|0|NULL|9|7|NULL|NULL|NULL|NULL|NULL");
        QCOMPARE(event("1"), "20|1|2|139637976727552|1048576|2|1|NULL|9|7|11255808|4096|1024|NULL|NULL");
        QCOMPARE(event("2"), "30|1|2|139637976727552|1048576|2|1|NULL|9|7|NULL|NULL|NULL|11255808|77");
        QCOMPARE(row("SELECT count(*), address, operationType, poolType, localMemoryPoolSize"
                     " FROM CUDA_GPU_MEMORY_POOL_EVENTS"),
                 "1|11255808|1|1|8192");
        QCOMPARE(row("SELECT count FROM LANESCOPE_HEALTH WHERE code = 'memory-odd-records'"), "2");
    }

    void untimedRowsStayOutOfNsightTables() {
        TestLog log;
        DeviceMemoryRecord memory{
            .timestampNs = 0, .address = 0x1000, .bytes = 64, .deviceId = 3, .correlationId = 8, .operation = 1};
        log.add(memory);
        memory.timestampNs = startNs + 4;
        log.add(memory);
        log.add(MemoryPoolRecord{.timestampNs = 0, .address = 0xabc000, .operation = 1, .poolType = 1});
        QCOMPARE(collect(log, startNs + 100).counts.of(ImportedKind::MemoryEvent), 2);
        QCOMPARE(rows("SELECT start FROM CUDA_GPU_MEMORY_USAGE_EVENTS"), "4");
        QCOMPARE(rows("SELECT tableName, deviceId FROM LANESCOPE_UNTIMED ORDER BY tableName"),
                 "CUDA_GPU_MEMORY_POOL_EVENTS|0, CUDA_GPU_MEMORY_USAGE_EVENTS|3");
        QCOMPARE(row("SELECT count FROM LANESCOPE_HEALTH WHERE code = 'untimed'"), "1");
    }

    void reportsPartialManagedMemory_data() { test::rows<bool>("isFaultThere", {{"whole", true}, {"in part", false}}); }
    void reportsPartialManagedMemory() {
        QFETCH(bool, isFaultThere);
        TestLog log;
        const auto add = [&](uint32_t kind, uint64_t value, uint32_t source, uint32_t destination) {
            log.add(UnifiedMemoryRecord{.startNs = startNs + 10,
                                        .endNs = startNs + 500,
                                        .value = value,
                                        .counterKind = kind,
                                        .sourceId = source,
                                        .destinationId = destination,
                                        .flags = 2});
        };
        add(1, 65536, 0xffffffff, 0);  // to the GPU, after a page fault
        if (isFaultThere) add(4, 12, 0, 0);
        collect(log);
        QCOMPARE(row("SELECT severity, count FROM LANESCOPE_HEALTH WHERE code = 'unified-memory-in-part'"),
                 std::string(isFaultThere ? "0|1" : "1|1"));
    }

    void writesMigrationsAndFaultsOfManagedMemory() {
        constexpr uint32_t cpu = 0xffffffff;
        TestLog log;
        const auto add = [&](uint32_t kind, uint64_t value, uint32_t source, uint32_t destination, uint32_t flags,
                             int64_t endNs) {
            log.add(UnifiedMemoryRecord{.startNs = startNs + 10 * kind,
                                        .endNs = endNs == 0 ? 0 : startNs + endNs,
                                        .value = value,
                                        .address = 0x1000 * kind,
                                        .counterKind = kind,
                                        .sourceId = source,
                                        .destinationId = destination,
                                        .flags = flags});
        };
        add(1, 65536, cpu, 1, 2, 500);
        add(2, 4096, 1, cpu, 4, 600);
        add(8, 8192, 0, 1, 1, 700);
        add(3, 0x401234, 0, 0, 0, 0);
        add(4, 12, 1, 0, 2, 800);
        add(5, 1, 3, 0, 0, 0);
        add(6, 1, 3, 0, 0, 0);
        add(7, 4096, 1, 0, 0, 0);   // Remote mapping: nothing moved.
        add(99, 4096, 1, 0, 0, 0);  // From a future CUPTI.
        const CollectedRun run = collect(log);
        QCOMPARE(test::listed(run.counts.of(ImportedKind::Memcpy), run.counts.of(ImportedKind::Migration)), "0 | 3");
        QCOMPARE(run.counts.of(ImportedKind::CpuPageFault), 1);
        QCOMPARE(run.counts.of(ImportedKind::GpuPageFault), 12);
        const std::string copy =
            "SELECT start, \"end\", deviceId, correlationId, bytes, srcKind, dstKind, srcDeviceId, dstDeviceId,"
            " migrationCause, virtualAddress FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = ";
        QCOMPARE(row((copy + "11").c_str()), "10|500|1|NULL|65536|4|4|NULL|1|2|4096");
        QCOMPARE(row((copy + "12").c_str()), "20|600|1|NULL|4096|4|4|1|NULL|4|8192");
        QCOMPARE(row((copy + "13").c_str()), "80|700|1|NULL|8192|4|4|0|1|1|32768");
        QCOMPARE(row("SELECT start, address, originalFaultPc, value FROM"
                     " CUDA_UM_CPU_PAGE_FAULT_EVENTS JOIN StringIds ON id = CpuInstruction"),
                 "30|12288|4198964|0x401234");
        QCOMPARE(row("SELECT start, \"end\", deviceId, address, numberOfPageFaults,"
                     " faultAccessType FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS"),
                 "40|800|1|16384|12|2");
        QCOMPARE(row("SELECT sum(count) FROM LANESCOPE_HEALTH WHERE code LIKE 'managed-memory-%'"), "2");
    }

    void keepsOnlyWorkOfTheWindows() {
        StackLog log;
        const auto work = [&](int64_t atNs, uint32_t correlation) {
            KernelRecord record = kernel(atNs, log.string("gemm"));
            record.correlationId = correlation;
            log.add(record);
        };
        const auto call = [&](int64_t atNs, uint32_t correlation) {
            log.add(ApiRecord{.startNs = startNs + atNs,
                              .endNs = startNs + atNs + 5,
                              .name = log.string("cudaLaunchKernel"),
                              .threadId = 4242,
                              .correlationId = correlation});
        };
        log.window(1000, true, 0);
        work(900, 1);   // Was running when the window began.
        work(1010, 2);  // Launched before, begun within.
        call(1100, 3);
        log.window(2000, false, 0);
        work(2050, 3);  // Launched within, begun after.
        log.window(3000, true, 1);
        work(2900, 4);
        call(3100, 5);
        work(3200, 5);
        log.end(startNs + 4000);
        log.flush(startNs + 900, startNs + 4000);
        log.writeTo(logPath("box.0.4242.log"));
        TestLog other(4243);  // Without windows, everything stays.
        KernelRecord alone = kernel(10, other.string("gemm"));
        other.add(alone);
        other.end(startNs + 4000);
        other.flush();
        other.writeTo(logPath("box.1.4243.log"));
        fixture_->collect();
        QCOMPARE(rows("SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE"
                      " (globalPid >> 24) & 16777215 = 4242 ORDER BY 1"),
                 "2, 3, 5");
        QCOMPARE(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "4");
        QCOMPARE(row("SELECT count(*), min(startNs), max(startNs), max(endNs), sum(\"index\") FROM LANESCOPE_WINDOWS"),
                 "2|1000|3000|2000|1");
        QCOMPARE(row("SELECT count FROM LANESCOPE_HEALTH WHERE code = 'launched-outside-windows'"), "2");
        QCOMPARE(row("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'windows'"),
                 "Process 4242: recorded in 2 windows, 0.000 s in all. Its activity outside the "
                 "windows is not in the trace.");
    }

    void windowsMayComeInAnyOrder() {
        StackLog log;
        log.window(50, false);  // An end whose beginning was lost.
        log.window(100, true);
        log.window(200, true);   // A beginning after a lost end.
        log.window(150, false);  // Before its beginning.
        log.window(300, true);   // Never ended.
        log.add(kernel(310, log.string("gemm")));
        fixture_->collectUnended(log);
        QCOMPARE(rows("SELECT startNs, endNs FROM LANESCOPE_WINDOWS"), "100|200, 200|200, 300|NULL");
        QCOMPARE(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "1");
    }

    void windowsMayBeAtAnyTime() {
        StackLog log;
        for (const uint32_t index : {0, 1, 2}) {
            log.window(std::numeric_limits<int64_t>::min() / 2 - 1, true, index);
            log.window(std::numeric_limits<int64_t>::max() - startNs, false, index);
        }
        log.add(kernel(310, log.string("gemm")));
        fixture_->collectUnended(log);
        QCOMPARE(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "1");
        QCOMPARE(row("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'windows'"),
                 "Process 4242: recorded in 3 windows, 13835058055.282 s in all. Its activity "
                 "outside the windows is not in the trace.");
        QCOMPARE(row("SELECT min(startNs), max(endNs) FROM LANESCOPE_WINDOWS"),
                 fmt::format("{}|{}", -maxTimestampNs, maxTimestampNs));
    }

    void countsRepeatedWindowsOnce() {
        StackLog log;
        const auto repeatAll = [&] {
            log.window(100, true, 0);
            log.window(200, false, 0);
            log.window(300, true, 1);
        };
        repeatAll();
        repeatAll();
        log.window(400, false, 1);
        repeatAll();
        log.window(400, false, 1);
        log.window(500, true, 2);
        log.add(kernel(310, log.string("gemm")));
        fixture_->collectUnended(log);
        QCOMPARE(rows("SELECT \"index\", startNs, endNs FROM LANESCOPE_WINDOWS"), "0|100|200, 1|300|400, 2|500|NULL");
    }

    void reportsLosses() {
        TestLog log;
        log.add(kernel(100, log.string("gemm")));
        log.add(nvtx(NvtxEvent::Mark, 200, 0, log.string("mark")));
        const auto dropped = [&](int64_t atNs, Loss what) {
            log.add(DroppedRecord{.timestampNs = startNs + atNs, .count = 7, .what = what});
        };
        dropped(400, Loss::CudaActivity);
        dropped(500, Loss::NvtxCalls);
        dropped(600, Loss::LogBlocks);
        dropped(150, Loss::NvtxCalls);  // Older than the latest event.
        collect(log);
        QCOMPARE(rows("SELECT what, startNs, endNs, count FROM LANESCOPE_GAPS"),
                 "2|110|400|7, 1|200|500|7, 3|200|600|7, 1|150|150|7");
    }

    void repeatedDefinitionsAreWrittenOnce() {
        TestLog log;
        for (int part = 0; part < 3; ++part) {
            DeviceRecord device{};
            device.uuid[0] = 1;
            device.name = log.string("Simulated GPU");
            log.add(device);
            log.add(ContextRecord{.contextId = 1});
            log.add(StreamRecord{.contextId = 1, .streamId = 7});
            NvtxDomainRecord domain{.domain = 3, .name = log.string("loader")};
            log.add(domain);
            log.add(NvtxCategoryRecord{.domain = 3, .category = 8, .name = log.string("io")});
            log.add(nvtx(NvtxEvent::Mark, 10 + part, 0, log.string("mark")));
            log.flush();
        }
        collect(log);
        for (const char* table : {"TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_STREAM",
                                  "TARGET_INFO_CUDA_NULL_STREAM"})
            QCOMPARE(row((std::string("SELECT count(*) FROM ") + table).c_str()), "1");
        QCOMPARE(row("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (33, 75)"), "2");
        QCOMPARE(row("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), "3");
    }

    void writesTheRanksOfAProcess() {
        TestLog log;
        log.property("rank", "5");
        log.property("localRank", "1");
        log.property("worldSize", "many");
        log.add(kernel(100, log.string("gemm")));
        collect(log);
        QCOMPARE(row("SELECT rank, localRank, worldSize FROM LANESCOPE_PROCESSES"), "5|1|NULL");
    }

    void writesEachStackOnce() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(1, 2);
        // Another thread numbers the same stack differently.
        log.stack(7, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(8, 7, "step", "/home/ada/train.py", 12);
        log.stack(9, 8, "(frames further out are left out)", "", 0);
        log.call(2, 8);
        log.call(3, 9);
        log.call(4, 0);
        log.call(5, 99);  // of a lost stack
        // Another part repeats it.
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(6, 2);
        collect(log);
        QCOMPARE(rows("SELECT s.id, parentId, f.value, g.value, line FROM LANESCOPE_STACKS s JOIN StringIds f ON f.id ="
                      " functionId LEFT JOIN StringIds g ON g.id = fileId ORDER BY s.id"),
                 "1|NULL|<module>|/home/ada/train.py|30, 2|1|step|/home/ada/train.py|12, "
                 "3|2|(frames further out are left out)|NULL|NULL");
        QCOMPARE(rows("SELECT correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY correlationId"),
                 "1|2, 2|2, 3|3, 4|NULL, 5|NULL, 6|2");

        const TracePtr trace = fixture_->loaded();
        QCOMPARE(test::listed(trace->stacks.size(), trace->apiCalls.size()), "3 | 6");
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Api, 0)), std::string("train.py:12 in step"));
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Api, 2)), std::string("train.py:12 in step"));
        QCOMPARE(frameText(*trace, 2), std::string("(frames further out are left out)"));
        QCOMPARE(pythonLine(*trace, EventRef(EventKind::Api, 3)), std::string());
    }

    void distinguishesFilesOfTheProgramsFolders() {
        StackLog log;
        log.stack(1, 0, "<module>", "train.py", 30);
        log.stack(2, 1, "step", "/home/ada/project/train.py", 12);
        log.stack(3, 2, "tool", "/home/ada/tools/t.py", 3);
        log.stack(4, 3, "linear", "/usr/lib/python3/dist-packages/torch/nn/linear.py", 4);
        log.call(1, 4);
        fixture_->info.workingDirectory = "/home/ada/project";
        fixture_->info.homeDirectory = "/home/ada";
        collect(log);
        QCOMPARE(rows("SELECT value FROM LANESCOPE_STACKS s JOIN StringIds f ON f.id = fileId ORDER BY s.id"),
                 "train.py, train.py, ~/tools/t.py, /usr/lib/python3/dist-packages/torch/nn/linear.py");
    }

    void keepsTheStartOfRanges() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(70'000, 1, "step", "/home/ada/train.py", 12);  // more than 16 bits
        log.range(NvtxEvent::Push, "outer", 100, 0, 1);
        log.range(NvtxEvent::Push, "inner", 110, 1, 70'000);
        log.range(NvtxEvent::Mark, "mark", 120, 0, 70'000);
        log.range(NvtxEvent::Pop, "", 130, 1);
        log.range(NvtxEvent::Pop, "", 140, 0);
        log.range(NvtxEvent::Start, "across", 150, 0, 1);
        log.range(NvtxEvent::End, "", 160, 0);
        log.range(NvtxEvent::Mark, "without Python", 170, 0, 0, 4243);
        log.range(NvtxEvent::Mark, "lost", 180, 0, 99);
        collect(log);
        QCOMPARE(rows("SELECT n.text, f.value, line FROM LANESCOPE_NVTX_STACKS s JOIN NVTX_EVENTS n ON n.rowid ="
                      " nvtxRow JOIN LANESCOPE_STACKS t ON t.id = callchainId JOIN StringIds f ON f.id = functionId"
                      " ORDER BY n.start"),
                 "outer|<module>|30, inner|step|12, mark|step|12, across|<module>|30");
        const TracePtr trace = fixture_->loaded();
        const std::vector<std::string> wanted{"train.py:30 in <module>",
                                              "train.py:12 in step",
                                              "train.py:12 in step",
                                              "train.py:30 in <module>",
                                              "called from train.py:30 in <module>",
                                              ""};
        QCOMPARE(trace->nvtx.size(), uint32_t(wanted.size()));
        for (uint32_t row = 0; row < wanted.size(); ++row)
            QCOMPARE(pythonLine(*trace, EventRef(EventKind::Nvtx, row)), wanted[row]);
    }

    void graphKernelsGetTheLineOfTheirNode() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(2, 1, "forward", "/home/ada/train.py", 88);
        log.stack(3, 1, "replay", "/home/ada/train.py", 99);
        log.range(NvtxEvent::Mark, "capture", 10, 0, 2);
        log.node(21, 11, 30, 0);  // by another thread, which comes first in the log
        log.node(31, 21, 40, 0);
        log.node(41, 40, 45, 0);  // the original of this copy is unknown
        log.node(11, 0, 20, 2);
        log.node(12, 0, 25, 0, 4243);  // captured by a thread without Python
        for (const uint32_t correlation : {1u, 2u, 3u, 4u, 5u}) log.call(correlation, 3);
        log.kernel(1, 21);
        log.kernel(2, 31);
        log.kernel(3, 41);
        log.kernel(4, 12);
        log.kernel(5, 0);
        collect(log);
        QCOMPARE(rows("SELECT graphNodeId, originalGraphNodeId, f.value FROM CUDA_GRAPH_NODE_EVENTS n LEFT JOIN"
                      " LANESCOPE_GRAPH_NODE_STACKS s ON s.nodeRow = n.rowid LEFT JOIN LANESCOPE_STACKS t ON t.id ="
                      " callchainId LEFT JOIN StringIds f ON f.id = functionId ORDER BY graphNodeId"),
                 "11|NULL|forward, 12|NULL|NULL, 21|11|NULL, 31|21|NULL, 41|40|NULL");
        const TracePtr trace = fixture_->loaded();
        const std::vector<std::string> wanted{
            "called at capture: train.py:88 in forward", "called at capture: train.py:88 in forward",
            "train.py:99 in replay", "called at capture from: train.py:88 in forward", "train.py:99 in replay"};
        QCOMPARE(trace->kernels.size(), uint32_t(wanted.size()));
        for (uint32_t row = 0; row < wanted.size(); ++row)
            QCOMPARE(pythonLine(*trace, EventRef(EventKind::Kernel, row)), wanted[row]);
    }

    /// The comments of code that torch.compile generated; excerpt of PyTorch 2.15's output.
    void compiledCodeSaysWhatItReplaces() {
        const std::string code =
            "# AOT ID: ['0_inference']\n"
            "from torch._inductor.utils import maybe_profile\n"
            "# kernel path: /tmp/torchinductor_ada/5a/c5au.py\n"
            "# Topologically Sorted Source Nodes: [y, x], Original ATen: [aten.gelu, aten.add]\n"
            "# Graph fragment:\n"
            "#   %addmm : Tensor = PlaceHolder[target=addmm]\n"
            "triton_poi_fused_add_gelu_0 = async_compile.triton('triton_poi_fused_add_gelu_0', '')\n"
            "\n"
            "    def call(self, args):\n"
            "        arg0_1, arg1_1 = args\n"
            "        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.addmm]\n"
            "        # File: /home/ada/model.py:12 in forward, code: y = self.fc(x)\n"
            "        extern_kernels.addmm(arg0_1, arg1_1, out=buf0)\n"
            "        del arg0_1\n"
            "        other()\n"
            "        # Unsorted Source Nodes: [y, x], Original ATen: [aten.gelu, aten.add]\n"
            "        stream0 = get_raw_stream(0)\n"
            "        triton_poi_fused_add_gelu_0.run(buf0, 128, stream=stream0)\n"
            "        # Topologically Sorted Source Nodes: [<b>], Original ATen: [';DROP]\n"
            "        third()\n"
            "        return (buf0, )\n";
        const std::map<uint32_t, std::string> lines = compiledLines(code);
        const auto at = [&](uint32_t line) { return lines.contains(line) ? lines.at(line) : std::string(); };
        QCOMPARE(at(13), std::string("aten.t, aten.addmm of linear at model.py:12"));
        QCOMPARE(at(15), std::string());
        QCOMPARE(test::listed(at(17), at(18)), "aten.gelu, aten.add of y, x | aten.gelu, aten.add of y, x");
        QCOMPARE(at(20), std::string());
        QVERIFY(compiledLines("# Source Nodes: [x], Original ATen: [aten.add]\ncall()\n").empty());
        QVERIFY(compiledLines("").empty());

        const std::string hash = "cjyuzevy66jynwpcsh63szmantvfncfcjw7hupswjnacnjygx4bn";
        QVERIFY(isCompiledFile("/tmp/x/jy/" + hash + ".py"));
        for (const std::string& other :
             {"/tmp/x/ab/" + hash + ".py", "jy/" + hash + ".py", "/tmp/x/jy/" + hash + ".txt",
              "/jy/../etc/" + hash + ".py", std::string("/tmp/x/jy/cjy.py"), std::string("/.py"), std::string()})
            QVERIFY2(!isCompiledFile(other), other.c_str());

        const std::filesystem::path folder = fixture_->in("cache/jy");
        std::filesystem::create_directories(folder);
        const std::string path = folder / (hash + ".py"), large = folder / ("cjya" + hash.substr(4) + ".py");
        std::ofstream(path) << code;
        std::ofstream(large) << code << std::string(1 << 20, '\n');
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 3);
        log.stack(2, 1, "Runner.call", path, 18);
        log.stack(3, 1, "Runner.call", path, 15);
        log.stack(4, 1, "Runner.call", large, 18);
        for (const uint32_t correlation : {1u, 2u, 3u}) log.call(correlation, correlation + 1);
        collect(log);
        QCOMPARE(rows("SELECT t.line, o.value FROM LANESCOPE_STACKS t"
                      " LEFT JOIN StringIds o ON o.id = operatorsId ORDER BY t.id"),
                 "3|NULL, 18|aten.gelu, aten.add of y, x, 15|NULL, 18|NULL");
    }

    /// Only files of the program that are older than its start: others may differ from what ran.
    void textsOfLinesAreStored() {
        const std::filesystem::path folder = fixture_->in("source/lib/python3/site-packages");
        std::filesystem::create_directories(folder);
        const auto written = [](const std::filesystem::path& path, int64_t second) {
            std::ofstream(path) << "import torch  # secret\n\n    rows = open(\"secr\\\"et\", 'a')['']  \r\n"
                                << std::string(300, 'x') << "\n";
            using Clock = std::chrono::file_clock;
            std::filesystem::last_write_time(path,
                                             Clock::from_sys(std::chrono::sys_seconds(std::chrono::seconds(second))));
            return path.string();
        };
        const std::string old = written(fixture_->in("source/train.py"), 500);
        const std::string changed = written(fixture_->in("source/changed.py"), 2'000);
        const std::string library = written(folder / "library.py", 500),
                          other = written(fixture_->in("source/a.txt"), 500);
        const std::string missing = fixture_->in("source/missing.py");
        StackLog log;
        uint32_t stack = 0;
        for (const uint32_t line : {1u, 2u, 3u, 4u, 99u}) log.stack(++stack, 0, "f", old, line);
        for (const std::string& file : {changed, library, other, missing}) log.stack(++stack, 0, "f", file, 3);
        for (uint32_t correlation = 1; correlation <= stack; ++correlation) log.call(correlation, correlation);
        collect(log);
        QCOMPARE(rows("SELECT c.value FROM LANESCOPE_STACKS t LEFT JOIN StringIds c ON c.id = codeId ORDER BY t.id"),
                 "import torch, NULL, rows = open(\"…\", '…')[''], " + std::string(160, 'x') +
                     ", NULL, NULL, NULL, NULL, NULL");
        const TracePtr trace = fixture_->loaded();
        QCOMPARE(std::string(trace->strings.at(trace->stacks.code[2])), std::string("rows = open(\"…\", '…')['']"));
    }

    void survivesDanglingNodes() {
        StackLog log;
        log.node(5, 5, 10, 0);
        log.node(6, 7, 11, 0);
        log.node(7, 6, 12, 0);
        log.node(7, 0, 13, 99);
        log.node(0, 0, 14, 0);
        for (const uint32_t correlation : {5u, 6u, 7u}) {
            log.call(correlation, 0);
            log.kernel(correlation, correlation);
        }
        collect(log);
        const TracePtr trace = fixture_->loaded();
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            QCOMPARE(pythonLine(*trace, EventRef(EventKind::Kernel, row)), std::string());
    }

    void survivesDanglingStacks() {
        StackLog log;
        log.stack(5, 5, "itself", "a.py", 1);
        log.stack(6, 77, "orphan", "a.py", 2);
        log.stack(0, 0, "none", "a.py", 3);
        log.stack(0xffffffff, 6, "last", "a.py", 0xffffffff);
        for (uint32_t number : {5u, 6u, 0u, 0xffffffffu}) log.call(number % 1'000 + 1, number);
        collect(log);
        const TracePtr trace = fixture_->loaded();
        for (uint32_t row = 0; row < trace->apiCalls.size(); ++row) pythonLine(*trace, EventRef(EventKind::Api, row));
    }
};

LANESCOPE_TEST(tst_CollectMemory, NoApplication)
#include "tst_CollectMemory.moc"
