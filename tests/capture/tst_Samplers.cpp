// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <csignal>

#include "capture/sample/NvmlSampler.h"
#include "tests/capture/SamplerRun.h"
#include "tests/support/alone.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"

using namespace lanescope;
using namespace lanescope::capture;

/// Tests of `lanescope record` with samplers, with a simulated NVML and the real /proc, and of counters read at the
/// start and end of selected ranges.
class tst_Samplers : public QObject, private SamplerRun {
    Q_OBJECT
  private slots:
    void nvmlValuesAreSampled() {
        const Run run = record("all.sqlite", "gpus=2,links=20,down=3");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("all.sqlite");
        for (const char* gpu : {"0", "1"}) {
            const std::string of = std::string(" AND value IS NOT NULL AND gpuId = ") + gpu;
            const std::map<std::string, double> gauges{
                {"gpu.utilization", 77}, {"memory.utilization", 33}, {"memory.used", 350},
                {"memory.total", 1000},  {"power", 412.5},           {"temperature", 61},
                {"clock.sm", 1980e6},    {"clock.memory", 3201e6},   {"throttle.reasons", 4}};
            for (const auto& [name, value] : gauges) {
                QCOMPARE(sample(database, "min(value)", "name = '" + name + "'" + of), value);
                QCOMPARE(sample(database, "max(value)", "name = '" + name + "'" + of), value);
                // A constant value is written once.
                QCOMPARE(sample(database, "count(*)", "name = '" + name + "'" + of), 1.0);
            }
            // 20 links, one of them down, and their sum, in two directions.
            QCOMPARE(number(database, std::string("SELECT count(*) FROM LANESCOPE_COUNTERS WHERE name LIKE 'nvlink.%'"
                                                  " AND meaning = 1 AND unit = 'B' AND gpuId = ") +
                                          gpu),
                     40.0);
            QCOMPARE(sample(database, "count(*)", "link = 3" + of), 0.0);
            QVERIFY(sample(database, "max(value) - min(value)", "link IS NULL AND name = 'nvlink.tx'" + of) > 0);
            QCOMPARE(sample(database, "sum(value % 1024)", "name = 'nvlink.tx'" + of), 0.0);
            QVERIFY(sample(database, "max(value) - min(value)", "name = 'energy'" + of) > 0.1);
            QCOMPARE(sample(database, "max(value)", "name = 'pcie.rx'" + of), 2e6);
        }
        // Sampling ended: each counter with a value ends with an unknown one.
        QCOMPARE(number(database,
                        "SELECT count(*) FROM (SELECT counterId, max(timestamp) AS last FROM"
                        " LANESCOPE_COUNTER_SAMPLES GROUP BY 1) JOIN LANESCOPE_COUNTER_SAMPLES s"
                        " USING (counterId) WHERE s.timestamp = last AND s.value IS NOT NULL"),
                 0.0);
        QCOMPARE(number(database,
                        "SELECT count(*) FROM LANESCOPE_GPU_PROCESSES WHERE pid = 4242"
                        " AND bytes = 123456789 AND gpuId = 1") > 0,
                 true);
        QCOMPARE(sentence(database, "sampler-ended"), QString());
        QVERIFY(text(database, "SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'")
                    .contains("% of a core: NVML"));
    }

    /// Counts rows whose number is not above that of the previous row with the same first column
    /// or, if `strictly`, is below it.
    static int steps(const Database& database, const std::string& sql, bool strictly = false) {
        auto statement = test::orFail(database.prepare(sql));
        std::map<int64_t, double> last;
        int count = 0;
        while (*statement.step()) {
            const int64_t key = statement.integer(0);
            const auto before = last.find(key);
            const double value = statement.real(1);
            if (before != last.end() && (strictly ? value < before->second : value <= before->second)) ++count;
            last[key] = value;
        }
        return count;
    }

    void samplesAreOrdered() {
        const Database database = open("all.sqlite");
        QCOMPARE(steps(database, "SELECT counterId, timestamp FROM LANESCOPE_COUNTER_SAMPLES ORDER BY rowid"), 0);
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_COUNTER_SAMPLES WHERE timestamp < 0"), 0.0);
    }

