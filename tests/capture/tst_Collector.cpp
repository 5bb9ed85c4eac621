// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/format/factNames.h"
#include "model/live/LiveTrace.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

namespace {

struct Nccl {
    TestLog& log;

    NcclOperationRecord start(NcclEvent event, uint64_t id, int64_t atNs, uint64_t parent = 0) {
        NcclOperationRecord record{.timestampNs = startNs + atNs,
                                   .id = id,
                                   .parent = parent,
                                   .communicator = 0xabc,
                                   .threadId = 4242,
                                   .event = event};
        record.sequence = record.root = record.peer = -1;
        record.rank = 1;
        return record;
    }
    NcclOperationRecord asked(NcclOperationRecord record, const char* function, const char* type, uint64_t count) {
        record.function = log.string(function);
        record.datatype = log.string(type);
        record.count = count;
        return record;
    }
    NcclOperationRecord done(NcclOperationRecord record) {
        record.algorithm = log.string("NVLS");
        record.protocol = log.string("SIMPLE");
        record.channels = 24;
        record.warps = 16;
        record.sequence = 3;
        record.root = 0;
        return record;
    }
    void add(const NcclOperationRecord& record) { log.add(record); }
    void stop(uint64_t id, int64_t atNs) {
        log.add(NcclStopRecord{.timestampNs = startNs + atNs, .id = id, .threadId = 4242});
    }
};

}  // namespace

class tst_Collector : public QObject {
    Q_OBJECT

    std::unique_ptr<CollectorFixture> fixture_;

