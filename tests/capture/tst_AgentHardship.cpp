// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

/// Checks that the program behaves as without the agent.
void runUntouched(AgentRun& run, const QStringList& arguments, int exitCode = 0, const QByteArray& output = {}) {
    run.program = LANESCOPE_BINARY_DIR "/bin/standin-hardship";
    run.arguments = arguments;
    QVERIFY(run.run());
    QCOMPARE(test::listed(run.errors, run.output, run.exitCode), test::listed(QByteArray(), output, exitCode));
}

int called(const ProcessLog& log, const char* name) {
    return static_cast<int>(
        std::count_if(log.nvtx.begin(), log.nvtx.end(), [name](const auto& event) { return event.text == name; }));
}

int ofHandler(const ProcessLog& log) {
    return static_cast<int>(std::count_if(log.nvtx.begin(), log.nvtx.end(),
                                          [](const auto& event) { return event.text.starts_with("handler, "); }));
}

void verifyWhole(const ProcessLog& log) {
    QCOMPARE(test::listed(log.unknownStrings, log.bytesNotUnderstood), "0 | 0");
    QVERIFY(!log.isCorrupt);
}

}  // namespace

class tst_AgentHardship : public QObject {
    Q_OBJECT

  private slots:
    void survivesLackOfMemory() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer) QSKIP("The sanitizer needs memory itself.");
        AgentRun run;
        runUntouched(run, {"memory"}, 4);
        verifyWhole(run.log());
        QCOMPARE(run.log().ends.size(), size_t{1});
        // Events before and after are present, and the losses are counted.
        QCOMPARE(test::listed(called(run.log(), "before"), called(run.log(), "after")), "1 | 1");
        QVERIFY(called(run.log(), "work") >= 10);
        QVERIFY(run.log().dropped(Loss::CallsWithoutMemory) + run.log().dropped(Loss::LogBlocks) > 0);
    }

    void burstsAreRecordedWithoutLoss_data() {
        QTest::addColumn<int>("threads");
        for (const int threads : {1, 8}) QTest::addRow("%d threads", threads) << threads;
    }
    void burstsAreRecordedWithoutLoss() {
        QFETCH(int, threads);
        constexpr int calls = 100'000;
        AgentRun run;
        runUntouched(run, {"burst", QString::number(threads), QString::number(calls)});
        verifyWhole(run.log());
        QCOMPARE(run.log().dropped(Loss::NvtxCalls), uint64_t{0});
        // And two calls of each thread before the burst.
        QCOMPARE(run.log().nvtx.size(), static_cast<size_t>(threads) * (calls + 2));
        QCOMPARE(called(run.log(), "a registered message"), threads * calls / 5);
        QCOMPARE(called(run.log(), "burst"), threads * calls / 5);
        QCOMPARE(called(run.log(), "message 99995 of thread 0 of the burst"), 1);
    }

    /// glibc allocates thread-local memory at the first access, and aborts if it cannot; the
    /// agent's exists from the start.
    void touchesNoThreadLocalMemoryLate() {
        QProcess nm;
        nm.start("nm", {"-D", test::agentLibrary()});
        if (!nm.waitForFinished() || nm.exitCode() != 0) QSKIP("There is no nm here.");
        const QByteArray symbols = nm.readAllStandardOutput();
        QVERIFY(symbols.contains("InitializeInjectionNvtx2"));
        QVERIFY2(!symbols.contains("__tls_get_addr"), "see -ftls-model in capture/CMakeLists.txt");
    }

    void refusesCallsOfHandlersThatInterruptIt_data() {
        QTest::addColumn<int>("microseconds");
        for (const int microseconds : {40, 200, 2000}) QTest::addRow("%d us", microseconds) << microseconds;
    }
    void refusesCallsOfHandlersThatInterruptIt() {
        QFETCH(int, microseconds);
        AgentRun run;
        runUntouched(run, {"handler", QString::number(microseconds), "2000"}, 0, "handled\n");
        const ProcessLog& log = run.log();
        verifyWhole(log);
        QCOMPARE(log.ends.size(), size_t{1});
        qInfo("%d ranges of the program, %d of the handler, %llu calls refused, %llu too many", called(log, "work"),
              ofHandler(log), static_cast<unsigned long long>(log.dropped(Loss::NestedCalls)),
              static_cast<unsigned long long>(log.dropped(Loss::NvtxCalls)));
        // Each recorded range is complete: both of its ends were refused, or none.
        const bool isComplete = log.dropped(Loss::NvtxCalls) == 0;
        std::map<std::pair<uint32_t, int32_t>, std::string> open;
        for (const ProcessLog::Nvtx& event : log.nvtx) {
            const std::pair<uint32_t, int32_t> place{event.record.domain, event.record.level};
            if (event.record.event == log::NvtxEvent::Push) {
                QVERIFY(event.text == "work" || event.text.starts_with("handler, ") || event.text == "before");
                open[place] = event.text;
            } else {
                QVERIFY(open.erase(place) == 1 || !isComplete);
            }
        }
        QVERIFY2(called(log, "work") > 10'000, qPrintable(QString::number(called(log, "work"))));
        QVERIFY(ofHandler(log) > 0);
    }

    void clockChangeMovesNothing_data() {
        QTest::addColumn<int>("seconds");
        for (const int seconds : {-3600, -1, 1, 3600}) QTest::addRow("%d s", seconds) << seconds;
    }
    void clockChangeMovesNothing() {
        QFETCH(int, seconds);
        if (test::hasAddressSanitizer) QSKIP("The sanitizer wants to be loaded first.");
        AgentRun run;
        run.environment["LD_PRELOAD"] = LANESCOPE_BINARY_DIR "/lib/standin/libstandin-clock.so";
        runUntouched(run, {"clock", QString::number(seconds)});
        QCOMPARE(run.log().nvtx.size(), size_t{6});
        const auto timeOf = [&](size_t index) { return run.log().nvtx[index].record.timestampNs; };
        for (size_t index = 1; index < 6; ++index) QVERIFY(timeOf(index) >= timeOf(index - 1));
        const int64_t acrossNs = timeOf(3) - timeOf(2);
        QVERIFY2(acrossNs >= 299'000'000 && acrossNs < 900'000'000, qPrintable(QString::number(acrossNs)));
    }

    /// Without a recorder, no file can be requested, so this is about the report.
    void reportsAMissingLog() {
        AgentRun run;
        QVERIFY(QFile::setPermissions(run.folder, QFile::ReadOwner | QFile::ExeOwner));
        run.environment["LANESCOPE_AGENT_DOOR"] = "no-such-door";
        if (::geteuid() == 0) QSKIP("Root may write everywhere.");
        runUntouched(run, {"ranges", "10"});
        QVERIFY(run.logs.empty());
    }

    void recordsWithoutDescriptors() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer) QSKIP("A sanitizer needs descriptors itself.");
        AgentRun run;
        runUntouched(run, {"descriptors"});
        const QDir folder(run.folder);
        if (folder.entryList({"*.log"}).isEmpty()) {
            // On a kernel without close_range: then the loss is reported.
            QCOMPARE(folder.entryList({"*.lost"}, QDir::AllEntries | QDir::System).size(), 1);
            return;
        }
        QCOMPARE(called(run.log(), "work"), 100);
    }

    void avoidsReusedDescriptors() {
        AgentRun run;
        QTemporaryDir elsewhere;
        runUntouched(run, {"takes-descriptors", elsewhere.filePath("own")});
        verifyWhole(run.log());
        QCOMPARE(run.log().ends.size(), size_t{1});
        const bool isSeparate = called(run.log(), "work") == 9000;
        if (!isSeparate) qInfo("descriptors are shared: %d of 9000", called(run.log(), "work"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        QVERIFY(isSeparate);
#endif
    }

    void countsChildrenWithoutLog() {
        AgentRun run;
        runUntouched(run, {"children", "20"});
        const size_t logs = run.logs.size() - 1;
        QVERIFY(logs < 20);
        QCOMPARE(run.log().notes.count("children-without-log"), size_t{1});
        const std::string& sentence = run.log().notes.at("children-without-log");
        QVERIFY2(sentence.starts_with(std::to_string(20 - logs) + " forked processes"), sentence.c_str());
    }

    void ignoresChildrenWithLog() {
        AgentRun run({"--fork", "nvtx"});
        QCOMPARE(run.log().notes.count("children-without-log"), size_t{0});
    }

    void forksDuringFirstCalls() {
        if (test::hasAddressSanitizer) QSKIP("A child may find the sanitizer's list of threads locked, for ever.");
        AgentRun run;
        runUntouched(run, {"forks"});
        QVERIFY2(run.tookMs < 60'000, qPrintable(QString::number(run.tookMs)));
    }

    void forksWhileExitHandlersAreRegistered() {
        AgentRun run;
        runUntouched(run, {"exit-handlers"});
        QVERIFY2(run.tookMs < 60'000, qPrintable(QString::number(run.tookMs)));
    }

    /// Unhandled signals do not end the first process of a namespace, so its recording continues.
    void firstProcessOfANamespaceIsRecorded() {
        QProcess probe;
        probe.start("unshare", {"--pid", "--fork", "true"});
        if (!probe.waitForFinished() || probe.exitCode() != 0) QSKIP("There are no process namespaces here.");
        AgentRun run;
        run.program = "unshare";
        run.arguments = {"--pid", "--fork", LANESCOPE_BINARY_DIR "/bin/standin-hardship", "term"};
        // Its leak check uses /proc, which has outside process numbers.
        if (test::hasAddressSanitizer) run.environment.insert("ASAN_OPTIONS", "detect_leaks=0");
        run.succeed();
        QCOMPARE(test::listed(run.errors, run.logs.size()), test::listed(QByteArray(), 1));
        QCOMPARE(called(run.logs[0], "work"), 300);
        QCOMPARE(run.logs[0].ends.size(), size_t{1});
        QCOMPARE(run.logs[0].ends[0].reason, log::EndReason::Exit);
    }

    void doesNothingWhenDisabled() {
        for (const char* value : {"1", "yes"}) {
            AgentRun run({}, {{"LANESCOPE_DISABLE", value}});
            QCOMPARE(run.output, QByteArray("trained 60 kernels\n"));
            QVERIFY(QDir(run.folder).isEmpty());
        }
        AgentRun run({}, {{"LANESCOPE_DISABLE", "0"}});
        QCOMPARE(run.log().kernels.size(), size_t{60});
    }

    void endsBeforeTheDiskIsFull() {
        // More than any disk.
        AgentRun run({"--steps", "100", "--step-ms", "10"}, {{"LANESCOPE_AGENT_OPTIONS", "reserve-mb=1000000000"}});
        QCOMPARE(run.exitCode, 0);
        verifyWhole(run.log());
        QCOMPARE(run.log().ends.size(), size_t{1});
        QCOMPARE(run.log().ends[0].reason, log::EndReason::LogFull);
        QCOMPARE(run.log().notes.count("disk-reserve"), size_t{1});
        QVERIFY(run.log().kernels.size() < 600);
    }

    void masksSecretsOfCommandLines() {
        AgentRun run;
        runUntouched(run, {"ranges", "10", "--api-key", "made-up", "TOKEN=made-up"});
        const std::string& masked = run.log().properties.at("commandLine");
        QVERIFY2(masked.ends_with("ranges 10 --api-key *** TOKEN=***"), masked.c_str());
        AgentRun keeping;
        keeping.environment["LANESCOPE_AGENT_OPTIONS"] = "keep-command-line=1";
        runUntouched(keeping, {"ranges", "10", "--api-key", "made-up"});
        const std::string& kept = keeping.log().properties.at("commandLine");
        QVERIFY2(kept.ends_with("ranges 10 --api-key made-up"), kept.c_str());
    }
};

LANESCOPE_TEST(tst_AgentHardship, QCoreApplication)
#include "tst_AgentHardship.moc"
