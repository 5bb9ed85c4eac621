// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "tests/capture/AgentRun.h"
#include "tests/capture/byPath.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;

using lanescope::test::agentLibrary;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;
using log::NcclEvent;

namespace {

constexpr int64_t nsPerMs = 1'000'000;

bool isIn(const ProcessLog& log, int64_t ns) {
    int64_t beginNs = INT64_MAX;
    for (const log::WindowRecord& window : log.windows) {
        if (window.isBegin) beginNs = window.timestampNs;
        if (!window.isBegin && ns >= beginNs && ns < window.timestampNs) return true;
        if (!window.isBegin) beginNs = INT64_MAX;
    }
    return ns >= beginNs;
}

/// Checks an invariant of every window: it contains all of its events, and no others.
void verifyGated(const ProcessLog& log) {
    QCOMPARE(test::listed(log.unknownStrings, log.progress.lostBlocks), "0 | 0");
    QVERIFY(log.drops.empty());
    std::multiset<uint32_t> launched, ran;
    for (const log::ApiRecord& call : log.calls) {
        QVERIFY(isIn(log, call.startNs));
        ProcessLog& strings = const_cast<ProcessLog&>(log);
        if (strings.text(call.name) == "cuLaunchKernel") launched.insert(call.correlationId);
    }
    for (const log::KernelRecord& kernel : log.kernels) ran.insert(kernel.correlationId);
    QCOMPARE(ran.size(), launched.size());
    QVERIFY(ran == launched);
    for (const auto& event : log.nvtx) {
        if (event.record.event == log::NvtxEvent::Pop) continue;
        if (event.record.event == log::NvtxEvent::End) continue;
        QVERIFY(isIn(log, event.record.timestampNs));
    }
    // Records needed to read the rest are never omitted.
    QCOMPARE(test::listed(log.devices.size(), log.contexts.size()), "1 | 1");
    QVERIFY(log.streams.size() >= 1);
    QCOMPARE(log.ends.size(), size_t{1});
}

/// Number of kept kernels that each step of a thread launched; steps from 1.
std::map<int, int> kernelsByStep(const ProcessLog& log, uint32_t thread = 1) {
    std::map<int, int> kernels;
    for (const log::KernelRecord& kernel : log.kernels)
        if (kernel.grid[2] == thread) ++kernels[int(kernel.grid[1])];
    return kernels;
}

std::vector<std::string> pushes(const ProcessLog& log) {
    std::vector<std::string> names;
    for (const auto& event : log.nvtx)
        if (event.record.event == log::NvtxEvent::Push) names.push_back(event.text);
    return names;
}

using Steps = std::map<int, int>;

/// Checks that the program behaves as without the agent.
void verifyUntouched(const AgentRun& run, int kernels) {
    QCOMPARE(run.exitCode, 0);
    QCOMPARE(run.output, "trained " + QByteArray::number(kernels) + " kernels\n");
    QCOMPARE(run.errors, QByteArray());
}

int steps(const ProcessLog& log) {
    int count = 0;
    for (const auto& event : log.nvtx) count += event.text.rfind("step ", 0) == 0;
    return count;
}

/// A run of the NCCL stand-in with the agent as its plugin.
struct NcclRun : AgentRun {
    NcclRun(int version, const char* scenario, bool hasAgent = true) {
        program = LANESCOPE_BINARY_DIR "/bin/standin-nccl";
        arguments = {QString::number(version), scenario};
        environment["NCCL_PROFILER_PLUGIN"] = agentLibrary();
        withAgent = hasAgent;
        if (!hasAgent) environment["LANESCOPE_AGENT_DIR"] = "";
        succeed();
    }
};

std::vector<ProcessLog::Nccl> of(const ProcessLog& log, NcclEvent event) {
    std::vector<ProcessLog::Nccl> found;
    std::copy_if(log.nccl.begin(), log.nccl.end(), std::back_inserter(found),
                 [event](const auto& one) { return one.record.event == event; });
    return found;
}

std::set<uint64_t> stopped(const ProcessLog& log) {
    std::set<uint64_t> ids;
    for (const log::NcclStopRecord& stop : log.ncclStops) ids.insert(stop.id);
    return ids;
}

void addVersions() {
    QTest::addColumn<int>("version");
    for (int version = 1; version <= 7; ++version) QTest::addRow("v%d", version) << version;
}

}  // namespace

/// Tests of the agent as NCCL's profiler plugin, driven by a stand-in for NCCL.
class tst_AgentWindows : public QObject {
    Q_OBJECT