    std::string in(const std::string& name) const { return fixture_->in(name); }
    std::string logPath(const std::string& name) const { return fixture_->logPath(name); }
    CollectedRun collect(std::optional<MainProcess> mainProcess = {}) const { return fixture_->collect(mainProcess); }
    std::string row(const char* sql) const { return fixture_->row(sql); }
    CollectedRun collect(TestLog& log, int64_t endNs = startNs + 1000) const { return fixture_->collect(log, endNs); }

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void emptyRunIsAValidTrace() {
        const CollectedRun run = collect();
        QCOMPARE(test::listed(run.counts.events(), run.processes), "0 | 0");
        QCOMPARE(row("SELECT name FROM sqlite_schema WHERE name LIKE 'CUPTI%'"), "no row");
        QCOMPARE(row("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME"), "1000000000000");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'commandLine'"), "python train.py");
        struct stat status {};
        QCOMPARE(::stat(in("out.sqlite").c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, 0600u);
        QVERIFY(!std::filesystem::exists(in("out.sqlite.partial")));
    }

    void writesCudaActivity() {
        TestLog log;
        log.property("program", "python");
        log.property("rank", "3");
        log.add(ContextRecord{.contextId = 1, .deviceId = 2});
        log.add(kernel(100, log.string("_ZN2at6native4fillIfEEvi")));
        log.add(kernel(0, log.string("gemm")));
        log.add(MemcpyRecord{.startNs = startNs + 200,
                             .endNs = startNs + 300,
                             .bytes = 4096,
                             .copyKind = 1,
                             .sourceKind = 1,
                             .destinationKind = 3});
        log.add(ApiRecord{.startNs = startNs + 50,
                          .endNs = startNs + 60,
                          .name = log.string("cudaLaunchKernel_v7000"),
                          .threadId = 4243,
                          .correlationId = 55});
        log.add(SyncRecord{.startNs = startNs + 400, .endNs = startNs + 500, .type = 3, .contextId = 1});
        log.end(startNs + 600);
        log.flush(startNs + 50, startNs + 600);
        log.writeTo(logPath("box.3.4242.log"));

        const CollectedRun run = collect(MainProcess{4242, 9, 0});
        QCOMPARE(run.counts.of(ImportedKind::Kernel), 2);
        QCOMPARE(test::listed(run.counts.untimedOf(ImportedKind::Kernel), run.processesTruncated), "1 | 0");
        const auto pid = globalPid(4242);
        QCOMPARE(row("SELECT start, \"end\", (SELECT value FROM StringIds WHERE id = shortName), "
                     "(SELECT value FROM StringIds WHERE id = demangledName), globalPid, gridX, "
                     "graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL"),
                 fmt::format("100|110|fill|void at::native::fill<float>(int)|{}|128|NULL", pid));
        QCOMPARE(row("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "1");
        QCOMPARE(row("SELECT tableName, globalPid FROM LANESCOPE_UNTIMED"),
                 fmt::format("CUPTI_ACTIVITY_KIND_KERNEL|{}", pid));
        QCOMPARE(row("SELECT copyKind, srcKind, dstKind, bytes, srcDeviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
                 "1|0|2|4096|NULL");
        QCOMPARE(row("SELECT eventClass, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
                 fmt::format("0|{}|55", globalTid(4242, 4243)));
        QCOMPARE(row("SELECT deviceId, syncType FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"), "2|3");
        QCOMPARE(row("SELECT rank, endNs, endedNormally, exitStatus, logFile FROM LANESCOPE_PROCESSES"),
                 "3|600|1|9|box.3.4242.log");
        QCOMPARE(row("SELECT pid, name FROM PROCESSES"), "4242|python");
        QCOMPARE(row("SELECT code, count FROM LANESCOPE_HEALTH"), "untimed|1");
        QCOMPARE(row("SELECT duration FROM ANALYSIS_DETAILS"), "600");
    }

    void writesNvtxAndNccl() {
        TestLog log;
        NvtxDomainRecord domain{.timestampNs = startNs, .domain = 5, .name = log.string("NCCL")};
        log.add(domain);
        NvtxRecord push = nvtx(NvtxEvent::Push, 100, 0, log.string("step"));
        push.payload = NvtxPayload::Int64;
        push.payloadBits = static_cast<uint64_t>(-3);
        log.add(push);
        NvtxRecord nccl = nvtx(NvtxEvent::Push, 110, 0, log.string("ncclAllReduce"));
        nccl.domain = 5;
        nccl.schemaId = (1 << 24) + 5;
        nccl.extendedBytes = 16;
        const uint64_t payload[2] = {99, 1 << 20};
        log.add(nccl, payload, sizeof(payload));
        NvtxRecord ncclEnd = nvtx(NvtxEvent::Pop, 120, 0, 0);
        ncclEnd.domain = 5;
        log.add(ncclEnd);
        log.add(nvtx(NvtxEvent::Mark, 130, 0, log.string("here")));
        const CollectedRun run = collect(log, startNs + 200);
        QCOMPARE(test::listed(run.counts.of(ImportedKind::Nvtx), run.counts.of(ImportedKind::Nccl)), "3 | 1");
        QCOMPARE(run.counts.events(), 3);
        QCOMPARE(row("SELECT start, \"end\", int64Value, text, (SELECT value FROM StringIds "
                     "WHERE id = textId) FROM NVTX_EVENTS WHERE eventType = 35 AND domainId = 0"),
                 "100|NULL|-3|step|step");
        QCOMPARE(row("SELECT operation, bytes, communicator, nvtxRow = (SELECT rowid FROM NVTX_EVENTS WHERE domainId = "
                     "5 AND eventType = 59) FROM LANESCOPE_NCCL_OPERATIONS"),
                 "AllReduce|1048576|99|1");
        QCOMPARE(row("SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 75"), "NCCL|5");
        QCOMPARE(row("SELECT start FROM NVTX_EVENTS WHERE eventType = 34"), "130");
    }

    void namesAreWrittenDuringRecording() {
        TestLog log;
        log.property("program", "python");
        NvtxDomainRecord domain{.domain = 1, .name = log.string("training")};
        log.add(domain);
        NvtxRecord push = nvtx(NvtxEvent::Push, 100, 0, log.string("step")), pop = push;
        push.domain = pop.domain = 1;
        pop.event = NvtxEvent::Pop;
        pop.timestampNs += 50;
        log.add(push);
        log.add(pop);
        log.flush();
        log.writeTo(logPath("box.-.4242.log"));
        {
            const auto collector = test::beginCollector(in("run"), in("live.sqlite"), runInfo());
            (*collector)->poll();
            auto mirror = TraceMirror::create(in("live.sqlite.partial"));
            QVERIFY(mirror->refresh().has_value());
            const auto trace = test::orFail(loadOpenTrace(mirror->descriptor(), "live.sqlite"));
            QCOMPARE(trace->processes.front().name, std::string("python"));
            QVERIFY(std::ranges::any_of(
                trace->tracks, [](const Track& track) { return track.title.find("training") != std::string::npos; }));
        }
        QCOMPARE(collect().processes, 1);
        QCOMPARE(row("SELECT count(*) FROM PROCESSES"), "1");
        QCOMPARE(row("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75"), "1");
    }

    void idleProcessLeavesNothing() {
        TestLog log;
        log.property("program", "sh");
        log.add(NvtxDomainRecord{.domain = 1, .name = log.string("idle")});
        QCOMPARE(fixture_->collectUnended(log).processes, 0);
        QCOMPARE(row("SELECT name FROM sqlite_schema WHERE name IN ('PROCESSES', 'NVTX_EVENTS')"), "no row");
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_HEALTH"), "0");
    }

    void reportsLosses() {
        TestLog log;
        log.add(kernel(100, log.string("k")));
        DroppedRecord dropped{.count = 12, .what = Loss::NvtxCalls};
        log.add(dropped);
        log.flush(startNs, startNs + 2'500'000'000);
        log.loseBlock();
        log.add(kernel(200, 1));
        log.flush();
        TestLog::write(logPath("box.-.4242.log"), log.bytes() + std::string(64, 'x'));
        TestLog::write(logPath("box.-.9.log"), "This is quite certainly no log of any kind at all.");
        std::filesystem::create_symlink("/etc/passwd", logPath("sneaky.log"));
        const CollectedRun run = collect();
        QCOMPARE(test::listed(run.processes, run.processesTruncated, run.logsNotAllRead), "2 | 2 | 3");
        QCOMPARE(run.counts.of(ImportedKind::Kernel), 2);
        const auto count = [&](const char* code) {
            return row(fmt::format("SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = '{}'", code).c_str());
        };
        QCOMPARE(test::listed(count("events-dropped"), count("log-gap"), count("log-damaged")), "1 | 1 | 1");
        QCOMPARE(count("log-unreadable"), "2");
        QCOMPARE(row("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'process-ended-abnormally'").substr(0, 48),
                 "Process 4242: no exit record after 2.5 s (killed");
        QVERIFY(run.warnings.size() >= 5);
        // Errors come first, with the severity that the trace has.
        QCOMPARE(run.warnings.front().severity, Severity::Error);
        QCOMPARE(run.warnings.back().severity, Severity::Warning);
    }

    void closingStepsOfAnEmptyRunAreReportedAsSkipped() {
        std::filesystem::create_directories(in("run"));
        auto collector = test::orFail(test::beginCollector(in("run"), in("out.sqlite"), runInfo()));
        std::string skipped;
        std::optional<ClosingSkip> cause;
        ClosingSteps closing;
        closing.settled = [&](const auto&, const auto&) { skipped = "settled"; };
        closing.skipped = [&](const std::filesystem::path& name, ClosingSkip reason) {
            skipped = name.filename().string();
            cause = reason;
        };
        QVERIFY(collector->finish({}, false, closing));
        QCOMPARE(skipped, std::string("out.sqlite"));
        QVERIFY(cause == ClosingSkip::NothingRecorded);
    }

    void detectsHowProcessesEnd() {
        const auto leave = [&](const std::string& pid, bool isForked, int signal) {
            TestLog log(static_cast<uint32_t>(std::stoi(pid)));
            if (isForked) log.property("forkedChild", "1");
            log.add(kernel(100, log.string("k")));
            EndRecord end{
                .timestampNs = startNs + 200, .reason = EndReason::Signal, .signal = static_cast<uint32_t>(signal)};
            if (signal != 0) log.add(end);
            log.flush();
            log.writeTo(logPath("box.-." + pid + ".log"));
        };
        leave("10", true, 0);
        leave("11", false, 15);
        const CollectedRun run = collect();
        QCOMPARE(test::listed(run.processes, run.processesTruncated), "2 | 0");
        QVERIFY(run.warnings.empty());
        QCOMPARE(row("SELECT severity, code FROM LANESCOPE_HEALTH ORDER BY code"), "0|forked-child-ended");
        QCOMPARE(row("SELECT severity, sentence FROM LANESCOPE_HEALTH WHERE code = 'process-ended-by-signal'"),
                 "0|Process 11: terminated by signal 15 at 0.0 s; its recording is complete.");
        QCOMPARE(row("SELECT endedNormally FROM LANESCOPE_PROCESSES ORDER BY globalPid"), "NULL");
        QCOMPARE(row("SELECT endedNormally FROM LANESCOPE_PROCESSES ORDER BY globalPid DESC"), "1");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'endSignal'"), "15");
    }

    void processWithoutEndLastsAsLongAsObserved() {
        TestLog log;
        log.add(nvtx(NvtxEvent::Push, 100, 0, log.string("open")));
        log.add(ClockRecord{.realtimeNs = startNs + 3'000'000'000});
        log.flush(startNs + 100, startNs + 100);
        log.writeTo(logPath("box.-.4242.log"));
        collect();
        QCOMPARE(row("SELECT endNs FROM LANESCOPE_PROCESSES"), "3000000000");
        QCOMPARE(row("SELECT \"end\" FROM NVTX_EVENTS WHERE eventType = 35"), "NULL");
        std::filesystem::remove(in("out.sqlite"));

        // `record` observed a later end. The process before an exec had ended.
        TestLog earlier(4242, startNs - 1000);
        earlier.add(nvtx(NvtxEvent::Push, 50, 0, earlier.string("before")));
        earlier.flush(startNs + 50, startNs + 50);
        earlier.writeTo(logPath("box.-.4242.0.log"));
        const CollectedRun run = collect(MainProcess{4242, 137, startNs + 4'500'000'000});
        QCOMPARE(row("SELECT min(endNs), max(endNs) FROM LANESCOPE_PROCESSES"), "50|4500000000");
        QCOMPARE(row("SELECT duration FROM ANALYSIS_DETAILS"), "4500000000");
        const auto warns = [](const CollectedRun& of, std::string_view sentence) {
            return std::ranges::any_of(of.warnings, [&](const auto& note) { return note.sentence == sentence; });
        };
        QVERIFY(warns(
            run, "Process 4242: no exit record after 4.5 s (terminated by signal 9); up to 0.5 s may be missing."));
        std::filesystem::remove(in("out.sqlite"));

        // The log was not written for long before the end.
        QVERIFY(warns(
            collect(MainProcess{4242, 5, startNs + 9'000'000'000}),
            "Process 4242: no exit record after 9.0 s (exit without exit handlers); its log ends 6.0 s earlier, so "
            "later events are missing (writing hung or failed)."));
    }

    void reportsALogTruncatedInItsHeader() {
        TestLog::write(logPath("box.-.4242.log"), TestLog().bytes().substr(0, 20));
        TestLog::write(logPath("box.-.4243.log"), "");
        QCOMPARE(collect().warnings.size(), 1u);
        QCOMPARE(row("SELECT code, count FROM LANESCOPE_HEALTH"), "log-cut|20");
    }

    void reportsAMissingDriver() {
        TestLog log;
        log.add(nvtx(NvtxEvent::Mark, 100, 0, log.string("m")));
        log.end(startNs + 200);
        log.flush();
        log.writeTo(logPath("box.-.4242.log"));
        RunInfo info = runInfo();
        info.machine.driverVersion.clear();
        for (const bool recordsCuda : {true, false}) {
            info.recordsCuda = recordsCuda;
            auto collector = test::beginCollector(in("run"), in("out.sqlite"), info);
            const auto run = (*collector)->finish({}, true);
            QCOMPARE(run->counts.of(ImportedKind::Nvtx), 1);
            QCOMPARE(run->warnings.size(), recordsCuda ? 1u : 0u);
        }
    }

    void followsGrowingLogs() {
        TestLog log;
        std::filesystem::create_directories(in("run"));
        auto collector = test::orFail(test::beginCollector(in("run"), in("out.sqlite"), runInfo()));
        collector->poll();
        QCOMPARE(collector->logCount(), 0u);
        for (int round = 1; round <= 5; ++round) {
            log.add(kernel(round * 100, log.string("k")));
            log.flush();
            log.writeTo(logPath("box.-.4242.log"));
            collector->poll();
            QCOMPARE(collector->openProcesses(), std::vector<uint32_t>{4242});
        }
        log.end(startNs + 900);
        log.flush();
        log.writeTo(logPath("box.-.4242.log"));
        collector->poll();
        QVERIFY(collector->openProcesses().empty());
        QCOMPARE(collector->finish({}, false)->counts.of(ImportedKind::Kernel), 5);
    }

    void overwritesOnlyOnRequest() {
        std::filesystem::create_directories(in("run"));
        auto first = test::beginCollector(in("run"), in("out.sqlite"), runInfo());
        TestLog::write(in("out.sqlite"), "precious");
        const auto refused = (*first)->finish({}, false);
        QVERIFY(!refused.has_value());
        QVERIFY(std::filesystem::exists(in("out.sqlite.partial")));
        QCOMPARE(std::filesystem::file_size(in("out.sqlite")), 8u);
        auto second = test::beginCollector(in("run"), in("out.sqlite"), runInfo());
        QVERIFY((*second)->finish({}, true).has_value());
        QVERIFY(std::filesystem::file_size(in("out.sqlite")) > 1000);
    }

    void joinsGpusByUuid() {
        TestLog log;
        DeviceRecord device{};
        device.uuid[0] = 0xab;
        device.deviceId = 0;
        device.name = log.string("Simulated GPU");
        device.memoryBandwidthKBps = 1000;
        log.add(device);
        for (int index = 0; index < 4; ++index) {
            MachineGpu gpu{.index = index, .uuid = index == 2 ? "GPU-ab000000-0000-0000-0000-000000000000" : "other"};
            fixture_->info.machine.gpus.push_back(gpu);
        }
        collect(log, startNs);
        QCOMPARE(row("SELECT count(*), id, name, memoryBandwidth FROM TARGET_INFO_GPU"), "1|2|Simulated GPU|1000000");
        QCOMPARE(row("SELECT gpuId, cudaId, pid FROM TARGET_INFO_CUDA_DEVICE"), "2|0|4242");
    }

    void everyThreadHasAName() {
        TestLog log;
        log.property(facts::program, "train.py");
        for (const uint32_t thread : {4242u, 4243u, 4242u}) {
            ApiRecord call{
                .startNs = startNs + 1, .endNs = startNs + 2, .name = log.string("cudaMalloc"), .threadId = thread};
            log.add(call);
        }
        log.add(ThreadNameRecord{.threadId = 4243, .name = log.string("loader")});
        collect(log, startNs + 9);
        QCOMPARE(fixture_->rows("SELECT globalTid % 0x1000000, value FROM ThreadNames"
                                " JOIN StringIds ON id = nameId ORDER BY globalTid"),
                 "4242|train.py, 4243|loader");
    }

    void gpuSliceIsNoNvmlGpu() {
        TestLog log;
        DeviceRecord device{};
        device.uuid[0] = 0xab;
        device.name = log.string("Simulated H200 MIG 1g.18gb");
        log.add(device);
        MachineGpu whole{.uuid = "GPU-ab000000-0000-0000-0000-000000000000", .nvlinkCount = 18};
        fixture_->info.machine.gpus.push_back(whole);
        collect(log, startNs);
        QCOMPARE(row("SELECT count(*), id, name, uuid FROM TARGET_INFO_GPU"),
                 "1|1|Simulated H200 MIG 1g.18gb|MIG-ab000000-0000-0000-0000-000000000000");
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_PROPERTIES WHERE name = 'gpu1.nvlinkCount'"), "0");
    }

    void collectorKeepsUp() {
        TestLog log;
        const uint32_t name = log.string("cudaLaunchKernel"), kernelName = log.string("_Z6kernelPf");
        constexpr int pairs = 100'000;
        for (int at = 1; at <= pairs; ++at) {
            log.add(ApiRecord{
                .startNs = startNs + at * 10, .endNs = startNs + at * 10 + 5, .name = name, .threadId = 4242});
            log.add(kernel(at * 10, kernelName));
        }
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(collect(log, startNs).counts.events(), 2 * pairs);
        qInfo("%.0f rows a second", 2e9 * pairs / static_cast<double>(timer.nsecsElapsed()));
    }

    /// Other programs' readers refuse a whole table for one such byte.
    void repairsInvalidUtf8() {
        TestLog log;
        log.property("program", "/opt/\xff/python");
        log.add(nvtx(NvtxEvent::Push, 100, 0,
                     log.string("a\xff\xfe"
                                "b")));
        log.add(nvtx(NvtxEvent::Pop, 200, 0, 0));
        log.add(nvtx(NvtxEvent::Push, 300, 0,
                     log.string("a\xfd\xfe"
                                "b")));
        log.add(nvtx(NvtxEvent::Pop, 400, 0, 0));
        collect(log);
        QCOMPARE(row("SELECT count(*) FROM StringIds WHERE value = 'a\xef\xbf\xbd\xef\xbf\xbd' || 'b'"), "1");
        QCOMPARE(row("SELECT count(DISTINCT textId) FROM NVTX_EVENTS WHERE eventType = 59"), "1");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'program'"), "/opt/\xef\xbf\xbd/python");
    }

    void execIsNoAbnormalEnd() {
        for (const int64_t begunNs : {int64_t{0}, int64_t{5000}}) {
            TestLog log(4242, startNs + begunNs);
            log.add(nvtx(NvtxEvent::Mark, begunNs + 100, 0, log.string("here")));
            if (begunNs > 0) log.end(startNs + begunNs + 500);
            log.flush(startNs + begunNs + 100, startNs + begunNs + 100);
            log.writeTo(logPath(begunNs > 0 ? "box.-.4242.2.log" : "box.-.4242.log"));
        }
        const CollectedRun run = collect();
        QVERIFY2(run.warnings.empty(), run.warnings.empty() ? "" : run.warnings[0].sentence.c_str());
        QCOMPARE(run.processesTruncated, 0);
        QCOMPARE(row("SELECT code, severity FROM LANESCOPE_HEALTH"), "process-became-another|0");
    }

    void reportsProcessesThatCouldNotWriteALog() {
        std::filesystem::create_directories(in("run"));
        std::filesystem::create_symlink("13 /usr/bin/python3", logPath("box.-.77.lost"));
        std::filesystem::create_symlink("nonsense", logPath("box.-.78.lost"));
        QCOMPARE(collect().processesWithoutLog, 2u);
        QCOMPARE(fixture_->rows("SELECT sentence FROM LANESCOPE_HEALTH ORDER BY sentence"),
                 "Process 77 (python3): used NVTX or CUDA, but could not write its log: Permission "
                 "denied., Process 78 (-): used NVTX or CUDA, but could not write its log: Success.");
    }

    void readsLogsOfANewerAgent() {
        TestLog log;
        log.property("agentVersion", "0.0.9");
        log.add(nvtx(NvtxEvent::Mark, 100, 0, log.string("here")));
        // Records and fields that only a newer agent writes.
        log.add(static_cast<RecordKind>(999), nvtx(NvtxEvent::Mark, 150, 0, 0));
        const uint64_t more[2] = {1, 2};
        log.add(ClockRecord{}, more, sizeof more);
        fixture_->info.version = "0.1.0";
        QVERIFY(collect(log, startNs + 500).warnings.empty());
        QCOMPARE(row("SELECT count(*) FROM NVTX_EVENTS"), "1");
        QCOMPARE(fixture_->rows("SELECT code, severity FROM LANESCOPE_HEALTH"), "versions-differ|0");
        QVERIFY(row("SELECT sentence FROM LANESCOPE_HEALTH").starts_with("The agent has version 0.0.9, and"));
    }

    void reportsAClockChangeOnce() {
        for (const uint32_t pid : {4242u, 4243u}) {
            TestLog log(pid);
            log.add(nvtx(NvtxEvent::Mark, 100, 0, log.string("here")));
            for (int second = 1; second <= 5; ++second) {
                ClockRecord clock{.realtimeNs = startNs + second * int64_t{1'000'000'000} + 400'000 * second,
                                  .monotonicNs = 5'000'000 + second * int64_t{1'000'000'000}};
                if (second >= 4) clock.realtimeNs -= 20'000'000'000;
                log.add(clock);
            }
            log.end(startNs + 5'000'000'000);
            log.flush(startNs + 100, startNs + 100);
            log.writeTo(logPath("box.-." + std::to_string(pid) + ".log"));
        }
        collect();
        QCOMPARE(fixture_->rows("SELECT code, severity, timestamp FROM LANESCOPE_HEALTH"), "clock-set|0|4000000000");
        QCOMPARE(row("SELECT sentence FROM LANESCOPE_HEALTH"),
                 "The clock of box was set 20.000 s back at 4.0 s. Times in this trace are not affected.");
    }

    void writesOperationsAndCommunicators() {
        TestLog log;
        Nccl nccl{log};
        NcclCommunicatorRecord made{.hash = 0xabc,
                                    .name = log.string("data parallel"),
                                    .rank = 1,
                                    .rankCount = 8,
                                    .nodeCount = 2,
                                    .interfaceVersion = 5};
        log.add(made);
        log.add(made);  // Repeated, as in a log's next file.
        // NCCL gathers bytes, whatever the program's type.
        nccl.add(nccl.asked(nccl.start(NcclEvent::Call, 1, 10), "AllGather", "ncclBfloat16", 512));
        nccl.stop(1, 12);
        nccl.add(nccl.start(NcclEvent::Launch, 2, 13));
        nccl.stop(2, 17);
        nccl.add(nccl.done(nccl.asked(nccl.start(NcclEvent::Task, 3, 18, 1), "AllGather", "ncclInt8", 1024)));
        nccl.stop(3, 19);
        QCOMPARE(collect(log).counts.of(ImportedKind::Nccl), 1);
        const int64_t tid = globalTid(4242, 4242);
        QCOMPARE(row("SELECT operation, datatype, count, bytes, communicator, rank, root, peer, sequence, algorithm, "
                     "protocol, channels, warps, isCaptured FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "AllGather|bfloat16|512|1024|2748|1|NULL|NULL|3|NVLS|SIMPLE|24|16|0");
        QCOMPARE(row("SELECT globalTid, start, \"end\", enqueueGlobalTid, enqueueStart, enqueueEnd, launchGlobalTid, "
                     "launchStart, launchEnd FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 fmt::format("{0}|10|12|{0}|18|19|{0}|13|17", tid));
        QCOMPARE(row("SELECT communicator, rank, rankCount, cudaDevice, nodeCount, name "
                     "FROM LANESCOPE_NCCL_COMMUNICATORS"),
                 "2748|1|8|NULL|2|data parallel");
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_NCCL_COMMUNICATORS"), "1");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'ncclProfilerInterface'"), "5");
    }

    void omitsFieldsThatOldNcclLacks() {
        TestLog log;
        Nccl nccl{log};
        NcclOperationRecord task =
            nccl.done(nccl.asked(nccl.start(NcclEvent::Task, 1, 10), "Broadcast", "ncclInt8", 1024));
        task.root = 5;
        nccl.add(task);
        nccl.stop(1, 11);
        collect(log);
        QCOMPARE(row("SELECT datatype, count, bytes, root, start, isCaptured, launchStart "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "NULL|NULL|1024|5|NULL|NULL|NULL");
    }

    void keepsUnfinishedOperations() {
        TestLog log;
        Nccl nccl{log};
        nccl.add(nccl.asked(nccl.start(NcclEvent::Call, 1, 10), "Send", "ncclFloat8e4m3", 7));
        nccl.add(nccl.start(NcclEvent::Task, 2, 20, 1));
        collect(log);
        QCOMPARE(row("SELECT operation, datatype, bytes, start, \"end\", enqueueStart, enqueueEnd "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "Send|float8e4m3|7|10|NULL|20|NULL");
    }

    void survivesBadRecords() {
        TestLog log;
        Nccl nccl{log};
        NcclOperationRecord odd = nccl.start(static_cast<NcclEvent>(77), 1, 10);
        nccl.add(odd);
        odd = nccl.start(NcclEvent::Task, 0, INT64_MIN);
        odd.function = odd.datatype = odd.algorithm = 999;  // lost
        odd.count = UINT64_MAX;
        odd.rank = INT32_MIN;
        odd.sequence = INT64_MIN;
        nccl.add(odd);
        nccl.stop(0, 5);
        nccl.stop(UINT64_MAX, 5);
        nccl.add(nccl.asked(nccl.start(NcclEvent::Task, 5, 10), "AllReduce", "ncclFloat64", UINT64_MAX / 2));
        NvtxDomainRecord tooShort{};
        log.add(RecordKind::NcclOperation, tooShort);
        log.add(RecordKind::NcclStop, ThreadNameRecord{});
        log.add(RecordKind::NcclCommunicator, ThreadNameRecord{});
        const CollectedRun run = collect(log);
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"), "2");
        QCOMPARE(row("SELECT operation, rank, sequence, bytes FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS "
                     "WHERE operation IS NULL"),
                 "NULL|NULL|NULL|NULL");
        QCOMPARE(row("SELECT bytes FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS WHERE operation = 'AllReduce'"), "NULL");
        QCOMPARE(row("SELECT count FROM LANESCOPE_HEALTH WHERE code = 'log-odd-records'"), "3");
        QCOMPARE(run.counts.of(ImportedKind::Nccl), 2);
    }

    void reportsMissingNcclRanges() {
        for (const bool nvtxIsOff : {false, true}) {
            init();
            TestLog log;
            if (nvtxIsOff) log.property("nvtx", "off");
            Nccl nccl{log};
            nccl.add(nccl.start(NcclEvent::Task, 1, 10));
            collect(log);
            QCOMPARE(row("SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'nccl-nvtx-off'"), nvtxIsOff ? "0" : "1");
        }
    }

    void reportsDroppedRecords() {
        TestLog log;
        DroppedRecord dropped{.count = 12, .what = Loss::NcclEvents};
        log.add(dropped);
        collect(log);
        QVERIFY(row("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'events-dropped'").find("12 NCCL events") !=
                std::string::npos);
    }
};

LANESCOPE_TEST(tst_Collector, QCoreApplication)
#include "tst_Collector.moc"
