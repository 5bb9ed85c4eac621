// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QtTest>

/// Measures the cost of a thread's Python stack, in the Python of PATH or LANESCOPE_TEST_PYTHON: with warm caches, with
/// two clock readings around each walk, and after 128 kB and 32 MB of other memory.
class bench_PythonWalk : public QObject {
    Q_OBJECT

  private slots:
    void costOfAWalk() {
        QProcess process;
        process.start(qEnvironmentVariable("LANESCOPE_TEST_PYTHON", "python3"),
                      {LANESCOPE_SOURCE_DIR "/tests/capture/python/checkStacks.py",
                       LANESCOPE_BINARY_DIR "/lib/standin/libstacks-here.so", "1"});
        QVERIFY(process.waitForFinished(240'000));
        QCOMPARE(process.exitCode(), 0);
        const QJsonObject said = QJsonDocument::fromJson(process.readAllStandardOutput().trimmed()).object();
        const QStringList version = said["python"].toString().split('.');
        QVERIFY(version.size() >= 2);
        qInfo("Python %s; two readings of the clock: %.0f ns", qPrintable(said["python"].toString()),
              said["clockNs"].toDouble());
        for (const QJsonValue& walk : said["walks"].toArray()) {
            const double medianNs = walk["medianNs"].toDouble();
            qInfo(
                "%3d frames: median %.0f ns, 99th percentile %.0f ns, after 128 kB %.0f ns, cold "
                "%.0f ns; %.0f ns in a row",
                walk["frames"].toInt(), medianNs, walk["p99Ns"].toDouble(), walk["nearMedianNs"].toDouble(),
                walk["coldMedianNs"].toDouble(), walk["rowNs"].toDouble());
            const bool isModern = version[1].toInt() >= 12;
            if (qEnvironmentVariableIsSet("LANESCOPE_BENCH_ASSERT") && isModern && walk["frames"].toInt() < 50)
                QVERIFY2(medianNs <= 150, "A walk costs more than 0.15 us");
        }
    }
};

QTEST_GUILESS_MAIN(bench_PythonWalk)
#include "bench_PythonWalk.moc"
