// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

const QString walker = QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libstacks-here.so");
const QString launcher = QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libpython-launches.so");
const QString script = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/checkStacks.py");

/// Interpreters to read: those in LANESCOPE_TEST_PYTHONS, separated by colons, else those in PATH.
QStringList interpreters() {
    const QString named = qEnvironmentVariable("LANESCOPE_TEST_PYTHONS");
    if (!named.isEmpty()) return named.split(':');
    QStringList found;
    for (const char* name : {"python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13",
                             "python3.14", "python3.13t", "python3.14t"}) {
        const QString path = QStandardPaths::findExecutable(name);
        QProcess process;
        process.start(path, {"-c", ""});
        if (!path.isEmpty() && process.waitForFinished() && process.exitCode() == 0) found << path;
    }
    return found;
}

QJsonObject lastLine(const QByteArray& output) {
    return QJsonDocument::fromJson(output.trimmed().split('\n').last()).object();
}

/// Frames in the format of the notes, the innermost first.
QStringList framesOf(const ProcessLog& log, uint32_t stack) {
    QStringList frames;
    for (auto at = log.stacks.find(stack); at != log.stacks.end() && frames.size() < 1000;
         at = log.stacks.find(at->second.parent))
        frames << QString::fromStdString(at->second.file + "|" + at->second.function + "|" +
                                         std::to_string(at->second.line));
    return frames;
}

QStringList framesOf(const QJsonArray& noted) {
    QStringList frames;
    for (const QJsonValue& frame : noted)
        frames << frame[0].toString() + "|" + frame[1].toString() + "|" + QString::number(frame[2].toInt());
    return frames;
}

/// Differences between a run's notes and its log, and the number of notes.
struct Comparison {
    qsizetype notes = 0, different = 0, withoutStack = 0;
    QString first;
};

Comparison compared(const ProcessLog& log, const QString& path) {
    QFile file(path);
    Comparison result;
    if (!file.open(QIODevice::ReadOnly)) return result;
    std::map<uint32_t, uint32_t> stackOf;
    for (const log::ApiRecord& call : log.calls) stackOf[call.correlationId] = call.stack;
    for (const QJsonValue& note : QJsonDocument::fromJson(file.readAll()).array()) {
        ++result.notes;
        QStringList recorded = framesOf(log, stackOf[static_cast<uint32_t>(note[0].toInteger())]);
        if (recorded.isEmpty()) ++result.withoutStack;
        // The innermost frame is the note-taking function.
        if (!recorded.isEmpty()) recorded.removeFirst();
        const QStringList wanted = framesOf(note[1].toArray());
        if (recorded == wanted) continue;
        ++result.different;
        if (result.first.isEmpty()) result.first = recorded.join(" < ") + "\ninstead of\n" + wanted.join(" < ");
    }
    return result;
}

}  // namespace

