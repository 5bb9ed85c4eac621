// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;

using lanescope::test::Ended;
using lanescope::test::endOf;

/// Tests of `record` with the real agent in programs that change user, root, limits or the clock.
/// Tests of `record` around launchers, inside them, and until its windows end, with a simulated GPU.
class tst_RecordHardship : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    const QString hardship_ = LANESCOPE_BINARY_DIR "/bin/standin-hardship";

    Ended record(const QStringList& words, const QStringList& options = {},
                 const QMap<QString, QString>& variables = {}) const {
        QProcess process;
        process.setWorkingDirectory(folder_->path());
        auto environment = QProcessEnvironment::systemEnvironment();
        for (auto it = variables.begin(); it != variables.end(); ++it) environment.insert(it.key(), it.value());
        process.setProcessEnvironment(environment);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      QStringList{"record", "-o", "out.sqlite", "--no-sample", "--no-cuda"} + options +
                          QStringList{"--"} + words);
        return endOf(process);
    }
    /// The result of a query with one number.
    int64_t number(const char* sql) const {
        const auto database = Database::openReadOnly(folder_->filePath("out.sqlite").toStdString());
        if (!database) return -1;
        auto statement = database->prepare(sql);
        if (!statement) return -2;
        const auto row = statement->step();
        return row && *row ? statement->integer(0) : -3;
    }
    int64_t ranges(const char* name) const {
        return number(qPrintable(QString("SELECT count(*) FROM NVTX_EVENTS WHERE text = '%1' OR "
                                         "textId = (SELECT id FROM StringIds WHERE value = '%1')")
                                     .arg(name)));
    }
    const QString lanescope_ = LANESCOPE_BINARY_DIR "/bin/lanescope";
    const QString survivor_ = LANESCOPE_BINARY_DIR "/bin/survivor";
    const QString leaveLog_ = LANESCOPE_BINARY_DIR "/bin/leaveLog";
    const QString mpirun_ = QStandardPaths::findExecutable("mpirun");

    QString in(const QString& name) const { return folder_->filePath(name); }

    Ended run(const QString& program, const QStringList& arguments) const {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "RANK", "WORLD_SIZE",
                                 "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"})
            environment.remove(name);
        environment.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(folder_->path());
        process.start(program, arguments);
        return endOf(process);
    }
    /// A command that runs `words` as `ranks` ranks, also on a small machine, and as the user that runs the tests.
    QStringList mpi(int ranks, const QStringList& words) const {
        return QStringList{"--allow-run-as-root", "--oversubscribe", "-n", QString::number(ranks)} + words;
    }
    QStringList training(const QStringList& more = {}) const {
        return QStringList{survivor_, "--progress", in("progress"), "--steps", "20", "--step-ms", "1"} + more;
    }
    TracePtr load(const QString& name) const {
        auto trace = loadTrace(in(name).toStdString());
        if (!trace) qWarning("%s", trace.error().sentence.c_str());
        return trace ? *trace : nullptr;
    }
    static std::string said(const Trace& trace) {
        std::string text;
        for (const HealthNote& note : trace.health) text += note.sentence + "\n";
        return text;
    }
    static QList<int> ranks(const Trace& trace) {
        QList<int> found;
        for (const Process& process : trace.processes)
            // The launcher itself has no rank, only host counters.
            if (process.rank) found.append(static_cast<int>(*process.rank));
        std::sort(found.begin(), found.end());
        return found;
    }
    /// Sorted numbers of the processes that have one.
    static QList<int> numbersOf(const Trace& trace, std::optional<int> Process::*number) {
        QList<int> values;
        for (const Process& process : trace.processes)
            if (process.*number) values.append(*(process.*number));
        std::sort(values.begin(), values.end());
        return values;
    }

  private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void programThatDropsRootIsRecorded() {
        if (::geteuid() != 0) QSKIP("Only root can be given up.");
        // A folder that the program may enter but not write to.
        std::filesystem::permissions(folder_->path().toStdString(), std::filesystem::perms(0755));
        const Ended ended = record({hardship_, "user"});
        QVERIFY2(ended.status == 0, ended.err.constData());
        QCOMPARE(ranges("work"), 100);
        QVERIFY2(!ended.err.contains("warning"), ended.err.constData());
        QVERIFY(QDir(folder_->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot) ==
                QStringList{"out.sqlite"});
    }

    void programThatChangesItsRootIsRecorded() {
        if (test::hasAddressSanitizer) QSKIP("The sanitizer reads /proc when the program ends.");
        if (::geteuid() != 0) QSKIP("Only root can change the root.");
        QDir(folder_->path()).mkdir("root");
        const Ended ended = record({hardship_, "root", folder_->filePath("root")});
        QVERIFY2(ended.status == 0, ended.err.constData());
        QCOMPARE(test::listed(ranges("work"), ranges("before")), "99 | 1");
    }

    void unrecordableProgramIsReported() {
        if (::geteuid() != 0) QSKIP("Only root can be given up.");
        // The socket does not respond, as when the program is in another network namespace.
        const Ended ended = record({"env", "LANESCOPE_AGENT_DOOR=no-such-door", hardship_, "user"});
        QCOMPARE(ended.status, 0);
        // The only evidence is the missing log, which must not be called something else.
        QVERIFY2(ended.err.contains("a log folder that could not be reached"), ended.err.constData());
    }

    void clockChangeIsReported() {
        if (test::hasAddressSanitizer) QSKIP("The sanitizer wants to be loaded first.");
        const Ended ended = record(
            {"env", "LD_PRELOAD=" LANESCOPE_BINARY_DIR "/lib/standin/libstandin-clock.so", hardship_, "clock", "3600"});
        QVERIFY2(ended.status == 0, ended.err.constData());
        QCOMPARE(number("SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'clock-set' AND severity = 0"), 1);
        QVERIFY(number("SELECT max(\"end\" - start) FROM NVTX_EVENTS") < 900'000'000);
        QVERIFY(number("SELECT max(\"end\") FROM NVTX_EVENTS") < int64_t{60} * 1'000'000'000);
    }

    void fileSizeLimitDoesNotEndIt() {
        // Room for an empty trace, and little more.
        QCOMPARE(record({"true"}).status, 0);
        const QString trace = folder_->filePath("out.sqlite");
        const qint64 kilobytes = QFileInfo(trace).size() / 1024 + 60;
        QVERIFY(QFile::remove(trace));
        QProcess process;
        process.setWorkingDirectory(folder_->path());
        process.start("bash", {"-c", QString("ulimit -f %1; exec %2 record --no-sample --no-cuda -o "
                                             "out.sqlite -- sh -c '%3 ranges 200000; exit 3'")
                                         .arg(kilobytes)
                                         .arg(LANESCOPE_BINARY_DIR "/bin/lanescope", hardship_)});
        const Ended ended = endOf(process);
        QCOMPARE(ended.status, 3);
        QVERIFY(ended.err.contains("out.sqlite"));
    }

    void programWithUnreadableFilesIsDisabled() {
        const Ended ended = record({hardship_, "ranges", "10"}, {}, {{"LANESCOPE_DISABLE", "1"}});
        QCOMPARE(ended.status, 0);
        QVERIFY2(ended.err.contains("LANESCOPE_DISABLE is set"), ended.err.constData());
    }

    void secretsOfCommandLinesStayOutOfTheTrace() {
        const QStringList words{hardship_, "ranges", "10", "--api-key", "made-up-secret"};
        const auto isInTrace = [&] {
            QFile file(folder_->filePath("out.sqlite"));
            return file.open(QIODevice::ReadOnly) && file.readAll().contains("made-up-secret");
        };
        QCOMPARE(record(words).status, 0);
        QVERIFY(!isInTrace());
        QCOMPARE(record(words, {"--force", "--keep-command-line"}).status, 0);
        QVERIFY(isInTrace());
    }

    void execIsNoAbnormalEnd() {
        const Ended ended = record({"sh", "-c", "exec " + hardship_ + " ranges 10"});
        QCOMPARE(ended.status, 0);
        QVERIFY2(!ended.err.contains("abnormally"), ended.err.constData());
    }

    void childrenWithoutLogAreReported() {
        const Ended ended = record({hardship_, "children", "20"});
        QCOMPARE(ended.status, 0);
        QVERIFY2(ended.err.contains("forked processes used NVTX or CUDA"), ended.err.constData());
    }

    void oneTraceContainsAllRanksOfALauncher() {
        const Ended ended = run(lanescope_, QStringList{"record", "-o", "all.sqlite", "--"} +
                                                training({"--end", "spawn", "--processes", "3", "--status", "5"}));
        QCOMPARE(ended.status, 5);
        const TracePtr trace = load("all.sqlite");
        QVERIFY(trace);
        QCOMPARE(ranks(*trace), (QList<int>{0, 1, 2}));
        QCOMPARE(int(trace->kernels.size()), 3 * 20 * 6);
        QCOMPARE(numbersOf(*trace, &Process::localRank), (QList<int>{0, 1, 2}));
        QCOMPARE(numbersOf(*trace, &Process::worldSize), (QList<int>{3, 3, 3}));
        HAS_NO(said(*trace), "no record");
    }

    void oneTraceContainsAllRanksOfMpirun() {
        if (mpirun_.isEmpty()) QSKIP("There is no mpirun here: installer/setup installs it.");
        const Ended ended = run(lanescope_, QStringList{"record", "--no-sample", "-o", "all.sqlite", "--"} +
                                                QStringList{mpirun_} + mpi(4, training()));
        QVERIFY2(ended.status == 0, ended.err);
        const TracePtr trace = load("all.sqlite");
        QVERIFY(trace);
        QCOMPARE(ranks(*trace), (QList<int>{0, 1, 2, 3}));
        QCOMPARE(int(trace->kernels.size()), 4 * 20 * 6);
        const QByteArray info = run(lanescope_, {"info", "all.sqlite"}).out;
        QVERIFY2(info.contains("rank 2 of 4"), info);
        QVERIFY2(info.contains("No warnings."), info);
    }

    void missingRanksAreReported() {
        if (mpirun_.isEmpty()) QSKIP("There is no mpirun here: installer/setup installs it.");
        const QStringList half{"sh", "-c", "[ $OMPI_COMM_WORLD_RANK -ge 2 ] || exec " + training().join(' ')};
        const Ended ended =
            run(lanescope_, QStringList{"record", "-o", "half.sqlite", "--"} + QStringList{mpirun_} + mpi(4, half));
        QVERIFY2(ended.status == 0, ended.err);
        QVERIFY2(ended.err.contains("Ranks 2, 3 of 4 left no record"), ended.err);
        const TracePtr trace = load("half.sqlite");
        QVERIFY(trace);
        QCOMPARE(ranks(*trace), (QList<int>{0, 1}));
        QVERIFY(said(*trace).find("Ranks 2, 3 of 4 left no record") != std::string::npos);
    }

    void underMpirunEachRankHasItsOwnTrace() {
        if (mpirun_.isEmpty()) QSKIP("There is no mpirun here: installer/setup installs it.");
        const QString pattern = "run.%q{OMPI_COMM_WORLD_RANK}.sqlite";
        const Ended ended = run(mpirun_, mpi(4, QStringList{lanescope_, "record", "-o", pattern, "--"} + training()));
        QVERIFY2(ended.status == 0, ended.err);
        for (int rank = 0; rank < 4; ++rank) {
            const TracePtr trace = load(QString("run.%1.sqlite").arg(rank));
            QVERIFY(trace);
            QCOMPARE(ranks(*trace), QList<int>{rank});
            QCOMPARE(int(trace->kernels.size()), 20 * 6);
            HAS_NO(said(*trace), "no record");
        }
        QCOMPARE(QDir(folder_->path()).entryList({".*.run"}, QDir::AllEntries | QDir::Hidden), QStringList());
    }

    void underMpirunOneNameForAllRanksIsRefused() {
        if (mpirun_.isEmpty()) QSKIP("There is no mpirun here: installer/setup installs it.");
        const Ended ended =
            run(mpirun_, mpi(2, QStringList{lanescope_, "record", "-o", "one.sqlite", "--"} + training()));
        QCOMPARE(ended.status, 1);
        QVERIFY2(ended.err.contains("All 2 ranks of this launch would write one.sqlite"), ended.err);
        QVERIFY(!QFile::exists(in("progress")));
        // Without a name, each chooses its own.
        const Ended named = run(mpirun_, mpi(2, QStringList{lanescope_, "record", "--"} + training()));
        QVERIFY2(named.status == 0, named.err);
        QVERIFY(load("lanescope-survivor-1.sqlite") && load("lanescope-survivor-2.sqlite"));
    }

    void programEndsAfterTheDuration() {
        const Ended ended = run(lanescope_, {"record", "-o", "t.sqlite", "--delay", "0.1", "--duration", "0.2",
                                             "--kill", "sigterm", "--", "sh", "-c", "sleep 80; exit 3"});
        QCOMPARE(ended.status, 128 + SIGTERM);
        QVERIFY2(ended.err.contains("sh: terminated by SIGTERM after the last"), ended.err);
        QVERIFY(load("t.sqlite"));
    }

    void programEndsAfterTheLastWindow() {
        // Two processes with two windows each; without the limit, the program and its other child
        // would continue to sleep.
        const QString windows = leaveLog_ + " 4 --windows 2";
        const Ended ended =
            run(lanescope_, {"record", "-o", "t.sqlite", "--capture-range", "nvtx:a", "--ranges", "2", "--kill",
                             "sigterm", "--", "sh", "-c", windows + "; " + windows + "; sleep 80 & sleep 80; exit 3"});
        QCOMPARE(ended.status, 128 + SIGTERM);
        QVERIFY2(!ended.err.contains("still ran"), ended.err);
        QVERIFY(load("t.sqlite"));
    }

    void recordsOnlyTheRequestedWindows_data() {
        const test::Rows<QStringList, QList<int>> row;
        row("a range", {"--capture-range", "nvtx:step 5"}, QList<int>{5});
        row("three ranges", {"--capture-range", "nvtx:step ?", "--ranges", "3"}, QList<int>{1, 2, 3});
        row("steps", {"--steps", "2-4"}, QList<int>{3, 4, 5});
        row("named steps", {"--steps", "1", "--step-range", "step *"}, QList<int>{2});
    }
    void recordsOnlyTheRequestedWindows() {
        const auto [words, steps] = test::row<QStringList, QList<int>>();
        const Ended ended =
            run(lanescope_, QStringList{"record", "-o", "t.sqlite", "--kill", "sigterm"} + words +
                                QStringList{"--", survivor_, "--progress", in("progress"), "--steps", "100000"});
        QCOMPARE(ended.status, 128 + SIGTERM);
        const TracePtr trace = load("t.sqlite");
        QVERIFY(trace);
        QStringList expected;
        for (const int step : steps) expected.append(QString("step %1").arg(step));
        QStringList found;
        for (const StringIndex text : trace->nvtx.text)
            found.append(QString::fromStdString(std::string(trace->strings.at(text))));
        found.sort();
        QCOMPARE(test::listed(found, int(trace->kernels.size())), test::listed(expected, int(steps.size()) * 6));
    }

    void waitsForEveryWindow_data() {
        test::rows<QString>("windows", {{"too few", leaveLog_ + " 4 --windows 1 --pause 2500"},
                                        {"one is open", leaveLog_ + " 4 --windows 2; " + leaveLog_ +
                                                            " 4 --windows 1 --open --pause 2500"}});
    }
    void waitsForEveryWindow() {
        QFETCH(QString, windows);
        const Ended ended = run(lanescope_, {"record", "-o", "t.sqlite", "--capture-range", "nvtx:a", "--ranges", "2",
                                             "--kill", "sigterm", "--", "sh", "-c", windows + "; exit 3"});
        QCOMPARE(ended.status, 3);
    }
};

LANESCOPE_TEST(tst_RecordHardship, QCoreApplication)
#include "tst_RecordHardship.moc"
