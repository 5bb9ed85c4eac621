// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "tests/support/fileBytes.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;

using lanescope::test::Ended;
using lanescope::test::endOf;

/// End-to-end tests of `bench` and `record --repeat` with a simulated GPU.
class tst_Bench : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> folder_;

    static constexpr int waitMs = 120'000;

    QString in(const QString& name) const { return folder_->filePath(name); }

    void start(QProcess& process, const QStringList& words) const {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        process.setProcessEnvironment(variables);
        process.setWorkingDirectory(folder_->path());
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", words);
    }

    Ended run(const QStringList& words) const {
        QProcess process;
        start(process, words);
        return endOf(process);
    }

    /// A training with steps of slightly more than that time.
    static QStringList training(int stepMs, int steps = 24) {
        return {LANESCOPE_BINARY_DIR "/bin/standin-training",
                "--live",
                "1",
                "--cupti",
                LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13",
                "--kernels",
                "4",
                "--steps",
                QString::number(steps),
                "--step-ms",
                QString::number(stepMs)};
    }

    static QStringList sides(const QStringList& a, const QStringList& b) {
        return QStringList{"--"} + a + QStringList{"---"} + b;
    }

    QStringList tracesIn(const QString& folder) const {
        return QDir(in(folder)).entryList({"*.sqlite"}, QDir::Files, QDir::Name);
    }

    QByteArray textOf(const QString& name) const { return test::fileBytes(in(name)); }

  private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void recordsAlternatelyAndAnswersLikeCompare() {
        const Ended bench = run(QStringList{"bench", "--runs", "3", "-o", "b", "-f", "json", "--fail-if", "slower"} +
                                sides(training(10), training(20)));
        QVERIFY2(bench.status == 1, bench.err);
        QCOMPARE(tracesIn("b"),
                 QStringList({"A1.sqlite", "A2.sqlite", "A3.sqlite", "B1.sqlite", "B2.sqlite", "B3.sqlite"}));
        QDateTime before;
        for (const char* name : {"A1", "B1", "A2", "B2", "A3", "B3"}) {
            const QDateTime made = QFileInfo(in(QString("b/%1.sqlite").arg(name))).lastModified();
            QVERIFY(!before.isValid() || before < made);
            before = made;
        }
        // The output of a run is stored next to its trace, and not in the answer.
        QVERIFY2(textOf("b/A1.log").contains("trained 96 kernels"), textOf("b/A1.log"));
        QVERIFY(textOf("b/B-warm-up.log").contains("trained 96 kernels"));
        const QJsonObject answer = QJsonDocument::fromJson(bench.out).object();
        const QJsonObject candidate = answer["candidates"].toArray()[0].toObject();
        QCOMPARE(candidate["answer"].toObject()["outcome"].toString(), QString("slower"));
        const QJsonObject claim = candidate["workers"].toArray()[0].toObject()["claim"].toObject();
        QCOMPARE(test::listed(claim["unit"].toString(), claim["baselineRuns"].toInt()), "runs | 3");
        QVERIFY2(claim["percent"].toDouble() > 50, bench.out);
        const Ended compared =
            run({"compare", "-f", "json", "--fail-if", "slower", "--baseline", "b/A1.sqlite", "b/A2.sqlite",
                 "b/A3.sqlite", "--candidate", "b/B1.sqlite", "b/B2.sqlite", "b/B3.sqlite"});
        QCOMPARE(test::listed(compared.status, compared.out), test::listed(1, bench.out));
        QVERIFY2(bench.err.contains("lanescope: The 6 traces, A1 to B3, are in b."), bench.err);
    }

    /// Kernels that start 50 ms after their launches have no known cause.
    void stepsWithoutKnownCausesAreNotVerified() {
        const QStringList late{"--gpu-delay-us", "50000"};
        const Ended refused =
            run(QStringList{"whatif", "--verify", "--add", "launch=2ms", "-o", "v", "--"} + training(2) + late);
        QCOMPARE(refused.status, 3);
        QVERIFY2(refused.err.contains("lanescope: No forecast. The recorded causes do not explain this step"),
                 refused.err);
        const Ended slow =
            run(QStringList{"whatif", "--verify", "--add", "launch=20ms", "-o", "w", "--"} + training(2));
        QCOMPARE(slow.status, 3);
        QVERIFY2(slow.err.contains("launch: the step would take ") && slow.err.contains("Add at most "), slow.err);
        QCOMPARE(tracesIn("v"), QStringList{"A.sqlite"});
        const Ended again =
            run(QStringList{"whatif", "--verify", "--add", "launch=2ms", "-o", "v", "--"} + training(2));
        QVERIFY2(again.err.contains("is not empty. Choose another with -o"), again.err);
    }

    /// Steps of 400 launches, whose kernels start when their launches return.
    void forecastOfLaunchesIsVerified() {
        if (qEnvironmentVariableIntValue("LANESCOPE_ALONE") != 2) QSKIP("Set LANESCOPE_ALONE=2: a minute.");
        QStringList program = training(0, 3'000);
        program[program.indexOf("--kernels") + 1] = "400";
        const QStringList verify{"whatif", "--verify", "--add", "launch=500ns", "--runs", "2", "-o", "v"};
        const Ended said = run(verify + QStringList{"-f", "json", "--"} + program);
        QVERIFY2(said.status == 0 || said.status == 1, said.err);
        const QJsonObject found = QJsonDocument::fromJson(said.out).object();
        const auto number = [&](const char* key) { return found[key].toDouble(); };
        QVERIFY2(number("pairs") >= 3 && std::abs(number("callsPerStep") - 400) < 4, said.out);
        // The host alone limits the steps: each added second is one of the step, as forecast and as measured.
        QVERIFY2(std::abs(number("callsForecastNs") / number("addedNs") - 1) < 0.02, said.out);
        QVERIFY2(number("addedNs") >= 400 * 500, said.out);
        QVERIFY2(std::abs(number("forecastNs") - number("measuredNs")) <
                     std::max(number("marginNs"), 0.2 * number("addedNs")),
                 said.out);
        QVERIFY2(std::abs(number("hostFactor") - 1) < 0.5, said.out);
        QCOMPARE(tracesIn("v"), QStringList({"A.sqlite", "B1.sqlite", "B2.sqlite"}));
    }

    void createsItsOwnFolder() {
        QVERIFY(QDir(folder_->path()).mkdir("lanescope-bench-1"));
        const Ended bench =
            run(QStringList{"bench", "--runs", "2", "--warmup", "0"} + sides(training(5, 12), training(5, 12)));
        QVERIFY2(bench.status == 0, bench.err);
        QCOMPARE(tracesIn("lanescope-bench-2").size(), 4);
        QVERIFY(!QFile::exists(in("lanescope-bench-2/A-warm-up.log")));
        const Ended again =
            run(QStringList{"bench", "-o", "lanescope-bench-2"} + sides(training(5, 12), training(5, 12)));
        QCOMPARE(again.status, 3);
        QVERIFY2(again.err.contains("is not empty. Choose another with -o"), again.err);
    }

    void failedRunEndsBench() {
        const Ended bench = run(QStringList{"bench", "--runs", "3", "--warmup", "0", "-o", "b"} +
                                sides(training(5, 12), training(5, 12) + QStringList{"--exit-code", "7"}));
        QCOMPARE(bench.status, 3);
        QVERIFY2(bench.err.contains("lanescope: Run B1: exit status 7. Nothing to compare. Its "
                                    "output is in b/B1.log.\n"),
                 bench.err);
        QVERIFY2(bench.err.contains("The trace of A1 is in b."), bench.err);
        QVERIFY(bench.out.isEmpty());
        QCOMPARE(tracesIn("b"), QStringList{"A1.sqlite"});
        QVERIFY(textOf("b/B1.log").contains("trained"));
    }

    void missingProgramEndsBench() {
        const Ended bench =
            run(QStringList{"bench", "--warmup", "0", "-o", "b"} + sides({"no-such-program"}, training(5)));
        QCOMPARE(bench.status, 3);
        QVERIFY2(bench.err.contains("Run A1 failed: ") && bench.err.contains("no-such-program"), bench.err);
        const Ended warm = run(QStringList{"bench", "-o", "c"} + sides({"no-such-program"}, training(5)));
        QCOMPARE(warm.status, 3);
        QVERIFY2(warm.err.contains("The warm-up of A failed: "), warm.err);
    }

    void runWithoutGpuEndsBench() {
        const Ended bench = run(QStringList{"bench", "--warmup", "0", "-o", "b"} + sides({"true"}, training(5)));
        QCOMPARE(bench.status, 3);
        QVERIFY2(bench.err.contains("Run A1: no GPU activity was recorded"), bench.err);
        QVERIFY(!bench.err.contains("B1"));
    }

    void signalKeepsFinishedRuns_data() { test::rows<int>("number", {{"Ctrl-C", SIGINT}, {"SIGTERM", SIGTERM}}); }
    void signalKeepsFinishedRuns() {
        if (lanescope::test::hasThreadSanitizer) QSKIP("It keeps signals back while a program is waited for.");
        QFETCH(int, number);
        QProcess process;
        start(process, QStringList{"bench", "--warmup", "0", "-o", "b"} + sides(training(5, 12), training(50, 10'000)));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(in("b/B1.sqlite.partial")), waitMs);
        QTest::qWait(300);
        ::kill(static_cast<pid_t>(process.processId()), number);
        const Ended bench = endOf(process);
        QCOMPARE(bench.status, 128 + number);
        QVERIFY2(bench.err.contains("Run B1 was interrupted, so it does not count."), bench.err);
        QVERIFY2(bench.err.contains("The trace of A1 is in b."), bench.err);
        QStringList left = QDir(in("b")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot, QDir::Name);
        left.removeAll("A1.sqlite.lanescope-index");
        QCOMPARE(left, QStringList({"A1.log", "A1.sqlite", "B1.log"}));
    }

    void wrongArgumentsAreRefused_data() {
        const test::Rows<QStringList, QString> row;
        row("one program", {"--", "true"}, "separated by ---");
        row("no candidate", {"--", "true", "---"}, "separated by ---");
        row("no baseline", {"--", "---", "true"}, "separated by ---");
        row("one run", {"--runs", "1", "--", "true", "---", "true"}, "1 is out of range (2 to");
        row("table", {"--table", "parts", "--", "true", "---", "true"}, "Add -f csv");
        row("recording", {"--no-cuda", "--no-nvtx", "true", "---", "true"}, "nothing is left to record");
        row("unknown", {"--repeat", "3", "true", "---", "true"}, "'lanescope bench': unknown option --repeat");
    }
    void wrongArgumentsAreRefused() {
        const auto [words, sentence] = test::row<QStringList, QString>();
        const Ended bench = run(QStringList{"bench"} + words);
        QCOMPARE(bench.status, 2);
        QVERIFY2(bench.err.contains(sentence.toUtf8()), bench.err);
        QCOMPARE(bench.err.count('\n'), 1);
        QVERIFY(QDir(folder_->path()).isEmpty());
    }

    void recordsSeveralRunsOfAProgram() {
        const Ended ended = run(QStringList{"record", "--repeat", "3", "-o", "r.sqlite", "--"} + training(5, 12));
        QVERIFY2(ended.status == 0, ended.err);
        QCOMPARE(tracesIn("."), QStringList({"r-1.sqlite", "r-2.sqlite", "r-3.sqlite"}));
        QCOMPARE(ended.out.count("trained 48 kernels"), 3);
        QVERIFY2(ended.err.contains("lanescope: Run 2 of 3."), ended.err);
        const Ended more = run(QStringList{"record", "--repeat", "2", "-o", "%n.sqlite", "--"} + training(5, 12));
        QVERIFY(more.status == 0 && QFile::exists(in("2.sqlite")));
    }

    void signalEndsRepeatedRunsInOrder() {
        if (lanescope::test::hasThreadSanitizer) QSKIP("It keeps signals back while a program is waited for.");
        QProcess process;
        start(process, QStringList{"record", "--repeat", "3", "-o", "r.sqlite", "--"} + training(50, 10'000));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(in("r-1.sqlite.partial")), waitMs);
        QTest::qWait(300);
        ::kill(static_cast<pid_t>(process.processId()), SIGTERM);
        QCOMPARE(endOf(process).status, 128 + SIGTERM);
        // The interrupted run keeps its events so far.
        QCOMPARE(tracesIn("."), QStringList{"r-1.sqlite"});
    }

    void firstFailedRunIsTheLast() {
        const Ended ended = run(QStringList{"record", "--repeat", "3", "-o", "r.sqlite", "--"} + training(5, 12) +
                                QStringList{"--exit-code", "7"});
        QCOMPARE(ended.status, 7);
        QVERIFY2(ended.err.contains("Run 1 of 3: exit status 7. No further runs."), ended.err);
        QCOMPARE(tracesIn("."), QStringList{"r-1.sqlite"});
    }
};

LANESCOPE_TEST(tst_Bench, QCoreApplication)
#include "tst_Bench.moc"
