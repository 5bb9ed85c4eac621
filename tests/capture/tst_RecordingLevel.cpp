// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "capture/log/RecordingLevel.h"
#include "capture/log/clocks.h"
#include "capture/record/RunFolder.h"
#include "model/format/Sqlite.h"
#include "tests/capture/AgentRun.h"
#include "tests/capture/byPath.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using lanescope::test::ProcessLog;
using log::RecordingLevel;

namespace {

constexpr int maxWaitMs = 120'000;
const QString standin = LANESCOPE_BINARY_DIR "/bin/standin-training";

/// The levels of a log, in addition to the usual content.
struct LevelLog : ProcessLog {
    using ProcessLog::operator();
    std::vector<log::LevelRecord> levels;
    void operator()(const log::LevelRecord& record) {
        if (levels.empty() || levels.back().timestampNs != record.timestampNs) levels.push_back(record);
    }
};

/// A program under the agent whose level a test changes while it runs, to its end by SIGTERM.
class LeveledRun {
  public:
    LeveledRun(const QString& options, QStringList arguments, const QString& cupti = test::standinCupti()) {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("LANESCOPE_AGENT_DIR", folder.path());
        variables.insert("LANESCOPE_CUPTI", test::standinCupti());
        variables.insert("CUDA_INJECTION64_PATH", test::agentLibrary());
        variables.insert("NVTX_INJECTION64_PATH", test::agentLibrary());
        variables.insert("LANESCOPE_AGENT_OPTIONS", options);
        variables.insert("STANDIN_CUPTI_DISABLED", disabled());
        process.setProcessEnvironment(variables);
        process.start(standin, arguments << "--base" << QString::number(log::eventTimeNs()) << "--cupti" << cupti);
        if (!process.waitForStarted()) qFatal("the program does not start");
    }
    ~LeveledRun() {
        process.kill();
        process.waitForFinished();
    }
    LeveledRun(const LeveledRun&) = delete;
    LeveledRun& operator=(const LeveledRun&) = delete;

    QString disabled() const { return elsewhere.filePath("disabled"); }
    void setLevel(RecordingLevel level) const {
        QFile file(folder.filePath("new-level"));
        if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
        file.write(QByteArray::number(static_cast<uint32_t>(level)));
        file.close();
        ::rename(qPrintable(file.fileName()), qPrintable(folder.filePath(log::levelFileName)));
    }
    /// Returns the log as it is now.
    LevelLog now() const {
        LevelLog content;
        for (const std::string& name : log::logNames(names())) {
            auto reader = test::openLog(folder.filePath(QString::fromStdString(name)).toStdString());
            if (reader && !reader->poll(content)) qFatal("the log is unreadable");
            if (reader) content.progress = reader->progress();
        }
        return content;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const QString& name : QDir(folder.path()).entryList(QDir::Files)) all.push_back(name.toStdString());
        return all;
    }
    template <class Condition>
    static bool waitFor(Condition holds) {
        return QTest::qWaitFor(holds, maxWaitMs);
    }
    /// Waits until the log reports the level. Returns the time at which it was seen there.
    int64_t waitForLevel(RecordingLevel level) const {
        if (!waitFor([&] {
                const LevelLog log = now();
                return !log.levels.empty() && log.levels.back().level == level;
            }))
            qFatal("the level is not reached");
        return log::eventTimeNs();
    }
    /// Waits until `count` more ranges have begun than now.
    bool waitForRanges(size_t count) const {
        const size_t before = now().nvtx.size();
        return waitFor([&] { return now().nvtx.size() >= before + count; });
    }
    void end() {
        process.terminate();
        if (!process.waitForFinished(maxWaitMs)) qFatal("the program does not end");
    }
    bool hasThread(const char* name) const {
        const QString tasks = QStringLiteral("/proc/%1/task").arg(process.processId());
        for (const QString& task : QDir(tasks).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            if (test::fileBytes(tasks + "/" + task + "/comm").trimmed() == name) return true;
        return false;
    }
    bool hasMapped(const char* library) const {
        return test::fileBytes(QStringLiteral("/proc/%1/maps").arg(process.processId())).contains(library);
    }

    QTemporaryDir folder, elsewhere;
    QProcess process;
};

template <class Records, class Time>
size_t countIn(const Records& records, int64_t fromNs, int64_t untilNs, Time timeOf) {
    return static_cast<size_t>(std::ranges::count_if(
        records, [&](const auto& each) { return timeOf(each) >= fromNs && timeOf(each) < untilNs; }));
}

const QStringList livingTraining{"--live", "1",       "--waits",   "1",         "--step-ms",
                                 "1",      "--steps", "100000000", "--kernels", "4"};

}  // namespace

