// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/runSampler.h"
#include "model/format/Sqlite.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

/// Tests of `lanescope record --gpu-metrics` with a simulated CUPTI and CUDA driver.
class tst_PmSampling : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    QString path(const QString& name) const { return folder_.filePath(name); }

    static QProcessEnvironment variables(const QByteArray& settings) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LANESCOPE_CUDA", LANESCOPE_BINARY_DIR "/lib/standin/libcuda-standin.so");
        environment.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/pm/libcupti.so.13");
        environment.insert("LANESCOPE_NVML", "/nonexistent/libnvidia-ml.so.1");
        environment.insert("STANDIN_PM", settings);
        return environment;
    }

    /// Records a pause; returns the trace.
    Database record(const QString& name, const QProcessEnvironment& environment,
                    const QString& option = "--gpu-metrics", const QStringList& program = {"sleep", "1.5"}) const {
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      QStringList{"record", "-o", path(name), option, "--"} + program);
        // A thread sanitizer takes many times as long for 10,000 samples per second.
        if (!process.waitForFinished(test::hasThreadSanitizer ? 600'000 : 60'000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return test::orFail(Database::openReadOnly(path(name).toStdString()));
    }

    static QStringList rows(const Database& database, const char* sql) {
        auto statement = test::orFail(database.prepare(sql));
        QStringList all;
        while (*statement.step()) all += QString::fromUtf8(statement.text(0).data(), int(statement.text(0).size()));
        return all;
    }
    static double number(const Database& database, const char* sql) { return rows(database, sql).value(0).toDouble(); }
    static QStringList refusals(const Database& database) {
        return rows(database,
                    "SELECT severity || ' ' || sentence FROM LANESCOPE_HEALTH WHERE code = 'gpu-metrics-absent'");
    }

  private slots:
    /// However CUPTI fills the counter data, each sample comes exactly once.
    void readsEachSampleOnce_data() {
        const test::Rows<QByteArray, QString> row;
        row("goes on", QByteArray(), "--gpu-metrics");
        row("begins at the front", "restart=1", "--gpu-metrics");
        row("fresh only", "fresh=1", "--gpu-metrics");
        row("10 kHz", QByteArray(), "--gpu-metrics=10000");
        row("10 kHz at the front", "restart=1", "--gpu-metrics=10000");
        row("10 kHz, fresh only", "fresh=1", "--gpu-metrics=10000");
        row("20 Hz", QByteArray(), "--gpu-metrics=20");
    }
    void readsEachSampleOnce() {
        const auto [settings, option] = test::row<QByteArray, QString>();
        const QString name = QString(QTest::currentDataTag()).replace(' ', '-') + ".sqlite";
        const Database database = record(name, variables(settings), option);
        QCOMPARE(refusals(database), QStringList());
        for (const char* gpu : {"0", "1"}) {
            const std::string of = std::string(" FROM GPU_METRICS WHERE metricId = 0 AND typeId & 255 = ") + gpu;
            // The very first sample is skipped.
            const double last = number(database, ("SELECT max(value)" + of).c_str());
            QCOMPARE(number(database, ("SELECT min(value)" + of).c_str()), 1.0);
            QCOMPARE(number(database, ("SELECT count(*)" + of).c_str()), last);
            QCOMPARE(number(database, ("SELECT count(DISTINCT value)" + of).c_str()), last);
            QVERIFY(last > 10);
        }
        QCOMPARE(number(database, "SELECT count(DISTINCT metricId) FROM TARGET_INFO_GPU_METRICS"), 9.0);
    }

    void reportsLostSamples() {
        const Database database = record("lost.sqlite", variables("lose=10"));
        const QStringList said = rows(database,
                                      "SELECT severity || ' ' || sentence FROM LANESCOPE_HEALTH"
                                      " WHERE code = 'gpu-metrics-lost'");
        QCOMPARE(said.size(), 1);
        QVERIFY2(said[0].startsWith("1 Lost 20 % of the samples at 1000 Hz. Use a lower"), qPrintable(said[0]));
        // Each gap is of two samples.
        const double lost = 2 * number(database, "SELECT count(*) - count(value) FROM GPU_METRICS WHERE metricId = 8");
        QCOMPARE(number(database, "SELECT count FROM LANESCOPE_HEALTH WHERE code = 'gpu-metrics-lost'"), lost);
        for (const char* gpu : {"0", "1"}) {
            const std::string of = std::string(" FROM GPU_METRICS WHERE metricId = 8 AND typeId & 255 = ") + gpu;
            const double last = number(database, ("SELECT max(value)" + of).c_str());
            const double known = number(database, ("SELECT count(value)" + of).c_str());
            const double gaps = number(database, ("SELECT count(*) - count(value)" + of).c_str());
            QVERIFY(gaps > 5);
            QCOMPARE(known + 2 * gaps, last);
            // A gap spans from the end of the last sample to the beginning of the next.
            const QStringList samples =
                rows(database, ("SELECT timestamp || ' ' || (value IS NULL)" + of + " ORDER BY timestamp").c_str());
            for (qsizetype at = 1; at < samples.size(); ++at) {
                const auto timeOf = [&](qsizetype which) { return samples[which].section(' ', 0, 0).toLongLong(); };
                QCOMPARE(timeOf(at) - timeOf(at - 1), samples[at].endsWith('1') ? 2'000'000LL : 1'000'000LL);
            }
            const QStringList property =
                rows(database,
                     (std::string("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'gpuMetricsLost") + gpu + "'")
                         .c_str());
            QCOMPARE(property, QStringList(QString("%1 of %2").arg(2 * gaps).arg(last)));
        }
    }

    void preparesCounterDataRarely() {
        const auto timesReady = [&](const QByteArray& settings) {
            QProcessEnvironment environment = variables(settings);
            const QString count = path("count" + settings);
            environment.insert("STANDIN_PM_COUNT", count);
            record("ready" + settings + ".sqlite", environment, "--gpu-metrics=100", {"sleep", "3"});
            QFile file(count);
            return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed().toInt() : -1;
        };
        const int goingOn = timesReady(""), always = timesReady("restart=1");
        QVERIFY(goingOn > 0);
        QVERIFY2(goingOn * 2 < always, qPrintable(QString("%1 %2").arg(goingOn).arg(always)));
    }

    /// One line in the health notes of the trace for any number of GPUs, and never an error.
    void reportsWhySamplingIsUnavailable_data() {
        const test::Rows<QByteArray, QString, QString, QString> row;
        row("no permission", "refuse=35", QString(), QString(), "GPUs 0, 1: this user may not read hardware counters");
        row("another tool", "refuse=38", QString(), QString(), "CUPTI answered SIMULATED_ERROR (38)");
        row("no driver", QByteArray(), "LANESCOPE_CUDA", "/nonexistent/libcuda.so", "no NVIDIA driver");
        row("old CUPTI", QByteArray(), "LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/old/libcupti.so.12",
            "Use CUPTI of CUDA 12.6 or newer");
        row("no GPU", QByteArray(), "STANDIN_CUDA", "none", "CUDA finds no GPU");
    }
    void reportsWhySamplingIsUnavailable() {
        const auto [settings, variable, value, says] = test::row<QByteArray, QString, QString, QString>();
        QProcessEnvironment environment = variables(settings);
        environment.insert("PATH", "/bin:/usr/bin");
        if (!variable.isEmpty()) environment.insert(variable, value);
        const Database database =
            record(QString("no-%1.sqlite").arg(QString(QTest::currentDataTag()).replace(' ', '-')), environment,
                   "--gpu-metrics", {"sleep", "0.5"});
        const QStringList said = refusals(database);
        QCOMPARE(said.size(), 1);
        QVERIFY2(said[0].contains(says) && said[0].startsWith("1 "), qPrintable(said[0]));
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_HEALTH WHERE severity = 2"), 0.0);
    }

    /// A tree like a virtual environment with the wheels of one CUDA major version.
    QString environmentWith(const QString& name, const QString& packages) const {
        const QDir root(path(name));
        root.mkpath("bin");
        root.mkpath("lib/python3.11/site-packages/" + packages);
        QFile::link("/bin/sh", root.filePath("bin/python3"));
        return root.path();
    }

    void findsTheCuptiOfPython_data() {
        test::rows<QString>("packages", {{"CUDA 12", "nvidia/cuda_cupti/lib"}, {"CUDA 13", "nvidia/cu13/lib"}});
    }
    void findsTheCuptiOfPython() {
        QFETCH(QString, packages);
        const QString root = environmentWith(QString(packages).replace('/', '-'), packages);
        const std::filesystem::path wanted = (root + "/lib/python3.11/site-packages/" + packages).toStdString();
        const auto first = [](const QString& program) {
            const auto folders = pythonCuptiFolders(program.toStdString());
            return folders.empty() ? std::filesystem::path() : folders.front();
        };
        QCOMPARE(first(root + "/bin/python3").string(), wanted.string());
        // A script of that Python, such as torchrun.
        QFile script(root + "/bin/torchrun");
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write("#!" + root.toUtf8() + "/bin/python3 -I\nimport torch\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        script.close();
        QCOMPARE(first(script.fileName()).string(), wanted.string());
        // By the name alone, and started by a shell script.
        const QByteArray before = qgetenv("PATH");
        qputenv("PATH", root.toUtf8() + "/bin:" + before);
        QCOMPARE(first("python3").string(), wanted.string());
        QCOMPARE(first("torchrun").string(), wanted.string());
        QCOMPARE(first("sh").string(), wanted.string());
        qputenv("PATH", before);
        qputenv("VIRTUAL_ENV", root.toUtf8());
        const auto folders = pythonCuptiFolders("sh");
        qunsetenv("VIRTUAL_ENV");
        QVERIFY(std::find(folders.begin(), folders.end(), wanted) != folders.end());
        // Missing or invalid paths are harmless.
        pythonCuptiFolders("");
        pythonCuptiFolders("/nonexistent/python3");
        pythonCuptiFolders("/dev/null");
    }

    void samplesWithTheCuptiOfPython() {
        const QString root = environmentWith("wheels", "nvidia/cuda_cupti/lib");
        QVERIFY(QFile::copy(LANESCOPE_BINARY_DIR "/lib/standin/pm/libcupti.so.13",
                            root + "/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"));
        QProcessEnvironment environment = variables("");
        // The first one found is too old.
        environment.insert("LANESCOPE_CUPTI", LANESCOPE_BINARY_DIR "/lib/standin/old/libcupti.so.12");
        const Database database =
            record("wheels.sqlite", environment, "--gpu-metrics", {root + "/bin/python3", "-c", "sleep 1"});
        QCOMPARE(refusals(database), QStringList());
        QVERIFY(number(database, "SELECT count(*) FROM GPU_METRICS") > 100);
    }
};

LANESCOPE_TEST(tst_PmSampling, QCoreApplication)
#include "tst_PmSampling.moc"
