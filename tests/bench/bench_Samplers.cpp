// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "model/format/Sqlite.h"

using namespace lanescope;

/// Measures the cost of a recording's samplers by their own account, and the delay of a program's
/// start. Prints; asserts only that they ran. The calls of the simulated NVML cost almost nothing;
/// tests/workloads/samplers-gpu measures those of a GPU.
class bench_Samplers : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    qint64 record(const QString& trace, const QStringList& options, const QStringList& program) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LANESCOPE_NVML", LANESCOPE_BINARY_DIR "/lib/standin/libnvidia-ml.so.1");
        environment.insert("STANDIN_NVML", "gpus=8,links=18,gpm=1");
        process.setProcessEnvironment(environment);
        QElapsedTimer timer;
        timer.start();
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      QStringList{"record", "--force", "-o", trace} + options + QStringList{"--"} + program);
        return process.waitForFinished(120'000) && process.exitCode() == 0 ? timer.elapsed() : -1;
    }

  private slots:
    void costOfTheDefaults() {
        const QString trace = folder_.filePath("cost.sqlite");
        QVERIFY(record(trace, {}, {"sleep", "20"}) > 0);
        const auto database = Database::openReadOnly(trace.toStdString());
        QVERIFY(database.has_value());
        auto statement = database->prepare("SELECT value FROM LANESCOPE_PROPERTIES WHERE name LIKE 'samplers%'");
        QVERIFY(statement.has_value());
        while (*statement->step()) qInfo("8 simulated GPUs of 18 links: %s", std::string(statement->text(0)).c_str());
    }

    void startAndEndOfAProgram() {
        for (int round = 0; round < 3; ++round) {
            const QString trace = folder_.filePath("start.sqlite");
            const qint64 without = record(trace, {"--no-sample"}, {"true"});
            const qint64 with = record(trace, {}, {"true"});
            QVERIFY(without > 0 && with > 0);
            qInfo("record -- true: %lld ms without samplers, %lld ms with them", without, with);
        }
    }
};

QTEST_GUILESS_MAIN(bench_Samplers)
#include "bench_Samplers.moc"
