// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Outcome {
    int exitCode = -1;
    QString output, errors;
};

Outcome lanescopeWith(const QStringList& arguments) {
    QProcess process;
    process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", arguments);
    process.waitForFinished();
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// A rank recorded in windows, which its health notes report.
TracePtr rankInWindows(int rank) {
    SimulatedTrace made;
    made.processes()[0].rank = rank;
    for (int64_t step = 0; step < 6; ++step) {
        const int64_t at = step * 1000;
        made.addNvtx(made.defaultThread(), "step " + std::to_string(step), at, at + 900);
        made.launch(made.defaultThread(), made.defaultStream(), "gemm", at + 1, at + 10, at + 800);
    }
    made.note({Severity::Info, HealthCode::Windows, "Process 4242 recorded in 2 windows.",
               made.processes()[0].globalPid, std::nullopt, 2});
    made.note(
        {Severity::Info, HealthCode::Windows, "7 states lie outside the windows.", std::nullopt, std::nullopt, 7});
    return made.finish("rank" + std::to_string(rank) + ".sqlite");
}

}  // namespace

class tst_ImportCommand : public QObject {
    Q_OBJECT

    QString path(const char* name) const { return folder_->filePath(name); }
    void write(const char* name, const QByteArray& content) const {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }

    std::unique_ptr<QTemporaryDir> folder_;

  private slots:
    void init() {
        folder_ = std::make_unique<QTemporaryDir>();
        write("run.json", R"([{"ph": "X", "name": "forward", "ts": 1, "dur": 2, "pid": 1, "tid": 1}])");
    }

    void importedTraceCanBeQueriedInSql() {
        const Outcome made = lanescopeWith({"import", path("run.json")});
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors));
        QCOMPARE(made.output.trimmed(), path("run.sqlite"));
        const Outcome asked = lanescopeWith(
            {"sql", path("run.sqlite"), "SELECT text, \"end\" - start AS ns FROM NVTX_EVENTS", "-f", "csv"});
        QCOMPARE(asked.output, QString("text,ns\r\nforward,2000\r\n"));
    }

    void singleOutputMayHaveAnyName() {
        const Outcome made = lanescopeWith({"import", path("run.json"), "-o", path("mine")});
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors));
        QVERIFY(contentOf(path("mine")).startsWith("SQLite format 3"));
        write("other.json", contentOf(path("run.json")));
        const Outcome two = lanescopeWith({"import", path("run.json"), path("other.json"), "-o", path("both.sqlite")});
        QCOMPARE(two.exitCode, 1);
        QVERIFY2(two.errors.contains("--into"), qPrintable(two.errors));
        QVERIFY(!QFile::exists(path("both.sqlite")));
    }

    void existingFilesAreKept() {
        write("run.sqlite", "a trace of mine");
        const Outcome made = lanescopeWith({"import", path("run.json")});
        QCOMPARE(made.exitCode, 1);
        QVERIFY2(made.errors.contains("exists"), qPrintable(made.errors));
        QCOMPARE(contentOf(path("run.sqlite")), QByteArray("a trace of mine"));
    }

    void outputFolderIsCreated() {
        const Outcome made = lanescopeWith({"import", path("run.json"), "--into", path("new/folder")});
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors));
        QVERIFY(QFile::exists(path("new/folder/run.sqlite")));
        const Outcome inAFile = lanescopeWith({"import", path("run.json"), "--into", path("run.json/folder")});
        QCOMPARE(inAFile.exitCode, 1);
        QVERIFY2(inAFile.errors.contains("cannot create the folder"), qPrintable(inAFile.errors));
    }

    void unreadableFileDoesNotStopTheOthers() {
        write("letter.json", "to nobody");
        const Outcome made = lanescopeWith({"import", path("letter.json"), path("run.json")});
        QCOMPARE(made.exitCode, 1);
        QVERIFY2(made.errors.contains("1 of 2 files"), qPrintable(made.errors));
        QVERIFY(QFile::exists(path("run.sqlite")));
    }

    void reportsStepNumberingWithoutNotesOfEachFile() {
        const QTemporaryDir folder;
        QStringList words{"merge"};
        for (const int rank : {0, 1}) {
            const QString file = folder.filePath(QString("rank%1.sqlite").arg(rank));
            QVERIFY(writeTraceFile(*rankInWindows(rank), file.toStdString()));
            words << file;
        }
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", words << "--steps"
                                                                   << "2-3"
                                                                   << "-o" << folder.filePath("whole.sqlite"));
        QVERIFY(process.waitForFinished(60'000));
        const QString said = process.readAllStandardOutput() + process.readAllStandardError();
        QVERIFY2(process.exitCode() == 0, qPrintable(said));
        QVERIFY2(said.contains("Step 0 is step 2 of the run"), qPrintable(said));
        QVERIFY2(!said.contains("windows"), qPrintable(said));
    }
};

LANESCOPE_TEST(tst_ImportCommand, QCoreApplication)
#include "tst_ImportCommand.moc"
