// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include "capture/collector/RunInfo.h"
#include "capture/doctor/diagnose.h"
#include "tests/capture/TestLog.h"
#include "tests/support/FullDisk.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

class tst_doctor : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string in(const char* name) const { return folder_.filePath(name).toStdString(); }

  private slots:
    void otherProfilersAreFound() {
        QDir(folder_.path()).mkpath("proc/123");
        QDir(folder_.path()).mkpath("proc/not-a-process");
        test::TestLog::write(in("proc/123/comm"), "python\n");
        test::TestLog::write(in("proc/not-a-process/comm"), "nsys\n");
        QCOMPARE(checkOtherProfilers(in("proc")).status, CheckStatus::Ok);
        QDir(folder_.path()).mkpath("proc/124");
        test::TestLog::write(in("proc/124/comm"), "nsys\n");
        const Check check = checkOtherProfilers(in("proc"));
        QCOMPARE(check.status, CheckStatus::Warning);
        QVERIFY(check.sentence.find("nsys (124)") != std::string::npos);
    }

    void ncclObstaclesAreReported() {
        qunsetenv("NCCL_NVTX_DISABLE");
        qunsetenv("NCCL_PROFILER_PLUGIN");
        QCOMPARE(checkNcclVariables().status, CheckStatus::Ok);
        qputenv("NCCL_PROFILER_PLUGIN", "inspector");
        QVERIFY(checkNcclVariables().sentence.find("is inspector") != std::string::npos);
        qputenv("NCCL_NVTX_DISABLE", "1");
        QCOMPARE(checkNcclVariables().status, CheckStatus::Warning);
        QVERIFY(checkNcclVariables().sentence.find("NCCL_NVTX_DISABLE") != std::string::npos);
        qunsetenv("NCCL_NVTX_DISABLE");
        qunsetenv("NCCL_PROFILER_PLUGIN");
    }

    void driverRestrictionIsRead() {
        QCOMPARE(checkCounterPermission(in("missing")).status, CheckStatus::Ok);
        test::TestLog::write(in("params"), "Other: 3\nRmProfilingAdminOnly: 0\n");
        QCOMPARE(checkCounterPermission(in("params")).status, CheckStatus::Ok);
        test::TestLog::write(in("params"), "RmProfilingAdminOnly: 1\n");
        const auto expected = geteuid() == 0 ? CheckStatus::Ok : CheckStatus::Warning;
        QCOMPARE(checkCounterPermission(in("params")).status, expected);
    }

    void agentIsChecked() {
        QCOMPARE(checkAgent(in("none.so")).status, CheckStatus::Failure);
        test::TestLog::write(in("odd.so"), "nothing in here");
        QVERIFY(checkAgent(in("odd.so")).sentence.find("not an agent") != std::string::npos);
        test::TestLog::write(in("without.so"), test::fakeAgent());
        const Check without = checkAgent(in("without.so"));
        QCOMPARE(without.status, CheckStatus::NoCuda);
        QVERIFY(without.sentence.find("without CUPTI") != std::string::npos);
        test::TestLog::write(in("with.so"), test::fakeAgent() + "cuptiActivityEnable");
        QCOMPARE(checkAgent(in("with.so")).status, CheckStatus::Ok);
    }

    void checksRunInAnotherProcess() {
        QCOMPARE(probe([] { return std::string("answer"); }), std::optional<std::string>("answer"));
        QVERIFY(!probe([]() -> std::string {
                     std::raise(SIGKILL);
                     return {};
                 }).has_value());
    }

    void oneFailureIsEnough() {
        const Check ok{CheckStatus::Ok, {}, {}, {}}, warning{CheckStatus::Warning, {}, {}, {}};
        QVERIFY(canRecord({ok, warning}));
        QVERIFY(!canRecord({ok, {CheckStatus::Failure, {}, {}, {}}}));
        const Check noCuda{CheckStatus::NoCuda, {}, {}, {}};
        QVERIFY(!canRecord({noCuda, ok}));
        QCOMPARE(worstOf({noCuda, warning}), CheckStatus::NoCuda);
    }

    void knownFactsOfARunStayWhenTheDiskIsFull() {
        RunInfo info;
        info.startRealtimeNs = 5;
        QVERIFY(info.save(folderOf(in("kept.json")), "kept.json").has_value());
        info.commandLine = {std::string(100'000, 'x')};
        {
            const FullDisk full(4096);
            const auto saved = info.save(folderOf(in("kept.json")), "kept.json");
            QVERIFY(!saved.has_value());
            QVERIFY(saved.error().sentence.starts_with("Cannot write "));
            QVERIFY(saved.error().sentence.find("Success") == std::string::npos);
        }
        const auto read = RunInfo::load(folderOf(in("kept.json")), "kept.json");
        QVERIFY(read.has_value());
        QCOMPARE(read->startRealtimeNs, int64_t{5});
        QVERIFY(read->commandLine.empty());
    }

    void runIsRemembered() {
        RunInfo info;
        info.startRealtimeNs = 123456789012345;
        info.commandLine = {"python", "a b", "\xff"};
        info.machine.driverVersion = "580.1";
        info.recordsCuda = false;
        MachineGpu gpu;
        gpu.uuid = "GPU-1";
        gpu.nvlinkCount = 18;
        info.machine.gpus = {gpu};
        info.machine.links = {{0, 1, 18, "NVSwitch", "NV18"}};
        QVERIFY(info.save(folderOf(in("kept.json")), "session.json").has_value());
        const auto read = RunInfo::load(folderOf(in("kept.json")), "session.json");
        QVERIFY(read.has_value());
        QCOMPARE(read->startRealtimeNs, info.startRealtimeNs);
        QCOMPARE(read->recordsCuda, false);
        QCOMPARE(read->commandLine.size(), 3u);
        QCOMPARE(read->commandLine[1], "a b");
        QCOMPARE(read->machine.gpus.at(0).nvlinkCount, 18);
        QCOMPARE(read->machine.links.at(0).connection, "NVSwitch");
        for (const char* text : {"", "[]", "{", "{\"machine\": 3}", "{\"commandLine\": {\"a\": 1}}",
                                 "{\"startRealtimeNs\": \"x\", \"machine\": {\"gpus\": [1, {}]}}"}) {
            test::TestLog::write(in("odd.json"), text);
            const auto odd = RunInfo::load(folderOf(in("kept.json")), "odd.json");
            if (odd) QCOMPARE(odd->startRealtimeNs, 0);
        }
        QVERIFY(!RunInfo::load(folderOf(in("kept.json")), "missing.json").has_value());
        QCOMPARE(::mkfifo(in("pipe.json").c_str(), 0600), 0);
        QVERIFY(
            !RunInfo::load(folderOf(in("kept.json")), "pipe.json").has_value());  // Instead of waiting for a writer.
    }
};

LANESCOPE_TEST(tst_doctor, QCoreApplication)
#include "tst_doctor.moc"
