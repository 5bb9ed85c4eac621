// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "capture/log/clocks.h"
#include "capture/record/RunFolder.h"
#include "model/format/Sqlite.h"
#include "tests/capture/AgentRun.h"
#include "tests/capture/byPath.h"
#include "tests/capture/standin/TrainingPlan.h"
#include "tests/support/orFail.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using lanescope::standin::TrainingPlan;
using lanescope::test::AgentRun;

namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

constexpr int64_t longNs = 60'000'000'000;

/// Returns the size of the files with a name like `pattern`.
uint64_t bytesIn(const QString& folder, const QString& pattern = "*") {
    uint64_t bytes = 0;
    for (const QFileInfo& file : QDir(folder).entryInfoList({pattern}, QDir::Files))
        bytes += static_cast<uint64_t>(file.size());
    return bytes;
}

/// A reader's records.
struct Numbers {
    std::vector<int64_t> all;
    void operator()(const log::EndRecord& record) { all.push_back(record.timestampNs); }
};

}  // namespace

/// Logs that keep the last events only, from the agent to the trace.
class tst_Ring : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::string in(const char* name) const { return folder_.filePath(name).toStdString(); }

    QString path(const char* name) const { return folder_.filePath(QString(name) + ".log"); }
    uint64_t bytesOf(const char* name) const { return bytesIn(folder_.path(), QString(name) + ".log*"); }

    /// Returns the rows of a query, cells joined by '|'.
    static std::vector<std::string> rows(const std::string& trace, const char* sql) {
        std::vector<std::string> all;
        const auto database = Database::openReadOnly(trace);
        auto statement = test::orFail(database->prepare(sql));
        for (auto step = statement.step(); step && *step; step = statement.step()) {
            std::string& row = all.emplace_back();
            for (int column = 0; column < statement.columnCount(); ++column)
                row += (column > 0 ? "|" : "") + std::string(statement.isNull(column) ? "-" : statement.text(column));
        }
        return all;
    }
    static int64_t number(const std::string& trace, const char* sql) {
        const auto all = rows(trace, sql);
        return all.empty() ? -1 : std::stoll(all.front());
    }

  private slots:
    void logNamesListsEachLogOnce() {
        const std::vector<std::string> names{"b.log.12", "a.log",  "a.log.1",           "b.log.7", ".log",
                                             "a.log.x",  "a.log.", "c.log.99999999999", "d.lost",  "e.log.3.log"};
        QCOMPARE(log::logNames(names), (std::vector<std::string>{"a.log", "b.log", "e.log.3.log"}));
        QCOMPARE(log::logPart("b.log.12")->part, 12u);
    }

    void ringKeepsItsNewestEventsWithinItsSize() {
        log::LogFile file = test::logFileAt(in("ring"));
        log::RecordWriter writer(file);
        constexpr uint64_t bytes = mib;
        constexpr uint64_t blockBytes = 64u << 10;
        file.keepRing(longNs, bytes);
        writer.note(Severity::Warning, HealthCode::TorchProfiler, "Repeated in each part.");
        const int64_t beginNs = log::eventTimeNs() - longNs;
        for (int i = 0; i < 40'000; ++i) {
            writer.beginPartIfDue();
            log::StackRecord record{};
            record.function = writer.string("function " + std::to_string(i / 100));
            record.line = static_cast<uint32_t>(i);
            writer.write(record, beginNs + i);
            if (i % 1000 == 0) file.flush();
            if (i % 1000 == 0) QVERIFY(bytesOf("ring") <= bytes + blockBytes);
        }
        file.flush();
        QVERIFY(!QFile::exists(path("ring")) && !file.isRingStuck());
        QVERIFY(bytesOf("ring") > bytes * 3 / 4);
        QCOMPARE(bytesOf("ring"), file.totalBytes());
        QCOMPARE(file.takeLostBlocks(), 0u);
    }

    void ringKeepsThePastOfAHungProcess() {
        log::LogFile file = test::logFileAt(in("hung"));
        log::RecordWriter writer(file);
        constexpr int64_t second = 1'000'000'000;
        file.keepRing(8 * second, 64u << 20);
        const int64_t beginNs = log::eventTimeNs() - 60 * second;
        const auto write = [&](int64_t timeNs) {
            log::StackRecord record{};
            writer.write(record, timeNs);
            file.flush();
            writer.beginPartIfDue();
        };
        for (int at = 0; at < 20; ++at) write(beginNs + at * second);
        // The events of the last 8 seconds and the part that contains the oldest of them.
        QVERIFY(!QFile::exists(path("hung")) && !QFile::exists(path("hung") + ".9"));
        QVERIFY(QFile::exists(path("hung") + ".12") && QFile::exists(path("hung") + ".19"));
        const uint64_t before = bytesOf("hung");
        // Records without a time and a time in the future remove nothing.
        for (int i = 0; i < 20; ++i) write(0);
        QVERIFY(bytesOf("hung") > before);
        write(beginNs + 19 * second);
        QVERIFY(QFile::exists(path("hung") + ".12"));
    }

    void ringWithoutANextFileStaysWithinItsSize() {
        QVERIFY(QDir(folder_.path()).mkdir("stuck.log.2"));
        log::LogFile file = test::logFileAt(in("stuck"));
        log::RecordWriter writer(file);
        constexpr uint64_t bytes = mib;
        file.keepRing(longNs, bytes);
        for (int i = 0; i < 2000; ++i) {
            writer.beginPartIfDue();
            writer.property("number", std::string(1000, 'x') + std::to_string(i));
            if (i % 50 == 0) file.flush();
        }
        QVERIFY(file.isRingStuck());
        QVERIFY(bytesOf("stuck") <= bytes);
        QVERIFY(!QFile::exists(path("stuck")));  // The oldest went first.
        QVERIFY(file.takeLostBlocks() > 0);
        // The end of the log finds room.
        file.keepRing(0, 0);
        writer.startAgain();
        writer.property("last", "one");
        file.flush();
        QCOMPARE(file.takeLostBlocks(), 0u);
        QVERIFY(!file.isRingStuck());
    }

    void readerBeginsAtTheLowestFile() {
        log::LogFile file = test::logFileAt(in("late"));
        log::RecordWriter writer(file);
        const auto write = [&](int number) {
            log::EndRecord record{.timestampNs = number};
            writer.write(record);
            file.flush();
        };
        for (int number = 0; number < 9; ++number) {
            write(number);
            if (number % 2 == 1) QVERIFY(writer.beginPart());
        }
        QVERIFY(QFile::remove(folder_.filePath("late.log")));
        QVERIFY(QFile::remove(folder_.filePath("late.log.1")));
        auto reader = test::orFail(test::openLog(in("late.log")));
        Numbers read;
        QVERIFY(reader.poll(read));
        QCOMPARE(read.all, (std::vector<int64_t>{4, 5, 6, 7, 8}));
        QCOMPARE(reader.firstPart(), 2u);
        QCOMPARE(reader.progress().lostBlocks, 0u);
        // The file that it reads and the next ones go before it reads them.
        for (int number = 9; number < 14; ++number) {
            write(number);
            QVERIFY(writer.beginPart());
        }
        for (const char* name : {"late.log.2", "late.log.3", "late.log.4", "late.log.5", "late.log.6"})
            QVERIFY(QFile::remove(folder_.filePath(name)));
        write(14);
        QVERIFY(reader.poll(read));
        QCOMPARE(read.all, (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 12, 13, 14}));
        QCOMPARE(reader.progress().lostBlocks, 0u);
        QVERIFY(!reader.isCorrupt());
        // A file that claims another number is no part of the log.
        QVERIFY(QFile::rename(folder_.filePath("late.log.8"), folder_.filePath("other.log.9")));
        QVERIFY(!test::orFail(test::openLog(in("other.log"))).poll(read));
    }

    void ringOfASamplerRepeatsItsDefinitions() {
        QTemporaryDir folder;
        {
            SampleLog samples = test::sampleLogAt(folder.filePath("box.sampler.77").toStdString(), 64 * mib);
            samples.keepRing(10 * longNs, mib);
            const uint32_t load = samples.addCounter({"host", "load", "Load", "", log::CounterMeaning::Gauge});
            samples.addProcess(42, 1, "train", "3.12");
            samples.addThread(42, 43, "worker");
            const uint32_t code = samples.code("function", "train.py");
            const uint32_t stack = samples.stack(samples.stack(0, code, 1), code, 2);
            const int64_t beginNs = log::eventTimeNs() - longNs;
            for (int i = 0; i < 40'000; ++i) {
                log::ThreadRunRecord run{.startNs = beginNs + i, .endNs = beginNs + i + 1, .processId = 42};
                run.threadId = 43;
                run.stack = stack;
                samples.write(run, "read");
                if (i % 100 != 0) continue;
                SampleBatch batch;
                batch.add(load, int64_t{i});
                samples.write(beginNs + i, batch);
                samples.flush();
            }
            samples.end();
        }
        QVERIFY(!QFile::exists(folder.filePath("box.sampler.77.log")) && bytesIn(folder.path()) <= mib + mib / 8);
        const std::string trace = in("sampler.sqlite");
        test::orFail(recover({folder.path().toStdString(), trace, true, {}}));
        QVERIFY(number(trace, "SELECT COUNT(*) FROM LANESCOPE_THREAD_STATES") > 1'000);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM LANESCOPE_THREAD_STATES WHERE callchainId IS NULL"), 0);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM LANESCOPE_COUNTERS WHERE name = 'load'"), 1);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM StringIds WHERE value = 'worker'"), 1);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM PROCESSES WHERE name = 'train'"), 1);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM LANESCOPE_HEALTH WHERE severity > 0"), 0);
    }

    void ringOfABurstStaysWithinItsSize() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "ring=600,ring-mb=1,reserve-mb=0";
        run.arguments = {"--threads", "3", "--steps", "2000", "--kernels", "20"};
        run.succeed();
        QVERIFY(bytesIn(run.folder) <= mib + mib / 16);
        QVERIFY(run.log().drops.empty());
        QCOMPARE(run.log().unknownStrings, 0);
        QCOMPARE(run.log().progress.lostBlocks, 0u);
        // Each part describes the process.
        QCOMPARE(run.log().properties.at("cuptiVersion"), std::string("130001"));
        QVERIFY(run.log().properties.contains("program"));
    }

    void ringOfATrainingBecomesATrace() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "ring=600,ring-mb=4,reserve-mb=0";
        const TrainingPlan plan{run.baseNs, 3, 1500, 4};
        run.arguments = {"--threads", QString::number(plan.threads),        "--steps",   QString::number(plan.steps),
                         "--kernels", QString::number(plan.kernelsPerStep), "--step-ms", "2"};
        run.succeed();
        QVERIFY(bytesIn(run.folder) <= 4 * mib + mib / 4);
        QVERIFY(run.log().drops.empty());
        QCOMPARE(run.log().unknownStrings, 0);
        QVERIFY(int64_t(run.log().kernels.size()) < plan.kernels());
        const std::string trace = in("trace.sqlite");
        test::orFail(recover({run.folder.toStdString(), trace, true, {}}));
        QCOMPARE(rows(trace, "SELECT severity FROM LANESCOPE_HEALTH WHERE code = 'ring-begin'").size(), size_t{1});
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM LANESCOPE_HEALTH WHERE severity > 0"), 0);
        // The kernels of each thread are there from some kernel on to the last.
        for (int thread = 0; thread < plan.threads; ++thread) {
            std::set<int64_t> found;
            const uint32_t first = plan.correlation(thread, 0, 0), last = plan.correlation(thread, plan.steps, 0) - 1;
            const std::string sql = fmt::format(
                "SELECT k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
                "WHERE k.correlationId BETWEEN {} AND {} AND k.streamId = {} AND k.deviceId = 0 "
                "AND s.value NOT LIKE '[%'",
                first, last, plan.stream(first));
            for (const std::string& row : rows(trace, sql.c_str())) found.insert(std::stoll(row));
            int64_t expected = 0, steps = 0;
            for (int step = plan.steps - 1; step >= 0; --step) {
                if (!found.contains(plan.correlation(thread, step, plan.kernelsPerStep - 1))) break;
                ++steps;
                for (int kernel = 0; kernel < plan.kernelsPerStep; ++kernel)
                    expected += found.contains(plan.correlation(thread, step, kernel));
            }
            QVERIFY(steps > 5 && steps < plan.steps);
            QCOMPARE(expected, int64_t(found.size()));
            QVERIFY(expected > (steps - 1) * plan.kernelsPerStep && expected <= steps * plan.kernelsPerStep);
        }
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM TARGET_INFO_CUDA_DEVICE"), 1);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM TARGET_INFO_CUDA_CONTEXT_INFO"), 1);
        QCOMPARE(number(trace, "SELECT COUNT(*) FROM TARGET_INFO_CUDA_STREAM"), plan.threads);
        const std::string lastStep =
            fmt::format("SELECT COUNT(*) FROM NVTX_EVENTS WHERE text LIKE '%{}%' AND end IS NOT NULL", plan.steps - 1);
        QCOMPARE(number(trace, lastStep.c_str()), plan.threads);
        QVERIFY(number(trace, "SELECT COUNT(*) FROM NVTX_EVENTS WHERE text IS NULL AND textId IS NULL") <= 0);
        QVERIFY(number(trace, "SELECT COUNT(*) FROM NVTX_PAYLOAD_SCHEMAS") > 0);
    }
};

LANESCOPE_TEST(tst_Ring, QCoreApplication)
#include "tst_Ring.moc"
