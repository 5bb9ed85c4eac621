// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <unistd.h>

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "capture/collector/GpuInventory.h"
#include "capture/sample/ProcessCounters.h"
#include "capture/sample/SamplerThread.h"
#include "capture/sample/runSampler.h"
#include "capture/sample/sampleTime.h"
#include "model/format/Sqlite.h"
#include "model/format/factNames.h"
#include "tests/capture/byPath.h"
#include "tests/support/listed.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr const char* forkInThread = "--fork-in-thread";

/// Starts a process on a second thread, reports it, and waits until its parent ends, as the process does.
void forkInSecondThread() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::thread([] {
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::execlp("sleep", "sleep", "300", nullptr);
            ::_exit(1);
        }
        if (::write(STDOUT_FILENO, ".", 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }).join();
}

/// The folder of a sampler's log for a collector.
struct SamplerFolder {
    SamplerFolder() { QDir().mkpath(folder.filePath("run")); }
    QTemporaryDir folder;
    SampleLog log() const { return test::sampleLogAt(folder.filePath("run/host.sampler.77").toStdString(), 1 << 20); }
};

/// Repeated samples of the processes of this program.
struct ProcessSamples : SamplerFolder {
    SampleLog samples = log();
    ProcessCounters counters{samples, "host", ::getpid()};
    SampleBatch batch;
    std::vector<char> buffer;

    /// Samples the processes; returns the number of values.
    size_t search() {
        batch.clear();
        counters.search(batch, buffer);
        counters.sample(batch, buffer);
        samples.write(sampleTimeNs(), batch);
        return batch.values().size();
    }
};

}  // namespace

class tst_SamplerParts : public QObject {
    Q_OBJECT

    static constexpr int64_t turnNs = 100'000'000;

    /// Repeats the cost so often that the skipped first calls do not matter.
    static void addCost(Pace& pace, size_t query, int64_t costNs) {
        for (int call = 0; call < 12; ++call) pace.addCost(query, costNs);
    }

