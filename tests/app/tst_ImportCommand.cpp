// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"

using namespace lanescope;

using lanescope::test::Ended;
using lanescope::test::fileBytes;
using lanescope::test::runLanescope;

namespace {

/// A rank recorded in windows, which its health notes report.
TracePtr rankInWindows(int rank) {
    SimulatedTrace made;
    made.processes()[0].rank = rank;
    made.addSteps(made.defaultThread(), 6, 1000, 900, [&](int64_t at) {
        made.launch(made.defaultThread(), made.defaultStream(), "gemm", at + 1, at + 10, at + 800);
    });
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
        const Ended made = runLanescope({"import", path("run.json")});
        QVERIFY2(made.status == 0, qPrintable(made.err));
        QCOMPARE(QString(made.out.trimmed()), path("run.sqlite"));
        const Ended asked = runLanescope(
            {"sql", path("run.sqlite"), "SELECT text, \"end\" - start AS ns FROM NVTX_EVENTS", "-f", "csv"});
        QCOMPARE(asked.out, QByteArray("text,ns\r\nforward,2000\r\n"));
    }

    void singleOutputMayHaveAnyName() {
        const Ended made = runLanescope({"import", path("run.json"), "-o", path("mine")});
        QVERIFY2(made.status == 0, qPrintable(made.err));
        QVERIFY(fileBytes(path("mine")).startsWith("SQLite format 3"));
        write("other.json", fileBytes(path("run.json")));
        const Ended two = runLanescope({"import", path("run.json"), path("other.json"), "-o", path("both.sqlite")});
        QCOMPARE(two.status, 1);
        QVERIFY2(two.err.contains("--into"), qPrintable(two.err));
        QVERIFY(!QFile::exists(path("both.sqlite")));
    }

    void existingFilesAreKept() {
        write("run.sqlite", "a trace of mine");
        const Ended made = runLanescope({"import", path("run.json")});
        QCOMPARE(made.status, 1);
        QVERIFY2(made.err.contains("exists"), qPrintable(made.err));
        QCOMPARE(fileBytes(path("run.sqlite")), QByteArray("a trace of mine"));
    }

    void outputFolderIsCreated() {
        const Ended made = runLanescope({"import", path("run.json"), "--into", path("new/folder")});
        QVERIFY2(made.status == 0, qPrintable(made.err));
        QVERIFY(QFile::exists(path("new/folder/run.sqlite")));
        const Ended inAFile = runLanescope({"import", path("run.json"), "--into", path("run.json/folder")});
        QCOMPARE(inAFile.status, 1);
        QVERIFY2(inAFile.err.contains("cannot create the folder"), qPrintable(inAFile.err));
    }

    void unreadableFileDoesNotStopTheOthers() {
        write("letter.json", "to nobody");
        const Ended made = runLanescope({"import", path("letter.json"), path("run.json")});
        QCOMPARE(made.status, 1);
        QVERIFY2(made.err.contains("1 of 2 files"), qPrintable(made.err));
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
        const Ended merged = runLanescope(words + QStringList{"--steps", "2-3", "-o", folder.filePath("whole.sqlite")});
        const QByteArray said = merged.out + merged.err;
        QVERIFY2(merged.status == 0, qPrintable(said));
        QVERIFY2(said.contains("Step 0 is step 2 of the run"), qPrintable(said));
        QVERIFY2(!said.contains("windows"), qPrintable(said));
    }
};

LANESCOPE_TEST(tst_ImportCommand, QCoreApplication)
#include "tst_ImportCommand.moc"
