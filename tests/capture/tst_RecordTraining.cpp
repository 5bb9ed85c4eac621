// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <csignal>

#include "model/analysis/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "tests/capture/AgentRun.h"
#include "tests/capture/standin/TrainingPlan.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::analysis;

using lanescope::standin::TrainingPlan;

/// End-to-end tests with a simulated GPU: `lanescope record` a training program, then load the trace.
/// Tests of `lanescope explain` on a run that `lanescope record` still records, with the CUPTI
/// stand-in and the real programs.
class tst_RecordTraining : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    struct Run : test::Ended {
        TrainingPlan plan;
    };

    static void start(QProcess& process, const QStringList& arguments) {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        process.setProcessEnvironment(variables);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
    }

    static test::Ended run(const QStringList& arguments) {
        QProcess process;
        start(process, arguments);
        return test::endOf(process);
    }

    QStringList recordCommand(const QString& trace, const TrainingPlan& plan, const QStringList& more) const {
        return QStringList{"record",
                           "-o",
                           trace,
                           "--",
                           LANESCOPE_BINARY_DIR "/bin/standin-training",
                           "--base",
                           QString::number(plan.baseNs),
                           "--cupti",
                           LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13",
                           "--threads",
                           QString::number(plan.threads),
                           "--steps",
                           QString::number(plan.steps),
                           "--kernels",
                           QString::number(plan.kernelsPerStep),
                           "--untimed",
                           QString::number(plan.untimedKernels)} +
               more;
    }

    static TrainingPlan planNow(int threads, int steps, int kernels, int untimed = 0) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return {std::chrono::nanoseconds(now).count(), threads, steps, kernels, untimed};
    }

    Run record(const QString& trace, const TrainingPlan& plan, const QStringList& more = {}) const {
        return {run(recordCommand(trace, plan, more)), plan};
    }

    QString path(const char* name) const { return folder_.filePath(name); }

    /// Returns true if a process is gone or an unreaped zombie.
    static bool hasEnded(uint32_t pid) {
        QFile words(QString("/proc/%1/cmdline").arg(pid));
        return !words.open(QIODevice::ReadOnly) || words.readAll().isEmpty();
    }

    /// The log of the training program in the run folder so far.
    static test::ProcessLog trainingLog(const QString& runFolder) {
        test::AgentRun run;
        run.folder = runFolder;
        run.readLogs();
        for (test::ProcessLog& log : run.logs)
            if (!log.kernels.empty()) return std::move(log);
        return {};
    }

    static void compareWithPlan(const Trace& trace, const TrainingPlan& plan) {
        QCOMPARE(int64_t{trace.kernels.size()}, plan.kernels() - plan.untimedKernels);
        QCOMPARE(int64_t{trace.memcpys.size()}, plan.memcpys());
        QCOMPARE(int64_t{trace.memsets.size()}, plan.memsets());
        QCOMPARE(int64_t{trace.syncs.size()}, plan.waits());
        QCOMPARE(int64_t{trace.apiCalls.size()}, plan.driverCalls());
        std::set<uint32_t> seen;
        const int64_t firstNs =
            trace.kernels.startNs.front() - TrainingPlan::startOffsetNs(trace.kernels.correlation.front());
        for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
            const uint32_t correlation = trace.kernels.correlation[i];
            QVERIFY(seen.insert(correlation).second);
            QCOMPARE(trace.kernels.startNs[i], firstNs + TrainingPlan::startOffsetNs(correlation));
            QCOMPARE(trace.kernels.endNs[i] - trace.kernels.startNs[i], TrainingPlan::durationNs(correlation));
        }
        // Time 0 is where the trace states, to the nanosecond.
        if (trace.startUtcNs != 0) QCOMPARE(trace.startUtcNs + firstNs, plan.baseNs);
    }

    /// Verifies that the stored summary equals that of the events.
    static void verifySummaryIsStored(const QString& file) {
        const auto trace = test::orFail(loadTrace(file.toStdString()));
        const RunSummary made = test::orFail(summarizeRun(*trace));
        const Database database = test::orFail(Database::openReadOnly(file.toStdString()));
        const std::optional<RunSummary> stored = readRunSummary(database);
        QVERIFY(stored.has_value() && !stored->isEmpty() && *stored == made);
    }

    /// Returns true if the collector's last records are present.
    static bool areAllEventsIn(const std::string& partial) {
        const Result<Database> database = Database::openReadOnly(partial);
        return database && database->rowCount("TARGET_INFO_SESSION_START_TIME") > 0;
    }

    static constexpr int patienceMs = 60'000, stepMs = 20;

    struct Outcome : test::Ended {
        QJsonObject document() const { return QJsonDocument::fromJson(out).object(); }
        /// Number of steps marked by ranges: the first kernels may precede them.
        qint64 steps() const {
            if (document()["steps"].toObject()["source"].toString() != "nvtx_range") return 0;
            return document()["workers"].toArray().at(0).toObject()["steps"].toInteger();
        }
    };

    Outcome explained(const QString& trace, const QStringList& more = {}) const {
        return {test::runLanescope(QStringList{"explain", trace, "-f", "json"} + more, folder_.path())};
    }

    /// Repeats explain until the number of steps exceeds `steps`.
    Outcome explainedAfter(qint64 steps) const {
        Outcome outcome;
        [[maybe_unused]] const bool isThere = QTest::qWaitFor(
            [&] {
                outcome = explained("out.sqlite.partial");
                return outcome.status == 0 && outcome.steps() > steps;
            },
            patienceMs);
        return outcome;
    }

    void start(QProcess& recording) const {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        recording.setProcessEnvironment(variables);
        recording.setWorkingDirectory(folder_.path());
        recording.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                        {"record", "-o", "out.sqlite", "--", LANESCOPE_BINARY_DIR "/bin/standin-training", "--base",
                         QString::number(std::chrono::nanoseconds(now).count()), "--cupti",
                         LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13", "--live", "1", "--threads", "1", "--steps",
                         "5000", "--kernels", "5", "--step-ms", QString::number(stepMs)});
    }

  private slots:
    void traceContainsEveryEventOnce() {
        const TrainingPlan plan = planNow(3, 50, 20, 9);
        const Run run = record(path("all.sqlite"), plan, {"--exit-code", "3"});
        QCOMPARE(run.status, 3);
        QCOMPARE(run.out, "trained " + QByteArray::number(qint64(plan.kernels())) + " kernels\n");
        const auto trace = test::orFail(loadTrace(path("all.sqlite").toStdString()));
        compareWithPlan(*trace, plan);
        QCOMPARE(trace->processes.size(), size_t{1});
        QVERIFY(!trace->processes[0].endedAbnormally);
        QCOMPARE(trace->gpus.size(), size_t{1});
        QCOMPARE(trace->gpus[0].name, std::string("Simulated GPU"));
        for (const EventCount& count : trace->counts) {
            if (count.name == "kernels") QCOMPARE(count.untimed, 9);
        }
        // Five ranges and a mark in each step.
        QCOMPARE(int64_t{trace->nvtx.size()}, int64_t{3} * 50 * 6);
        QCOMPARE(int64_t{trace->nccl.size()}, int64_t{3} * 50);
    }

    void comparisonSummaryIsStored() {
        QCOMPARE(record(path("summary.sqlite"), planNow(1, 20, 20)).status, 0);
        verifySummaryIsStored(path("summary.sqlite"));
    }

    void killedProgramLeavesItsEvents() {
        const TrainingPlan plan = planNow(1, 100, 6);
        QCOMPARE(record(path("killed.sqlite"), plan, {"--exit-by", "kill", "--step-ms", "20"}).status, 128 + SIGKILL);
        const auto trace = test::orFail(loadTrace(path("killed.sqlite").toStdString()));
        QVERIFY(trace->kernels.size() >= 300);
        QCOMPARE(trace->processes.size(), size_t{1});
        QVERIFY(trace->processes[0].endedAbnormally);
    }

    void recordsForkedChildren() {
        const TrainingPlan plan = planNow(1, 10, 6);
        QCOMPARE(record(path("fork.sqlite"), plan, {"--fork", "nvtx"}).status, 0);
        const auto trace = test::orFail(loadTrace(path("fork.sqlite").toStdString()));
        compareWithPlan(*trace, plan);
        std::string health;
        int64_t lost = 0;
        for (const HealthNote& note : trace->health) {
            health += note.sentence + "\n";
            if (note.code == HealthCode::ChildrenWithoutLog) lost = note.count.value_or(0);
        }
        // Another thread may hold AddressSanitizer's memory lock when a child is forked: then that
        // child's recording waits forever and is reported as lost.
        if (!test::hasAddressSanitizer) QCOMPARE(lost, int64_t{0});
        const auto processes = static_cast<int64_t>(trace->processes.size());
        // Samplers may have recorded it.
        QVERIFY(processes <= 4 && processes >= 4 - lost);
        QVERIFY2(int64_t{trace->nvtx.size()} == 10 * 6 + (3 - lost) * 50,
                 fmt::format("{} ranges; {}", trace->nvtx.size(), health).c_str());
    }

    void recoversAfterRecordIsKilled() {
        const TrainingPlan plan = planNow(1, 100, 6);
        QProcess process;
        start(process, recordCommand(path("lost.sqlite"), plan, {"--step-ms", "20"}));
        QVERIFY(process.waitForStarted());
        // Once the first fifth is in the logs.
        const QString logs = path(".lost.sqlite.run");
        QTRY_VERIFY_WITH_TIMEOUT(trainingLog(logs).kernels.size() > 100, 60'000);
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        process.waitForFinished();
        QVERIFY(!QFile::exists(path("lost.sqlite")));
        QVERIFY(QDir(logs).exists());
        // The program itself runs to its end.
        const uint32_t training = trainingLog(logs).pid;
        QVERIFY(training != 0);
        QTRY_VERIFY_WITH_TIMEOUT(hasEnded(training), 60'000);
        const test::Ended recovered = run({"recover", logs, "-o", path("found.sqlite")});
        QVERIFY2(recovered.status == 0, recovered.err.constData());
        QVERIFY(test::orFail(loadTrace(path("found.sqlite").toStdString()))->kernels.size() > 100);
        verifySummaryIsStored(path("found.sqlite"));
    }

    /// A trace killed at any moment before its final rename is readable, and complete as soon as it
    /// contains all events.
    void traceKilledDuringClosingIsReadable() {
        const TrainingPlan plan = planNow(2, 60, 100);
        QStringList command = recordCommand(path("kept.sqlite"), plan, {});
        command.insert(1, "--keep-logs");
        const test::Ended whole = run(command);
        QVERIFY2(whole.status == 0, whole.err.constData());
        const QString trace = path("again.sqlite");
        const QStringList recover{"recover", path(".kept.sqlite.run"), "-o", trace, "--force"};
        QElapsedTimer timer;
        timer.start();
        run(recover);
        const qint64 wholeMs = timer.elapsed();
        QVERIFY(QFile::exists(trace + ".lanescope-index"));
        int closing = 0, done = 0;
        std::mt19937 random(7);
        for (int round = 0; round < 50; ++round) {
            for (const char* suffix : {"", ".lanescope-index"}) QFile::remove(trace + suffix);
            QProcess process;
            start(process, recover);
            QVERIFY(process.waitForStarted());
            std::this_thread::sleep_for(std::chrono::microseconds(random() % static_cast<unsigned>(1100 * wholeMs)));
            ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
            QVERIFY(process.waitForFinished(60'000));
            const std::string named = trace.toStdString(), partial = named + ".partial";
            if (QFile::exists(trace)) {
                ++done;
                const auto loaded = test::orFail(loadTrace(named));
                compareWithPlan(*loaded, plan);
            } else if (areAllEventsIn(partial)) {
                ++closing;
                const auto loaded = test::orFail(loadTrace(partial));
                compareWithPlan(*loaded, plan);
            }
        }
        qInfo("of 50 that were killed %d had all events and no name yet, %d had both", closing, done);
        const test::Ended last = run(recover);
        QVERIFY2(last.status == 0, last.err.constData());
        verifySummaryIsStored(trace);
    }

    void runIsExplainedDuringRecording() {
        QProcess recording;
        start(recording);
        QVERIFY(recording.waitForStarted(patienceMs));
        const auto ended = qScopeGuard([&] {
            recording.terminate();
            recording.waitForFinished(patienceMs);
        });

        const Outcome first = explainedAfter(10);
        QVERIFY2(first.steps() > 10, first.err.constData());
        const QJsonObject document = first.document();
        QVERIFY(document["isStillRecorded"].toBool());
        QVERIFY2(document["sentence"].toString().startsWith("Of the run so far: The GPU computes"),
                 qPrintable(document["sentence"].toString()));
        const QString caveats = document["doubts"].toVariant().toStringList().join('\n');
        QVERIFY2(caveats.contains("still being recorded"), qPrintable(caveats));
        // Sampled values are already named.
        QVERIFY2(!caveats.contains("left out"), qPrintable(caveats));

        // A program that sleeps between its steps: a sample of its thread is chance.
        const Outcome met = explained("out.sqlite.partial", {"--fail-if", "any > 10%"});
        QCOMPARE(met.status, 1);
        QVERIFY2(met.err.contains("any > 10% holds: The GPU waits"), met.err.constData());
        QCOMPARE(explained("out.sqlite.partial", {"--fail-if", "gpu_throttled"}).status, 0);
        QVERIFY(explainedAfter(first.steps()).steps() > first.steps());
        QCOMPARE(recording.state(), QProcess::Running);
        // No file is left next to it, such as an index.
        for (const QString& name : QDir(folder_.path()).entryList({"out.sqlite*"}, QDir::Files))
            QVERIFY2(name.startsWith("out.sqlite.partial"), qPrintable(name));
        for (const QString& name : QDir(folder_.path()).entryList({"out*idx*", "out*index*"})) QFAIL(qPrintable(name));

        if (lanescope::test::hasThreadSanitizer) QSKIP("It keeps signals back while a program is waited for.");
        recording.terminate();
        QVERIFY(recording.waitForFinished(patienceMs));
        const Outcome whole = explained("out.sqlite");
        QVERIFY2(whole.status == 0, whole.err.constData());
        QVERIFY(!whole.document()["isStillRecorded"].toBool());
        QVERIFY(whole.document()["sentence"].toString().startsWith("The GPU computes"));
        QVERIFY(whole.steps() > first.steps());
    }
};

LANESCOPE_TEST(tst_RecordTraining, QCoreApplication)
#include "tst_RecordTraining.moc"