  private slots:
    void paceKeepsAffordableRates() {
        Pace pace(0.004, turnNs);
        const size_t power = pace.add("power", turnNs), clock = pace.add("clock", 5 * turnNs);
        addCost(pace, power, 100'000);
        addCost(pace, clock, 1'400'000);
        QCOMPARE(test::listed(pace.periodNs(power), pace.periodNs(clock)), test::listed(turnNs, 5 * turnNs));
        QCOMPARE(QString::fromStdString(pace.describe()), QString("power every 100 ms, clock every 500 ms"));
    }

    /// With realistic costs of such calls for two GPUs together.
    void paceSlowsDownExpensiveQueries() {
        struct {
            const char* name;
            int64_t periodNs, costNs;
        } const queries[] = {{"utilization", 2 * turnNs, 4'800'000},
                             {"power", turnNs, 60'000},
                             {"temperature", 5 * turnNs, 40'000},
                             {"clock", 5 * turnNs, 6'000'000},
                             {"throttle", turnNs, 450'000},
                             {"energy", 10 * turnNs, 6'100'000},
                             {"sums", turnNs, 1'600'000}};
        Pace pace(0.004, turnNs);
        for (const auto& query : queries) pace.add(query.name, query.periodNs);
        for (size_t at = 0; at < std::size(queries); ++at) addCost(pace, at, queries[at].costNs);
        double share = 0;
        for (size_t at = 0; at < std::size(queries); ++at)
            share += static_cast<double>(queries[at].costNs) / static_cast<double>(pace.periodNs(at));
        QVERIFY2(share <= 0.004 && share > 0.0038, pace.describe().c_str());
        // Cheap queries keep their pace; of the others, the more expensive is less frequent.
        QCOMPARE(test::listed(pace.periodNs(1), pace.periodNs(2)), test::listed(turnNs, 5 * turnNs));
        QVERIFY(pace.periodNs(4) < pace.periodNs(6) && pace.periodNs(6) < pace.periodNs(0));
        QVERIFY(pace.periodNs(0) < pace.periodNs(5));
        for (size_t at = 0; at < std::size(queries); ++at) {
            QVERIFY(pace.periodNs(at) >= queries[at].periodNs);
            QCOMPARE(pace.periodNs(at) % turnNs, int64_t{0});
        }
    }

    void paceUsesTheMedianAfterTheStart() {
        Pace pace(0.004, turnNs);
        const size_t query = pace.add("query", turnNs);
        pace.addCost(query, 900'000'000);  // loads the library
        QCOMPARE(pace.periodNs(query), turnNs);
        pace.addCost(query, 50'000'000);
        QCOMPARE(pace.periodNs(query), 50 * turnNs);  // an estimate, valid only at first
        pace.addCost(query, 100'000);
        pace.addCost(query, 80'000'000);  // a call that waited for the driver
        pace.addCost(query, 110'000);
        QCOMPARE(pace.periodNs(query), turnNs);
        // An expensive query may become cheap again.
        addCost(pace, query, 4'000'000);
        QCOMPARE(pace.periodNs(query), 10 * turnNs);
        addCost(pace, query, 100'000);
        QCOMPARE(pace.periodNs(query), turnNs);
    }

    void paceRespectsItsSlowestRate() {
        Pace pace(0.001, turnNs);
        const size_t bounded = pace.add("GPM", turnNs, 1, 10 * turnNs), other = pace.add("other", turnNs);
        addCost(pace, other, 200'000);
        pace.addCost(bounded, 1'000'000);
        // The first calls of a waking driver, 50 times as expensive as later ones.
        for (int call = 0; call < 3; ++call) {
            pace.addCost(bounded, 5'000'000);
            QVERIFY(pace.periodNs(bounded) <= 10 * turnNs);
        }
        for (int call = 0; call < 6; ++call) pace.addCost(bounded, 40'000);
        QVERIFY2(pace.periodNs(bounded) <= 2 * turnNs, pace.describe().c_str());
        // A permanently expensive query has its slowest rate, and the other compensates as far as possible.
        addCost(pace, bounded, 900'000);
        QCOMPARE(pace.periodNs(bounded), 10 * turnNs);
        QVERIFY2(pace.periodNs(other) >= 4 * turnNs, pace.describe().c_str());
        addCost(pace, bounded, 90'000'000);
        QCOMPARE(pace.periodNs(bounded), 10 * turnNs);
    }

    void paceCountsCpuTimeOfItsThread() {
        Pace pace(0.004, turnNs);
        const size_t query = pace.add("query", turnNs);
        for (int call = 0; call < 5; ++call) {
            pace.begin();
            const int64_t begunNs = log::threadCpuNs();
            while (log::threadCpuNs() - begunNs < 2'000'000) continue;
            QTest::qSleep(5);  // costs nothing
            pace.end(query);
        }
        QVERIFY(pace.periodNs(query) >= 5 * turnNs);
        QVERIFY2(pace.periodNs(query) < 20 * turnNs, pace.describe().c_str());
    }

    void paceKeepsItsPeriods() {
        Pace pace(0.004, turnNs);
        const size_t often = pace.add("often", turnNs), rare = pace.add("rarely", 3 * turnNs);
        QCOMPARE(pace.nextDueNs(), int64_t{0});
        int calls[2] = {};
        for (int tick = 0; tick < 99; ++tick) {
            // Timer jitter: sometimes early, sometimes late.
            const int64_t nowNs = (10 + tick) * turnNs + (tick % 3 - 1) * 9'000'000;
            if (pace.isDue(often, nowNs)) ++calls[0];
            if (pace.isDue(rare, nowNs)) ++calls[1];
            QVERIFY(!pace.isDue(often, nowNs));
            QCOMPARE(pace.nextDueNs(), (11 + tick) * turnNs);
        }
        QCOMPARE(test::listed(calls[0], calls[1]), "99 | 33");
        QVERIFY(pace.isDue(rare, 1'000 * turnNs));  // Missed periods are not repeated.
        QVERIFY(!pace.isDue(rare, 1'001 * turnNs));
    }

    void readingsServeCloseTimes() {
        const TimedReading none{}, reading{1'000'000'000, 1'005'000'000, 0};
        QVERIFY(!none.serves(0));
        QVERIFY(reading.serves(900'000'000));  // was reported late
        QVERIFY(reading.serves(1'001'000'000) && !reading.serves(1'003'000'000));
    }

    void readsFilesOfAnyLength() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("file").toStdString();
        std::vector<char> buffer;
        const ProcFile missing(path);
        QVERIFY(!missing.isOpen() && missing.read(buffer).empty());
        for (const size_t length : {size_t{0}, size_t{16384}, size_t{100'000}}) {
            std::ofstream(path) << std::string(length, 'x');
            QCOMPARE(ProcFile(path).read(buffer).size(), length);
        }
    }

    void splitsText() {
        std::string_view text = "  one two\n3x\n\n";
        QVERIFY(takeWord(text) == "one");
        QVERIFY(takeUntil(text, '\n') == " two");
        QCOMPARE(lanescope::capture::numberIn(takeWord(text)), 3LL);
        QVERIFY(takeWord(text).empty());
        QVERIFY(takeUntil(text, '\n').empty());
        QCOMPARE(lanescope::capture::numberIn("max", -1), -1LL);
    }

    void optionsRoundTrip() {
        SamplerOptions options{.runFolder = "/tmp/a folder=with signs",
                               .host = "node-1.example",
                               .recorder = 4242,
                               .counterHz = 2.5,
                               .usesGpm = true,
                               .program = "/venv/bin/python = 3"};
        const auto again = SamplerOptions::fromWords(options.words());
        QVERIFY(again.has_value() && again->words() == options.words());
        QVERIFY(!SamplerOptions::fromWords({}).has_value());
        QVERIFY(!SamplerOptions::fromWords({"folder=/x", "host=h"}).has_value());
    }

    void pcieRatesAreKnown() {
        QCOMPARE(test::listed(pcieBytesPerSecond(1, 16), pcieBytesPerSecond(3, 16)), "4000000000 | 15753846154");
        QCOMPARE(test::listed(pcieBytesPerSecond(5, 16), pcieBytesPerSecond(0, 16)), "63015384615 | 0");
        QCOMPARE(test::listed(pcieBytesPerSecond(7, 16), pcieBytesPerSecond(5, -1)), "0 | 0");
    }

    /// Number of counters announced by a log, read through a trace.
    static int countersIn(const QTemporaryDir& folder, const char* condition) {
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        std::filesystem::remove(trace);
        auto collector = test::beginCollector(folder.filePath("run").toStdString(), trace, RunInfo());
        if (!collector || !(*collector)->finish(std::nullopt, false)) return -1;
        const auto database = Database::openReadOnly(trace);
        if (!database) return -1;
        auto statement = database->prepare(std::string("SELECT count(*) FROM LANESCOPE_COUNTERS WHERE ") + condition);
        return statement && *statement->step() ? int(statement->integer(0)) : -1;
    }

    void shortLivedProcessesShareTwoCounters() {
        ProcessSamples processes;
        QProcess lasting;
        lasting.start("sleep", {"300"});
        QVERIFY(lasting.waitForStarted());
        processes.search();
        for (int times = 0; times < 30; ++times) {
            QProcess brief;
            brief.start("sleep", {"300"});
            QVERIFY(brief.waitForStarted());
            processes.search();
            brief.kill();
            QVERIFY(brief.waitForFinished());
        }
        processes.search();
        lasting.kill();
        QVERIFY(lasting.waitForFinished());
        processes.samples.end();
        QCOMPARE(countersIn(processes.folder, "globalPid IS NOT NULL"), 2);
        QCOMPARE(countersIn(processes.folder, "name IN ('cpu.others', 'memory.others')"), 2);
        QCOMPARE(countersIn(processes.folder, "true"), 4);
    }

    void numberOfProcessCountersIsBounded() {
        ProcessSamples processes;
        std::vector<std::unique_ptr<QProcess>> all;
        for (size_t count = 0; count < ProcessCounters::maxWithOwn + 20; ++count) {
            all.push_back(std::make_unique<QProcess>());
            all.back()->start("sleep", {"300"});
            QVERIFY(all.back()->waitForStarted());
            if (count == 0) processes.counters.search(processes.batch, processes.buffer);
        }
        for (int searches = 0; searches < 40; ++searches) processes.search();
        for (const auto& process : all) {
            process->kill();
            QVERIFY(process->waitForFinished());
        }
        processes.samples.end();
        QCOMPARE(countersIn(processes.folder, "globalPid IS NOT NULL"), 2 * int(ProcessCounters::maxWithOwn));
        QCOMPARE(countersIn(processes.folder, "name = 'memory.others'"), 1);
    }

    /// Not every sample finds them. The program of this test would be taken for a sampler, so a shell starts it.
    void processesOfOtherThreadsAreKeptBetweenFullSamples() {
        ProcessSamples processes;
        QProcess shell;
        shell.start("sh", {"-c", "\"$0\" \"$1\" && true", QCoreApplication::applicationFilePath(), forkInThread});
        QVERIFY(shell.waitForReadyRead(60'000));
        // The shell, this program, and the process started by its second thread.
        for (int searches = 0; searches < 12; ++searches) QCOMPARE(processes.search(), size_t{6});
        shell.kill();
        QVERIFY(shell.waitForFinished());
        processes.search();
        processes.samples.end();
        QCOMPARE(countersIn(processes.folder, "globalPid IS NOT NULL"), 6);
        QCOMPARE(countersIn(processes.folder, "true"), 6);
    }

    void staleValuesAreReported() {
        const SamplerFolder place;
        const QTemporaryDir& folder = place.folder;
        SampleLog log = place.log();
        const uint32_t power = log.addCounter({"nvml", "power", "Power", "W", log::CounterMeaning::Gauge});
        SampleBatch batch;
        const auto write = [&](double second, bool isKnown) {
            batch.clear();
            if (isKnown)
                batch.add(power, second);
            else
                batch.addUnknown(power);
            log.write(int64_t(second * 1e9), batch);
        };
        for (const int second : {10, 11, 5, 6}) write(second, true);
        write(4, false);     // It is known since then.
        write(10.5, false);  // As if a call hung in the round that had just reported a value.
        write(12, true);
        log.end();
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = test::beginCollector(folder.filePath("run").toStdString(), trace, RunInfo());
        QVERIFY(collector && (*collector)->finish(std::nullopt, false));
        const auto database = Database::openReadOnly(trace);
        auto statement = database->prepare("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'samples-out-of-order'");
        QVERIFY(statement && *statement->step());
        QVERIFY(std::string(statement->text(0)).find(": skipped 2 samples, ") != std::string::npos);
        auto kept = database->prepare("SELECT timestamp, value FROM LANESCOPE_COUNTER_SAMPLES ORDER BY timestamp");
        QVERIFY(kept.has_value());
        for (const int64_t timeNs : {10'000'000'000, 11'000'000'000, 11'000'000'001, 12'000'000'000}) {
            QVERIFY(*kept->step());
            QCOMPARE(kept->integer(0), timeNs);
            QCOMPARE(kept->isNull(1), timeNs % 1'000'000'000 == 1);
        }
    }

    /// From a sampler's log to the trace: equal values are merged, and odd ones handled.
    void sampledValuesAreCollected() {
        QTemporaryDir folder;
        const std::string run = folder.filePath("run").toStdString();
        QDir().mkpath(folder.filePath("run"));
        {
            SampleLog log = test::sampleLogAt(run + "/host.sampler.77", 1 << 20);
            log.addGpu(3, "GPU-unknown", "A GPU");
            CounterDescription gauge{"nvml", "power", "Power", "W", log::CounterMeaning::Gauge};
            gauge.gpu = 3;
            CounterDescription count{"nvml", "nvlink.tx", "NVLink", "B", log::CounterMeaning::Cumulative};
            count.link = 30;
            count.direction = "tx";
            const uint32_t power = log.addCounter(gauge), sent = log.addCounter(count);
            SampleBatch batch;
            const auto write = [&](int64_t timeNs, double watts, int64_t bytes) {
                batch.clear();
                batch.add(power, watts);
                batch.add(sent, bytes);
                log.write(timeNs, batch);
            };
            write(1100, 50, 7);
            write(1200, 50, 7);
            write(1300, 50, 7);
            write(1250, 99, 99);  // reported late
            write(1400, 60, 9);
            write(1500, std::nan(""), 4);
            log.addMetric(3, 0, "SMs Active [Throughput %]");
            const std::vector<uint64_t> words{1600, std::bit_cast<uint64_t>(12.5), 1700,
                                              std::bit_cast<uint64_t>(std::nan(""))};
            log.writeMetrics(3, 1, words);
            log.note(Severity::Info, HealthCode::CountersAbsent, "Nothing.");
            log.property("samplers", "first");
            log.property("samplers", "second");
            log.end();
        }
        RunInfo info;
        info.startRealtimeNs = 1000;
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = test::beginCollector(run, trace, info);
        QVERIFY(collector.has_value());
        // A concurrent reader finds the subjects of the samples, but not yet their rate.
        (*collector)->poll();
        {
            const auto partial = Database::openReadOnly(trace + ".partial");
            QVERIFY(partial.has_value());
            QCOMPARE(partial->rowCount("LANESCOPE_COUNTERS"), int64_t{2});
            auto read = partial->prepare(
                "SELECT count(*) FROM LANESCOPE_COUNTER_SAMPLES JOIN LANESCOPE_COUNTERS USING"
                " (counterId) WHERE name = 'power' AND unit = 'W'");
            QVERIFY(read && *read->step() && read->integer(0) > 0);
        }
        const auto done = (*collector)->finish(std::nullopt, false);
        QVERIFY2(done.has_value(), done ? "" : done.error().sentence.c_str());
        QCOMPARE(done->processes, 0);
        const auto database = Database::openReadOnly(trace);
        QVERIFY(database.has_value());
        const auto rows = [&](const char* sql) {
            QString all;
            auto statement = database->prepare(sql);
            while (statement && *statement->step())
                all += QString::fromStdString(std::string(statement->text(0))) + " ";
            return all;
        };
        QCOMPARE(rows("SELECT timestamp || '=' || coalesce(value, '?') FROM"
                      " LANESCOPE_COUNTER_SAMPLES WHERE counterId = 1"),
                 QString("100=50.0 400=60.0 500=? "));
        // The last of the equal values marks the start of the growth.
        QVERIFY(rows("SELECT timestamp || '=' || coalesce(value, '?') FROM"
                     " LANESCOPE_COUNTER_SAMPLES WHERE counterId = 2")
                    .startsWith("100=7 300=7 400=9 500=4 "));
        QCOMPARE(rows("SELECT name || gpuId || unit FROM LANESCOPE_COUNTERS WHERE counterId = 1"), QString("power3W "));
        QCOMPARE(rows("SELECT direction || link || meaning FROM LANESCOPE_COUNTERS WHERE gpuId IS NULL"),
                 QString("tx301 "));
        QCOMPARE(rows("SELECT timestamp || '=' || value || '/' || typeId FROM GPU_METRICS"),
                 QString("600=12.5/3  "));  // and an unknown one
        QCOMPARE(rows("SELECT timestamp FROM GPU_METRICS WHERE value IS NULL"), QString("700 "));
        QCOMPARE(rows("SELECT metricName FROM TARGET_INFO_GPU_METRICS WHERE typeId & 255 = 3"),
                 QString("SMs Active [Throughput %] "));
        QCOMPARE(rows("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'"), QString("second "));
        QCOMPARE(rows("SELECT code FROM LANESCOPE_HEALTH WHERE code LIKE 's%' OR code LIKE 'c%'"),
                 QString("counters-absent "));
    }
};

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], forkInThread) == 0) forkInSecondThread();
    QCoreApplication application(argc, argv);
    tst_SamplerParts test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_SamplerParts.moc"
