// SPDX-License-Identifier: Apache-2.0
#include "capture/log/clocks.h"
#include "tests/capture/AgentRun.h"
#include "tests/capture/standin/TrainingPlan.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::log;
using lanescope::standin::TrainingPlan;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

/// Compares the kernels with the plan, each once with its times, and the counts of the rest.
void compareWithPlan(const ProcessLog& log, const TrainingPlan& plan) {
    QCOMPARE(test::listed(log.progress.lostBlocks, log.bytesNotUnderstood, log.unknownStrings), "0 | 0 | 0");
    QVERIFY(log.drops.empty());
    QCOMPARE(int64_t(log.kernels.size()), plan.kernels());
    std::set<uint32_t> seen;
    int64_t untimed = 0;
    ProcessLog& strings = const_cast<ProcessLog&>(log);
    for (const log::KernelRecord& kernel : log.kernels) {
        QVERIFY(seen.insert(kernel.correlationId).second);
        if (kernel.startNs == 0 && kernel.endNs == 0) {
            ++untimed;
            continue;
        }
        QCOMPARE(kernel.startNs, plan.baseNs + plan.startOffsetNs(kernel.correlationId));
        QCOMPARE(kernel.endNs - kernel.startNs, plan.durationNs(kernel.correlationId));
        QCOMPARE(kernel.streamId, plan.stream(kernel.correlationId));
        QCOMPARE(strings.text(kernel.name), std::string(standin::kernelName(kernel.correlationId)));
        QCOMPARE(test::listed(kernel.grid[0], kernel.block[0]), "132 | 256");
    }
    QCOMPARE(untimed, int64_t(plan.untimedKernels));
    for (int thread = 0; thread < plan.threads; ++thread) {
        for (int step = 0; step < plan.steps; ++step) {
            for (int i = 0; i < plan.kernelsPerStep; ++i) {
                QVERIFY(seen.count(plan.correlation(thread, step, i)));
            }
        }
    }
    QCOMPARE(int64_t(log.memcpys.size()), plan.memcpys());
    QCOMPARE(int64_t(log.memsets.size()), plan.memsets());
    QCOMPARE(int64_t(log.syncs.size()), plan.waits());
    QCOMPARE(int64_t(log.calls.size()), plan.driverCalls());
    QCOMPARE(test::listed(log.devices.size(), log.contexts.size()), "1 | 1");
    QCOMPARE(int64_t(log.streams.size()), int64_t{plan.threads});
}

void verifyEnd(const ProcessLog& log, log::EndReason reason, uint32_t signal = 0) {
    QCOMPARE(log.ends.size(), size_t{1});
    QCOMPARE(test::listed(log.ends[0].reason, log.ends[0].signal), test::listed(reason, signal));
}

QByteArray printsTrained(int64_t kernels) { return "trained " + QByteArray::number(qint64(kernels)) + " kernels\n"; }

TrainingPlan planOf(const AgentRun& run, int threads, int steps, int kernels, int untimed = 0) {
    return {run.baseNs, threads, steps, kernels, untimed};
}

constexpr const char* annotated = R"(
import multiprocessing, nvtx, os, sys

@nvtx.annotate("decorated", color="green", domain="python", category="step")
def work(number):
    with nvtx.annotate(message=f"item {number}"):
        return number * number

def child(number):
    for item in range(5):
        work(item)
    return os.getpid()

if __name__ == "__main__":
    for number in range(10):
        work(number)
    range_id = nvtx.start_range("across")
    nvtx.end_range(range_id)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(len(set(pool.map(child, range(8), chunksize=1))) > 0)
    sys.exit(4)
)";

}  // namespace

