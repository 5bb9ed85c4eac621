// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

constexpr const char* annotated = R"(
import multiprocessing, nvtx, os, sys

@nvtx.annotate("decorated", color="green", domain="python", category="step")
def work(number):
    with nvtx.annotate(message=f"item {number}"):
        return number * number

def child(number):
    for item in range(5):
        work(item)
    return os.getpid()

if __name__ == "__main__":
    for number in range(10):
        work(number)
    range_id = nvtx.start_range("across")
    nvtx.end_range(range_id)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(len(set(pool.map(child, range(8), chunksize=1))) > 0)
    sys.exit(4)
)";

}  // namespace

/// Tests of the NVTX package for Python. Needs a Python that has it: LANESCOPE_TEST_PYTHON or python3.
class tst_AgentPython : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString python_, script_;

  private slots:
    void initTestCase() {
        python_ = qEnvironmentVariable("LANESCOPE_TEST_PYTHON", "python3");
        QProcess process;
        process.start(python_, {"-c", "import nvtx"});
        if (!process.waitForFinished() || process.exitCode() != 0) {
            QSKIP("This Python has no nvtx package: pip install nvtx, or set LANESCOPE_TEST_PYTHON.");
        }
        script_ = folder_.filePath("annotated.py");
        QFile file(script_);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(annotated);
    }

    void recordsPython_data() {
        QTest::addColumn<QString>("method");
        QTest::newRow("fork") << "fork";
        QTest::newRow("spawn") << "spawn";
    }
    void recordsPython() {
        if (script_.isEmpty()) QSKIP("No nvtx package.");
        QFETCH(QString, method);
        AgentRun run;
        run.program = python_;
        run.arguments = {script_, method};
        QVERIFY(run.run());
        QCOMPARE(run.exitCode, 4);
        QCOMPARE(run.output, QByteArray("True\n"));
        QCOMPARE(run.errors, QByteArray());
        ProcessLog log = run.log();
        QCOMPARE(log.nvtx.size(), size_t{42});
        QCOMPARE(log.nvtx[0].text, std::string("decorated"));
        QCOMPARE(log.domains[log.nvtx[0].record.domain], std::string("python"));
        QCOMPARE(log.nvtx[1].text, std::string("item 0"));
        QCOMPARE(log.ends.size(), size_t{1});
        QVERIFY(run.logs.size() >= 2);
        for (size_t i = 1; i < run.logs.size(); ++i) {
            QVERIFY(!run.logs[i].isCorrupt);
            QCOMPARE(run.logs[i].unknownStrings, 0);
        }
    }
};

LANESCOPE_TEST(tst_AgentPython, QCoreApplication)
#include "tst_AgentPython.moc"
