// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "model/format/Sqlite.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;

namespace {

constexpr int waitMs = 120'000;

struct Ended {
    int status = -1;
    QByteArray out, err;
};

}  // namespace

/// Tests of `record` with the real agent in programs that change user, root, limits or the clock.
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
        if (!process.waitForFinished(waitMs)) qFatal("lanescope does not end");
        const bool isNormal = process.exitStatus() == QProcess::NormalExit;
        return {isNormal ? process.exitCode() : -process.exitCode(), process.readAllStandardOutput(),
                process.readAllStandardError()};
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
        QCOMPARE(ranges("work"), 99);
        QCOMPARE(ranges("before"), 1);
    }

    void unrecordableProgramIsReported() {
        if (::geteuid() != 0) QSKIP("Only root can be given up.");
        // The socket does not respond, as when the program is in another network namespace.
        const Ended ended = record({"env", "LANESCOPE_AGENT_DOOR=nobody-is-here", hardship_, "user"});
        QCOMPARE(ended.status, 0);
        // The only evidence is the missing log, which must not be called something else.
        QVERIFY2(ended.err.contains("a log folder that could not be reached"), ended.err.constData());
    }

    void clockChangeIsReported() {
        if (test::hasAddressSanitizer) QSKIP("The sanitizer wants to be loaded first.");
        const Ended ended = record(
            {"env", "LD_PRELOAD=" LANESCOPE_BINARY_DIR "/lib/standin/libstandin-clock.so", hardship_, "clock", "3600"});
        QVERIFY2(ended.status == 0, ended.err.constData());
        QCOMPARE(number("SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'clock-set' AND "
                        "severity = 0"),
                 1);
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
        QVERIFY(process.waitForFinished(waitMs));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 3);
        QVERIFY(process.readAllStandardError().contains("out.sqlite"));
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
};

LANESCOPE_TEST(tst_RecordHardship, QCoreApplication)
#include "tst_RecordHardship.moc"
