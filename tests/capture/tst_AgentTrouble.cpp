// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <csignal>

#include "tests/capture/AgentRun.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

const QByteArray tenSteps = "trained 60 kernels\n";

/// Checks that the program behaves as without the agent.
void verifyUntouched(const AgentRun& run, int exitCode = 0, const QByteArray& output = tenSteps) {
    QCOMPARE(test::listed(run.exitCode, run.output, run.errors), test::listed(exitCode, output, QByteArray()));
}

int steps(const ProcessLog& log) {
    int count = 0;
    for (const auto& event : log.nvtx) count += event.text.rfind("step ", 0) == 0;
    return count;
}

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

/// Tests of failures around the agent: the program must not be affected, and the log must contain
/// the events until then.
class tst_AgentTrouble : public QObject {
    Q_OBJECT

  private slots:
    void passesExitCodes_data() {
        const test::Rows<QString, int, bool> row;
        row("return", "return", 3, true);
        row("exit", "exit", 3, true);
        row("_exit", "_exit", 3, false);
        row("abort", "abort", 128 + SIGABRT, false);
        row("kill", "kill", 128 + SIGKILL, false);
        row("own handler", "term-handled", 7, false);
        row("ignores Ctrl-C", "int-ignored", 3, true);
    }
    void passesExitCodes() {
        const auto [exitBy, expected, ends] = test::row<QString, int, bool>();
        // Half a second passes, so everything except its end must be present.
        AgentRun run({"--exit-by", exitBy, "--exit-code", "3", "--steps", "100", "--step-ms", "20"});
        verifyUntouched(run, expected, "trained 600 kernels\n");
        QCOMPARE(run.log().ends.size(), ends ? size_t{1} : size_t{0});
        QCOMPARE(run.log().bytesNotUnderstood, 0u);
        const int atLeast = ends ? 100 : 50;  // a killed process loses at most one second
        QVERIFY2(steps(run.log()) >= atLeast, qPrintable(QString::number(steps(run.log()))));
        QVERIFY2(int(run.log().kernels.size()) >= atLeast * 6, qPrintable(QString::number(run.log().kernels.size())));
        if (ends) QCOMPARE(run.log().kernels.size(), size_t{600});
    }

    void endsBySignal_data() {
        const test::Rows<QString, int> row;
        row("main thread", "term", SIGTERM);
        row("other thread", "term-thread", SIGTERM);
        row("Ctrl-C", "int", SIGINT);
        row("terminal closed", "hup", SIGHUP);
    }
    void endsBySignal() {
        const auto [exitBy, signal] = test::row<QString, int>();
        AgentRun run;
        run.inChild = [] {
            for (const int all : {SIGTERM, SIGINT, SIGHUP}) std::signal(all, SIG_DFL);
        };
        run.arguments = {"--exit-by", exitBy};
        QVERIFY(run.run());
        verifyUntouched(run, 128 + signal);
        QCOMPARE(run.log().ends.size(), size_t{1});
        QCOMPARE(run.log().ends[0].reason, log::EndReason::Signal);
        QCOMPARE(run.log().ends[0].signal, uint32_t(signal));
        QCOMPARE(test::listed(run.log().kernels.size(), steps(run.log())), "60 | 10");
    }

