// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "model/importers/TraceFormat.h"
#include "tests/support/orFail.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// End-to-end tests of `lanescope watch` on a training with a simulated GPU and the real programs.
class tst_WatchRun : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    static constexpr int patienceMs = 120'000;

    /// A watched training. Its folder of traces is `output`.
    struct Watched {
        QProcess process;
        QString output;

        Watched(const QString& folder, const QStringList& options, const QStringList& training) : output(folder) {
            const QString cupti = LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13";
            QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
            variables.insert("LANESCOPE_CUPTI", cupti);
            process.setProcessEnvironment(variables);
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                          QStringList{"watch", "-o", output} + options +
                              QStringList{"--", LANESCOPE_BINARY_DIR "/bin/standin-training", "--base",
                                          QString::number(std::chrono::nanoseconds(now).count()), "--cupti", cupti,
                                          "--live", "1", "--kernels", "20", "--long-steps", "1"} +
                              training);
            if (!process.waitForStarted()) qFatal("lanescope does not start");
        }
        ~Watched() {
            process.terminate();
            if (!process.waitForFinished(patienceMs)) process.kill();
        }
        QStringList files(const QString& pattern) const { return QDir(output).entryList({pattern}, QDir::Files); }
        int steps() const {
            QFile file(output + "/steps.jsonl");
            return file.open(QIODevice::ReadOnly) ? static_cast<int>(file.readAll().count('\n')) : 0;
        }
        static QList<QByteArray> childrenOf(qint64 pid) {
            QFile children(QString("/proc/%1/task/%1/children").arg(pid));
            return children.open(QIODevice::ReadOnly) ? children.readAll().trimmed().split(' ') : QList<QByteArray>();
        }
        /// The process that records; its parent only waits.
        int recorder() const { return childrenOf(process.processId()).value(0).toInt(); }
        /// The training. Samplers are other children of the recorder.
        int training() const {
            for (const QByteArray& child : childrenOf(recorder())) {
                QFile words("/proc/" + child + "/cmdline");
                if (words.open(QIODevice::ReadOnly) && words.readAll().contains("standin-training"))
                    return child.toInt();
            }
            return 0;
        }
    };

    static qint64 kernels(const QString& trace) { return test::orFail(loadTrace(trace.toStdString()))->kernels.size(); }

  private slots:
    void initTestCase() {
        // The list of watches is in the cache.
        QVERIFY(qputenv("XDG_CACHE_HOME", folder_.filePath("cache").toLocal8Bit()));
        QVERIFY(QDir().mkpath(folder_.filePath("cache")));
    }

    void aFileRequestsATraceOfThePast() {
        Watched watched(folder_.filePath("past"), {"--budget", "no", "--ring", "600"},
                        {"--steps", "100000", "--step-ms", "5"});
        QTRY_VERIFY_WITH_TIMEOUT(watched.steps() >= 20, patienceMs);
        QVERIFY(QFile(watched.output + "/dump").open(QIODevice::WriteOnly));
        QTRY_VERIFY_WITH_TIMEOUT(watched.files("request-*.sqlite").size() == 1, patienceMs);
        const QString trace = watched.output + "/" + watched.files("request-*.sqlite").front();
        const std::shared_ptr<const Trace> loaded = test::orFail(loadTrace(trace.toStdString()));
        QVERIFY(loaded->kernels.size() >= 20 * 20);
        // Others may use the machine.
        for (const auto& note : loaded->health)
            QVERIFY2(note.severity != Severity::Warning || note.code == HealthCode::CpuStolen, note.sentence.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(watched.output + "/dump"), patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(watched.files("metrics.prom").size() == 1, patienceMs);
    }

    void aRequestRecordsTheNextSteps() {
        Watched watched(folder_.filePath("next"), {"--budget", "no"}, {"--steps", "100000", "--step-ms", "5"});
        QTRY_VERIFY_WITH_TIMEOUT(watched.steps() >= 5, patienceMs);
        const test::Ended asked = test::runLanescope(
            {"trigger", QString::number(watched.process.processId()), "--steps", "30", "--past", "--reason", "test"});
        QVERIFY2(asked.status == 0, asked.err.constData());
        QTRY_VERIFY_WITH_TIMEOUT(watched.files("request-*.sqlite").size() == 1, patienceMs);
        QVERIFY(kernels(watched.output + "/" + watched.files("request-*.sqlite").front()) >= 30 * 20);
        const test::Ended unknown = test::runLanescope({"trigger", "no-such-program"});
        QVERIFY2(unknown.status == 1 && unknown.err.contains("no watched program"), unknown.err.constData());
    }

    void aFailedProgramLeavesItsPast() {
        Watched watched(folder_.filePath("failed"), {"--ring-on", "disk"},
                        {"--steps", "40", "--step-ms", "5", "--exit-code", "7"});
        const test::Ended ended = test::endOf(watched.process);
        QCOMPARE(ended.status, 7);
        QVERIFY2(ended.err.contains("The program ended with status 7. Trace: "), ended.err.constData());
        QCOMPARE(watched.files("failed-*.sqlite").size(), 1);
        QCOMPARE(kernels(watched.output + "/" + watched.files("failed-*.sqlite").front()), 40 * 20);
        QCOMPARE(QDir(watched.output).entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot), QStringList());
    }

    /// The ring is bounded by time; its trace begins late and has the last steps.
    void theRingForgetsOldSteps() {
        Watched watched(folder_.filePath("ring"), {"--budget", "no", "--ring", "1"},
                        {"--steps", "400", "--step-ms", "10", "--exit-code", "7"});
        QCOMPARE(test::endOf(watched.process).status, 7);
        const QString trace = watched.output + "/" + watched.files("failed-*.sqlite").value(0);
        const std::shared_ptr<const Trace> loaded = test::orFail(loadTrace(trace.toStdString()));
        QVERIFY2(loaded->kernels.size() < 300 * 20, qPrintable(QString::number(loaded->kernels.size())));
        QVERIFY(loaded->kernels.size() >= 20);
    }

    void killedWatchKeepsStatusAndPast() {
        Watched watched(folder_.filePath("killed"), {"--budget", "no"},
                        {"--steps", "600", "--step-ms", "5", "--exit-code", "7"});
        QTRY_VERIFY_WITH_TIMEOUT(watched.steps() >= 20, patienceMs);
        const int recorder = watched.recorder();
        QVERIFY(recorder > 0);
        ::kill(recorder, SIGKILL);
        const test::Ended ended = test::endOf(watched.process);
        QVERIFY2(ended.status == 7, ended.err.constData());
        QVERIFY(kernels(watched.output + "/ring.sqlite") >= 20 * 20);
    }

    void aHangIsReported() {
        Watched watched(folder_.filePath("hang"), {"--budget", "no", "--hang-after", "2"},
                        {"--steps", "100000", "--step-ms", "5"});
        QTRY_VERIFY_WITH_TIMEOUT(watched.steps() >= 20, patienceMs);
        // The training stops; its agent, too.
        const int training = watched.training();
        QVERIFY(training > 0);
        ::kill(training, SIGSTOP);
        QTRY_VERIFY_WITH_TIMEOUT(watched.files("hang-*.txt").size() == 1, patienceMs);
        QFile text(watched.output + "/" + watched.files("hang-*.txt").front());
        QVERIFY(text.open(QIODevice::ReadOnly));
        QVERIFY2(text.readAll().contains("stopped"), "The process is stopped.");
        QTRY_VERIFY_WITH_TIMEOUT(watched.files("hang-*.sqlite").size() == 1, patienceMs);
        ::kill(training, SIGCONT);
    }

    void wholeGraphsAreTheDefault() {
        for (const auto& [words, isWhole] :
             {std::pair(QStringList{}, true), std::pair(QStringList{"--graphs", "node"}, false)}) {
            const test::Ended ended = test::runLanescope(
                QStringList{"watch"} + words + QStringList{"--", "sh", "-c", "echo $LANESCOPE_AGENT_OPTIONS"},
                folder_.path());
            QVERIFY2(ended.status == 0 && ended.out.contains("graphs=whole") == isWhole, ended.out.constData());
        }
    }

    void wrongOptionsAreOneSentence() {
        QVERIFY(QDir().mkpath(folder_.filePath("full/file")));
        for (const auto& [options, part] : std::vector<std::pair<QStringList, QByteArray>>{
                 {{"--budget", "much", "--", "true"}, "use for example 1% or no"},
                 {{"-o", folder_.filePath("full"), "--", "true"}, "Choose another one with -o"},
                 {{"--", "/no/such/program"}, "/no/such/program"}}) {
            const test::Ended ended = test::runLanescope(QStringList{"watch"} + options, folder_.path());
            QVERIFY2(ended.status != 0 && ended.err.contains(part), ended.err.constData());
        }
    }
};

LANESCOPE_TEST(tst_WatchRun, QCoreApplication)
#include "tst_WatchRun.moc"
