// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/SamplerRun.h"
#include "tests/support/runTest.h"

using namespace lanescope;

/// Tests of counters read at the start and end of selected ranges, with a simulated NVML.
class tst_SamplingTimes : public QObject, private SamplerRun {
    Q_OBJECT

  private slots:
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

LANESCOPE_TEST(tst_SamplingTimes, QCoreApplication)
#include "tst_SamplingTimes.moc"
