// SPDX-License-Identifier: Apache-2.0
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

/// Tests of `lanescope explain` on a run that `lanescope record` still records, with the CUPTI
/// stand-in and the real programs.
class tst_ExplainLive : public QObject {
    Q_OBJECT

    static constexpr int patienceMs = 60'000;
    static constexpr int stepMs = 20;

    struct Outcome {
        int exitCode = -1;
        QByteArray output, errors;

        QJsonObject document() const { return QJsonDocument::fromJson(output).object(); }
        /// Number of steps marked by ranges: the first kernels may precede them.
        qint64 steps() const {
            if (document()["steps"].toObject()["source"].toString() != "nvtx_range") return 0;
            return document()["workers"].toArray().at(0).toObject()["steps"].toInteger();
        }
    };

    QTemporaryDir folder_;

    Outcome explained(const QString& trace, const QStringList& more = {}) const {
        QProcess process;
        process.setWorkingDirectory(folder_.path());
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", QStringList{"explain", trace, "-f", "json"} + more);
        if (!process.waitForFinished(patienceMs)) qFatal("lanescope does not end");
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    /// Repeats explain until the number of steps exceeds `steps`.
    Outcome explainedAfter(qint64 steps) const {
        Outcome outcome;
        [[maybe_unused]] const bool isThere = QTest::qWaitFor(
            [&] {
                outcome = explained("out.sqlite.partial");
                return outcome.exitCode == 0 && outcome.steps() > steps;
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
    void runIsExplainedDuringRecording() {
        QProcess recording;
        start(recording);
        QVERIFY(recording.waitForStarted(patienceMs));
        const auto ended = qScopeGuard([&] {
            recording.terminate();
            recording.waitForFinished(patienceMs);
        });

        const Outcome first = explainedAfter(10);
        QVERIFY2(first.steps() > 10, first.errors.constData());
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
        QCOMPARE(met.exitCode, 1);
        QVERIFY2(met.errors.contains("any > 10% holds: The GPU waits"), met.errors.constData());
        QCOMPARE(explained("out.sqlite.partial", {"--fail-if", "gpu_throttled"}).exitCode, 0);
        QVERIFY(explainedAfter(first.steps()).steps() > first.steps());
        QCOMPARE(recording.state(), QProcess::Running);
        // No file is left next to it, such as an index.
        for (const QString& name : QDir(folder_.path()).entryList(QDir::Files))
            QVERIFY2(name.startsWith("out.sqlite.partial"), qPrintable(name));
        for (const QString& name : QDir(folder_.path()).entryList({"*idx*", "*index*"})) QFAIL(qPrintable(name));

        if (lanescope::test::hasThreadSanitizer) QSKIP("It keeps signals back while a program is waited for.");
        recording.terminate();
        QVERIFY(recording.waitForFinished(patienceMs));
        const Outcome whole = explained("out.sqlite");
        QVERIFY2(whole.exitCode == 0, whole.errors.constData());
        QVERIFY(!whole.document()["isStillRecorded"].toBool());
        QVERIFY(whole.document()["sentence"].toString().startsWith("The GPU computes"));
        QVERIFY(whole.steps() > first.steps());
    }
};

LANESCOPE_TEST(tst_ExplainLive, QCoreApplication)
#include "tst_ExplainLive.moc"