  private slots:
    void keepsSteps_data() {
        const test::Rows<int, QString, QString> row;
        for (const char* api : {"filtered", "launch", "all"}) {
            row(QString::asprintf("at once, %s", api), 0, api, "");
            row(QString::asprintf("two steps later, %s", api), 25'000, api, "");
            row(QString::asprintf("long after, %s", api), 400'000, api, "");
        }
        for (const char* manner : {"on a thread of CUPTI's", "kept back", "overtaking", "all of it"}) {
            row(QString::asprintf("two steps later, %s", manner), 25'000, "filtered", manner);
            row(QString::asprintf("long after, %s", manner), 400'000, "filtered", manner);
        }
    }
    void keepsSteps() {
        const auto [delayUs, api, manner] = test::row<int, QString, QString>();
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=3-5,api=" + api;
        run.arguments = {"--live",         "1",
                         "--steps",        "20",
                         "--kernels",      "30",
                         "--step-ms",      "10",
                         "--gpu-delay-us", QString::number(delayUs)};
        const bool isAll = manner == "all of it";
        if (isAll || manner == "on a thread of CUPTI's") run.environment["STANDIN_CUPTI_THREAD"] = "1";
        if (isAll || manner == "kept back") {
            run.environment["STANDIN_CUPTI_KEEPS"] = "1";
            run.arguments << "--tells-early"
                          << "1";
        }
        if (isAll || manner == "overtaking")
            run.arguments << "--overtakes"
                          << "1";
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{4, 30}, {5, 30}, {6, 30}}));
        QCOMPARE(pushes(run.log()),
                 (std::vector<std::string>{"step 3", "forward", "step 4", "forward", "step 5", "forward"}));
        QCOMPARE(run.log().windows.size(), size_t{2});
        // Each recorded range has its end, and the last ends the window.
        QCOMPARE(run.log().nvtx.size(), size_t{3 * 6});
        QCOMPARE(run.log().nvtx.front().record.timestampNs, run.log().windows[0].timestampNs);
        QCOMPARE(run.log().nvtx.back().record.timestampNs, run.log().windows[1].timestampNs);
    }

    void keepsStepsOfAllThreads_data() { test::rows<bool>("isRough", {{"smooth", false}, {"rough", true}}); }
    void keepsStepsOfAllThreads() {
        QFETCH(bool, isRough);
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=4-8";
        run.arguments = {"--live",    "1", "--steps",   "40", "--kernels",      "200",
                         "--threads", "6", "--step-ms", "3",  "--gpu-delay-us", "7000"};
        if (isRough) {
            run.environment["STANDIN_CUPTI_THREAD"] = run.environment["STANDIN_CUPTI_KEEPS"] = "1";
            run.arguments << "--tells-early"
                          << "1"
                          << "--overtakes"
                          << "1";
        }
        QVERIFY(run.run());
        verifyGated(run.log());
        QVERIFY(run.log().kernels.size() >= 5 * 200);
        std::set<uint32_t> threads;
        for (const log::KernelRecord& kernel : run.log().kernels) threads.insert(kernel.grid[2]);
        QCOMPARE(threads.size(), size_t{6});
    }

    void repeatsSteps() {
        AgentRun run({"--live", "1", "--steps", "16", "--kernels", "10", "--step-ms", "4"},
                     {{"LANESCOPE_AGENT_OPTIONS", "steps=2-3,repeat=2"}});
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{3, 10}, {4, 10}, {7, 10}, {8, 10}}));
        QCOMPARE(run.log().windows.size(), size_t{4});
    }

    void keepsRanges_data() {
        const test::Rows<QString, QString> row;
        row("domain", "nvtx:forward@trainer,repeat=2", "1 2");
        row("any domain", "nvtx:forw*", "1");
        row("start and end", "nvtx:optimizer%20*,repeat=0", "1 2 3 4 5 6 7 8");
        row("default domain", "nvtx:step%205@", "6 6");
        row("another domain", "nvtx:forward@other", "");
    }
    void keepsRanges() {
        const auto [range, expected] = test::row<QString, QString>();
        AgentRun run({"--live", "1", "--steps", "8", "--kernels", "10", "--step-ms", "5", "--gpu-delay-us", "3000"},
                     {{"LANESCOPE_AGENT_OPTIONS", "range=" + range}});
        verifyGated(run.log());
        // Half of a step's kernels are launched in its forward pass, half in the optimizer.
        Steps steps;
        for (const QString& step : expected.split(' ', Qt::SkipEmptyParts)) steps[step.toInt()] += 5;
        QCOMPARE(kernelsByStep(run.log()), steps);
        QCOMPARE(run.log().notes.count("no-window"), size_t(expected.isEmpty()));
    }

    void keepsWindowsRequestedByTheProgram() {
        AgentRun run({"--live", "1", "--profile-from", "3", "--profile-to", "4", "--profile-every", "6", "--steps",
                      "12", "--kernels", "10", "--step-ms", "5", "--gpu-delay-us", "8000"},
                     {{"LANESCOPE_AGENT_OPTIONS", "range=cudaProfilerApi,repeat=0"}});
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{3, 10}, {4, 10}, {9, 10}, {10, 10}}));
    }

    void keepsATime() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] =
            "delay-ms=600,duration-ms=200,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live",    "1", "--steps",        "200",  "--kernels", "10",
                         "--step-ms", "7", "--gpu-delay-us", "30000"};
        QVERIFY(run.run());
        verifyGated(run.log());
        const auto& windows = run.log().windows;
        QCOMPARE(windows.size(), size_t{2});
        QCOMPARE(windows[0].timestampNs, run.baseNs + 600 * nsPerMs);
        QCOMPARE(windows[1].timestampNs, run.baseNs + 800 * nsPerMs);
        QVERIFY(!run.log().kernels.empty() && !run.log().nvtx.empty());
        // Kernels of the last 30 ms ran after the window.
        int64_t lastNs = 0;
        for (const log::KernelRecord& kernel : run.log().kernels) lastNs = std::max(lastNs, kernel.startNs);
        QVERIFY(lastNs > windows[1].timestampNs);
    }

    void samplesRepeatedly() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] =
            "delay-ms=100,duration-ms=50,repeat=3,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live", "1", "--steps", "150", "--kernels", "10", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(run.log().windows.size(), size_t{6});
        QCOMPARE(run.log().windows[4].timestampNs, run.baseNs + (2 * 150 + 100) * nsPerMs);
        QVERIFY(run.log().kernels.size() < 150 * 10 / 2);
    }

    void beginsLateAndNeverEnds() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "delay-ms=300,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live", "1", "--steps", "100", "--kernels", "5", "--step-ms", "7"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(run.log().windows.size(), size_t{1});
        QVERIFY(kernelsByStep(run.log()).count(100) == 1 && kernelsByStep(run.log()).count(1) == 0);
    }

    void endsAWindowThatLastsTooLong() {
        AgentRun run({"--live", "1", "--steps", "100", "--kernels", "5", "--step-ms", "5"},
                     {{"LANESCOPE_AGENT_OPTIONS", "steps=1-999,duration-ms=100"}});
        verifyGated(run.log());
        const auto& windows = run.log().windows;
        QCOMPARE(windows.size(), size_t{2});
        QCOMPARE(windows[1].timestampNs - windows[0].timestampNs, 100 * nsPerMs);
    }

    void reportsAMissingWindow_data() {
        const test::Rows<QString, QString> row;
        row("time", "delay-ms=600000", "before the recording window");
        row("range", "range=nvtx:nowhere", "NVTX range");
        row("profiler", "range=cudaProfilerApi", "cudaProfilerStart");
        row("steps", "steps=499-599", "steps");
        row("step range", "steps=0-1,step-range=epoch", "steps");
    }
    void reportsAMissingWindow() {
        const auto [options, word] = test::row<QString, QString>();
        AgentRun run({"--live", "1", "--step-ms", "5"}, {{"LANESCOPE_AGENT_OPTIONS", options}});
        verifyGated(run.log());
        QVERIFY(run.log().kernels.empty() && run.log().nvtx.empty() && run.log().calls.empty());
        QCOMPARE(run.log().notes.count("no-window"), size_t{1});
        QVERIFY(run.log().notes.at("no-window").find(word.toStdString()) != std::string::npos);
    }

    void truncatesTheLogOnAFullDisk() {
        AgentRun run;
        // Simulates a full disk: a write beyond this size fails after a partial write.
        run.inChild = [] {
            const rlimit limit{1'000'001, 1'000'001};
            ::setrlimit(RLIMIT_FSIZE, &limit);
        };
        run.arguments = {"--steps", "100", "--kernels", "100", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyUntouched(run, 10'000);
        QVERIFY(run.log().kernels.size() > 1000 && run.log().kernels.size() < 10000);
        QCOMPARE(test::listed(run.log().unknownStrings, run.log().bytesNotUnderstood), "0 | 0");
        QVERIFY(!run.log().isCorrupt);
    }

    void splitsALongLogIntoFiles() {
        AgentRun run({"--steps", "200", "--kernels", "200", "--step-ms", "5"},
                     {{"LANESCOPE_AGENT_OPTIONS", "part-mb=1"}});
        verifyUntouched(run, 40'000);
        QVERIFY(QDir(run.folder).entryList({"*.log.*"}).size() >= 4);
        QCOMPARE(run.logs.size(), size_t{1});
        const ProcessLog& log = run.log();
        QCOMPARE(test::listed(log.kernels.size(), steps(log)), "40000 | 200");
        QCOMPARE(test::listed(log.unknownStrings, log.progress.lostBlocks, log.ends.size()), "0 | 0 | 1");
        // Each file repeats the definitions that its records refer to.
        QVERIFY(log.devices.size() >= 5);
        QCOMPARE(log.devices.size(), log.contexts.size());
        for (const QString& name : QDir(run.folder).entryList({"*.log.*"})) {
            // Read alone, as if the others were lost.
            QTemporaryDir alone;
            const QString copy = alone.filePath("a.log");
            QVERIFY(QFile::copy(QDir(run.folder).filePath(name), copy));
            auto reader = test::openLog(copy.toStdString());
            ProcessLog part;
            QVERIFY(reader && reader->poll(part));
            QCOMPARE(test::listed(part.unknownStrings, part.devices.size()), "0 | 1");
            QVERIFY((!part.kernels.empty() || !part.ends.empty()) && part.properties.count("program") == 1);
        }
    }

    void endsRecordingAtTheLimit() {
        AgentRun run({"--steps", "200", "--kernels", "200", "--step-ms", "5"},
                     {{"LANESCOPE_AGENT_OPTIONS", "max-log-mb=3,part-mb=1"}});
        verifyUntouched(run, 40'000);
        const ProcessLog& log = run.log();
        QCOMPARE(log.ends.size(), size_t{1});
        QCOMPARE(log.ends[0].reason, log::EndReason::LogFull);
        QCOMPARE(test::listed(log.notes.count("log-limit"), log.progress.lostBlocks), "1 | 0");
        QVERIFY(log.drops.empty() && log.kernels.size() > 8'000 && log.kernels.size() < 40'000);
        // Nothing is missing up to there.
        std::set<uint32_t> seen;
        for (const log::KernelRecord& kernel : log.kernels) seen.insert(kernel.correlationId);
        const size_t stepsDone = *seen.rbegin() / 204;
        QVERIFY(log.kernels.size() >= stepsDone * 200);
        qint64 bytes = 0;
        for (const QFileInfo& file : QDir(run.folder).entryInfoList({"*.log*"})) bytes += file.size();
        QVERIFY2(bytes < 5 << 20, qPrintable(QString::number(bytes)));
    }

    void switchesOffAtTheLimit_data() {
        const test::Rows<QString, QString, bool, bool> row;
        row("13.0 update 1", "130001", "", true, true);
        row("all calls", "130001", ",api=all", true, false);
        row("13.0.0, which that can lock up", "130000", "", false, true);
    }
    void switchesOffAtTheLimit() {
        const auto [version, options, kindsOff, callsOff] = test::row<QString, QString, bool, bool>();
        AgentRun run;
        QTemporaryDir elsewhere;
        const QString path = elsewhere.filePath("disabled");
        run.environment["STANDIN_CUPTI_VERSION"] = version;
        run.environment["STANDIN_CUPTI_DISABLED"] = path;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "max-log-mb=1" + options;
        run.arguments = {"--steps", "200", "--kernels", "100", "--step-ms", "10"};
        QVERIFY(run.run());
        verifyUntouched(run, 20'000);
        QCOMPARE(run.log().ends.size(), size_t{1});
        QCOMPARE(run.log().ends[0].reason, log::EndReason::LogFull);
        const QList<QByteArray> lines = test::fileBytes(path).split('\n');
        constexpr int concurrentKernel = 10, memcpy = 1;  // of CUPTI
        for (const int kind : {concurrentKernel, memcpy})
            QCOMPARE(lines.count(QByteArray::number(kind)), qsizetype(kindsOff));
        QCOMPARE(lines.contains("call"), callsOff);
    }

    void recordsOperations_data() { addVersions(); }
    void recordsOperations() {
        QFETCH(int, version);
        NcclRun run(version, "plain");
        const ProcessLog& log = run.log();
        const auto tasks = of(log, NcclEvent::Task);
        QCOMPARE(tasks.size(), size_t{2});
        const ProcessLog::Nccl& reduce = tasks[0];
        QCOMPARE(test::listed(reduce.function, reduce.datatype, reduce.algorithm), "AllReduce | ncclFloat32 | RING");
        QCOMPARE(test::listed(reduce.protocol, reduce.record.count, reduce.record.sequence), "SIMPLE | 1024 | 7");
        QCOMPARE(reduce.record.communicator, uint64_t{0xabc});
        QCOMPARE(reduce.record.rank, 1);
        QCOMPARE(test::listed(int{reduce.record.channels}, int{reduce.record.warps}), "16 | 8");
        const ProcessLog::Nccl& send = tasks[1];
        QCOMPARE(test::listed(send.function, send.datatype, send.record.count), "Send | ncclFloat32 | 77");
        QCOMPARE(test::listed(send.record.peer, send.record.sequence), "3 | -1");
        QCOMPARE(send.record.communicator, uint64_t{0xabc});
        QCOMPARE(int{send.record.channels}, version < 4 ? 0 : 2);
        for (const ProcessLog::Nccl& one : log.nccl) QVERIFY(stopped(log).contains(one.record.id));
        QCOMPARE(test::listed(log.unknownStrings, log.ends.size()), "0 | 1");
    }

    void recordsCallsAndLaunchesSinceVersion5() {
        for (const int version : {4, 5, 6, 7}) {
            NcclRun run(version, "plain");
            const auto calls = of(run.log(), NcclEvent::Call);
            const auto launches = of(run.log(), NcclEvent::Launch);
            QCOMPARE(calls.size(), size_t{version < 5 ? 0u : 2u});
            QCOMPARE(launches.size(), calls.size());
            if (version < 5) continue;
            QCOMPARE(test::listed(calls[0].function, calls[0].datatype), "AllReduce | ncclFloat32");
            QCOMPARE(calls[0].record.rank, 1);  // although NCCL passes 0
            QCOMPARE(calls[1].function, "Send");
            const auto tasks = of(run.log(), NcclEvent::Task);
            QCOMPARE(tasks[0].record.parent, calls[0].record.id);
            QCOMPARE(tasks[1].record.parent, calls[1].record.id);
            QVERIFY(calls[0].record.timestampNs <= launches[0].record.timestampNs);
            QVERIFY(launches[0].record.timestampNs <= tasks[0].record.timestampNs);
        }
    }

    void recordsCommunicators() {
        for (const int version : {3, 4, 5, 6, 7}) {
            NcclRun run(version, "plain");
            QCOMPARE(run.log().communicators.size(), size_t{version < 4 ? 0u : 1u});
            if (version < 4) continue;
            const auto& [record, name] = run.log().communicators[0];
            QCOMPARE(name, "data parallel");
            QCOMPARE(record.hash, uint64_t{0xabc});
            QCOMPARE(test::listed(record.rank, record.rankCount, record.nodeCount), "1 | 8 | 1");
            QCOMPARE(int(record.interfaceVersion), version);
        }
    }

    void requestsOnlyTheEventsItKeeps_data() { addVersions(); }
    void requestsOnlyTheEventsItKeeps() {
        QFETCH(int, version);
        NcclRun run(version, "plain");
        const char* wanted = version < 5 ? "Lanescope 7\n" : version < 6 ? "Lanescope f07\n" : "Lanescope 1f07\n";
        QCOMPARE(run.output, QByteArray(wanted));
    }

    void requestsNothingWithoutAnAgent() {
        const NcclRun run(5, "plain", false);
        QCOMPARE(run.output, QByteArray("Lanescope 0\n"));
        QVERIFY(run.logs.empty());
    }

    void separatesTheOperationsOfAGroup_data() { addVersions(); }
    void separatesTheOperationsOfAGroup() {
        QFETCH(int, version);
        NcclRun run(version, "group");
        const auto tasks = of(run.log(), NcclEvent::Task);
        QCOMPARE(tasks.size(), size_t{3});
        std::set<uint64_t> ids, parents;
        for (const auto& task : tasks) {
            ids.insert(task.record.id);
            parents.insert(task.record.parent);
        }
        QCOMPARE(ids.size(), size_t{3});
        QCOMPARE(parents.size(), size_t{version < 5 ? 1u : 3u});
        for (const uint64_t id : ids) QVERIFY(stopped(run.log()).contains(id));
        QCOMPARE(of(run.log(), NcclEvent::Launch).size(), size_t{version < 5 ? 0u : 1u});
    }

    void recordsManyThreads() {
        NcclRun run(5, "threads");
        const ProcessLog& log = run.log();
        QCOMPARE(log.dropped(Loss::NcclEvents), uint64_t{0});
        std::map<uint64_t, std::vector<int64_t>> sequences;
        std::map<uint64_t, std::set<uint32_t>> threads;
        std::set<uint64_t> ids;
        for (const auto& task : of(log, NcclEvent::Task)) {
            sequences[task.record.communicator].push_back(task.record.sequence);
            threads[task.record.communicator].insert(task.record.threadId);
        }
        for (const auto& one : log.nccl) ids.insert(one.record.id);
        QCOMPARE(test::listed(ids.size(), sequences.size()), test::listed(log.nccl.size(), 4));
        for (const auto& [communicator, found] : sequences) {
            QCOMPARE(found.size(), size_t{500});
            QVERIFY(std::is_sorted(found.begin(), found.end()));
            QCOMPARE(threads[communicator].size(), size_t{1});
        }
        QCOMPARE(log.communicators.size(), size_t{4});
    }

    void survivesImpossibleEvents_data() { addVersions(); }
    void survivesImpossibleEvents() {
        QFETCH(int, version);
        NcclRun run(version, "odd");
        const ProcessLog& log = run.log();
        QCOMPARE(log.ends.size(), size_t{1});
        const auto tasks = of(log, NcclEvent::Task);
        QVERIFY(tasks.size() >= 4);
        if (version > 1) {
            QCOMPARE(test::listed(tasks[0].function, tasks[0].record.count), " | 5");
            QCOMPARE(tasks.back().function.size(), size_t{63});  // truncated
        }
    }

    void separatesAForkedChild() {
        if (test::hasAddressSanitizer)
            QSKIP("The sanitizer's allocator may be locked by another thread when the child is made.");
        NcclRun run(5, "fork");
        QCOMPARE(run.logs.size(), size_t{2});
        QCOMPARE(of(run.logs[0], NcclEvent::Task).size(), size_t{2});
        QCOMPARE(of(run.logs[1], NcclEvent::Task).size(), size_t{2});
        // The child identifies its communicator by the parent's address.
        QCOMPARE(of(run.logs[1], NcclEvent::Task)[0].record.communicator, uint64_t{0xabc});
        QCOMPARE(run.logs[1].properties["forkedChild"], "1");
    }

    /// From the option of `record` to the report.
    void isLoadedByRecord() {
        QTemporaryDir folder;
        const QString trace = folder.filePath("nccl.lanescope");
        const auto lanescope = [](const QStringList& arguments) {
            QProcess process;
            process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
            process.waitForFinished(60'000);
            if (process.exitCode() != 0) qWarning() << process.readAllStandardError();
            return process.readAllStandardOutput();
        };
        const QByteArray output = lanescope({"record", "--nccl", "plugin", "--no-cuda", "-o", trace,
                                             LANESCOPE_BINARY_DIR "/bin/standin-nccl", "5", "group"});
        QCOMPARE(output, QByteArray("Lanescope f07\n"));
        const QJsonArray rows =
            QJsonDocument::fromJson(lanescope({"stats", "-r", "nccl_trace", "-f", "json", trace})).array();
        QCOMPARE(rows.size(), 3);
        const QJsonObject gather = rows[1].toObject();
        QCOMPARE(test::listed(gather["Operation"].toString(), gather["Type"].toString()), "AllGather | bfloat16");
        QCOMPARE(test::listed(gather["Size (B)"].toInt(), gather["Sequence"].toInt()), "2048 | 2");
        QCOMPARE(test::listed(gather["Algorithm"].toString(), gather["Ranks"].toInt()), "RING | 8");
        QCOMPARE(rows[2].toObject()["Peer"].toInt(), 0);
    }

    void recordsCopyEnginesSinceVersion6() {
        NcclRun run(6, "copy-engine");
        const auto copies = of(run.log(), NcclEvent::CopyEngine);
        QCOMPARE(copies.size(), size_t{1});
        QCOMPARE(test::listed(copies[0].function, copies[0].datatype), "AllGather | ncclFloat16");
        QCOMPARE(test::listed(copies[0].record.count, copies[0].record.sequence), "64 | 9");
    }
};

LANESCOPE_TEST(tst_AgentWindows, QCoreApplication)
#include "tst_AgentWindows.moc"
