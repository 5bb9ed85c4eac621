// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

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

}  // namespace

class tst_AgentLimits : public QObject {
    Q_OBJECT

  private slots:
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
        QVERIFY(run.log().kernels.size() > 1000);
        QVERIFY(run.log().kernels.size() < 10000);
        QCOMPARE(run.log().unknownStrings, 0);
        QCOMPARE(run.log().bytesNotUnderstood, 0u);
        QVERIFY(!run.log().isCorrupt);
    }

    void splitsALongLogIntoFiles() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "part-mb=1";
        run.arguments = {"--steps", "200", "--kernels", "200", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyUntouched(run, 40'000);
        QVERIFY(QDir(run.folder).entryList({"*.log.*"}).size() >= 4);
        QCOMPARE(run.logs.size(), size_t{1});
        const ProcessLog& log = run.log();
        QCOMPARE(log.kernels.size(), size_t{40'000});
        QCOMPARE(steps(log), 200);
        QCOMPARE(log.unknownStrings, 0);
        QCOMPARE(log.progress.lostBlocks, 0u);
        QCOMPARE(log.ends.size(), size_t{1});
        // Each file repeats the definitions that its records refer to.
        QVERIFY(log.devices.size() >= 5);
        QCOMPARE(log.devices.size(), log.contexts.size());
        for (const QString& name : QDir(run.folder).entryList({"*.log.*"})) {
            // Read alone, as if the others were lost.
            QTemporaryDir alone;
            const QString copy = alone.filePath("a.log");
            QVERIFY(QFile::copy(QDir(run.folder).filePath(name), copy));
            auto reader = log::LogReader::open(copy.toStdString());
            ProcessLog part;
            QVERIFY(reader && reader->poll(part));
            QCOMPARE(part.unknownStrings, 0);
            QCOMPARE(part.devices.size(), size_t{1});
            QVERIFY(!part.kernels.empty() || !part.ends.empty());
            QVERIFY(part.properties.count("program") == 1);
        }
    }

    void endsRecordingAtTheLimit() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "max-log-mb=3,part-mb=1";
        run.arguments = {"--steps", "200", "--kernels", "200", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyUntouched(run, 40'000);
        const ProcessLog& log = run.log();
        QCOMPARE(log.ends.size(), size_t{1});
        QCOMPARE(log.ends[0].reason, log::EndReason::LogFull);
        QCOMPARE(log.notes.count("log-limit"), size_t{1});
        QCOMPARE(log.progress.lostBlocks, 0u);
        QVERIFY(log.drops.empty());
        QVERIFY(log.kernels.size() > 8'000 && log.kernels.size() < 40'000);
        // Nothing is missing up to there.
        std::set<uint32_t> seen;
        for (const log::KernelRecord& kernel : log.kernels) seen.insert(kernel.correlationId);
        const uint32_t last = *seen.rbegin();
        const size_t stepsDone = last / 204;
        QVERIFY(log.kernels.size() >= stepsDone * 200);
        qint64 bytes = 0;
        for (const QFileInfo& file : QDir(run.folder).entryInfoList({"*.log*"})) bytes += file.size();
        QVERIFY2(bytes < 5 << 20, qPrintable(QString::number(bytes)));
    }

    void switchesOffAtTheLimit_data() {
        QTest::addColumn<QString>("version");
        QTest::addColumn<QString>("options");
        QTest::addColumn<bool>("kindsOff");
        QTest::addColumn<bool>("callsOff");
        QTest::newRow("13.0 update 1") << "130001"
                                       << "" << true << true;
        QTest::newRow("all calls") << "130001"
                                   << ",api=all" << true << false;
        QTest::newRow("13.0.0, which that can lock up") << "130000"
                                                        << "" << false << true;
    }
    void switchesOffAtTheLimit() {
        QFETCH(QString, version);
        QFETCH(QString, options);
        QFETCH(bool, kindsOff);
        QFETCH(bool, callsOff);
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
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = file.readAll().split('\n');
        constexpr int concurrentKernel = 10, memcpy = 1;  // of CUPTI
        for (const int kind : {concurrentKernel, memcpy})
            QCOMPARE(lines.count(QByteArray::number(kind)), qsizetype(kindsOff));
        QCOMPARE(lines.contains("call"), callsOff);
    }
};

LANESCOPE_TEST(tst_AgentLimits, QCoreApplication)
#include "tst_AgentLimits.moc"
