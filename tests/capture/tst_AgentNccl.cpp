// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using lanescope::test::agentLibrary;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;
using log::NcclEvent;

namespace {

/// Runs the NCCL stand-in with the agent as its plugin.
void runNccl(AgentRun& run, int version, const char* scenario) {
    run.program = LANESCOPE_BINARY_DIR "/bin/standin-nccl";
    run.arguments = {QString::number(version), scenario};
    run.environment["NCCL_PROFILER_PLUGIN"] = agentLibrary();
    QVERIFY(run.run());
    if (run.exitCode != 0) qWarning() << run.errors;
    QCOMPARE(run.exitCode, 0);
}

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
class tst_AgentNccl : public QObject {
    Q_OBJECT

  private slots:
    void recordsOperations_data() { addVersions(); }
    void recordsOperations() {
        QFETCH(int, version);
        AgentRun run;
        runNccl(run, version, "plain");
        const ProcessLog& log = run.log();
        const auto tasks = of(log, NcclEvent::Task);
        QCOMPARE(tasks.size(), size_t{2});
        const ProcessLog::Nccl& reduce = tasks[0];
        QCOMPARE(reduce.function, "AllReduce");
        QCOMPARE(reduce.datatype, "ncclFloat32");
        QCOMPARE(reduce.algorithm, "RING");
        QCOMPARE(reduce.protocol, "SIMPLE");
        QCOMPARE(reduce.record.count, uint64_t{1024});
        QCOMPARE(reduce.record.sequence, int64_t{7});
        QCOMPARE(reduce.record.communicator, uint64_t{0xabc});
        QCOMPARE(reduce.record.rank, 1);
        QCOMPARE(int{reduce.record.channels}, 16);
        QCOMPARE(int{reduce.record.warps}, 8);
        const ProcessLog::Nccl& send = tasks[1];
        QCOMPARE(send.function, "Send");
        QCOMPARE(send.datatype, "ncclFloat32");
        QCOMPARE(send.record.count, uint64_t{77});
        QCOMPARE(send.record.peer, 3);
        QCOMPARE(send.record.sequence, int64_t{-1});
        QCOMPARE(send.record.communicator, uint64_t{0xabc});
        QCOMPARE(int{send.record.channels}, version < 4 ? 0 : 2);
        for (const ProcessLog::Nccl& one : log.nccl) QVERIFY(stopped(log).contains(one.record.id));
        QCOMPARE(log.unknownStrings, 0);
        QCOMPARE(log.ends.size(), size_t{1});
    }

    void recordsCallsAndLaunchesSinceVersion5() {
        for (const int version : {4, 5, 6, 7}) {
            AgentRun run;
            runNccl(run, version, "plain");
            const auto calls = of(run.log(), NcclEvent::Call);
            const auto launches = of(run.log(), NcclEvent::Launch);
            QCOMPARE(calls.size(), size_t{version < 5 ? 0u : 2u});
            QCOMPARE(launches.size(), calls.size());
            if (version < 5) continue;
            QCOMPARE(calls[0].function, "AllReduce");
            QCOMPARE(calls[0].datatype, "ncclFloat32");
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
            AgentRun run;
            runNccl(run, version, "plain");
            QCOMPARE(run.log().communicators.size(), size_t{version < 4 ? 0u : 1u});
            if (version < 4) continue;
            const auto& [record, name] = run.log().communicators[0];
            QCOMPARE(name, "data parallel");
            QCOMPARE(record.hash, uint64_t{0xabc});
            QCOMPARE(record.rank, 1);
            QCOMPARE(record.rankCount, 8);
            QCOMPARE(record.nodeCount, 1);
            QCOMPARE(int(record.interfaceVersion), version);
        }
    }

    void requestsOnlyTheEventsItKeeps_data() { addVersions(); }
    void requestsOnlyTheEventsItKeeps() {
        QFETCH(int, version);
        AgentRun run;
        runNccl(run, version, "plain");
        const char* wanted = version < 5 ? "Lanescope 7\n" : version < 6 ? "Lanescope f07\n" : "Lanescope 1f07\n";
        QCOMPARE(run.output, QByteArray(wanted));
    }

    void requestsNothingWithoutAnAgent() {
        AgentRun run;
        run.withAgent = false;
        run.environment["LANESCOPE_AGENT_DIR"] = "";
        runNccl(run, 5, "plain");
        QCOMPARE(run.output, QByteArray("Lanescope 0\n"));
        QVERIFY(run.logs.empty());
    }

    void separatesTheOperationsOfAGroup_data() { addVersions(); }
    void separatesTheOperationsOfAGroup() {
        QFETCH(int, version);
        AgentRun run;
        runNccl(run, version, "group");
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
        AgentRun run;
        runNccl(run, 5, "threads");
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
        QCOMPARE(ids.size(), log.nccl.size());
        QCOMPARE(sequences.size(), size_t{4});
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
        AgentRun run;
        runNccl(run, version, "odd");
        const ProcessLog& log = run.log();
        QCOMPARE(log.ends.size(), size_t{1});
        const auto tasks = of(log, NcclEvent::Task);
        QVERIFY(tasks.size() >= 4);
        if (version > 1) {
            QCOMPARE(tasks[0].function, "");
            QCOMPARE(tasks[0].record.count, uint64_t{5});
            QCOMPARE(tasks.back().function.size(), size_t{63});  // truncated
        }
    }

    void separatesAForkedChild() {
        if (test::hasAddressSanitizer)
            QSKIP(
                "The sanitizer's allocator may be locked by another thread when the child is "
                "made.");
        AgentRun run;
        runNccl(run, 5, "fork");
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
        QCOMPARE(gather["Operation"].toString(), QString("AllGather"));
        QCOMPARE(gather["Type"].toString(), QString("bfloat16"));
        QCOMPARE(gather["Size (B)"].toInt(), 2048);
        QCOMPARE(gather["Sequence"].toInt(), 2);
        QCOMPARE(gather["Algorithm"].toString(), QString("RING"));
        QCOMPARE(gather["Ranks"].toInt(), 8);
        QCOMPARE(rows[2].toObject()["Peer"].toInt(), 0);
    }

    void recordsCopyEnginesSinceVersion6() {
        AgentRun run;
        runNccl(run, 6, "copy-engine");
        const auto copies = of(run.log(), NcclEvent::CopyEngine);
        QCOMPARE(copies.size(), size_t{1});
        QCOMPARE(copies[0].function, "AllGather");
        QCOMPARE(copies[0].datatype, "ncclFloat16");
        QCOMPARE(copies[0].record.count, uint64_t{64});
        QCOMPARE(copies[0].record.sequence, int64_t{9});
    }
};

LANESCOPE_TEST(tst_AgentNccl, QCoreApplication)
#include "tst_AgentNccl.moc"
