// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/log/LogFormat.h"
#include "capture/record/RunFolder.h"
#include "model/format/Sqlite.h"
#include "tests/capture/TestLog.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

using lanescope::test::Ended;
using lanescope::test::endOf;

namespace {

constexpr int waitMs = 30'000;

}  // namespace

/// Tests of the commands `record` and `recover` from outside, with a program that leaves a log as
/// if it contained the agent.
class tst_record : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> folder_;
    const QString program_ = LANESCOPE_BINARY_DIR "/bin/lanescope";
    const QString leaveLog_ = LANESCOPE_BINARY_DIR "/bin/leaveLog";

    QString in(const char* name) const { return folder_->filePath(name); }
    bool isThere(const char* name) const { return QFileInfo::exists(in(name)); }

    void prepare(QProcess& process, QStringList arguments) const {
        process.setWorkingDirectory(folder_->path());
        auto environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) environment.remove(name);
        process.setProcessEnvironment(environment);
        process.setProgram(program_);
        process.setArguments(arguments);
    }
    Ended lanescope(const QStringList& arguments, const QByteArray& input = {},
                    const QMap<QString, QString>& variables = {}) const {
        QProcess process;
        prepare(process, arguments);
        auto environment = process.processEnvironment();
        for (auto it = variables.begin(); it != variables.end(); ++it) environment.insert(it.key(), it.value());
        process.setProcessEnvironment(environment);
        process.start();
        process.write(input);
        process.closeWriteChannel();
        return endOf(process);
    }
    QStringList record(const QStringList& rest, const QString& output = "out.sqlite") const {
        return QStringList{"record", "--agent", in("agent.so"), "-o", output} + rest;
    }
    int64_t kernels(const char* name) const {
        auto database = Database::openReadOnly(in(name).toStdString());
        return database ? database->rowCount("CUPTI_ACTIVITY_KIND_KERNEL") : -1;
    }

  private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        test::TestLog::write(in("agent.so").toStdString(), test::fakeAgent());
    }

    void programWithoutGpuLeavesAnEmptyTrace() {
        const Ended run = lanescope(record({"--", "/bin/true"}));
        QCOMPARE(run.status, 0);
        QVERIFY(
            run.err.contains("Nothing was recorded of /bin/true: possible causes: no CUDA or NVTX use, an exit soon"));
        QCOMPARE(kernels("out.sqlite"), 0);
        for (const char* part : {".out.sqlite.run", "out.sqlite.partial"}) QVERIFY2(!isThere(part), part);
    }

    void collectsAProcessTree() {
        const Ended run = lanescope(record({"--", "sh", "-c", leaveLog_ + " 25 & " + leaveLog_ + " 10; wait; exit 4"}));
        QCOMPARE(run.status, 4);
        QCOMPARE(kernels("out.sqlite"), 35);
        QVERIFY2(run.err.contains("35 kernels of 2 processes"), run.err);
        QVERIFY(!run.err.contains("warning"));
        QVERIFY2(run.err.contains("Finished "), run.err);
        QVERIFY2(!run.err.contains("unread"), run.err);  // So small a loss is not reported.
        const Ended info = lanescope({"info", "out.sqlite"});
        QVERIFY2(info.out.contains("Recorded data read after the program ended"), info.out);
    }

    void waitsForProcessesThatOutliveTheProgram() {
        const Ended run =
            lanescope(record({"--", "sh", "-c", leaveLog_ + " 5 --after 600 & " + leaveLog_ + " 1 --truncate; true"}));
        QCOMPARE(run.status, 0);
        QVERIFY(kernels("out.sqlite") >= 0);
    }

    void waitsForAChildThatHasNotBegunItsLogYet() {
        const Ended run = lanescope(record({"--", "sh", "-c", leaveLog_ + " 5 --after 900 >/dev/null 2>&1 & exit 0"}));
        QCOMPARE(run.status, 0);
        QCOMPARE(kernels("out.sqlite"), 5);
        QVERIFY(!run.err.contains("still ran"));
    }

    void reportsRunningProcessesAndWaitsOnRequest() {
        const QStringList words{"--", "sh", "-c", leaveLog_ + " 5 --after 5500 >/dev/null 2>&1 & exit 0"};
        const Ended cut = lanescope(record(words));
        QCOMPARE(cut.status, 0);
        QCOMPARE(kernels("out.sqlite"), 0);
        const QRegularExpression sentence(
            "1 process of the run still ran and is truncated at [4-9]\\.\\d s. Use --wait all to wait for it");
        QVERIFY2(QString::fromUtf8(cut.err).contains(sentence), cut.err);
        const Ended waited = lanescope(record(QStringList{"--wait", "all"} + words, "b.sqlite"));
        QCOMPARE(waited.status, 0);
        QCOMPARE(kernels("b.sqlite"), 5);
        QVERIFY(!waited.err.contains("still ran"));
        QCOMPARE(lanescope(record({"--wait", "some", "--", "true"})).status, 2);
    }

    void signalEndsTheWaiting() {
        if (test::hasThreadSanitizer) QSKIP("The sanitizer delivers a signal only after the call that waits.");
        QProcess process;
        prepare(process, record({"--wait", "all", "--", "sh", "-c", "sleep 25 >/dev/null 2>&1 & echo $!; exit 3"}));
        process.start();
        QVERIFY(process.waitForReadyRead(waitMs));
        QVERIFY(!process.waitForFinished(5000));  // Longer than without --wait all.
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        const Ended run = endOf(process);
        ::kill(run.out.trimmed().toInt(), SIGKILL);
        QCOMPARE(run.status, 3);
        QVERIFY2(run.err.contains("1 process of the run still ran"), run.err);
        QVERIFY(isThere("out.sqlite"));
    }

    void unknownOptionIsRefused() {
        for (const char* word : {"--bogus", "--bogus=3", "-x"}) {
            const Ended run = lanescope({"record", word, "--", "touch", "started"});
            QCOMPARE(run.status, 2);
            QVERIFY2(run.err.contains(QByteArray("unknown option ") + word), run.err);
            QCOMPARE(run.err.count('\n'), 1);
        }
        QVERIFY(!isThere("started"));
        const Ended noFile = lanescope({"record", "-o", "--", "touch", "started"});
        QCOMPARE(noFile.status, 2);
        QVERIFY2(noFile.err.contains("-o needs a FILE"), noFile.err);
        QVERIFY(!isThere("--") && !isThere("started"));
        const Ended often = lanescope({"record", "--sample", "1000", "--", "true", "-x"});
        QVERIFY2(often.err.contains("--sample: 1000 is out of range (0 to 100)"), often.err);
        QCOMPARE(lanescope({"record", "--help"}).status, 0);
        QCOMPARE(lanescope(record({"--wait=all", "-oc.sqlite", "--", "true"})).status, 2);
        QCOMPARE(lanescope({"record", "--agent=" + in("agent.so"), "-oc.sqlite", "true"}).status, 0);
        QVERIFY(isThere("c.sqlite"));
    }

    void otherAgentIsRefused() {
        test::TestLog::write(in("agent.so").toStdString(), "something else");
        const Ended run = lanescope(record({"--", "touch", "started"}));
        QCOMPARE(run.status, 1);
        QVERIFY2(run.err.contains("agent.so: not an agent of Lanescope"), run.err);
        QCOMPARE(run.err.count('\n'), 1);
        QVERIFY(!isThere("started"));
    }

    void reportsSkippedProcessesIfNothingWasRecorded() {
        Ended run = lanescope(record({"--no-nvtx", "--", "/bin/true"}));
        QVERIFY2(run.err.contains("possible causes: no CUDA use (NVTX is excluded by --no-nvtx)"), run.err);
        run = lanescope(record({"--force", "--duration", "500ms", "--", "/bin/true"}));
        QVERIFY2(run.err.contains("activity only outside the recorded windows"), run.err);
    }

    void doesNotSendToMissingLogs() {
        QVERIFY(QDir(folder_->path()).mkdir("gone"));
        const Ended run = lanescope(record({"--", "sh", "-c", "rm -rf gone"}, "gone/out.sqlite"));
        QVERIFY(run.status != 0);
        QVERIFY2(run.err.contains("the logs were removed"), run.err);
        QVERIFY2(!run.err.contains("lanescope recover"), run.err);
    }

    void signalBeforeAnyRecordingIsReported() {
        const Ended run = lanescope(record({"--", "sh", "-c", "kill -9 $$"}));
        QCOMPARE(run.status, 137);
        QVERIFY2(run.err.contains("Nothing was recorded of sh: signal 9 ended it before"), run.err);
    }

    void singleItemsUseTheSingular() {
        QVERIFY(lanescope(record({"--", leaveLog_, "1"})).err.contains("1 kernel of 1 process."));
    }

    void passesStreamsAndStatusThrough() {
        const Ended run = lanescope(record({"--", "sh", "-c", "cat; echo trouble >&2; exit 7"}), "a line\n");
        QCOMPARE(test::listed(run.status, run.out), "7 | a line\n");
        QVERIFY(run.err.startsWith("trouble\n"));
        for (const QByteArray& line : run.err.split('\n'))
            QVERIFY(line.isEmpty() || line == "trouble" || line.startsWith("lanescope: "));
    }

    void killedProgramLeavesItsTrace() {
        const Ended run = lanescope(record({"--", leaveLog_, "20", "--kill"}));
        QCOMPARE(run.status, 137);
        QCOMPARE(kernels("out.sqlite"), 20);
        QVERIFY(run.err.contains("no exit record"));
    }

    void forwardsSignals() {
        if (test::hasThreadSanitizer) QSKIP("The sanitizer delivers a signal only after the call that waits.");
        QProcess process;
        prepare(process, record({"--", "sh", "-c",
                                 "trap 'echo got it; exit 3' TERM; echo ready; while :; do sleep 0.05; done"}));
        process.start();
        QVERIFY(process.waitForReadyRead(waitMs));
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        const Ended run = endOf(process);
        QCOMPARE(run.status, 3);
        QVERIFY(run.out.contains("got it"));
        QVERIFY(isThere("out.sqlite"));
    }

    void setsTheEnvironmentOfTheProgram() {
        const Ended run = lanescope(record({"--no-cuda", "--", "sh", "-c",
                                            "echo [$CUDA_INJECTION64_PATH] $NVTX_INJECTION64_PATH $LANESCOPE_AGENT_DIR "
                                            "$LANESCOPE_AGENT_OPTIONS; stat -c %a $LANESCOPE_AGENT_DIR; cat "
                                            "$LANESCOPE_AGENT_DIR/session.json"}),
                                    {}, {{"SECRET", "hush-hush"}});
        const QList<QByteArray> words = run.out.left(run.out.indexOf('\n')).split(' ');
        QCOMPARE(words.size(), 4);
        QCOMPARE(words[0], QByteArray("[]"));
        QVERIFY(words[1].endsWith("/agent.so") && words[1].startsWith('/'));
        QVERIFY(words[2].endsWith("/.out.sqlite.run") && words[2].startsWith('/'));
        QCOMPARE(words[3], QByteArray("cuda=0,nvtx=1"));
        for (const char* part : {"\n700\n", "\"commandLine\""}) QVERIFY2(run.out.contains(part), part);
        QVERIFY(!run.out.contains("hush-hush"));
    }

    void impossibleRequestsAreRefused_data() {
        const test::Rows<QStringList, QString, QString, int> row;
        row("no such program", {"no-such-program-anywhere"}, "out.sqlite",
            "no-such-program-anywhere: no such program in PATH", 127);
        row("no such path", {"/no/such/program"}, "out.sqlite", "/no/such/program: no such program", 127);
        row("not executable", {"./agent.so"}, "out.sqlite", "not executable", 126);
        row("no such interpreter", {"./script"}, "out.sqlite",
            "the interpreter /no/such/interpreter in its first line does not exist", 126);
        row("a folder as program", {"/usr"}, "out.sqlite", ": not a program", 126);
        row("no name", {"touch", "started"}, "", "name is empty", 2);
        row("standard output", {"touch", "started"}, "-", "standard output; name a file", 2);
        row("no such folder", {"touch", "started"}, "none/out.sqlite", "none: no such folder", 1);
        row("a folder", {"touch", "started"}, ".", "this is a folder", 1);
        row("bad pattern", {"touch", "started"}, "%z", "unknown % placeholder", 1);
        row("unset variable", {"touch", "started"}, "%q{NOT_SET_HERE}", "NOT_SET_HERE is not set", 1);
    }
    void impossibleRequestsAreRefused() {
        const auto [words, output, sentence, status] = test::row<QStringList, QString, QString, int>();
        test::TestLog::write(in("script").toStdString(), "#! /no/such/interpreter -x\n");
        QVERIFY(QFile::setPermissions(in("script"), QFile::ReadOwner | QFile::ExeOwner));
        const QStringList before = QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden);
        const Ended run = lanescope(record(QStringList{"--"} + words, output));
        QCOMPARE(run.status, status);
        QVERIFY2(run.err.contains(sentence.toUtf8()), run.err);
        QCOMPARE(run.err.count('\n'), 1);
        QCOMPARE(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden), before);
    }

    void refusesASecondRecordOfTheProgram() {
        const Ended otherTool =
            lanescope(record({"--", "touch", "started"}), {}, {{"CUDA_INJECTION64_PATH", "/opt/other/lib.so"}});
        QCOMPARE(otherTool.status, 1);
        QVERIFY(otherTool.err.contains("/opt/other/lib.so"));
        QVERIFY(!isThere("started"));
        const Ended spared = lanescope(record({"--no-cuda", "--", "touch", "started"}), {},
                                       {{"CUDA_INJECTION64_PATH", "/opt/other/lib.so"}});
        QCOMPARE(spared.status, 0);
        QVERIFY(isThere("started"));
        QCOMPARE(lanescope(record({"--", "true"}), {}, {{"LANESCOPE_AGENT_DIR", "/x"}}).status, 1);
        const Ended agent = lanescope({"record", "--agent", "none.so", "--", "true"});
        QCOMPARE(agent.status, 1);
        QVERIFY(agent.err.contains("none.so: no such agent"));
    }

    void writesTheTraceAfterABrokenPipe() {
        const Ended run = lanescope({"record", "--agent", "agent.so", "-o", "inner.sqlite", "--api", "all", "--", "sh",
                                     "-c", "echo $LANESCOPE_AGENT_OPTIONS; exit 3"});
        QCOMPARE(run.out, QByteArray("cuda=1,nvtx=1,api=all\n"));
        QProcess shell;
        prepare(shell, {"--version"});
        shell.setArguments(
            {"-c", "\"$0\" record --agent agent.so -o out.sqlite -- sh -c 'exit 3' 2>&-; echo $?", shell.program()});
        shell.setProgram("sh");
        shell.start();
        QCOMPARE(endOf(shell).out, QByteArray("3\n"));
        QVERIFY(isThere("out.sqlite"));
    }

    void overwritesOnlyWhenForced() {
        test::TestLog::write(in("out.sqlite").toStdString(), "precious");
        const Ended refused = lanescope(record({"--", "touch", "started"}));
        QCOMPARE(refused.status, 1);
        QVERIFY(refused.err.contains("exists"));
        QVERIFY(!isThere("started"));
        QCOMPARE(QFileInfo(in("out.sqlite")).size(), 8);
        const Ended device = lanescope(record({"--", "true"}, "/dev/full"));
        QCOMPARE(device.status, 1);
        QVERIFY2(device.err.contains("not a regular file") && !device.err.contains("--force"), device.err);
        QCOMPARE(lanescope(record({"--force", "--", "true"})).status, 0);
        QCOMPARE(kernels("out.sqlite"), 0);
    }

    void namesTheTrace() {
        QCOMPARE(lanescope(record({"--", "true"}, "a-%p-%h-%q{WHO}-%%.sqlite"), {}, {{"WHO", "me"}}).status, 0);
        const QStringList named = QDir(folder_->path()).entryList({"a-*.sqlite"});
        QCOMPARE(named.size(), 1);
        QVERIFY(QRegularExpression("^a-\\d+-.+-me-%\\.sqlite$").match(named[0]).hasMatch());
        for (int number = 1; number <= 2; ++number)
            QCOMPARE(lanescope({"record", "--agent", "agent.so", "true"}).status, 0);
        for (const char* part : {"lanescope-true-1.sqlite", "lanescope-true-2.sqlite"}) QVERIFY2(isThere(part), part);
    }

    void passesArgumentsUnchanged() {
        const Ended run = lanescope(record({"--", "printf", "<%s>", "--force", "-o", "a b", "--", ""}));
        QCOMPARE(run.out, QByteArray("<--force><-o><a b><--><>"));
        QCOMPARE(lanescope(record({"printf", "<%s>", "--force", "-x"}, "b.sqlite")).out, QByteArray("<--force><-x>"));
    }

    void recoversAfterAKilledRecord() {
        QProcess process;
        prepare(process, record({"--", "sh", "-c", leaveLog_ + " 30; echo ready; sleep 20"}));
        process.start();
        QVERIFY(process.waitForReadyRead(waitMs));
        const Ended busy = lanescope({"recover", ".out.sqlite.run"});
        QCOMPARE(busy.status, 1);
        QVERIFY(busy.err.contains("still being recorded"));
        const Ended otherTool = lanescope(record({"--", "touch", "started"}));
        QCOMPARE(otherTool.status, 1);
        QVERIFY2(otherTool.err.contains("out.sqlite: being recorded by another lanescope"), otherTool.err);
        QVERIFY(!isThere("started"));
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        process.waitForFinished(waitMs);
        QVERIFY(isThere(".out.sqlite.run") && !isThere("out.sqlite"));
        // The process that records ends with the one that was killed, but a moment later.
        QTRY_VERIFY(lanescope(record({"--", "true"})).err.contains("lanescope recover"));
        QCOMPARE(lanescope({"recover", ".out.sqlite.run/"}).status, 0);
        QCOMPARE(kernels("out.sqlite"), 30);
        QCOMPARE(lanescope({"recover", ".out.sqlite.run"}).status, 1);
        QCOMPARE(lanescope({"recover", ".out.sqlite.run", "-o", "b.sqlite"}).status, 0);
        QCOMPARE(kernels("b.sqlite"), 30);
    }

    void recoversAnyPrefixOfALog() {
        QCOMPARE(lanescope(record({"--keep-logs", "--no-sample", "--no-threads", "--", leaveLog_, "30"})).status, 0);
        const QDir logs(in(".out.sqlite.run"));
        const QString log = logs.filePath(logs.entryList({"*.log"}).value(0));
        QFile::remove(logs.filePath("session.json"));
        int64_t before = 31;
        for (qint64 size = QFileInfo(log).size(); size >= 0; size -= 700) {
            QFile::resize(log, size);
            const bool isHeaderThere = size >= qint64(sizeof(log::FileHeader));
            const Ended recovered = lanescope({"recover", ".out.sqlite.run", "--force"});
            QCOMPARE(recovered.status, isHeaderThere ? 0 : 1);
            QVERIFY(isHeaderThere || recovered.err.contains("no readable Lanescope log"));
            const int64_t now = kernels("out.sqlite");
            QVERIFY(now >= 0 && now <= before);
            before = now;
        }
        QVERIFY(before < 10);
        QFile::remove(log);
        QCOMPARE(lanescope({"recover", ".out.sqlite.run", "--force"}).status, 1);
        QCOMPARE(lanescope({"recover", "nowhere"}).status, 1);
    }

    void removesEveryFileOfALongLog() {
        const std::filesystem::path path = in("run").toStdString();
        auto folder = test::orFail(RunFolder::create(path, RunInfo{}));
        for (const char* name : {"box.0.7.log", "box.0.7.log.1", "box.0.7.log.12", "box.0.7.2.log"})
            std::ofstream(path / name) << std::string_view(log::fileMagic, sizeof log::fileMagic);
        folder.remove();
        QVERIFY(!std::filesystem::exists(path));
    }

    void otherFilesAreKept() {
        const std::filesystem::path path = in("run").toStdString();
        auto folder = test::orFail(RunFolder::create(path, RunInfo{}));
        for (const char* name : {"results.1", "box.0.7.log.old", "box.0.7.log.", "train.log"})
            std::ofstream(path / name) << "loss 0.3";
        folder.remove();
        for (const char* name : {"results.1", "box.0.7.log.old", "box.0.7.log.", "train.log"})
            QVERIFY2(std::filesystem::exists(path / name), name);
    }

    void folderNamesRoundTrip() {
        QCOMPARE(runFolderFor("a/b.sqlite").string(), "a/.b.sqlite.run");
        QCOMPARE(outputForRunFolder("a/.b.sqlite.run").string(), "a/b.sqlite");
        QCOMPARE(outputForRunFolder("a/.b.sqlite.run/").string(), "a/b.sqlite");
        QCOMPARE(outputForRunFolder("some/logs").string(), "some/logs.sqlite");
        QCOMPARE(outputForRunFolder(".").string(), "./recovered.sqlite");
    }

    void doctorReportsIfRecordingWillWork() {
        const Ended text = lanescope({"doctor", "--agent", in("agent.so")});
        QVERIFY((text.status == 0 || text.status == 1) && text.out.contains("[fail] agent"));
        QCOMPARE(text.status, 1);
        const Ended json = lanescope({"doctor", "--format", "json"});
        QVERIFY(json.out.trimmed().startsWith('{') && json.out.contains("\"canRecord\""));
    }
};

LANESCOPE_TEST(tst_record, QCoreApplication)
#include "tst_record.moc"
