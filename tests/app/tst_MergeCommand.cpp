// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

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

class TestMergeCommand : public QObject {
    Q_OBJECT

  private slots:
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

LANESCOPE_TEST(TestMergeCommand, QCoreApplication)
#include "tst_MergeCommand.moc"