class tst_PythonStacks : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    AgentRun launches(const QString& python, const QString& notes, int rounds = 3) {
        AgentRun run;
        run.program = python;
        run.arguments = {script, launcher, QString::number(rounds), test::agentLibrary(), test::standinCupti(), notes};
        return run;
    }

  private slots:
    void initTestCase() {
        if (test::hasAddressSanitizer || test::hasThreadSanitizer)
            QSKIP("A sanitizer wants to be loaded first, and the Python of the system has none.");
    }

    void readsEveryStack_data() {
        QTest::addColumn<QString>("python");
        for (const QString& python : interpreters()) QTest::newRow(qPrintable(python)) << python;
    }
    void readsEveryStack() {
        QFETCH(QString, python);
        QProcess process;
        process.start(python, {script, walker, "10"});
        QVERIFY(process.waitForFinished(240'000));
        const QByteArray errors = process.readAllStandardError();
        QVERIFY2(process.exitCode() == 0, errors.constData());
        const QJsonObject said = lastLine(process.readAllStandardOutput());
        qInfo("Python %s: %d stacks", qPrintable(said["python"].toString()), said["compared"].toInt());
        for (const QJsonValue& walk : said["walks"].toArray())
            qInfo("  %d frames: median %.0f ns, 99th percentile %.0f ns, %.0f ns in a row", walk["frames"].toInt(),
                  walk["medianNs"].toDouble(), walk["p99Ns"].toDouble(), walk["rowNs"].toDouble());
        QVERIFY(said["compared"].toInt() > 1'000);
        const QByteArray first = QJsonDocument(said["first"].toArray()).toJson();
        QVERIFY2(said["different"].toInt() == 0, first.constData());
    }

    void recordsTheStackOfEachLaunch_data() { readsEveryStack_data(); }
    void recordsTheStackOfEachLaunch() {
        QFETCH(QString, python);
        const QString notes = folder_.filePath("notes.json");
        AgentRun run = launches(python, notes);
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(run.errors, QByteArray());
        QCOMPARE(run.output, QByteArray());
        const Comparison all = compared(run.log(), notes);
        QVERIFY(all.notes > 1'000);
        QCOMPARE(all.withoutStack, 0);
        QVERIFY2(all.different == 0, qPrintable(all.first));
        QCOMPARE(run.log().unknownStrings, 0);
        // Finalizers launch more while the interpreter ends.
        QVERIFY(run.log().calls.size() >= size_t(all.notes));
    }

    void leavesPythonAloneIfDisabled() {
        AgentRun run = launches("python3", folder_.filePath("notes.json"), 1);
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "python=0";
        QVERIFY(run.run());
        QCOMPARE(run.exitCode, 0);
        QVERIFY(!run.log().calls.empty());
        QVERIFY(run.log().stacks.empty());
        for (const log::ApiRecord& call : run.log().calls) QCOMPARE(call.stack, 0u);
    }

    void repeatsStacksInEachPart() {
        const QString notes = folder_.filePath("notes.json");
        AgentRun run = launches("python3", notes, 40);
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "part-mb=1";
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Comparison all = compared(run.log(), notes);
        QVERIFY(all.notes > 10'000);
        QVERIFY2(all.different == 0, qPrintable(all.first));
        QVERIFY(run.log().repeatedStacks > 0);
    }

    void recordsForkedChildren() {
        const QString path = folder_.filePath("forking.py");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"(import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
library.beginCuda.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
def work():
    library.launchHere()
def child():
    library.beginCuda(sys.argv[2].encode(), sys.argv[3].encode())
    work()
    sys.exit(0)
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        child()
    children.append(pid)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
)");
        file.close();
        AgentRun run;
        run.program = "python3";
        run.arguments = {path, launcher, test::agentLibrary(), test::standinCupti()};
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(run.logs.size(), size_t{3});
        for (const ProcessLog& log : run.logs) {
            QCOMPARE(log.calls.size(), size_t{1});
            const QStringList frames = framesOf(log, log.calls[0].stack);
            QCOMPARE(frames.size(), 3);
            QVERIFY(frames[0].endsWith("forking.py|work|5"));
            QVERIFY(frames[1].endsWith("forking.py|child|8"));
            QVERIFY(frames[2].endsWith("forking.py|<module>|14"));
        }
    }

    void findsAPythonLoadedLate() {
        QProcess process;
        process.start("python3", {"-c",
                                  "import sysconfig; v = sysconfig.get_config_var; "
                                  "print(v('Py_ENABLE_SHARED') and "
                                  "v('LIBDIR') + '/' + v('INSTSONAME') or '')"});
        QVERIFY(process.waitForFinished());
        const QString library = QString::fromUtf8(process.readAll()).trimmed();
        if (!QFile::exists(library)) QSKIP("This Python has no library to embed.");
        AgentRun run;
        run.program = LANESCOPE_BINARY_DIR "/bin/standin-embedding";
        run.arguments = {library, launcher, test::agentLibrary(), test::standinCupti()};
        QVERIFY(run.run());
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const std::vector<log::ApiRecord>& calls = run.log().calls;
        QCOMPARE(calls.size(), size_t{62});
        QCOMPARE(calls.front().stack, 0u);  // before there was a Python
        QCOMPARE(calls.back().stack, 0u);   // and after its end
        const QStringList frames = framesOf(run.log(), calls[calls.size() - 2].stack);
        QCOMPARE(frames, (QStringList{"<string>|work|2", "<string>|<module>|3"}));
    }

    void recordsProgramsWithoutPython() {
        AgentRun run;
        QVERIFY(run.run());
        QCOMPARE(run.exitCode, 0);
        QVERIFY(!run.log().kernels.empty());
        QVERIFY(run.log().stacks.empty());
        QCOMPARE(run.log().notes.count("python-unknown"), size_t{0});
        QCOMPARE(run.log().notes.count("python-unreadable"), size_t{0});
    }
};

LANESCOPE_TEST(tst_PythonStacks, QCoreApplication)
#include "tst_PythonStacks.moc"
