#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <ctime>
#include <fstream>

#include "capture/collector/Collector.h"
#include "capture/collector/writeLinkPeaks.h"
#include "capture/sample/Pace.h"
#include "capture/sample/ProcFile.h"
#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerOptions.h"
#include "model/format/Sqlite.h"
#include "model/format/pcieRate.h"

using namespace lanescope;

class tst_SamplerParts : public QObject {
    Q_OBJECT

    static void burn(int64_t ns) {
        const auto used = [] {
            timespec time{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
        };
        const int64_t begun = used();
        while (used() - begun < ns) continue;
    }

  private slots:
    void paceSlowsDownWhatIsDear() {
        Pace pace;
        pace.add("cheap", 100'000'000);
        pace.add("dear", 100'000'000);
        int64_t nowNs = 1'000'000'000;
        int dear = 0;
        // Simulated seconds, each call of the dear kind 5 ms: 5 % of a core at first.
        for (int tick = 0; tick < 300; ++tick, nowNs += 100'000'000) {
            for (const size_t kind : {0, 1}) {
                if (!pace.isDue(kind, nowNs)) continue;
                pace.begin();
                if (kind == 1) burn(5'000'000);
                pace.end(kind);
                if (kind == 1 && tick >= 200) ++dear;
            }
            pace.adjust(nowNs);
        }
        // In 10 s there is room for 8 such calls; what was due is not called more often.
        QVERIFY2(dear >= 1 && dear <= 9, qPrintable(QString::number(dear)));
        QVERIFY(QString::fromStdString(pace.describe()).startsWith("dear each "));
    }

    void paceLeavesAloneWhatIsCheap() {
        Pace pace;
        pace.add("cheap", 100'000'000);
        int calls = 0;
        for (int tick = 0; tick < 100; ++tick) {
            // As a timer comes: now early, now late.
            const int64_t nowNs =
                1'000'000'000 + int64_t{tick} * 100'000'000 + (tick % 3 - 1) * 2'000'000;
            if (pace.isDue(0, nowNs)) ++calls;
            QVERIFY(!pace.adjust(nowNs));
        }
        QCOMPARE(calls, 100);
        QVERIFY(pace.describe().empty());
    }

    void readsFilesOfAnyLength() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("file").toStdString();
        std::vector<char> buffer;
        const ProcFile missing(path);
        QVERIFY(!missing.isOpen());
        QVERIFY(missing.read(buffer).empty());
        for (const size_t length : {size_t{0}, size_t{16384}, size_t{100'000}}) {
            std::ofstream(path) << std::string(length, 'x');
            QCOMPARE(ProcFile(path).read(buffer).size(), length);
        }
    }

    void takesTextApart() {
        std::string_view text = "  one two\n3x\n\n";
        QVERIFY(takeWord(text) == "one");
        QVERIFY(takeUntil(text, '\n') == " two");
        QCOMPARE(lanescope::numberIn(takeWord(text)), 3LL);
        QVERIFY(takeWord(text).empty());
        QVERIFY(takeUntil(text, '\n').empty());
        QCOMPARE(lanescope::numberIn("max", -1), -1LL);
    }

    void optionsComeBackFromWords() {
        SamplerOptions options;
        options.runFolder = "/tmp/a folder=with signs";
        options.host = "node-1.example";
        options.recorder = 4242;
        options.counterHz = 2.5;
        options.usesGpm = true;
        const auto again = SamplerOptions::fromWords(options.words());
        QVERIFY(again.has_value());
        QVERIFY(again->words() == options.words());
        QVERIFY(!SamplerOptions::fromWords({}).has_value());
        QVERIFY(!SamplerOptions::fromWords({"folder=/x", "host=h"}).has_value());
    }

    void knowsPcie() {
        QCOMPARE(pcieBytesPerSecond(1, 16), int64_t{4'000'000'000});
        QCOMPARE(pcieBytesPerSecond(3, 16), int64_t{15'753'846'154});
        QCOMPARE(pcieBytesPerSecond(5, 16), int64_t{63'015'384'615});
        QCOMPARE(pcieBytesPerSecond(0, 16), int64_t{0});
        QCOMPARE(pcieBytesPerSecond(7, 16), int64_t{0});
        QCOMPARE(pcieBytesPerSecond(5, -1), int64_t{0});
    }

    /// From a sampler's log to the trace: what is kept of equal values, and what becomes of odd
    /// ones.
    void collectsWhatWasSampled() {
        QTemporaryDir folder;
        const std::string run = folder.filePath("run").toStdString();
        QDir().mkpath(folder.filePath("run"));
        {
            SampleLog log(run + "/host.sampler.77", 1 << 20);
            log.addGpu(3, "GPU-unknown", "A GPU");
            CounterDescription gauge{"nvml", "power", "Power", "W", log::CounterMeaning::Gauge};
            gauge.gpu = 3;
            CounterDescription count{"nvml", "nvlink.tx", "NVLink", "B",
                                     log::CounterMeaning::Cumulative};
            count.link = 30;
            count.direction = "tx";
            const uint32_t power = log.addCounter(gauge);
            const uint32_t sent = log.addCounter(count);
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
            write(1250, 99, 99);  // the clock was set back
            write(1400, 60, 9);
            write(1500, std::nan(""), 4);
            log.addMetric(3, 0, "SMs Active [Throughput %]");
            const std::vector<uint64_t> words{1600, std::bit_cast<uint64_t>(12.5), 1700,
                                              std::bit_cast<uint64_t>(std::nan(""))};
            log.writeMetrics(3, 1, words);
            log.note(log::NoteSeverity::Info, "counters-absent", "Nothing.");
            log.property("samplers", "first");
            log.property("samplers", "second");
            log.end();
        }
        RunInfo info;
        info.startRealtimeNs = 1000;
        const std::string trace = folder.filePath("trace.sqlite").toStdString();
        auto collector = Collector::begin(run, trace, info);
        QVERIFY(collector.has_value());
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
        // The last of the equal values tells when it began to grow.
        QVERIFY(rows("SELECT timestamp || '=' || coalesce(value, '?') FROM"
                     " LANESCOPE_COUNTER_SAMPLES WHERE counterId = 2")
                    .startsWith("100=7 300=7 400=9 500=4 "));
        QCOMPARE(rows("SELECT name || gpuId || unit FROM LANESCOPE_COUNTERS WHERE counterId = 1"),
                 QString("power3W "));
        QCOMPARE(rows("SELECT direction || link || meaning FROM LANESCOPE_COUNTERS WHERE gpuId IS"
                      " NULL"),
                 QString("tx301 "));
        QCOMPARE(rows("SELECT timestamp || '=' || value || '/' || typeId FROM GPU_METRICS"),
                 QString("600=12.5/3 "));
        QCOMPARE(rows("SELECT metricName FROM TARGET_INFO_GPU_METRICS WHERE typeId & 255 = 3"),
                 QString("SMs Active [Throughput %] "));
        QCOMPARE(rows("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'"),
                 QString("second "));
        QCOMPARE(rows("SELECT code FROM LANESCOPE_HEALTH WHERE code LIKE 's%' OR code LIKE 'c%'"),
                 QString("counters-absent "));
    }
};

QTEST_GUILESS_MAIN(tst_SamplerParts)
#include "tst_SamplerParts.moc"
