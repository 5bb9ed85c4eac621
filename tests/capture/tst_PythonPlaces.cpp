// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

const QString launcher = QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libpython-launches.so");
const QString script = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/callPlaces.py");

/// The number of the script line that ends with a remark.
int lineOf(const char* remark) {
    QFile file(script);
    if (!file.open(QIODevice::ReadOnly)) return -1;
    const QList<QByteArray> lines = file.readAll().split('\n');
    for (int i = 0; i < lines.size(); ++i)
        if (lines[i].endsWith(QByteArray("# ") + remark)) return i + 1;
    return -1;
}

/// "call_nvtx:35", the innermost frame of a stack; empty if none.
QString placeOf(const ProcessLog& log, uint32_t stack) {
    const auto found = log.stacks.find(stack);
    if (found == log.stacks.end()) return {};
    return QString::fromStdString(found->second.function).section('.', -1) + ":" + QString::number(found->second.line);
}

QString place(const char* function, const char* remark) {
    return QString::fromUtf8(function) + ":" + QString::number(lineOf(remark));
}

}  // namespace

class tst_PythonPlaces : public QObject {
    Q_OBJECT

    AgentRun calls(const QString& what) {
        AgentRun run;
        run.program = "python3";
        run.arguments = {script, launcher, test::agentLibrary(), test::standinCupti(), what};
        return run;
    }
    /// The place of each NVTX call that begins a range or mark, by its text.
    static std::map<std::string, QString> placesOfNvtx(const ProcessLog& log) {
        std::map<std::string, QString> places;
        for (const ProcessLog::Nvtx& call : log.nvtx)
            if (call.record.event != log::NvtxEvent::Pop && call.record.event != log::NvtxEvent::End)
                places[call.text] = placeOf(log, log::stackOf(call.record));
        return places;
    }
    static std::map<std::string, QString> placesOfCalls() {
        return {{"pushed", place("call_nvtx", "NVTX: push")},
                {"marked", place("call_nvtx", "NVTX: mark")},
                {"started", place("call_nvtx", "NVTX: start")}};
    }

  private slots:
    void initTestCase() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer)
            QSKIP("A sanitizer wants to be loaded first, and the Python of the system has none.");
    }

    void rangesAndMarksHaveTheirLine() {
        AgentRun run = calls("nvtx");
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(run.log().nvtx.size(), size_t{5});
        QCOMPARE(placesOfNvtx(run.log()), placesOfCalls());
        // The end of a range has the place of its beginning.
        for (const ProcessLog::Nvtx& call : run.log().nvtx)
            if (call.record.event == log::NvtxEvent::Pop || call.record.event == log::NvtxEvent::End)
                QCOMPARE(log::stackOf(call.record), 0u);
        QCOMPARE(run.log().unknownStrings, 0);
    }

    void rangesHaveNoLineIfDisabled() {
        AgentRun run = calls("nvtx");
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "python=0";
        QVERIFY(run.run());
        QCOMPARE(run.exitCode, 0);
        QCOMPARE(run.log().nvtx.size(), size_t{5});
        QVERIFY(run.log().stacks.empty());
    }

    /// A benchmark does so to compare both in one run.
    void stacksAreSwitchedOffAndOn() {
        AgentRun run = calls("switch");
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const auto places = placesOfNvtx(run.log());
        QCOMPARE(places.size(), size_t{3});
        QVERIFY(!places.at("before").isEmpty());
        QCOMPARE(places.at("without"), QString());
        QCOMPARE(places.at("again"), place("switch_stacks", "NVTX: again"));
    }

    /// From its first call on: it inherits its parent's knowledge of Python.
    void forkedChildrenHaveTheirLines() {
        AgentRun run = calls("fork");
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(run.logs.size(), size_t{2});
        QCOMPARE(placesOfNvtx(run.logs[1]), placesOfCalls());
    }

    void callsOfNcclHaveTheirLine() {
        AgentRun run = calls("nccl");
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(run.log().nccl.size(), size_t{1});
        QCOMPARE(placeOf(run.log(), run.log().nccl[0].record.stack), place("all_reduce", "NCCL: call"));
    }

    void nodesOfGraphsHaveTheLineOfTheirCapture() {
        AgentRun run = calls("graphs");
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const ProcessLog& log = run.log();
        QCOMPARE(log.graphNodes.size(), size_t{4});
        QCOMPARE(log.graphNodes[0].node, uint64_t{11});
        QCOMPARE(log.graphNodes[0].original, uint64_t{0});
        QCOMPARE(placeOf(log, log.graphNodes[0].stack), place("forward", "graph: capture"));
        QCOMPARE(log.graphNodes[2].node, uint64_t{31});
        QCOMPARE(log.graphNodes[2].original, uint64_t{21});
        QCOMPARE(log.graphNodes[2].stack, 0u);
        for (const log::ApiRecord& call : log.calls)
            QCOMPARE(placeOf(log, call.stack), place("replay", "graph: launch"));
        QCOMPARE(log.kernels.size(), size_t{4});
        QCOMPARE(log.kernels[1].graphNodeId, uint64_t{31});
    }

    void graphNodesAreNotRequestedNeedlessly_data() {
        QTest::addColumn<QString>("options");
        QTest::newRow("graphs as a whole") << "graphs=whole";
        QTest::newRow("no lines") << "python=0";
    }
    void graphNodesAreNotRequestedNeedlessly() {
        QFETCH(QString, options);
        AgentRun run = calls("graphs");
        run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
        QVERIFY(run.run());
        QCOMPARE(run.exitCode, 0);
        QVERIFY(run.log().graphNodes.empty());
        QCOMPARE(run.log().calls.size(), size_t{4});
    }

    /// Prints only: the cost of a range without lines and with them, alternately.
    void printsTheCostOfRanges() {
        for (const char* options : {"python=0", "python=1", "python=0", "python=1"}) {
            AgentRun run = calls("cost");
            run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
            QVERIFY(run.run());
            QVERIFY2(run.exitCode == 0, run.errors.constData());
            qInfo("%s: push and pop below %s", options, run.output.trimmed().constData());
            QVERIFY(run.log().nvtx.size() > 100'000);
        }
    }
};

LANESCOPE_TEST(tst_PythonPlaces, QCoreApplication)
#include "tst_PythonPlaces.moc"