/// Programs that record more or less while they run.
class tst_RecordingLevel : public QObject {
    Q_OBJECT

    static std::vector<std::string> rows(const std::string& trace, const char* sql) {
        std::vector<std::string> all;
        const auto database = Database::openReadOnly(trace);
        auto statement = test::orFail(database->prepare(sql));
        for (auto step = statement.step(); step && *step; step = statement.step())
            all.emplace_back(statement.isNull(0) ? "-" : statement.text(0));
        return all;
    }

  private slots:
    void levelFileIsReadWithoutFollowingLinks() {
        QTemporaryDir folder;
        const log::LogFolder run(folder.path().toStdString());
        const QString path = folder.filePath(log::levelFileName);
        const auto put = [&](const QByteArray& text) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
        };
        QVERIFY(run.readLevel(RecordingLevel::Steps)->level == RecordingLevel::Steps);
        put("2\n");
        QVERIFY(run.readLevel(RecordingLevel::All)->level == RecordingLevel::Kernels);
        for (const char* text : {"", "4", "-1", "x"}) {
            put(text);
            QVERIFY(!run.readLevel(RecordingLevel::All));
        }
        QVERIFY(QFile::rename(path, folder.filePath("target")) && QFile::link("target", path));
        QVERIFY(!run.readLevel(RecordingLevel::All));
        QVERIFY(!log::LogFolder("/nonexistent").readLevel(RecordingLevel::All));
        QVERIFY(!log::LogFolder(folder.path().toStdString(), "0123").readLevel(RecordingLevel::All));
    }

    void recordsWhatItsLevelSays() {
        LeveledRun run("levels=1,um=1,reserve-mb=0", livingTraining);
        QVERIFY(run.waitForRanges(20));
        struct Interval {
            RecordingLevel level;
            int64_t beginNs, endNs;
        };
        std::vector<Interval> intervals;
        for (const RecordingLevel level : {RecordingLevel::Kernels, RecordingLevel::Steps, RecordingLevel::Asleep,
                                           RecordingLevel::All, RecordingLevel::Asleep, RecordingLevel::Kernels}) {
            const int64_t writtenNs = log::eventTimeNs();
            if (!intervals.empty()) intervals.back().endNs = writtenNs;
            run.setLevel(level);
            intervals.push_back({level, run.waitForLevel(level), 0});
            if (level != RecordingLevel::Asleep) QVERIFY(run.waitForRanges(40));
        }
        intervals.back().endNs = log::eventTimeNs();
        run.end();
        LevelLog log = run.now();
        QCOMPARE(log.unknownStrings, 0);
        QVERIFY(log.drops.empty());
        QCOMPARE(log.ends.size(), size_t{1});
        for (const auto& [level, beginNs, endNs] : intervals) {
            const size_t kernels = countIn(log.kernels, beginNs, endNs, [](const auto& k) { return k.startNs; });
            const size_t calls = countIn(log.calls, beginNs, endNs, [](const auto& c) { return c.startNs; });
            const size_t ranges = countIn(log.nvtx, beginNs, endNs, [](const auto& n) { return n.record.timestampNs; });
            QCOMPARE(kernels > 0, level >= RecordingLevel::Kernels);
            QCOMPARE(calls > 0, level >= RecordingLevel::All);
            QCOMPARE(ranges > 0, level >= RecordingLevel::Steps);
        }
        for (const log::ApiRecord& call : log.calls) QVERIFY(call.startNs > log.levels.front().timestampNs);
        // Managed memory stays enabled, because CUPTI would stop for two seconds.
        const QList<QByteArray> disabled = test::fileBytes(run.disabled()).split('\n');
        constexpr int concurrentKernel = 10, device = 8, context = 9, unifiedMemory = 25;
        QVERIFY(disabled.count(QByteArray::number(concurrentKernel)) >= 2 && disabled.contains("call"));
        for (const int kind : {device, context, unifiedMemory}) QVERIFY(!disabled.contains(QByteArray::number(kind)));

        const std::string trace = run.elsewhere.filePath("trace.sqlite").toStdString();
        test::orFail(capture::recover({run.folder.path().toStdString(), trace, true, {}}));
        // 1 NVTX, 2 CUDA activity, 9 CUDA calls.
        QCOMPARE(rows(trace, "SELECT COUNT(*) FROM LANESCOPE_GAPS WHERE what = 1").front(), std::string("2"));
        QCOMPARE(rows(trace, "SELECT COUNT(*) FROM LANESCOPE_GAPS WHERE what = 2").front(), std::string("2"));
        QCOMPARE(rows(trace, "SELECT COUNT(*) FROM LANESCOPE_GAPS WHERE what = 9").front(), std::string("2"));
        QCOMPARE(rows(trace, "SELECT severity FROM LANESCOPE_HEALTH WHERE code = 'recording-levels'"),
                 std::vector<std::string>{"0"});
        const auto warnings = rows(trace, "SELECT sentence FROM LANESCOPE_HEALTH WHERE severity > 0");
        QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
        // No range reaches into a time without NVTX.
        QCOMPARE(rows(trace,
                      "SELECT COUNT(*) FROM NVTX_EVENTS n, LANESCOPE_GAPS g WHERE g.what = 1 AND "
                      "n.start < g.endNs - 200000000 AND n.end > g.startNs + 200000000")
                     .front(),
                 std::string("0"));
    }

    void asleepProgramLoadsNoCuptiUntilWoken() {
        LeveledRun run("asleep=1", {"--steps", "100000000", "--step-ms", "1"}, "/nonexistent");
        QVERIFY(LeveledRun::waitFor([&] { return run.hasThread("lanescope-flush"); }));
        QVERIFY(!run.hasMapped("libcupti"));
        QCOMPARE(QDir(run.folder.path()).entryList(QDir::Files), QStringList());
        run.setLevel(RecordingLevel::Steps);
        run.waitForLevel(RecordingLevel::Steps);
        QVERIFY(!run.hasMapped("libcupti") && run.now().nvtx.size() > 0);
        run.setLevel(RecordingLevel::All);
        run.waitForLevel(RecordingLevel::All);
        QVERIFY(run.hasMapped("libcupti"));
        QVERIFY(LeveledRun::waitFor([&] { return run.now().properties.contains("cuptiVersion"); }));
    }

    void wokenProgramRecordsEverythingFromThenOn_data() {
        QTest::addColumn<bool>("isAfterSteps");
        QTest::newRow("at once") << false;
        QTest::newRow("from steps on") << true;
    }
    void wokenProgramRecordsEverythingFromThenOn() {
        QFETCH(bool, isAfterSteps);
        LeveledRun run("asleep=1,reserve-mb=0", livingTraining);
        if (isAfterSteps) {
            run.setLevel(RecordingLevel::Steps);
            run.waitForLevel(RecordingLevel::Steps);
        }
        run.setLevel(RecordingLevel::All);
        const int64_t wokenNs = run.waitForLevel(RecordingLevel::All);
        QVERIFY(run.waitForRanges(1'000));
        const int64_t untilNs = log::eventTimeNs();
        QVERIFY(LeveledRun::waitFor([&] {
            LevelLog log = run.now();
            return !log.kernels.empty() && log.kernels.back().startNs > untilNs;
        }));
        run.end();
        LevelLog log = run.now();
        // Each launch has its kernel, and the other way round.
        std::set<uint32_t> launched, ran;
        for (const log::ApiRecord& call : log.calls)
            if (call.startNs >= wokenNs && call.startNs < untilNs && log.text(call.name) == "cuLaunchKernel")
                launched.insert(call.correlationId);
        for (const log::KernelRecord& kernel : log.kernels) ran.insert(kernel.correlationId);
        QVERIFY(launched.size() > 100);
        for (const uint32_t correlation : launched) QVERIFY(ran.contains(correlation));
        for (const log::ApiRecord& call : log.calls) QVERIFY(call.endNs - call.startNs < 60'000'000'000);
        QCOMPARE(log.notes.size(), size_t{0});

        const std::string trace = run.elsewhere.filePath("trace.sqlite").toStdString();
        test::orFail(capture::recover({run.folder.path().toStdString(), trace, true, {}}));
        const auto warnings = rows(trace, "SELECT sentence FROM LANESCOPE_HEALTH WHERE severity > 0");
        QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings.front().c_str());
    }
};

LANESCOPE_TEST(tst_RecordingLevel, QCoreApplication)
#include "tst_RecordingLevel.moc"
