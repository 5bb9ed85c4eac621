// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QProcess>
#include <QtTest>
#include <algorithm>
#include <cstdlib>

#include "model/export/traceFile.h"
#include "model/format/PageSeal.h"
#include "model/index/indexPath.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

struct Outcome {
    bool hasEnded = false;  ///< By itself, not by a signal.
    int status = -1;
    QByteArray output, errors;
};

/// How many calls of each kind are made to fail, spread over all of them; 0 for every one.
/// LANESCOPE_FAULTS says another number.
long mostFaults() {
    const char* given = std::getenv("LANESCOPE_FAULTS");
    return given != nullptr ? std::atol(given) : 6;
}

}  // namespace

/// The readers of a trace with one call of the system failing, wherever that is: they answer
/// rightly or say why not, and what they leave behind is right.
class tst_ReaderFaults : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 30}), path_).has_value());
        QVERIFY(sealPages(path_).has_value());
    }

    void oneCallThatFails_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<bool>("goesOn");
        const QString file = QString::fromStdString(path_.string());
        const QString other = QString::fromStdString((folder_ / "out.json").string());
        for (const char* kind : {"malloc", "read", "open", "mmap", "write", "fsync", "rename"}) {
            const auto add = [&](const char* name, const QStringList& words) {
                for (const bool goesOn : {false, true}) {
                    const QString row =
                        QString("%1, %2%3").arg(kind, name, goesOn ? ", from then on" : "");
                    QTest::newRow(qPrintable(row)) << QString(kind) << words << goesOn;
                }
            };
            add("index", {"index", file});
            add("stats", {"stats", file, "-r", "cuda_gpu_kern_sum", "-f", "csv"});
            add("export", {"export", file, "-o", other});
            add("sql", {"sql", file, "SELECT sum(start) FROM CUPTI_ACTIVITY_KIND_KERNEL"});
        }
    }
    void oneCallThatFails() {
        QFETCH(QString, kind);
        QFETCH(QStringList, words);
        QFETCH(bool, goesOn);
        QVERIFY(removeIndexes(path_).has_value());
        const Outcome good = run(words, kind, 0, false);
        QCOMPARE(good.status, 0);
        const long count = counted();
        if (count == 0) return;  // it makes no such call
        const QByteArray file = exported();
        QVERIFY(removeIndexes(path_).has_value());
        const long most = mostFaults();
        const long step = most > 0 ? std::max(1L, count / most) : 1;
        int refused = 0, answered = 0;
        for (long number = 1; number <= count; number += step) {
            const Outcome outcome = run(words, kind, number, goesOn);
            const QString at = QString("at %1 of %2: %3")
                                   .arg(number)
                                   .arg(count)
                                   .arg(QString::fromUtf8(outcome.errors));
            QVERIFY2(outcome.hasEnded, qPrintable(at));
            if (outcome.status == 0) {
                ++answered;
                if (words[0] != "index")
                    QVERIFY2(outcome.output == good.output && exported() == file, qPrintable(at));
            } else {
                ++refused;
                QCOMPARE(outcome.status, 1);
                QVERIFY2(outcome.errors.contains("lanescope: ") && outcome.errors.endsWith(".\n"),
                         qPrintable(at));
            }
            // Whatever index there is by now: what comes of it is right.
            const Outcome after = run(words, "none", 0, false);
            QVERIFY2(after.status == 0, qPrintable(at));
            QVERIFY2(after.output == good.output || words[0] == "index", qPrintable(at));
            QVERIFY2(exported() == file, qPrintable(at));
            QVERIFY(removeIndexes(path_).has_value());
        }
        qInfo("%ld calls, %d refused, %d answered", count, refused, answered);
    }

  private:
    Outcome run(const QStringList& words, const QString& kind, long at, bool goesOn) const {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_PRELOAD", LANESCOPE_FAULT_LAYER);
        environment.insert("FAULT_KIND", kind);
        environment.insert("FAULT_AT", QString::number(at));
        environment.insert("FAULT_REST", goesOn ? "1" : "0");
        // The program, and what allocates for it.
        environment.insert("FAULT_OBJECT", "/bin/lanescope:libsqlite3:libstdc++:libfmt:libz.");
        const QString count = QString::fromStdString((folder_ / "count").string());
        QFile::remove(count);
        environment.insert("FAULT_COUNT", count);
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"), words);
        if (!process.waitForFinished(120'000)) return {};
        return {process.exitStatus() == QProcess::NormalExit, process.exitCode(),
                process.readAllStandardOutput(), process.readAllStandardError()};
    }

    /// How many calls the last run made.
    long counted() const {
        QFile file(QString::fromStdString((folder_ / "count").string()));
        return file.open(QIODevice::ReadOnly) ? file.readLine().toLong() : 0;
    }
    QByteArray exported() const {
        QFile file(QString::fromStdString((folder_ / "out.json").string()));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    TemporaryFolder folder_;
    std::filesystem::path path_;
};

LANESCOPE_TEST(tst_ReaderFaults, QCoreApplication)
#include "tst_ReaderFaults.moc"