class tst_Agent : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString python_, script_;

  private slots:
    void recordsEveryKernelOnce_data() {
        const test::Rows<QString, bool, QString> row;
        for (const char* version :
             {"18", "19", "20", "22", "24", "26", "28", "130000", "130001", "130200", "130300", "130400"}) {
            const bool isOld = QString(version).toInt() < 23;
            row(QString(version), version, isOld, "filtered");
            row(QString::asprintf("%s, all calls", version), version, isOld, "all");
        }
    }
    void recordsEveryKernelOnce() {
        const auto [version, isOld, api] = test::row<QString, bool, QString>();
        AgentRun run;
        run.environment["STANDIN_CUPTI_VERSION"] = version;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "api=" + api;
        run.arguments = {"--steps", "40", "--kernels", "50", "--untimed", "7"};
        if (isOld) {
            const QString library = LANESCOPE_BINARY_DIR "/lib/standin/old/libcupti.so.12";
            run.environment["LANESCOPE_CUPTI"] = library;
            run.arguments << "--cupti" << library;
        }
        run.succeed();
        const TrainingPlan plan = planOf(run, 1, 40, 50, 7);
        QCOMPARE(test::listed(run.output, run.errors), test::listed(printsTrained(plan.kernels()), QByteArray()));
        if (api == "filtered") {
            compareWithPlan(run.log(), plan);
        } else {
            QCOMPARE(int64_t(run.log().kernels.size()), plan.kernels());
            QCOMPARE(int64_t(run.log().syncs.size()), plan.waits());
            for (const log::SyncRecord& sync : run.log().syncs) {
                // Since 12.8, the record names the event record that a wait waits for; before, it does not.
                QCOMPARE(sync.eventSyncId, version.toInt() >= 26 ? 0u : 0xffffffffu);
            }
        }
        verifyEnd(run.log(), log::EndReason::Exit);
        QCOMPARE(run.log().properties.at("cuptiVersion"), version.toStdString());
        QCOMPARE(run.log().notes.count("cupti-13.0.0"), version == "130000" ? 1u : 0u);
        QCOMPARE(run.log().notes.count("cupti-13.2-slow"), version == "130200" ? 1u : 0u);
        QCOMPARE(run.logs.size(), size_t{1});
    }

    void addsTimeToTheCallsOfARank() {
        const auto longCalls = [](const char* rank) {
            AgentRun run({"--steps", "4", "--kernels", "5"},
                         {{"LANESCOPE_AGENT_OPTIONS", "add-to-calls=3000000:0::1:cuLaunchKernel"},
                          {"RANK", rank},
                          {"WORLD_SIZE", "2"}});
            run.succeed();
            return std::ranges::count_if(run.log().calls,
                                         [](const auto& call) { return call.endNs - call.startNs >= 3'000'000; });
        };
        // Others' load may lengthen further calls, but not all of them.
        QVERIFY(longCalls("1") >= 20 && longCalls("0") < 20);
    }

    void recordsRareKindsOnRequest_data() {
        QTest::addColumn<QString>("version");
        for (const char* version : {"18", "20", "22", "24", "26", "130001", "130300"})
            QTest::newRow(version) << version;
    }
    void recordsRareKindsOnRequest() {
        QFETCH(QString, version);
        AgentRun run({"--rare", "1"},
                     {{"STANDIN_CUPTI_VERSION", version}, {"LANESCOPE_AGENT_OPTIONS", "memory=1,um=1,graphs=whole"}});
        QCOMPARE(test::listed(run.exitCode, run.errors), test::listed(0, QByteArray()));
        ProcessLog log = run.log();
        constexpr uint32_t first = 4'000'000'001;
        QCOMPARE(log.overheads.size(), size_t{1});
        QCOMPARE(test::listed(log.overheads[0].threadId, log.overheads[0].endNs - log.overheads[0].startNs), "77 | 10");
        QCOMPARE(log.overheads[0].correlationId, version.toInt() >= 20 ? first : 0);
        const bool isRefused = version == "22";  // 12.4 crashes
        QCOMPARE(log.graphs.size(), size_t(!isRefused));
        QCOMPARE(log.notes.count("graphs-one-by-one"), size_t(isRefused));
        if (!isRefused) {
            QCOMPARE(test::listed(log.graphs[0].graphId, log.graphs[0].correlationId), test::listed(3u, first + 1));
            QCOMPARE(log.graphs[0].endNs - log.graphs[0].startNs, 20);
        }
        QCOMPARE(log.memory.size(), size_t{1});
        QCOMPARE(log.memory[0].address, uint64_t{0x7000});
        QCOMPARE(log.memory[0].bytes, standin::copyBytes);
        QCOMPARE(log.memory[0].poolAddress, uint64_t{0x9000});
        QCOMPARE(test::listed(log.memory[0].poolBytes, log.memory[0].poolUsedBytes), "5 | 4");
        QCOMPARE(test::listed(log.memory[0].poolProcessId, log.memory[0].operation), "0 | 1");
        QVERIFY(log.memory[0].isAsync);
        QCOMPARE(log.pools.size(), size_t{1});
        QCOMPARE(test::listed(log.pools[0].operation, log.pools[0].usedBytes), "3 | 4");
        QCOMPARE(test::listed(log.pools[0].minimumBytesToKeep, log.unifiedMemory.size()), "2 | 1");
        QCOMPARE(log.unifiedMemory[0].value, uint64_t{65'536});
        QCOMPARE(log.unifiedMemory[0].sourceId, 0xffffffffu);
        // A kernel without a name is kept, too.
        QCOMPARE(log.kernels.size(), size_t{61});
        const auto odd = std::find_if(log.kernels.begin(), log.kernels.end(),
                                      [](const auto& k) { return k.correlationId == first + 4; });
        QVERIFY(odd != log.kernels.end());
        QCOMPARE(test::listed(odd->name, odd->graphNodeId), "0 | 12");
        QCOMPARE(log.notes.count("cupti-graph-leak"), size_t(version.toInt() < 130300));
    }

    void skipsRareKindsByDefault() {
        AgentRun run({"--rare", "1"});
        const ProcessLog& log = run.log();
        QVERIFY(log.graphs.empty() && log.memory.empty() && log.pools.empty() && log.unifiedMemory.empty());
        QCOMPARE(log.overheads.size(), size_t{1});
    }

    void reportsManagedMemoryAsUnsupported() {
        AgentRun run({"--rare", "1"}, {{"STANDIN_CUPTI_UM", "29"}, {"LANESCOPE_AGENT_OPTIONS", "um=1"}});
        QCOMPARE(run.log().notes.count("no-unified-memory"), size_t{1});
        QVERIFY(run.log().unifiedMemory.empty());
        QCOMPARE(run.log().kernels.size(), size_t{61});
    }

    void reportsAnUnreadableBuffer() {
        AgentRun run({}, {{"STANDIN_CUPTI_READABLE", "5000"}});
        QCOMPARE(test::listed(run.exitCode, run.log().notes.count("buffer-unreadable")), "0 | 1");
        QVERIFY(!run.log().kernels.empty());
        verifyEnd(run.log(), log::EndReason::Exit);
    }

    void recordsManyThreads() {
        AgentRun run({"--threads", "12", "--steps", "60", "--kernels", "40"});
        compareWithPlan(run.log(), planOf(run, 12, 60, 40));
        QCOMPARE(run.log().nvtx.size(), size_t{12 * 60 * 11});
    }

    void recordsAMillionKernels() {
        AgentRun run({"--steps", "500", "--kernels", "2000", "--step-ms", "1"});
        compareWithPlan(run.log(), planOf(run, 1, 500, 2000));
    }

    void countsLossesOnTheSlowestDisk() {
        AgentRun run({}, {{"STANDIN_CUPTI_DROPPED", "17"}});
        QCOMPARE(run.log().dropped(Loss::CudaActivity), 17u);
    }

    void decodesTheDevice() {
        AgentRun run;
        QVERIFY(run.run());
        ProcessLog log = run.log();
        QCOMPARE(log.text(log.devices.at(0).name), std::string("Simulated GPU"));
        QCOMPARE(log.devices[0].memoryBytes, uint64_t{80} << 30);
        QCOMPARE(log.devices[0].smCount, 132u);
        QCOMPARE(std::string(reinterpret_cast<const char*>(log.devices[0].uuid), 16), std::string("SIMULATED-GPU-00"));
        QCOMPARE(test::listed(log.memcpys.at(0).copyKind, log.memcpys[0].bytes), test::listed(1, standin::copyBytes));
        QVERIFY(log.memcpys[0].isAsync);
    }

    void skipsQueryCalls_data() {
        const test::Rows<QString, int> row;
        row("filtered", "api=filtered", 0);
        row("all", "api=all", 10);
        row("unknown options", ",,api,=,cuda=maybe,fancy=1,=", 0);
    }
    void skipsQueryCalls() {
        const auto [options, asking] = test::row<QString, int>();
        AgentRun run({}, {{"LANESCOPE_AGENT_OPTIONS", options}});
        ProcessLog log = run.log();
        int found = 0;
        for (const log::ApiRecord& call : run.log().calls) {
            found += log.text(call.name).rfind("cudaGetDevice", 0) == 0;
            QVERIFY(!log.text(call.name).empty());
            QVERIFY(call.threadId == run.pid);
        }
        QCOMPARE(found, asking);
    }

    void recordsOnlyRequestedCalls_data() {
        const test::Rows<QString, int, int> row;
        const TrainingPlan plan;
        row("default", "", int(plan.driverCalls()), int(plan.waits()));
        row("launch", "api=launch", int(plan.driverCalls()), int(plan.waits()));
        row("all", "api=all", int(plan.allCallsOfWork() + plan.steps), int(plan.waits()));
        row("none", "api=none", 0, 0);
    }
    void recordsOnlyRequestedCalls() {
        const auto [options, calls, waits] = test::row<QString, int, int>();
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
        const int64_t beforeNs = realtimeNs();
        QVERIFY(run.run());
        const int64_t afterNs = realtimeNs();
        const ProcessLog log = run.log();
        QCOMPARE(test::listed(int(log.calls.size()), int(log.syncs.size())), test::listed(calls, waits));
        QCOMPARE(int64_t(log.kernels.size()), TrainingPlan{}.kernels());
        for (const log::SyncRecord& sync : log.syncs) {
            QCOMPARE(sync.type, 3u);
            QCOMPARE(sync.streamId, TrainingPlan::stream(sync.correlationId));
        }
        if (options == "api=all") return;  // its times are the plan's
        for (const log::ApiRecord& call : log.calls) {
            QVERIFY(call.startNs >= beforeNs && call.endNs <= afterNs);
            // The stand-in's calls take a microsecond; its clock may differ slightly from ours.
            QVERIFY(call.endNs - call.startNs >= 500 && call.isDriver);
        }
    }

    void switchesKindsOff() {
        AgentRun without;
        without.environment["LANESCOPE_AGENT_OPTIONS"] = "memset=0";
        QVERIFY(without.run() && without.log().memcpys.size() > 0);
        QCOMPARE(without.log().memsets.size(), size_t{0});
        AgentRun run({}, {{"LANESCOPE_AGENT_OPTIONS", "cuda=0"}});
        QCOMPARE(run.log().kernels.size(), size_t{0});
        QVERIFY(run.log().nvtx.size() > 0);
        AgentRun other;
        other.environment["LANESCOPE_AGENT_OPTIONS"] = "nvtx=0";
        QVERIFY(other.run() && other.log().kernels.size() > 0);
        QCOMPARE(other.log().nvtx.size(), size_t{0});
    }

    void keepsNvtxInOrder() {
        AgentRun run;
        QVERIFY(run.run());
        ProcessLog log = run.log();
        struct Expected {
            log::NvtxEvent event;
            const char* text;
            const char* domain;
            int level;
        };
        const auto step = [](size_t i) { return "step " + std::to_string(i); };
        using log::NvtxEvent;
        const std::vector<Expected> pattern = {{NvtxEvent::Push, nullptr, "", 0},
                                               {NvtxEvent::Push, "forward", "trainer", 0},
                                               {NvtxEvent::Pop, "", "trainer", 0},
                                               {NvtxEvent::Push, "backward", "", 1},
                                               {NvtxEvent::Push, "ncclAllReduce", "NCCL", 0},
                                               {NvtxEvent::Pop, "", "NCCL", 0},
                                               {NvtxEvent::Mark, "loss", "", 0},
                                               {NvtxEvent::Pop, "", "", 1},
                                               {NvtxEvent::Start, "optimizer \xc2\xb5", "", 0},
                                               {NvtxEvent::End, "", "", 0},
                                               {NvtxEvent::Pop, "", "", 0}};
        QCOMPARE(log.nvtx.size(), pattern.size() * 10);
        int64_t before = 0;
        for (size_t i = 0; i < log.nvtx.size(); ++i) {
            const auto& [record, text, extended] = log.nvtx[i];
            const Expected& expected = pattern[i % pattern.size()];
            QCOMPARE(record.event, expected.event);
            QCOMPARE(text, expected.text ? std::string(expected.text) : step(i / pattern.size()));
            QCOMPARE(log.domains[record.domain], std::string(expected.domain));
            QCOMPARE(test::listed(record.level, record.threadId), test::listed(expected.level, run.pid));
            QVERIFY(record.timestampNs >= before);
            before = record.timestampNs;
            if (i % pattern.size() == 0) {
                QCOMPARE(record.payload, log::NvtxPayload::Int64);
                QCOMPARE(record.payloadBits, i / pattern.size());
            }
            if (std::string(expected.text ? expected.text : "") == "forward") {
                QCOMPARE(test::listed(record.category, record.colorArgb), test::listed(5u, 0xff336699u));
            }
            if (expected.event == NvtxEvent::End) QCOMPARE(record.rangeId, log.nvtx[i - 1].record.rangeId);
        }
        QVERIFY(before >= run.baseNs);
        QCOMPARE(log.categories, std::vector<std::string>{"passes"});
    }

    void keepsExtendedPayloads() {
        AgentRun run;
        QVERIFY(run.run());
        ProcessLog log = run.log();
        QCOMPARE(log.schemas.size(), size_t{1});
        const auto& [schemaId, schema] = *log.schemas.begin();
        QCOMPARE(log.text(schema.record.name), std::string("AllReduce"));
        QCOMPARE(test::listed(schema.record.entryCount, schema.entries.size()), "3 | 3");
        QCOMPARE(log.text(schema.entries[1].name), std::string("Message size [bytes]"));
        QCOMPARE(schema.entries[1].offset, offsetof(standin::AllReducePayload, bytes));
        uint64_t expectedBytes = 8;
        for (const auto& [record, text, extended] : log.nvtx) {
            if (text != "ncclAllReduce") continue;
            QCOMPARE(record.schemaId, schemaId);
            QCOMPARE(extended.size(), sizeof(standin::AllReducePayload));
            standin::AllReducePayload payload;
            std::memcpy(&payload, extended.data(), sizeof payload);
            QCOMPARE(payload.communicator, standin::communicatorHash);
            QCOMPARE(payload.bytes, expectedBytes);
            expectedBytes += 8;
        }
        QCOMPARE(expectedBytes, 88u);
    }

    void keepsEnumerations() {
        AgentRun run;
        QVERIFY(run.run());
        ProcessLog log = run.log();
        QCOMPARE(log.enums.size(), size_t{1});
        const log::NvtxEnumRecord& reduction = log.enums.begin()->second;
        QCOMPARE(test::listed(log.text(reduction.name), log.domains[reduction.domain]), "Reduction | NCCL");
        QCOMPARE(test::listed(reduction.payloadBytes, reduction.entryCount), "4 | 2");
        QCOMPARE(test::listed(log.schemas.count(reduction.schemaId), log.enumEntries.size()), "0 | 2");
        QCOMPARE(test::listed(log.text(log.enumEntries[1].name), log.enumEntries[1].value), "Max | 2");
        QVERIFY(log.enumEntries[1].isFlag && !log.enumEntries[0].isFlag);
        QCOMPARE(log.enumEntries[1].schemaId, reduction.schemaId);
    }

    void countsNvtxLevels() {
        AgentRun run({"--steps", "0", "--depth", "500"});
        const auto& nvtx = run.log().nvtx;
        QCOMPARE(nvtx.size(), size_t{1000});  // the surplus end is absent
        for (int i = 0; i < 500; ++i) {
            QCOMPARE(nvtx[size_t(i)].record.level, i);
            QCOMPARE(nvtx[size_t(500 + i)].record.level, 499 - i);
        }
    }

    void distinguishesEndedThreads() {
        AgentRun run({"--steps", "0", "--churn", "400", "--threads-per-round", "8"});
        int pushes = 0;
        for (const auto& [record, text, extended] : run.log().nvtx) {
            if (record.event != log::NvtxEvent::Push) continue;
            ++pushes;
            QCOMPARE(test::listed(uint64_t{record.threadId}, record.level), test::listed(record.payloadBits, 0));
        }
        QCOMPARE(pushes, 400);
    }

    void sharesDomainsAmongLibraries() {
        AgentRun run({"--plugin", LANESCOPE_BINARY_DIR "/lib/standin/libstandin-nvtx-plugin.so"});
        ProcessLog log = run.log();
        QCOMPARE(log.domains.size(), size_t{2});
        const auto& last = log.nvtx[log.nvtx.size() - 2];
        QCOMPARE(last.text, std::string("plugin"));
        QCOMPARE(log.domains[last.record.domain], std::string("trainer"));
    }

    void findsLoadedCupti() {
        AgentRun run({"--cupti-first", "1"}, {{"LANESCOPE_CUPTI", ""}});
        compareWithPlan(run.log(), planOf(run, 1, 10, 6));
        QCOMPARE(run.log().properties.at("cuptiPath"), lanescope::test::standinCupti().toStdString());
    }

    void recordsWithNvtxBeforeCuda() {
        AgentRun run({"--nvtx-first", "1"});
        compareWithPlan(run.log(), planOf(run, 1, 10, 6));
        verifyEnd(run.log(), log::EndReason::Exit);
    }

    void recordsWithoutContextCallbacks() {
        AgentRun run({"--nvtx", "0"}, {{"STANDIN_CUPTI_SILENT", "1"}});
        compareWithPlan(run.log(), planOf(run, 1, 10, 6));
    }

    void readsTheLastBuffersDuringASlowFlush() {
        AgentRun run({"--step-ms", "37", "--steps", "20"}, {{"STANDIN_CUPTI_SLOW_MS", "150"}});
        compareWithPlan(run.log(), planOf(run, 1, 20, 6));
    }

    void initTestCase() {
        python_ = qEnvironmentVariable("LANESCOPE_TEST_PYTHON", "python3");
        QProcess process;
        process.start(python_, {"-c", "import nvtx"});
        if (!process.waitForFinished() || process.exitCode() != 0) {
            QSKIP("This Python has no nvtx package: pip install nvtx, or set LANESCOPE_TEST_PYTHON.");
        }
        script_ = folder_.filePath("annotated.py");
        QFile file(script_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(annotated);
    }

    void recordsPython_data() { test::rows<QString>("method", {{"fork", "fork"}, {"spawn", "spawn"}}); }
    void recordsPython() {
        if (script_.isEmpty()) QSKIP("No nvtx package.");
        QFETCH(QString, method);
        AgentRun run;
        run.program = python_;
        run.arguments = {script_, method};
        QVERIFY(run.run());
        QCOMPARE(test::listed(run.exitCode, run.output), "4 | True\n");
        QCOMPARE(run.errors, QByteArray());
        ProcessLog log = run.log();
        QCOMPARE(log.nvtx.size(), size_t{42});
        QCOMPARE(test::listed(log.nvtx[0].text, log.domains[log.nvtx[0].record.domain]), "decorated | python");
        QCOMPARE(test::listed(log.nvtx[1].text, log.ends.size()), "item 0 | 1");
        QVERIFY(run.logs.size() >= 2);
        for (size_t i = 1; i < run.logs.size(); ++i) {
            QVERIFY(!run.logs[i].isCorrupt);
            QCOMPARE(run.logs[i].unknownStrings, 0);
        }
    }
};

LANESCOPE_TEST(tst_Agent, QCoreApplication)
#include "tst_Agent.moc"
