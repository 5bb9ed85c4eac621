// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/index/openTrace.h"
#include "tests/fault/faults.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

/// Tests of the viewer with one failing system call in the threads that load, search and summarize
/// a trace: it makes its picture or reports the reason, and leaves correct files.
class tst_ViewerFaults : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), path_).has_value());
        QVERIFY(sealPages(path_).has_value());
        const Outcome whole = runProgram("lanescope", statsOfKernels(), {});
        QCOMPARE(whole.status, 0);
        sums_ = whole.output;
    }

    void singleFailingCallIsHandled_data() {
        const test::Rows<QString, bool, bool> row;
        for (const char* kind : {"malloc", "read", "open", "mmap", "write", "rename"})
            for (const bool isIndexed : {false, true})
                for (const bool goesOn : {false, true})
                    row(QString::asprintf("%s%s%s", kind, isIndexed ? ", by its index" : "",
                                          goesOn ? ", from then on" : ""),
                        QString(kind), isIndexed, goesOn);
    }
    void singleFailingCallIsHandled() {
        const auto [kind, isIndexed, goesOn] = test::row<QString, bool, bool>();
        prepare(isIndexed);
        const Outcome good = run({.kind = kind});
        QVERIFY2(good.status == 0, good.errors.constData());
        const std::vector<uint64_t> calls = this->calls();
        const auto count = static_cast<long>(calls.size());
        QVERIFY(count > 0 || kind == "mmap" || kind == "write" || kind == "rename");
        int refused = 0, shown = 0;
        for (const long number : chosen(calls, 4)) {
            prepare(isIndexed);
            const Outcome outcome = run({.kind = kind, .at = number, .goesOn = goesOn});
            const QByteArray at = QByteArray::number(qlonglong{number}) + " of " +
                                  QByteArray::number(qlonglong{count}) + ": " + outcome.errors;
            QVERIFY2(outcome.hasEnded, at.constData());
            if (outcome.status == 0) {
                ++shown;
                QVERIFY2(isPicture(), at.constData());
            } else {
                ++refused;
                QVERIFY2(outcome.status == 1, at.constData());
                QVERIFY2(outcome.errors.contains("lanescope-viewer: "), at.constData());
            }
            // Any existing index gives the results of the trace.
            const Outcome after = runProgram("lanescope", statsOfKernels(), {});
            QVERIFY2(after.status == 0 && after.output == sums_, at.constData());
        }
        qInfo("%ld calls, %d refused, %d shown", count, refused, shown);
    }

  private:
    QStringList statsOfKernels() const {
        return {"stats", QString::fromStdString(path_.string()), "-r", "cuda_gpu_kern_sum", "-f", "csv"};
    }
    QString picture() const { return QString::fromStdString((folder_ / "out.png").string()); }
    bool isPicture() const {
        QFile file(picture());
        if (!file.open(QIODevice::ReadOnly)) return false;
        const QByteArray content = file.readAll();
        return content.startsWith("\x89PNG") && content.contains("IEND");
    }
    void prepare(bool isIndexed) {
        QVERIFY(removeIndexes(path_).has_value());
        QFile::remove(picture());
        if (!isIndexed) return;
        const Outcome made = runProgram("lanescope", {"index", QString::fromStdString(path_.string())}, {});
        QCOMPARE(made.status, 0);
    }
    Outcome run(Fault fault) const {
        // Calls made by Qt are not our responsibility.
        fault.objects = "/bin/lanescope-viewer:libsqlite3:libfmt:libz.";
        fault.threads = "others";
        fault.stacksFile = stacksFile();
        return runProgram(
            "lanescope-viewer",
            {"--render", picture(), "--size", "400x300", "--find", "gemm", QString::fromStdString(path_.string())},
            fault);
    }
    std::vector<uint64_t> calls() const { return callsIn(stacksFile()); }
    QString stacksFile() const { return QString::fromStdString((folder_ / "stacks").string()); }

    TemporaryFolder folder_;
    std::filesystem::path path_;
    QByteArray sums_;
};

LANESCOPE_TEST(tst_ViewerFaults, QCoreApplication)
#include "tst_ViewerFaults.moc"
