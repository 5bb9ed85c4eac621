// SPDX-License-Identifier: Apache-2.0
#include "capture/python/codeFacts.h"
#include "capture/python/frameWalk.h"
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::agent::python;

using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

const QString walker = QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libstacks-here.so");
const QString launcher = QStringLiteral(LANESCOPE_BINARY_DIR "/lib/standin/libpython-launches.so");
const QString stacksScript = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/checkStacks.py");

const QString modulesScript = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/callModules.py");

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

/// Modules around each leaf of the model of `modulesScript`, the innermost first.
QList<QStringList> modulesOfLeaves(bool hasPaths) {
    const auto module = [&](const char* type, const char* path) {
        return QString::fromUtf8(type) + (hasPaths ? " " + QString::fromUtf8(path) : QString());
    };
    QList<QStringList> all;
    for (const char* block : {"layers.0", "layers.1", "layers.2"})
        for (const QString& leaf : {module("Leaf", "first"), module("Twin", "second"), module("Leaf", "largé")})
            all << QStringList{leaf, module("Block", block), "Model"};
    return all << QStringList{module("Leaf", "module39"), module("Many", "many"), "Model"}
               << QStringList{"Leaf", "Model"};
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

const QString placesScript = QStringLiteral(LANESCOPE_SOURCE_DIR "/tests/capture/python/callPlaces.py");

/// The number of the script line that ends with a remark.
int lineOf(const char* remark) {
    QFile file(placesScript);
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

uint64_t address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

std::vector<FrameLayout> layouts() {
    std::vector<FrameLayout> all;
    for (const int minor : {9, 10, 11, 12}) all.push_back(*layoutOf(3, minor));
    return all;
}

/// Plausible layout numbers of an interpreter.
std::array<uint64_t, runtimeBytes / 8> told(int minor) {
    std::array<uint64_t, runtimeBytes / 8> numbers{};
    std::memcpy(numbers.data(), "xdebugpy", 8);
    numbers[1] = 0x03000000u | static_cast<uint64_t>(minor) << 16 | 0xf0;
    return numbers;
}

}  // namespace

class tst_PythonStacks : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    AgentRun launches(const QString& python, const QString& notes, int rounds = 3) {
        AgentRun run;
        run.program = python;
        run.arguments = {stacksScript,         launcher, QString::number(rounds), test::agentLibrary(),
                         test::standinCupti(), notes};
        return run;
    }

    AgentRun calls(const QString& what) {
        AgentRun run;
        run.program = "python3";
        run.arguments = {placesScript, launcher, test::agentLibrary(), test::standinCupti(), what};
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

    void readsEveryStack_data() {
        QTest::addColumn<QString>("python");
        for (const QString& python : interpreters()) QTest::newRow(qPrintable(python)) << python;
    }
    void readsEveryStack() {
        QFETCH(QString, python);
        QProcess process;
        process.start(python, {stacksScript, walker, "10"});
        QVERIFY(process.waitForFinished(240'000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
        const QJsonObject said = lastLine(process.readAllStandardOutput());
        qInfo("Python %s: %d stacks", qPrintable(said["python"].toString()), said["compared"].toInt());
        for (const QJsonValue& walk : said["walks"].toArray())
            qInfo("  %d frames: median %.0f ns, 99th percentile %.0f ns, %.0f ns in a row", walk["frames"].toInt(),
                  walk["medianNs"].toDouble(), walk["p99Ns"].toDouble(), walk["rowNs"].toDouble());
        QVERIFY(said["compared"].toInt() > 1'000);
        const QByteArray first = QJsonDocument(said["first"].toArray()).toJson();
        QVERIFY2(said["different"].toInt() == 0, first.constData());
    }

    void readsTheModulesOfModels_data() { readsEveryStack_data(); }
    void readsTheModulesOfModels() {
        QFETCH(QString, python);
        QProcess process;
        process.start(python, {modulesScript, walker, folder_.path()});
        QVERIFY(process.waitForFinished(60'000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
        const QJsonObject said = lastLine(process.readAllStandardOutput());
        const bool hasPaths = said["paths"].toBool();
        const QList<QStringList> wanted = modulesOfLeaves(hasPaths);
        const QJsonArray told = said["told"].toArray();
        QCOMPARE(told.size(), 8 * wanted.size());
        for (qsizetype i = 0; i < told.size(); ++i) {
            QStringList modules;
            for (const QJsonValue& each : told[i].toArray()) modules << each.toString();
            QCOMPARE(modules, wanted[i % wanted.size()]);
        }
    }

    /// Each kernel of each replay leads to the modules of its capture, by the copied node.
    void nodesOfGraphsHaveTheirModules() {
        AgentRun run;
        run.program = "python3";
        run.arguments = {modulesScript, launcher, folder_.path(), test::agentLibrary(), test::standinCupti()};
        run.succeed();
        const ProcessLog& log = run.log();
        std::map<uint64_t, const log::GraphNodeRecord*> nodes;
        for (const log::GraphNodeRecord& node : log.graphNodes) nodes[node.node] = &node;
        const auto modulesOf = [&](uint32_t stack) {
            QStringList modules;
            for (auto at = log.stacks.find(stack); at != log.stacks.end(); at = log.stacks.find(at->second.parent))
                if (!at->second.module.empty()) modules << QString::fromStdString(at->second.module);
            return modules;
        };
        bool hasPaths = false;
        for (const auto& [number, stack] : log.stacks)
            hasPaths = hasPaths || stack.module.find(' ') != std::string::npos;
        const QList<QStringList> wanted = modulesOfLeaves(hasPaths);
        QCOMPARE(log.kernels.size(), 2 * size_t(wanted.size()));
        for (size_t i = 0; i < log.kernels.size(); ++i) {
            const log::GraphNodeRecord* const copy = nodes[log.kernels[i].graphNodeId];
            QVERIFY(copy != nullptr && nodes.contains(copy->original));
            QCOMPARE(modulesOf(nodes[copy->original]->stack), wanted[qsizetype(i) % wanted.size()]);
        }
        for (const log::ApiRecord& call : log.calls) QVERIFY(modulesOf(call.stack).isEmpty());
    }

    void recordsTheStackOfEachLaunch_data() { readsEveryStack_data(); }
    void recordsTheStackOfEachLaunch() {
        QFETCH(QString, python);
        const QString notes = folder_.filePath("notes.json");
        AgentRun run = launches(python, notes);
        run.succeed();
        QCOMPARE(test::listed(run.errors, run.output), test::listed(QByteArray(), QByteArray()));
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
        run.succeed();
        QVERIFY(!run.log().calls.empty() && run.log().stacks.empty());
        for (const log::ApiRecord& call : run.log().calls) QCOMPARE(call.stack, 0u);
    }

    void repeatsStacksInEachPart() {
        const QString notes = folder_.filePath("notes.json");
        AgentRun run = launches("python3", notes, 40);
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "part-mb=1";
        run.succeed();
        const Comparison all = compared(run.log(), notes);
        QVERIFY(all.notes > 10'000);
        QVERIFY2(all.different == 0, qPrintable(all.first));
        QVERIFY(run.log().repeatedStacks > 0);
    }

    void ringHasTheStacksOfItsCalls() {
        const QString notes = folder_.filePath("notes.json");
        AgentRun run = launches("python3", notes, 160);
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "ring=600,ring-mb=4";
        run.succeed();
        const ProcessLog& log = run.log();
        QVERIFY(!QFile::exists(run.folder + "/" +
                               QDir(run.folder).entryList(QDir::Files).first().section(".log", 0, 0) + ".log"));
        QVERIFY2(log.calls.size() > 1'000, qPrintable(QString::number(log.calls.size())));
        for (const log::ApiRecord& call : log.calls)
            for (uint32_t stack = call.stack; stack != 0; stack = log.stacks.at(stack).parent)
                QVERIFY(log.stacks.contains(stack) && !log.stacks.at(stack).function.empty());
        QCOMPARE(log.unknownStrings, 0);
        QVERIFY(log.properties.contains("program"));
    }

    void addsTimeToTheCallsOfALine() {
        const QString path = folder_.filePath("lines.py");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"(import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
library.beginCuda.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
library.beginCuda(sys.argv[2].encode(), sys.argv[3].encode())
def seconds(launch):
    start = time.perf_counter()
    launch()
    return time.perf_counter() - start
def slowed():
    library.launchHere()
def other():
    library.launchHere()
def fastest(launch):
    return min(seconds(launch) for _ in range(20))
limit = time.perf_counter() + 60
# A stack counts once the writer has read it.
while fastest(slowed) < 0.002:
    assert time.perf_counter() < limit
    time.sleep(0.01)
while fastest(other) >= 0.002:
    assert time.perf_counter() < limit
)");
        file.close();
        AgentRun run;
        run.program = "python3";
        run.arguments = {path, launcher, test::agentLibrary(), test::standinCupti()};
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "add-to-calls=2000000:0:lines.py%3A10::cuLaunchKernel";
        run.succeed();
        QCOMPARE(run.errors, QByteArray());
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
        run.succeed();
        QCOMPARE(run.logs.size(), size_t{3});
        for (const ProcessLog& log : run.logs) {
            QCOMPARE(log.calls.size(), size_t{1});
            const QStringList frames = framesOf(log, log.calls[0].stack);
            QCOMPARE(frames.size(), 3);
            QVERIFY(frames[0].endsWith("forking.py|work|5") && frames[1].endsWith("forking.py|child|8"));
            QVERIFY(frames[2].endsWith("forking.py|<module>|14"));
        }
    }

    void findsAPythonLoadedLate() {
        QProcess process;
        process.start("python3", {"-c",
                                  "import sysconfig; v = sysconfig.get_config_var; print(v('Py_ENABLE_SHARED') and "
                                  "v('LIBDIR') + '/' + v('INSTSONAME') or '')"});
        QVERIFY(process.waitForFinished());
        const QString library = QString::fromUtf8(process.readAll()).trimmed();
        if (!QFile::exists(library)) QSKIP("This Python has no library to embed.");
        AgentRun run;
        run.program = LANESCOPE_BINARY_DIR "/bin/standin-embedding";
        run.arguments = {library, launcher, test::agentLibrary(), test::standinCupti()};
        run.succeed();
        const std::vector<log::ApiRecord>& calls = run.log().calls;
        QCOMPARE(calls.size(), size_t{62});
        QCOMPARE(calls.front().stack, 0u);  // before there was a Python
        QCOMPARE(calls.back().stack, 0u);   // and after its end
        const QStringList frames = framesOf(run.log(), calls[calls.size() - 2].stack);
        QCOMPARE(frames, (QStringList{"<string>|work|2", "<string>|<module>|3"}));
    }

    void recordsProgramsWithoutPython() {
        AgentRun run;
        run.succeed();
        QVERIFY(!run.log().kernels.empty() && run.log().stacks.empty());
        QCOMPARE(run.log().notes.count("python-unknown"), size_t{0});
        QCOMPARE(run.log().notes.count("python-unreadable"), size_t{0});
    }

    void rangesAndMarksHaveTheirLine() {
        AgentRun run = calls("nvtx");
        run.succeed();
        QCOMPARE(test::listed(run.log().nvtx.size(), placesOfNvtx(run.log())), test::listed(5, placesOfCalls()));
        // The end of a range has the place of its beginning.
        for (const ProcessLog::Nvtx& call : run.log().nvtx)
            if (call.record.event == log::NvtxEvent::Pop || call.record.event == log::NvtxEvent::End)
                QCOMPARE(log::stackOf(call.record), 0u);
        QCOMPARE(run.log().unknownStrings, 0);
    }

    void rangesHaveNoLineIfDisabled() {
        AgentRun run = calls("nvtx");
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "python=0";
        run.succeed();
        QCOMPARE(run.log().nvtx.size(), size_t{5});
        QVERIFY(run.log().stacks.empty());
    }

    /// A benchmark does so to compare both in one run.
    void stacksAreSwitchedOffAndOn() {
        AgentRun run = calls("switch");
        run.succeed();
        const auto places = placesOfNvtx(run.log());
        QCOMPARE(places.size(), size_t{3});
        QVERIFY(!places.at("before").isEmpty());
        QCOMPARE(places.at("without"), QString());
        QCOMPARE(places.at("again"), place("switch_stacks", "NVTX: again"));
    }

    /// From its first call on: it inherits its parent's knowledge of Python.
    void forkedChildrenHaveTheirLines() {
        AgentRun run = calls("fork");
        run.succeed();
        QCOMPARE(run.logs.size(), size_t{2});
        QCOMPARE(placesOfNvtx(run.logs[1]), placesOfCalls());
    }

    void callsOfNcclHaveTheirLine() {
        AgentRun run = calls("nccl");
        run.succeed();
        QCOMPARE(run.log().nccl.size(), size_t{1});
        QCOMPARE(placeOf(run.log(), run.log().nccl[0].record.stack), place("all_reduce", "NCCL: call"));
    }

    void nodesOfGraphsHaveTheLineOfTheirCapture() {
        AgentRun run = calls("graphs");
        run.succeed();
        const ProcessLog& log = run.log();
        QCOMPARE(log.graphNodes.size(), size_t{4});
        QCOMPARE(test::listed(log.graphNodes[0].node, log.graphNodes[0].original), "11 | 0");
        QCOMPARE(placeOf(log, log.graphNodes[0].stack), place("forward", "graph: capture"));
        QCOMPARE(test::listed(log.graphNodes[2].node, log.graphNodes[2].original), "31 | 21");
        QCOMPARE(log.graphNodes[2].stack, 0u);
        for (const log::ApiRecord& call : log.calls)
            QCOMPARE(placeOf(log, call.stack), place("replay", "graph: launch"));
        QCOMPARE(log.kernels.size(), size_t{4});
        QCOMPARE(log.kernels[1].graphNodeId, uint64_t{31});
    }

    void graphNodesAreNotRequestedNeedlessly_data() {
        test::rows<QString>("options", {{"graphs as a whole", "graphs=whole"}, {"no lines", "python=0"}});
    }
    void graphNodesAreNotRequestedNeedlessly() {
        QFETCH(QString, options);
        AgentRun run = calls("graphs");
        run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
        run.succeed();
        QVERIFY(run.log().graphNodes.empty());
        QCOMPARE(run.log().calls.size(), size_t{4});
    }

    /// Prints only: the cost of a range without lines and with them, alternately.
    void printsTheCostOfRanges() {
        for (const char* options : {"python=0", "python=1", "python=0", "python=1"}) {
            AgentRun run = calls("cost");
            run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
            run.succeed();
            qInfo("%s: push and pop below %s", options, run.output.trimmed().constData());
            QVERIFY(run.log().nvtx.size() > 100'000);
        }
    }

    void survivesRandomImages() {
        std::mt19937_64 random(7);
        constexpr size_t words = 4'096, objectBytes = 256, objects = words * 8 / objectBytes;
        std::vector<uint64_t> image(words);
        const uint64_t base = address(image.data());
        const KnownTypes types{base + 64, base + 128, base + 192};
        std::array<Frame, 64> frames;
        size_t found = 0, described = 0;
        for (int round = 0; round < 4'000; ++round) {
            for (uint64_t& word : image) {
                const uint64_t kind = random() % 12;
                // Mostly addresses of objects in the image, so that chains and cycles occur.
                word = kind < 9     ? base + random() % objects * objectBytes
                       : kind == 9  ? random()
                       : kind == 10 ? random() % 300
                                    : base + random() % (words * 8);
            }
            for (size_t object = 0; object < objects; ++object) {
                const uint64_t type = random() % 8;
                if (type < 7)
                    image[object * objectBytes / 8 + 1] = type < 2 ? types.code : type < 4 ? types.text : types.bytes;
                // Text objects: a length, and the compact flag.
                image[object * objectBytes / 8 + 2] = random() % 3'000;
                constexpr std::array<uint64_t, 5> states{100, 36, 40, 48, 7};
                image[object * objectBytes / 8 + 4] = states[random() % states.size()];
            }
            for (const FrameLayout& layout : layouts()) {
                const Walked walked =
                    walkFrames(CarefulMemory(), layout, base + random() % objects * objectBytes, frames);
                QVERIFY(walked.count <= frames.size());
                found += walked.count;
                CodeFacts facts;
                for (uint32_t i = 0; i < walked.count; ++i) {
                    if (!readCode(CarefulMemory(), layout, types, frames[i].code, true, facts)) continue;
                    ++described;
                    QVERIFY(facts.functionBytes <= CodeFacts::maxFunctionBytes);
                    QVERIFY(facts.fileBytes <= CodeFacts::maxFileBytes);
                    QVERIFY(lineOfFrame(CarefulMemory(), layout, facts, frames[i]) >= 0);
                    ModuleText text;
                    uint64_t attribute = random() % 2 == 0 ? 0 : image[random() % words];
                    readModule(CarefulMemory(), layout, types, {frames[i].code, image[random() % words], true},
                               attribute, text);
                    QVERIFY(text.bytes <= ModuleText::maxBytes);
                }
            }
        }
        qInfo("%zu frames, %zu of them with code", found, described);
        QVERIFY(found > 1'000 && described > 0);
    }

    void endsInACycle() {
        for (const FrameLayout& layout : layouts()) {
            std::vector<uint64_t> image(512);
            const uint64_t frame = address(image.data()) + 1'024, code = frame + 512;
            const auto put = [&](uint64_t at, uint64_t value) {
                std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
            };
            const uint64_t state = address(image.data());
            if (layout.frameOfThreadFrame == FrameLayout::none) {
                put(state + layout.threadFrame, frame);
            } else {
                put(state + layout.threadFrame, state + 256);
                put(state + 256 + layout.frameOfThreadFrame, frame);
            }
            put(frame + layout.code, code);
            put(frame + layout.previous, frame);
            for (const uint16_t text : {layout.file, layout.name, layout.lineTable}) put(code + text, code + 256);
            std::array<Frame, 32> frames;
            const Walked plain = walkFrames(PlainMemory(), layout, state, frames);
            QCOMPARE(plain.count, 32u);
            QVERIFY(plain.isCut);
            // An interpreter-owned frame that points to itself is no frame, and ends as well.
            if (layout.owner == FrameLayout::none) continue;
            *reinterpret_cast<uint8_t*>(frame + layout.owner) = 3;
            const Walked none = walkFrames(PlainMemory(), layout, state, frames);
            QCOMPARE(none.count, 0u);
            QVERIFY(!none.isWhole);
        }
    }

    /// The fast paths for common layouts match the generic one.
    void commonLayoutsMatchTheGenericReader() {
        std::mt19937_64 random(3);
        for (const uint16_t owner : {uint16_t{70}, uint16_t{74}}) {
            FrameLayout usual = *layoutOf(3, 12);
            usual.owner = owner;
            QCOMPARE(ReleasedLayout12::isThatOf(usual), owner == 70);
            QCOMPARE(ReleasedLayout14::isThatOf(usual), owner == 74);
            FrameLayout other = usual;
            other.version -= 4;
            QVERIFY(!ReleasedLayout12::isThatOf(other) && !ReleasedLayout14::isThatOf(other));
            constexpr size_t frameWords = 16, codeWords = 32;
            for (size_t count = 0; count < 80; ++count) {
                // A thread state that leads to that many frames, each with its own code.
                std::vector<uint64_t> image(16 + count * (frameWords + codeWords));
                for (uint64_t& word : image) word = random() << 3;
                image[usual.threadFrame / 8] = address(image.data() + 8);
                image[8] = count > 0 ? address(image.data() + 16) : 0;
                for (size_t i = 0; i < count; ++i) {
                    uint64_t* const frame = image.data() + 16 + i * (frameWords + codeWords);
                    frame[0] = address(frame + frameWords);
                    frame[1] = i + 1 < count ? address(frame + frameWords + codeWords) : uint64_t{0};
                    reinterpret_cast<uint8_t*>(frame)[owner] = static_cast<uint8_t>(random() % 5);
                }
                const auto walk = [&](const auto& memory) {
                    std::vector<std::array<uint64_t, 3>> frames;
                    const Walked walked = visitFrames(memory, usual, address(image.data()), 40, [&](const Frame& at) {
                        frames.push_back({at.code, at.instruction, at.identity});
                    });
                    return std::tuple(walked.count, walked.isCut, walked.isWhole, frames);
                };
                QVERIFY(walk(PlainMemory()) == walk(CarefulMemory()));
            }
        }
    }

    void readsOnlyExistingMemory() {
        uint64_t value = 5, got = 0;
        QVERIFY(CarefulMemory().get(address(&value), got));
        QCOMPARE(got, value);
        QVERIFY(!CarefulMemory().get(0, got) && !CarefulMemory().get(8, got));
        QVERIFY(!CarefulMemory().get(uint64_t{1} << 46 | 8, got) && !CarefulMemory().get(~uint64_t{7}, got));
        QVERIFY(!CarefulMemory().get(uint64_t{0xffff800000000000}, got));
    }

    void acceptsReleasedVersionsOnly() {
        QVERIFY(!layoutOf(2, 7) && !layoutOf(3, 8) && !layoutOf(3, 13));
        QVERIFY(!layoutOf(4, 9));
        auto numbers = told(13);
        const auto bytes = [&numbers] { return std::as_bytes(std::span(numbers)); };
        QVERIFY(!layoutOfRuntime(bytes(), 3, 13));  // its frames have no room for any field
        QVERIFY(!layoutOfRuntime(bytes().first(100), 3, 13) && !layoutOfRuntime(bytes(), 3, 14));
        QVERIFY(!layoutOfRuntime(bytes(), 3, 15));
    }

    /// Offsets of a 3.13, at the place of a 3.14.
    void readsTheInterpretersOwnOffsets() {
        struct Place {
            size_t in13, in14;
            uint64_t value;
        };
        // Offsets in the structure that each version exports.
        const std::array<Place, 23> places{{{23, 26, 72},   {28, 31, 80},  {29, 32, 8},   {30, 33, 0},   {31, 34, 56},
                                            {33, 36, 70},   {34, 39, 208}, {35, 40, 112}, {37, 42, 128}, {38, 43, 136},
                                            {39, 44, 68},   {43, 48, 200}, {45, 51, 8},   {65, 75, 16},  {66, 76, 32},
                                            {67, 77, 64},   {68, 78, 32},  {69, 79, 16},  {70, 80, 40},  {24, 27, 152},
                                            {10, 11, 7400}, {14, 15, 16},  {72, 82, 200}}};
        for (const int minor : {13, 14}) {
            auto numbers = told(minor);
            for (const Place& place : places) numbers[minor == 13 ? place.in13 : place.in14] = place.value;
            const auto layout = layoutOfRuntime(std::as_bytes(std::span(numbers)), 3, minor);
            QVERIFY2(layout, qPrintable(QString::number(minor)));
            QCOMPARE(test::listed(int(layout->threadFrame), int(layout->collecting)), "72 | 7600");
            QCOMPARE(test::listed(int(layout->pointerToGil), int(layout->threadId)), "16 | 152");
            QCOMPARE(test::listed(int(layout->previous), int(layout->instruction), int(layout->owner)), "8 | 56 | 70");
            QCOMPARE(test::listed(int(layout->file), int(layout->name), int(layout->lineTable)), "112 | 128 | 136");
            QCOMPARE(test::listed(int(layout->firstLine), int(layout->bytecode)), "68 | 200");
            QCOMPARE(test::listed(int(layout->bytesData), int(layout->asciiText)), "32 | 40");
            // A preview version may lay out its frames differently.
            numbers[1] = 0x030d00a0u;
            QVERIFY(!layoutOfRuntime(std::as_bytes(std::span(numbers)), 3, minor));
        }
    }

    void survivesRandomLineTables() {
        std::mt19937 random(11);
        std::vector<uint8_t> table(3'000);
        for (int round = 0; round < 3'000; ++round) {
            for (uint8_t& byte : table) byte = static_cast<uint8_t>(random());
            for (const LineTableKind kind : {LineTableKind::Pairs, LineTableKind::Ranges, LineTableKind::Locations}) {
                const size_t bytes = random() % table.size();
                QVERIFY(lineOf(CarefulMemory(), kind, address(table.data()), bytes, 10,
                               static_cast<int64_t>(random() % 20'000)) >= 0);
            }
        }
        QCOMPARE(lineOf(CarefulMemory(), LineTableKind::Locations, 16, 1'000, 10, 4), 0);
        QCOMPARE(lineOf(CarefulMemory(), LineTableKind::Locations, address(table.data()), 10, 77, -1), 77);
    }
};

LANESCOPE_TEST(tst_PythonStacks, QCoreApplication)
#include "tst_PythonStacks.moc"