    void usedMemoryIsListedByOwner() {
        QProcess info;
        info.start(LANESCOPE_BINARY_DIR "/bin/lanescope", {"info", path("all.sqlite")});
        QVERIFY(info.waitForFinished(60'000));
        const QString text = QString::fromUtf8(info.readAllStandardOutput());
        const QString list = text.section("Peak memory\n", 1).section("\n\n", 0, 0);
        QVERIFY2(list.contains(QRegularExpression("GPU 0: memory used +350 B")), qPrintable(text));
        QVERIFY2(list.contains(QRegularExpression("process \\d+.*: resident memory +\\d")), qPrintable(text));
        QVERIFY2(!list.contains("available") && !list.contains("total") && !list.contains("limit"), qPrintable(list));
        for (const QString& line : list.split('\n', Qt::SkipEmptyParts))
            QVERIFY2(line.contains(QRegularExpression("^  (host|GPU|process)")), qPrintable(line));
        QVERIFY(text.contains("Sampling cost ") && text.contains("NVML readings "));
    }

    void hostCountersAreSampled() {
        const Database database = open("all.sqlite");
        QVERIFY(sample(database, "max(value)", "name = 'memory.available'") > 1e6);
        QVERIFY(sample(database, "count(*)",
                       "name = 'cpu.share' AND core IS NULL AND globalPid IS NULL AND value >= 0") > 1);
        QVERIFY(sample(database, "count(DISTINCT core)", "name = 'cpu.share'") >= 1);
        // The program, and none of the samplers.
        QCOMPARE(sample(database, "count(DISTINCT globalPid)", "name = 'memory.rss'"), 1.0);
        QVERIFY(sample(database, "max(value)", "name = 'memory.rss'") > 1e5);
    }

    void linkPeaksAreKnown() {
        const Database database = open("all.sqlite");
        const auto peak = [&](const char* kind) {
            return number(database, std::string("SELECT max(bytesPerSecond) FROM"
                                                " LANESCOPE_LINK_PEAKS WHERE gpuId = 0 AND kind = '") +
                                        kind + "'");
        };
        QCOMPARE(peak("pcie"), 63015384615.0);  // 16 lanes of 32 GT/s, 128b/130b
        QCOMPARE(test::listed(peak("nvlink"), peak("dram")), test::listed(19 * 26562e6, 3201e6 * 2 * 6016 / 8));
        QCOMPARE(text(database, "SELECT cpus FROM LANESCOPE_GPU_AFFINITY WHERE gpuId = 1"), QString("16-19,24"));
        QCOMPARE(text(database, "SELECT abbreviation FROM LANESCOPE_TOPOLOGY WHERE gpuId = 0"), QString("NV19"));
    }

    void zerosOfGpmAreSkipped() {
        const Run run = record("gpm.sqlite", "gpus=1,gpm=1", {}, "1.5");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("gpm.sqlite");
        QCOMPARE(sample(database, "min(value)", "source = 'gpm' AND name = 'sm.activity'"), 2.0);
        QCOMPARE(sample(database, "max(value)", "source = 'gpm' AND name = 'nvlink.tx'"), 61.0 * 1048576);
        QCOMPARE(sample(database, "count(*)", "source = 'gpm' AND name = 'fp16.activity'"), 0.0);
        QCOMPARE(sample(database, "count(*)", "source = 'gpm' AND value = 0"), 0.0);
        // Then GPM measures PCIe.
        QCOMPARE(sample(database, "count(*)", "source = 'nvml' AND name = 'pcie.rx'"), 0.0);
    }

    /// One reading must not represent the rest of the run.
    void staleValuesBecomeUnknown() {
        LANESCOPE_RUNS_ALONE;
        if (test::hasThreadSanitizer || test::hasAddressSanitizer) QSKIP("What readings cost is the sanitizer's time.");
        const Run run = record("old.sqlite", "gpus=1,us-memory=300000", {}, "12.5");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("old.sqlite");
        const auto at = [&](const char* which, const char* name, const char* value) {
            return sample(database, std::string(which) + "(timestamp) / 1e9",
                          fmt::format("name = '{}' AND value IS {}", name, value));
        };
        // Values read on demand become unknown only at the end.
        const double endS = at("min", "power", "NULL"), oldS = at("min", "memory.used", "NULL");
        QVERIFY2(oldS > 0 && oldS < endS - 0.3, qPrintable(QString::number(endS - oldS)));
        QVERIFY(oldS - at("max", "memory.used", "NOT NULL") > 5.9);
    }

    /// Costs of calls on a GPU, in microseconds, and their resulting rates.
    void samplerRespectsItsCpuShare() {
        LANESCOPE_RUNS_ALONE;
        if (test::hasThreadSanitizer || test::hasAddressSanitizer) QSKIP("What readings cost is the sanitizer's time.");
        const std::map<QString, double> costUs{{"utilization", 2400},     {"memory", 40},     {"power", 30},
                                               {"temperature", 20},       {"SM clock", 2500}, {"memory clock", 2500},
                                               {"throttle reasons", 230}, {"energy", 3000},   {"NVLink sums", 800},
                                               {"processes", 100}};
        const Run run = record("expensive.sqlite",
                               "gpus=2,links=2,us-utilization=2400,us-memory=40,us-power=30,us-temperature=20,"
                               "us-clock=2500,us-throttle=230,us-energy=3000,us-link=400,us-processes=100,"
                               "gpm=1,us-gpm=2000",
                               {}, "6.5");  // An estimate holds for 5 s at most.
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("expensive.sqlite");
        const auto intervals = [&](const char* property) {
            const QString said =
                text(database, std::string("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = '") + property + "'");
            std::map<QString, double> seconds;
            for (const QString& each : said.split(", ", Qt::SkipEmptyParts)) {
                const QStringList words = each.split(" every "), time = words.value(1).split(' ');
                seconds[words[0]] = time[0].toDouble() * (time.value(1) == "ms" ? 1e-3 : 1);
            }
            return seconds;
        };
        std::map<QString, double> every = intervals("samplerIntervals");
        QCOMPARE(every.size(), costUs.size());
        double share = 0;
        for (const auto& [name, us] : costUs) {
            QVERIFY2(every[name] > 0, qPrintable(name));
            share += 2 * us * 1e-6 / every[name];
        }
        QVERIFY2(share <= NvmlSampler::shareOfCore, qPrintable(QString::number(share)));
        // The exact rates follow from measured costs, which a busy machine raises: see tst_SamplerParts.
        QVERIFY(every["utilization"] > 1 && every["energy"] > every["temperature"]);
        // Two GPUs of 2 ms each on 0.08 % of a core, but at least once per second.
        QCOMPARE(intervals("samplerIntervalsGpm")["GPM"], 1.0);
        // The start-up cost is separate, and each counter has its rate.
        const QString cost = text(database, "SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'");
        QVERIFY2(cost.contains("; once "), qPrintable(cost));
        addsUp(cost);
        QVERIFY(number(database, "SELECT intervalNs FROM LANESCOPE_COUNTERS WHERE name = 'power' AND gpuId = 1") >=
                95e6);
        QVERIFY(number(database, "SELECT intervalNs FROM LANESCOPE_COUNTERS WHERE name = 'clock.sm' AND gpuId = 1") >=
                400e6);
    }

    /// "1.2 % of a core: NVML 0.9 % at 10 Hz, the log 0.3 %; once 0.1 s": checks that the parts sum to the whole.
    static void addsUp(const QString& cost) {
        const QString steady = cost.section("; once ", 0, 0);
        static const QRegularExpression percentage(R"((\d+\.\d+) %)");
        double whole = -1, parts = 0;
        int count = 0;
        for (auto each = percentage.globalMatch(steady); each.hasNext(); ++count) {
            const double percent = each.next().captured(1).toDouble();
            (whole < 0 ? whole : parts) += whole < 0 ? percent + 1 : percent;
        }
        QVERIFY2(count >= 4 && std::abs(whole - parts) < 0.05, qPrintable(cost));
    }

    /// On a GPU, the first GPM readings took 50 times as long as later ones.
    void singleExpensiveGpmReadingDoesNotDecide() {
        LANESCOPE_RUNS_ALONE;
        const Run run = record("gpm-expensive.sqlite", "gpus=2,gpm=1,us-gpm=20,gpm-expensive=8", {}, "9");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("gpm-expensive.sqlite");
        // One in four is skipped as an artifact.
        const double count = number(database,
                                    "SELECT (max(timestamp) - min(timestamp)) / intervalNs FROM LANESCOPE_COUNTERS"
                                    " JOIN LANESCOPE_COUNTER_SAMPLES USING (counterId) WHERE source = 'gpm' AND"
                                    " name = 'sm.activity' AND gpuId = 1");
        QVERIFY2(count >= 4, qPrintable(QString::number(count)));
        const QString every =
            text(database, "SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplerIntervalsGpm'");
        QVERIFY2(every.contains(QRegularExpression("GPM every ([1-4]00 ms)")), qPrintable(every));
    }

    /// Drivers before 510 count their reserved memory as used.
    void memoryOfOlderDriversIsSampled() {
        const Run run = record("older.sqlite", "gpus=1,old=1", {}, "2");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(sample(open("older.sqlite"), "max(value)", "name = 'memory.used'"), 400.0);
    }

    void lostGpuIsHandled() {
        const Run run = record("lost.sqlite", "gpus=2,lost-ms=600", {}, "1.5");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("lost.sqlite");
        QVERIFY2(sentence(database, "gpu-lost").startsWith("1 GPU 0 was lost"),
                 qPrintable(sentence(database, "gpu-lost")));
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'gpu-lost'"), 1.0);
        QVERIFY(sample(database, "max(timestamp)", "gpuId = 0 AND value IS NOT NULL AND source = 'nvml'") <
                sample(database, "max(timestamp)", "gpuId = 1 AND value IS NOT NULL AND name = 'nvlink.tx'"));
        QCOMPARE(sample(database, "count(*)", "gpuId = 0 AND value = 0"), 0.0);
    }

    void restartingCountersAreKept() {
        const Run run = record("reset.sqlite", "gpus=1,reset-ms=600", {}, "1.3");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("reset.sqlite");
        QCOMPARE(steps(database,
                       "SELECT 0, value FROM LANESCOPE_COUNTER_SAMPLES JOIN LANESCOPE_COUNTERS USING (counterId) WHERE"
                       " name = 'nvlink.tx' AND link IS NULL AND value IS NOT NULL ORDER BY timestamp",
                       true),
                 1);
    }

    void missingValuesAreReported_data() {
        const test::Rows<QByteArray, QString, QString> row;
        row("permission", "init=4", "nvml-absent", "denies access");
        row("no driver", "init=9", "nvml-absent", "there is no NVIDIA driver");
        row("versions", "init=18", "nvml-absent", "different versions");
        row("no GPU", "gpus=0", "nvml-absent", "no GPU");
        row("MIG", "gpus=2,mig=1", "counters-of-whole-gpu", "GPUs 0, 1 are split by MIG");
        row("MIG, unreported values", "gpus=2,mig=1", "counters-absent",
            "GPUs 0, 1 do not report their gpu.utilization.");
        row("vGPU", "gpus=1,bare=1", "counters-absent", "power, temperature");
    }
    void missingValuesAreReported() {
        const auto [nvml, code, says] = test::row<QByteArray, QString, QString>();
        const QByteArray name = QByteArray(QTest::currentDataTag()).replace(' ', '-').replace(',', "") + ".sqlite";
        const Run run = record(name.constData(), nvml.constData(), {}, "0.5");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open(name.constData());
        const QString said = sentence(database, code.toStdString());
        QVERIFY2(said.startsWith("0 ") && said.contains(says), qPrintable(said));
        QCOMPARE(sample(database, "count(*)", "name = 'gpu.utilization'"), 0.0);
        QCOMPARE(sample(database, "count(*)", "source = 'nvml' AND value = 0"), 0.0);
    }

    void countersOfASplitGpuAreNotThoseOfItsInstance() {
        QProcessEnvironment environment = variables("gpus=1,mig=1");
        environment.insert("CUDA_VISIBLE_DEVICES", "MIG-1a2b");
        const Run run = record("instance.sqlite", environment, {}, {"sleep", "0.5"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("instance.sqlite");
        const QString said = sentence(database, "counters-of-whole-gpu");
        QVERIFY2(said.contains("counters of an instance (MIG-1a2b) are unknown"), qPrintable(said));
        QCOMPARE(sample(database, "count(*)", "name LIKE 'nvlink%'"), 0.0);
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_GPU_PROCESSES"), 0.0);
        QVERIFY(sample(database, "max(value)", "name = 'power'") > 0);
    }

    void hangingCallsAreSurvived() {
        const Run run = record("hang.sqlite", "gpus=1,hang-ms=400", {}, "7");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("hang.sqlite");
        QVERIFY(sentence(database, "sampler-hangs").contains("NVML stopped answering"));
        // The host was sampled all the time.
        QVERIFY(sample(database, "max(timestamp)", "name = 'memory.rss'") > 5e9);
        QVERIFY(sample(database, "max(timestamp)", "name = 'power' AND value IS NOT NULL") < 3e9);
        QCOMPARE(sentence(database, "sampler-ended"), QString());
    }

    void valuesAfterAHangingCallAreShown() {
        // With GPM, no other thread reads NVML counters, which would also make them unknown.
        const Run run = record("again.sqlite", "gpus=2,gpm=1,hang-ms=400,until-ms=7000", {}, "9");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("again.sqlite");
        QVERIFY(sentence(database, "sampler-hangs").contains("until it answers again"));
        QCOMPARE(number(database,
                        "SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'sampler-answers' AND"
                        " sentence LIKE 'NVML answers again%'"),
                 1.0);
        QVERIFY(sample(database, "count(*)", "name = 'power' AND value IS NULL AND timestamp < 3e9") >= 1);
        QVERIFY(sample(database, "max(timestamp)", "name = 'power' AND value IS NOT NULL") > 6e9);
        // No counter of a GPU is known just before the reported hang.
        const std::string hangBegin =
            "(SELECT min(timestamp) FROM LANESCOPE_COUNTER_SAMPLES JOIN LANESCOPE_COUNTERS"
            " USING (counterId) WHERE name = 'power' AND value IS NULL)";
        QVERIFY(number(database, "SELECT count(*) FROM LANESCOPE_COUNTERS WHERE source = 'nvml'") > 20);
        QCOMPARE(number(database,
                        "SELECT count(*) FROM LANESCOPE_COUNTERS c WHERE source != 'host' AND (SELECT value FROM"
                        " LANESCOPE_COUNTER_SAMPLES s WHERE s.counterId = c.counterId AND timestamp < 4900000000 + " +
                            hangBegin + " ORDER BY timestamp DESC LIMIT 1) IS NOT NULL"),
                 0.0);
    }

    void samplingContinuesWhenTheClockIsSetBack_data() {
        test::rows<int>("seconds", {{"an hour", 3600}, {"three seconds", 3}});
    }
    void samplingContinuesWhenTheClockIsSetBack() {
        QFETCH(int, seconds);
        if (test::hasAddressSanitizer) QSKIP("What is preloaded into a program that is not instrumented cannot be.");
        QProcessEnvironment environment = variables("gpus=1");
        environment.insert("LD_PRELOAD", LANESCOPE_BINARY_DIR "/lib/standin/libstandin-clock.so");
        environment.insert("STANDIN_CLOCK_BACK", QString::number(seconds));
        const QByteArray name = QString("clock-%1.sqlite").arg(seconds).toLatin1();
        const Run run = record(name.constData(), environment, {}, {"sleep", "4"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open(name.constData());
        const QString said = sentence(database, "clock-set");
        QVERIFY2(said.contains(QString("the clock is now -%1.0 s relative to them").arg(seconds)), qPrintable(said));
        QVERIFY(sample(database, "max(timestamp)", "name = 'energy' AND value IS NOT NULL") > 3e9);
        QVERIFY(sample(database, "max(timestamp)", "name = 'energy'") < 60e9);
        QCOMPARE(sentence(database, "samples-out-of-order"), QString());
    }

    void killedSamplerIsSurvived() {
        QProcess process;
        process.setProcessEnvironment(variables("gpus=1"));
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      {"record", "-o", path("killed.sqlite"), "--", "sh", "-c",
                       "while [ ! -e " + path("killed") + " ]; do sleep 0.05; done"});
        QVERIFY(process.waitForStarted());
        pid_t sampler = 0;
        QTRY_VERIFY_WITH_TIMEOUT((sampler = samplerOf(".killed.sqlite.run")) > 0, 60'000);
        const QString logs = path(".killed.sqlite.run");
        // Until part of its samples has been written.
        const auto written = [&] {
            const QFileInfoList files = QDir(logs).entryInfoList({"*.sampler." + QString::number(sampler) + ".*"});
            return files.isEmpty() ? qint64{0} : files.front().size();
        };
        QTRY_VERIFY_WITH_TIMEOUT(written() > 1000, 60'000);
        QCOMPARE(::kill(sampler, SIGKILL), 0);
        std::ofstream(path("killed").toStdString()) << "go";
        QVERIFY(process.waitForFinished(30'000));
        QCOMPARE(process.exitCode(), 0);
        const Database database = open("killed.sqlite");
        const QString said = sentence(database, "sampler-ended");
        QVERIFY2(said.startsWith("1 A sampler left no exit record"), qPrintable(said));
        QCOMPARE(sample(database, "count(*)", "name = 'power' AND value IS NULL"), 1.0);
        // It would have reported its cost at its end.
        QCOMPARE(text(database, "SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'"), QString());
    }

    static pid_t samplerOf(const QString& runFolder) {
        for (const QString& name : QDir("/proc").entryList(QDir::Dirs)) {
            QFile line("/proc/" + name + "/cmdline");
            if (!line.open(QIODevice::ReadOnly)) continue;
            const QByteArray words = line.readAll();
            if (words.contains("__sample") && words.contains(runFolder.toUtf8())) return name.toInt();
        }
        return 0;
    }

    void samplesNothingUnlessRequested() {
        const Run run = record("none.sqlite", "gpus=1", {"--no-sample"}, "0.3");
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        QCOMPARE(number(open("none.sqlite"), "SELECT count(*) FROM LANESCOPE_COUNTERS"), 0.0);
        QCOMPARE(record("bad.sqlite", "", {"--sample", "1000"}).exitCode, 2);
        QCOMPARE(record("bad.sqlite", "", {"--gpu-metrics=20000"}).exitCode, 2);
        QCOMPARE(record("bad.sqlite", "", {"--no-sample", "--sample-at", "epoch*"}).exitCode, 2);
    }

    void hostIsSampledOnce() {
        QProcessEnvironment environment = variables("gpus=1");
        environment.insert("OMPI_COMM_WORLD_RANK", "1");
        environment.insert("OMPI_COMM_WORLD_LOCAL_RANK", "1");
        environment.insert("OMPI_COMM_WORLD_SIZE", "2");
        const Run run = record("rank.%q{OMPI_COMM_WORLD_RANK}.sqlite", environment, {}, {"sleep", "0.3"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("rank.1.sqlite");
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_COUNTERS"), 0.0);
        QVERIFY(
            text(database, "SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'samplers'").startsWith("none here"));
    }

    /// As under torchrun: several processes report their steps, each at about the same time.
    void countersAreReadForTheRangesOfAllRanks() {
        const QString rank =
            QString("LOCAL_RANK=%1 RANK=%1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 " LANESCOPE_BINARY_DIR
                    "/bin/standin-training --steps 9 --long-steps 1 --step-ms 200 --threads 1 --kernels 1"
                    " --cupti " LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13");
        const Run run = record("ranks.sqlite", variables("gpus=2,links=18,us-link=100,us-energy=500"),
                               {"--sample-at", "step*"}, {"sh", "-c", rank.arg(0) + " & " + rank.arg(1) + " & wait"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("ranks.sqlite");
        const auto moments = [&](const char* what) {
            return number(database, std::string("SELECT ") + what + " FROM LANESCOPE_SAMPLING_MOMENTS");
        };
        QCOMPARE(test::listed(moments("count(*)"), moments("count(DISTINCT globalPid)")), "36 | 2");
        QCOMPARE(test::listed(moments("count(readStart)"), moments("sum(readEnd <= readStart)")), "36 | 0");
        // The end of a step and the start of the next share a reading.
        QVERIFY(moments("count(DISTINCT readStart)") < 36);
        // Each reading has a value of the sum over all links.
        QCOMPARE(number(database,
                        "SELECT count(*) FROM LANESCOPE_SAMPLING_MOMENTS m WHERE NOT EXISTS"
                        " (SELECT 1 FROM LANESCOPE_COUNTER_SAMPLES s JOIN LANESCOPE_COUNTERS c"
                        " USING (counterId) WHERE c.name = 'nvlink.tx' AND c.link IS NULL AND"
                        " c.gpuId = 1 AND s.timestamp BETWEEN m.readStart AND m.readEnd)"),
                 0.0);
        // Single links are read at most once per second.
        QVERIFY(sample(database, "count(*)", "name = 'nvlink.tx' AND link = 3 AND gpuId = 0") <
                sample(database, "count(*)", "name = 'nvlink.tx' AND link IS NULL AND gpuId = 0"));
        QProcess stats;
        stats.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                    {"stats", "--report", "nvlink_by_range", "--format", "csv", path("ranks.sqlite")});
        QVERIFY(stats.waitForFinished(60'000));
        int read = 0, between = 0;
        for (const QByteArray& line : stats.readAllStandardOutput().split('\n')) {
            read += line.contains("read at both ends");
            between += line.contains("between samples");
        }
        // 18 steps on two GPUs; the first ones may precede the samplers, and a busy machine may read some too late.
        QVERIFY2(read + between >= 28, qPrintable(QString::number(read + between)));
        QVERIFY2(read >= 16, qPrintable(QString::number(read)));
    }

    void countersAreReadAtRangeEdges() {
        const Run run =
            record("times.sqlite", variables("gpus=1"), {"--sample-at", "step*"},
                   {LANESCOPE_BINARY_DIR "/bin/standin-training", "--steps", "5", "--step-ms", "150", "--threads", "1",
                    "--kernels", "1", "--cupti", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("times.sqlite");
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_SAMPLING_MOMENTS WHERE isEnd = 0"), 5.0);
        QCOMPARE(number(database, "SELECT count(*) FROM LANESCOPE_SAMPLING_MOMENTS WHERE isEnd = 1"), 5.0);
        QCOMPARE(number(database, "SELECT max(occurrence) FROM LANESCOPE_SAMPLING_MOMENTS"), 4.0);
        QCOMPARE(number(database,
                        "SELECT count(*) FROM LANESCOPE_SAMPLING_MOMENTS m JOIN NVTX_EVENTS n ON n.start - m.timestamp"
                        " BETWEEN -50000000 AND 50000000 WHERE isEnd = 0 AND n.eventType = 59 AND m.globalPid ="
                        " n.globalTid / 16777216 * 16777216") >= 5,
                 true);
        QVERIFY(!QDir(folder()).exists(".times.sqlite.run"));
    }

    /// All GPUs at once, between two moments: later values are unknown, and nothing waits.
    void losesAllGpusBetweenSamples() {
        const Run run = record(
            "all-lost.sqlite", variables("gpus=1,links=18,lost-ms=700"), {"--sample-at", "step*"},
            {LANESCOPE_BINARY_DIR "/bin/standin-training", "--steps", "6", "--step-ms", "250", "--long-steps", "1",
             "--threads", "1", "--kernels", "1", "--cupti", LANESCOPE_BINARY_DIR "/lib/standin/libcupti.so.13"});
        QVERIFY2(run.exitCode == 0, run.errors.constData());
        const Database database = open("all-lost.sqlite");
        QVERIFY(sentence(database, "gpu-lost").startsWith("1 GPU 0 was lost"));
        QCOMPARE(sample(database, "count(*)", "gpuId = 0 AND value = 0"), 0.0);
        // The last value of each counter is unknown.
        QCOMPARE(number(database,
                        "SELECT count(*) FROM (SELECT counterId, max(timestamp) AS last FROM"
                        " LANESCOPE_COUNTER_SAMPLES GROUP BY 1) JOIN LANESCOPE_COUNTER_SAMPLES s"
                        " USING (counterId) WHERE s.timestamp = last AND s.value IS NOT NULL"),
                 0.0);
        QVERIFY(sample(database, "max(timestamp)", "name = 'memory.rss'") > 1e9);
    }
};

LANESCOPE_TEST(tst_Samplers, QCoreApplication)
#include "tst_Samplers.moc"
