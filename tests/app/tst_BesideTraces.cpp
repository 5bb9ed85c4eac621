// SPDX-License-Identifier: Apache-2.0
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/writeFinishedTrace.h"

using namespace lanescope;

/// Tests that every command reports data next to or after a trace that does not belong to it.
class tst_BesideTraces : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        QVERIFY(test::writeFinishedTrace(*simulatedTraining({.steps = 8, .layers = 6}), *folder_ / "run.sqlite"));
    }

    void trailingBytesOfACompressedFileAreReported_data() { eachReader(); }
    void trailingBytesOfACompressedFileAreReported() {
        QFETCH(QStringList, command);
        QProcess gzip;
        gzip.setWorkingDirectory(at(""));
        gzip.start("gzip", {"run.sqlite"});
        QVERIFY(gzip.waitForFinished());
        command.replaceInStrings("FILE", "run.sqlite.gz");
        QVERIFY(!run(command).said.contains("other bytes after the trace"));
        QFile packed(at("run.sqlite.gz"));
        QVERIFY(packed.open(QIODevice::ReadWrite));
        const QByteArray once = packed.readAll();
        for (const QByteArray& trailing : {QByteArray("rubbish"), once}) {
            QVERIFY(packed.resize(once.size()) && packed.seek(once.size()));
            QCOMPARE(packed.write(trailing), trailing.size());
            packed.flush();
            const Outcome outcome = run(command);
            QVERIFY2(outcome.said.contains("The packed file has other bytes after the trace"),
                     qPrintable(outcome.said));
            QCOMPARE(outcome.exitCode, command[0] == "check" ? 1 : 0);
        }
    }

    void pendingJournalIsReported_data() { eachReader(); }
    void pendingJournalIsReported() {
        QFETCH(QStringList, command);
        {
            Result<Database> database = openForWriting(*folder_ / "run.sqlite");
            QVERIFY(database && database->execute("PRAGMA journal_mode = DELETE"));
            QVERIFY(database->execute("PRAGMA cache_size = 1"));
            QVERIFY(
                database->execute("BEGIN; UPDATE StringIds SET value = value || 'x'; UPDATE "
                                  "CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 1"));
            // As left by a killed program.
            for (const char* ending : {"", "-journal"})
                QVERIFY(QFile::copy(at(QString("run.sqlite") + ending), at(QString("late.sqlite") + ending)));
            QVERIFY(database->execute("ROLLBACK"));
        }
        QVERIFY(QFileInfo(at("late.sqlite-journal")).size() > 512);
        command.replaceInStrings("FILE", "late.sqlite");
        const Outcome outcome = run(command);
        QVERIFY2(outcome.said.contains("late.sqlite: a program that changed the file crashed and "
                                       "left a journal. Copy "),
                 qPrintable(outcome.said));
        QCOMPARE(outcome.exitCode, command[0] == "compare" ? 3 : 1);
        {
            // Effect of the recovery.
            Result<Database> database = openForWriting(*folder_ / "late.sqlite");
            QVERIFY(database && database->execute("SELECT count(*) FROM sqlite_schema"));
        }
        QVERIFY(!QFile::exists(at("late.sqlite-journal")));
        QVERIFY(!run(command).said.contains("crashed and left a journal"));
    }

  private:
    struct Outcome {
        int exitCode = -1;
        QString said;
    };

    static void eachReader() {
        QTest::addColumn<QStringList>("command");
        for (const char* words : {"info FILE", "stats FILE", "explain FILE", "check FILE", "sql FILE SELECT/1"})
            QTest::newRow(words) << QString(words).split(' ').replaceInStrings("/", " ");
    }

    Outcome run(const QStringList& arguments) const {
        QProcess process;
        process.setWorkingDirectory(at(""));
        process.setProcessChannelMode(QProcess::MergedChannels);
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("XDG_CACHE_HOME", at("cache"));
        process.setProcessEnvironment(environment);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
        if (!process.waitForFinished(60'000)) qFatal("lanescope does not end");
        return {process.exitCode(), QString(process.readAll()).simplified()};
    }
    QString at(const QString& name) const {
        return QString::fromStdString((folder_->path() / name.toStdString()).string());
    }

    std::unique_ptr<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_BesideTraces, QCoreApplication)
#include "tst_BesideTraces.moc"