    void logIsCompleteAfterSigterm() {
        AgentRun run({"--exit-by", "term-late"});
        verifyUntouched(run, 128 + SIGTERM);
        QVERIFY2(run.tookMs < 60'000, qPrintable(QString::number(run.tookMs)));
        QCOMPARE(run.log().ends.size(), size_t{1});
        QCOMPARE(run.log().ends[0].reason, log::EndReason::Exit);
        QCOMPARE(run.log().kernels.size(), size_t{60});
    }

    void survivesAHangingFlush_data() {
        const test::Rows<QString, int> row;
        row("return", "return", 0);
        row("term", "term", 128 + SIGTERM);
    }
    void survivesAHangingFlush() {
        const auto [exitBy, expected] = test::row<QString, int>();
        AgentRun run({"--exit-by", exitBy, "--step-ms", "50"}, {{"STANDIN_CUPTI_HANG", "flush"}});
        verifyUntouched(run, expected);
        QVERIFY2(run.tookMs < 60'000, qPrintable(QString::number(run.tookMs)));
        QCOMPARE(steps(run.log()), 10);  // NVTX does not depend on CUPTI
        QCOMPARE(run.log().ends.size(), size_t{1});
    }

    /// CUPTI returns buffers on its own thread, and late if their work has not ended.
    void losesNothingInBuffersReturnedLate() {
        AgentRun run;
        run.environment["STANDIN_CUPTI_THREAD"] = run.environment["STANDIN_CUPTI_KEEPS"] = "1";
        run.arguments = {"--live",    "1",  "--tells-early",  "1",      "--steps",   "60", "--kernels", "20",
                         "--step-ms", "10", "--gpu-delay-us", "300000", "--threads", "3"};
        QVERIFY(run.run());
        verifyUntouched(run, 0, "trained 3600 kernels\n");
        QCOMPARE(run.log().kernels.size(), size_t{3600});
        for (const log::KernelRecord& kernel : run.log().kernels) QCOMPARE(kernel.endNs - kernel.startNs, 1'000);
        QCOMPARE(run.log().ends.size(), size_t{1});
        QVERIFY(run.log().notes.empty());
    }

    void reportsUnfinishedWork() {
        AgentRun run;
        run.environment["STANDIN_CUPTI_THREAD"] = run.environment["STANDIN_CUPTI_KEEPS"] = "1";
        run.arguments = {"--live",    "1",  "--tells-early",  "1",        "--steps",          "10",
                         "--kernels", "20", "--gpu-delay-us", "60000000", "--leaves-running", "1"};
        QVERIFY(run.run());
        verifyUntouched(run, 0, "trained 200 kernels\n");
        QVERIFY(run.tookMs < 30'000);
        QCOMPARE(run.log().kernels.size(), size_t{200});
        for (const log::KernelRecord& kernel : run.log().kernels) QVERIFY(kernel.startNs == 0 && kernel.endNs == 0);
        QCOMPARE(run.log().ends.size(), size_t{1});
    }

    void takesLocksInOneOrder_data() {
        const test::Rows<QStringList, QString, bool> row;
        const QStringList live{"--live",    "1", "--tells-early", "1", "--steps", "40",
                               "--threads", "4", "--step-ms",     "5"};
        row("all calls", live, "api=all", true);
        row("steps", live, "steps=3-9", true);
        row("calls open windows", live + QStringList{"--profile-from", "3", "--profile-to", "5"},
            "range=cudaProfilerApi", true);
        row("full log", live, "max-log-mb=1", true);
        row("killed", live + QStringList{"--exit-by", "term"}, "", true);
        row("forks", live + QStringList{"--fork", "nvtx"}, "", true);
        row("badly, to see that it is found", {"--locks-badly", "1"}, "", false);
    }
    void takesLocksInOneOrder() {
        const auto [arguments, options, isOrdered] = test::row<QStringList, QString, bool>();
        if (test::hasAddressSanitizer) QSKIP("The sanitizer wants to be loaded first.");
        AgentRun run;
        const QString found = run.folder + "/orders";
        run.inChild = [] { std::signal(SIGTERM, SIG_DFL); };
        run.environment["LD_PRELOAD"] = LANESCOPE_BINARY_DIR "/lib/standin/libstandin-lock-order.so";
        run.environment["STANDIN_LOCK_ORDER"] = found;
        run.environment["STANDIN_CUPTI_THREAD"] = run.environment["STANDIN_CUPTI_KEEPS"] = "1";
        run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
        run.arguments = arguments;
        QVERIFY(run.run());
        QCOMPARE(run.log().ends.size(), size_t{1});
        QFile file(found);
        QCOMPARE(!file.open(QIODevice::ReadOnly), isOrdered);
    }

    void reportsLossesByTorchProfiler() {
        if (test::hasAddressSanitizer) QSKIP("The sanitizer wants to be loaded first.");
        AgentRun plain;
        QVERIFY(plain.run());
        QCOMPARE(plain.log().notes.count("torch-profiler"), size_t{0});
        AgentRun torch;
        const QString libraries = QFileInfo(test::standinCupti()).path();
        torch.environment["LD_PRELOAD"] = libraries + "/libtorch_cpu.so";
        QVERIFY(torch.run());
        QCOMPARE(torch.log().notes.count("torch-profiler"), size_t{1});
    }

    void reportsWhyCudaIsMissing_data() {
        const test::Rows<QString, QString, QString, QString> row;
        row("taken", "STANDIN_CUPTI_SUBSCRIBE", "39", "cupti-taken", "SimulatedRival");
        row("no driver", "STANDIN_CUPTI_SUBSCRIBE", "999", "no-driver", "driver");
        row("not ready", "STANDIN_CUPTI_SUBSCRIBE", "15", "no-driver", "driver");
        row("else", "STANDIN_CUPTI_SUBSCRIBE", "38", "cupti-failed", "CUPTI");
        row("too old", "STANDIN_CUPTI_VERSION", "17", "cupti-missing", "older than");
    }
    void reportsWhyCudaIsMissing() {
        const auto [variable, value, code, word] = test::row<QString, QString, QString, QString>();
        AgentRun run;
        run.environment[variable] = value;
        QVERIFY(run.run());
        verifyUntouched(run);
        QVERIFY(run.log().notes.count(code.toStdString()) == 1);
        const QString sentence = QString::fromStdString(run.log().notes.at(code.toStdString()));
        QVERIFY2(sentence.contains(word), qPrintable(sentence));
        QVERIFY(sentence.endsWith('.'));
        QCOMPARE(test::listed(run.log().kernels.size(), steps(run.log()), run.log().ends.size()), "0 | 10 | 1");
    }

    void reportsBuffersTakenByAnotherTool() {
        AgentRun run({"--steps", "160", "--kernels", "50", "--step-ms", "50"}, {{"STANDIN_CUPTI_STOLEN_MS", "500"}});
        verifyUntouched(run, 0, "trained 8000 kernels\n");
        QCOMPARE(run.log().notes.count("cupti-silent"), size_t{1});
        QVERIFY(run.log().kernels.size() > 0 && run.log().kernels.size() < 8000);
        QVERIFY(run.log().calls.size() >= 8000);
    }

    void sharesCuptiWithAToolThatAllowsIt_data() {
        const test::Rows<QString, QByteArray> row;
        row("shared", "130500", "second tool: result 0, 60 kernels\n");
        row("not yet", "130400", "second tool: result 39, 0 kernels\n");
        row("old", "130001", "second tool: result 39, 0 kernels\n");
    }
    void sharesCuptiWithAToolThatAllowsIt() {
        const auto [version, said] = test::row<QString, QByteArray>();
        for (const char* options : {"", "api=all", "graphs=whole,memory=1,um=1"}) {
            AgentRun run({"--second-tool", "1"},
                         {{"STANDIN_CUPTI_VERSION", version}, {"LANESCOPE_AGENT_OPTIONS", options}});
            verifyUntouched(run, 0, said + tenSteps);
            QCOMPARE(run.log().kernels.size(), size_t{60});
            QCOMPARE(run.log().devices.size(), size_t{1});
            QCOMPARE(run.log().notes.count("cupti-kinds"), size_t{0});
        }
    }

    void reportsNothingForAnIdleProgram() {
        AgentRun run({"--steps", "3", "--kernels", "1500", "--step-ms", "2600"});
        QVERIFY(run.log().notes.empty());
        QCOMPARE(run.log().kernels.size(), size_t{4500});
    }

    void reportsABufferOfAnotherTool() {
        AgentRun run({"--step-ms", "50"}, {{"STANDIN_CUPTI_STOLEN_MS", "100"}, {"STANDIN_CUPTI_MIXED", "1"}});
        verifyUntouched(run);
        QCOMPARE(run.log().notes.count("cupti-shared"), size_t{1});
    }

    void daemonIsRecordedOn() {
        if (test::hasAddressSanitizer) QSKIP("A daemon closes all descriptors, the sanitizer's too.");
        AgentRun run({"--fork", "daemon"});
        QCOMPARE(test::listed(run.exitCode, run.log().ends.size()), "0 | 1");
        // A daemon's calls are in its own log, including those from before it closed all
        // descriptors. It has no parent, so its end is polled.
        QTRY_VERIFY_WITH_TIMEOUT((run.readLogs(), run.logs.size() == 2 && !run.logs[1].ends.empty()), 20'000);
        const ProcessLog& daemon = run.logs[1];
        QCOMPARE(daemon.nvtx.size(), size_t{2 * 100});
        QVERIFY(!daemon.isCorrupt);
        QCOMPARE(test::listed(daemon.bytesNotUnderstood, daemon.properties.at("forkedChild")), "0 | 1");
    }

    void threadsMayGoOnWhileTheProgramExits() {
        AgentRun run({"--stray-threads", "2", "--exit-code", "3"});
        QCOMPARE(test::listed(run.exitCode, run.errors), test::listed(3, QByteArray()));
        QCOMPARE(test::listed(run.log().ends.size(), run.log().unknownStrings, run.log().kernels.size()), "1 | 0 | 60");
        QVERIFY(!run.log().isCorrupt);
    }

    void survivesAMissingCupti() {
        AgentRun run({"--cupti", ""}, {{"LANESCOPE_CUPTI", "/nonexistent/libcupti.so.13"}});
        verifyUntouched(run);
        // A machine with CUDA but without a GPU has a CUPTI, which then finds no driver.
        const size_t reasons = run.log().notes.count("cupti-missing") + run.log().notes.count("no-driver") +
                               run.log().notes.count("cupti-failed");
        const bool foundAnother = run.log().properties.count("cuptiVersion") == 1;
        QVERIFY(reasons == 1 || (reasons == 0 && foundAnother));
        QCOMPARE(steps(run.log()), 10);
    }

    void forkedChildrenAreUntouched_data() {
        const test::Rows<QString, int, int> row;
        row("nvtx", "nvtx", 4, 0);
        row("nothing", "nothing", 1, 0);
        row("quiet", "quiet", 1, 0);
        row("term", "term", 1, SIGTERM);
        row("vfork", "vfork", 1, SIGTERM);
    }
    void forkedChildrenAreUntouched() {
        const auto [how, logs, status] = test::row<QString, int, int>();
        if (test::hasThreadSanitizer && status != 0)
            QSKIP("The sanitizer keeps a forked child from its signal, and makes vfork a fork.");
        if (test::hasAddressSanitizer && how == "nvtx")
            QSKIP("The sanitizer's own start in the child is taken for trouble.");
        AgentRun run({"--fork", how});
        QByteArray output = tenSteps;
        for (int i = 0; i < 3; ++i) {
            output += "child " + QByteArray::number(i) + " ended with " + QByteArray::number(status) + "\n";
        }
        verifyUntouched(run, 0, output);
        QVERIFY(run.tookMs < 60'000);
        QCOMPARE(int(run.logs.size()), logs);
        QCOMPARE(test::listed(run.log().kernels.size(), int(run.log().nvtx.size())), "60 | 110");
        QCOMPARE(run.log().ends.size(), size_t{1});
        for (size_t i = 1; i < run.logs.size(); ++i) {
            const ProcessLog& child = run.logs[i];
            QCOMPARE(child.nvtx.size(), size_t{100});
            for (const auto& event : child.nvtx) QCOMPARE(event.record.threadId, child.pid);
            QCOMPARE(child.kernels.size(), size_t{0});
            QCOMPARE(test::listed(child.properties.at("forkedChild"), child.unknownStrings), "1 | 0");
            QCOMPARE(child.ends.size(), size_t{1});
        }
    }

    void forkedWorkerThatExitsKeepsNearlyAll() {
        AgentRun run({"--fork", "worker"});
        QCOMPARE(int(run.logs.size()), 4);
        for (size_t i = 1; i < run.logs.size(); ++i) {
            qInfo("%zu of 1000 ranges survive", run.logs[i].nvtx.size() / 2);
            QVERIFY(run.logs[i].ends.empty());
            QVERIFY2(run.logs[i].nvtx.size() >= 2 * 850, "more than the last events are lost");
        }
    }

    void worksWithoutFolder_data() {
        test::rows<QString>(
            "folder", {{"missing", "/nonexistent/folder"}, {"not a folder", "/dev/null"}, {"not writable", "/proc/1"}});
    }
    void worksWithoutFolder() {
        QFETCH(QString, folder);
        AgentRun run;
        run.folder = folder;
        run.arguments = {"--exit-code", "5", "--step-ms", "60"};
        QVERIFY(run.run());
        verifyUntouched(run, 5);
        QVERIFY(run.tookMs < 60'000);
    }

    void recordsOnlyRequestedPrograms_data() {
        const test::Rows<QString, bool> row;
        row("its name", "standin-training", true);
        row("pattern", "python*:stand?n-*", true);
        row("whole path", "*/bin/standin-training", true);
        row("comma", "a%2Cb:standin%2Dtraining", true);
        row("another", "python*:train", false);
        row("part of a name", "standin", false);
    }
    void recordsOnlyRequestedPrograms() {
        const auto [patterns, recorded] = test::row<QString, bool>();
        AgentRun run({"--fork", "quiet"}, {{"LANESCOPE_AGENT_OPTIONS", "only=" + patterns}});
        QCOMPARE(test::listed(run.exitCode, run.errors), test::listed(0, QByteArray()));
        QCOMPARE(run.logs.size(), size_t(recorded));
        QCOMPARE(run.log().kernels.size(), size_t(recorded ? 60 : 0));
    }

    void leavesCuptiToOtherTools() {
        AgentRun run({}, {{"LANESCOPE_AGENT_OPTIONS", "yield=1"}});
        verifyUntouched(run);
        QCOMPARE(test::listed(run.log().notes.count("cupti-yielded"), run.log().kernels.size()), "1 | 0");
        QCOMPARE(steps(run.log()), 10);
    }

    void doesNothingUnrequested() {
        AgentRun run({}, {{"LANESCOPE_AGENT_DIR", ""}});
        verifyUntouched(run);
        QVERIFY(run.logs.empty());
        QVERIFY(QDir::current().entryList({"*.log"}).isEmpty());
    }

    void emptyRunLeavesNoLog() {
        AgentRun run({"--nvtx", "0", "--driver", "0"});
        verifyUntouched(run);
        QVERIFY(QDir(run.folder).isEmpty());
    }

    void doesNotWriteToOtherFiles() {
        AgentRun run;
        const QString victims = run.folder + "/victim";
        run.arguments = {"--close-all", victims, "--step-ms", "30"};
        QVERIFY(run.run());
        verifyUntouched(run);
        for (int i = 0; i < 20; ++i) {
            QCOMPARE(test::fileBytes(victims + QString::number(i)), QByteArray("mine"));
        }
        QVERIFY(steps(run.log()) >= 1);
        QVERIFY(!run.log().isCorrupt);
    }

    void doesNotUseClosedStandardOutput() {
        AgentRun run({"--close-standard", "1", "--step-ms", "30"});
        QCOMPARE(test::listed(run.exitCode, steps(run.log())), "0 | 10");
        QVERIFY(!run.log().isCorrupt);
        QCOMPARE(run.log().bytesNotUnderstood, 0u);
    }

    void logsArePrivate() {
        AgentRun run;
        QVERIFY(run.run());
        const QStringList names = QDir(run.folder).entryList({"*.log"}, QDir::Files);
        QCOMPARE(names.size(), 1);
        const auto permissions =
            std::filesystem::status(QDir(run.folder).filePath(names[0]).toStdString()).permissions();
        QCOMPARE(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }

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
        QCOMPARE(test::listed(called(run.logs[0], "work"), run.logs[0].ends.size()), "300 | 1");
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

LANESCOPE_TEST(tst_AgentTrouble, QCoreApplication)
#include "tst_AgentTrouble.moc"
