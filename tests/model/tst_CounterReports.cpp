// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/NvlinkVerdict.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/trace/buildLinkCounters.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t second = 1'000'000'000;

CounterSeries counter(std::string_view key, CounterUnit unit, uint32_t gpu, int32_t link, std::vector<double> values) {
    CounterSeries series;
    series.key = key;
    series.name = key;
    series.source = "nvml";
    series.unit = unit;
    series.gpu = gpu;
    series.link = link;
    LargeVector<int64_t> timesNs;
    for (size_t index = 0; index < values.size(); ++index) timesNs.push_back(static_cast<int64_t>(index) * second);
    const auto endNs = static_cast<int64_t>(values.size()) * second;
    series.set(timesNs, {values.begin(), values.end()}, endNs);
    return series;
}

CounterSeries sentOver(uint32_t gpu, int32_t link, std::vector<double> values) {
    return counter(nvlinkSentKey, CounterUnit::BytesPerSecond, gpu, link, std::move(values));
}

/// Two ranks with three steps of two seconds each. Each rank runs kernels on its own GPU and a few
/// on the other's; counters as passed.
TracePtr twoRanks(std::vector<CounterSeries> counters) {
    SimulatedTrace builder;
    const uint32_t gpus[] = {builder.addGpu(), builder.addGpu()};
    for (uint32_t rank = 0; rank < 2; ++rank) {
        const uint32_t process = builder.addProcess(100 + rank, "python3", int(rank));
        const uint32_t thread = builder.addThread(process, 100 + rank);
        const uint32_t stream = builder.addStream(process, gpus[rank], 7);
        const uint32_t other = builder.addStream(process, gpus[1 - rank], 7);
        builder.addMemset(other, 64, 0, 1000);
        for (int64_t step = 0; step < 3; ++step) {
            const int64_t startNs = 2 * step * second;
            builder.addNvtx(thread, "step " + std::to_string(step), startNs, startNs + 2 * second);
            builder.addKernel(stream, "gemm", startNs + 10, startNs + second);
        }
    }
    for (CounterSeries& counter : counters) builder.counter(std::move(counter));
    return builder.finish();
}

ReportTable report(const Trace& trace, std::string_view name, std::string_view rangeName = {}) {
    const Result<ReportTable> table = makeReport(trace, name, {}, rangeName);
    return table ? *table : ReportTable();
}

size_t columnOf(const ReportTable& table, std::string_view name) {
    for (size_t column = 0; column < table.columns.size(); ++column)
        if (table.columns[column].name == name) return column;
    qFatal("no such column");
}

int64_t whole(const ReportTable& table, size_t row, std::string_view column) {
    return std::get<int64_t>(table.rows.at(row).at(columnOf(table, column)));
}

CounterSeries sampledBy(std::string_view source, CounterSeries series) {
    series.source = source;
    return series;
}

const std::vector<double> hundreds = {100, 100, 200, 200, 300, 300};

}  // namespace

class TestCounterReports : public QObject {
    Q_OBJECT
  private slots:
    void processUsesTheGpusWithMostOfItsWork() {
        const TracePtr trace = twoRanks({});
        const GpusOfProcesses gpus(*trace);
        for (uint32_t process = 0; process < trace->processes.size(); ++process) {
            const auto& rank = trace->processes[process].rank;
            if (!rank) continue;
            QCOMPARE(gpus.of(process), std::vector<uint32_t>{uint32_t(*rank)});
        }
        QVERIFY(gpus.of(99).empty());
    }

    void nvlinkOfAStepSumsTheLinksOfTheProcessGpu() {
        std::vector<CounterSeries> counters;
        for (uint32_t gpu = 0; gpu < 2; ++gpu) {
            counters.push_back(sentOver(gpu, -1, hundreds));
            for (int32_t link = 0; link < 18; ++link) counters.push_back(sentOver(gpu, link, hundreds));
        }
        const TracePtr trace = twoRanks(std::move(counters));
        const ReportTable table = report(*trace, "nvlink_by_range");
        QCOMPARE(table.rows.size(), size_t{6});
        for (size_t row = 0; row < table.rows.size(); ++row) {
            QCOMPARE(whole(table, row, "GPU"), whole(table, row, "PID") - 100);
            QCOMPARE(whole(table, row, "Sent"), 200 * (whole(table, row, "Instance") + 1));
        }
        QVERIFY(hasNote(table,
                        "\"step #\" of PID 101 on GPU 1, 3 instances: sent median 400 B, "
                        "sum 1.17 KiB."));
        const ReportTable links = report(*trace, "nvlink_by_range:link");
        QCOMPARE(links.rows.size(), size_t{6 * 19});
        QCOMPARE(std::get<std::string>(links.rows[0][columnOf(links, "Link")]), "all");
        QVERIFY(hasNote(links, "sum 1.17 KiB."));
    }

    void processWithoutGpuWorkReportsAllGpus() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.addGpu();
        builder.addNvtx(builder.defaultThread(), "epoch", 0, second);
        builder.counter(sentOver(0, -1, {5, 5}));
        builder.counter(sentOver(1, -1, {6, 6}));
        const ReportTable table = report(*builder.finish(), "nvlink_by_range", "epoch");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(whole(table, 1, "Sent"), int64_t{6});
    }

    void energyFooterHasMedianAndSum() {
        const TracePtr trace = twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {10, 10, 20, 20, 60, 60})});
        const ReportTable table = report(*trace, "energy_by_range");
        QCOMPARE(table.rows.size(), size_t{3});
        QVERIFY(hasNote(table, "\"step #\" of PID 100 on GPU 0, 3 instances: median 40.0 J, sum 180.0 J."));
    }

    void unknownRangesAreCountedInTheFooter() {
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const TracePtr trace =
            twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {10, 10, unknown, unknown, 60, 60})});
        QVERIFY(hasNote(report(*trace, "energy_by_range"), "3 instances (1 unknown): median 70.0 J, sum 140.0 J."));
        const TracePtr none = twoRanks({counter("energy", CounterUnit::Watts, 0, -1, {unknown, unknown})});
        for (const std::string& note : report(*none, "energy_by_range").notes)
            QVERIFY2(note.find("median") == std::string::npos, note.c_str());
    }

    void rangesWithReadingsAreFoundByTheirPattern() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.defaultThread();
        builder.counter(sentOver(0, -1, {5, 5, 5}));
        const int64_t process = builder.processes().front().globalPid;
        builder.description().interconnect.sampledRanges = {
            {"step 0", 0, process, {0, second}, {0, 10}, {second, second + 10}},
            {"step 1", 1, process, {second, 2 * second}, {}, {}}};
        const TracePtr trace = builder.finish();
        QCOMPARE(report(*trace, "nvlink_by_range", "step #").rows.size(), size_t{2});
        QCOMPARE(report(*trace, "nvlink_by_range", "step 1").rows.size(), size_t{1});
        QVERIFY(report(*trace, "nvlink_by_range", "step").rows.empty());
    }

    void hardwareCountersTakePrecedenceOverNvmlUnlessLost() {
        constexpr double million = 1e6;
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> counted(6, 2 * million);
        std::vector<double> sampled(6, 3 * million);
        const auto verdictOf = [&] {
            return judgeNvlink(
                *twoRanks({sampledBy("nvml", sentOver(0, -1, counted)), sampledBy("pm", sentOver(0, -1, sampled)),
                           sampledBy("gpm", sentOver(0, -1, hundreds))}));
        };
        QCOMPARE(verdictOf().bytes, int64_t{18'000'000});
        sampled[2] = unknown;
        QCOMPARE(verdictOf().bytes, int64_t{12'000'000});
    }

    void nvmlTakesPrecedenceForRangesReadAtBothEnds() {
        SimulatedTrace builder;
        builder.addGpu();
        builder.defaultThread();
        builder.counter(sampledBy("nvml", sentOver(0, -1, {5, 5, 5, 5})));
        CounterSeries hardware = sampledBy("pm", sentOver(0, -1, {6}));
        // Often, but never exactly at the start or end of a range.
        LargeVector<int64_t> timesNs;
        for (int64_t timeNs = -second / 7; timeNs < 3 * second; timeNs += second / 7) timesNs.push_back(timeNs);
        LargeVector<double> values(timesNs.size(), 6);
        hardware.set(timesNs, values, 3 * second);
        builder.counter(std::move(hardware));
        const int64_t process = builder.processes().front().globalPid;
        builder.description().interconnect.sampledRanges = {
            {"read", 0, process, {0, second}, {0, 10}, {second, second + 10}},
            {"between", 0, process, {second / 2, 5 * second / 2}, {}, {}}};
        const ReportTable table = report(*builder.finish(), "nvlink_by_range");
        QCOMPARE(whole(table, 0, "Sent"), int64_t{5});
        QCOMPARE(whole(table, 1, "Sent"), int64_t{12});
    }

    void hardwareNvlinkLeadsAndNvmlIsFoldedBelow() {
        std::vector<CounterSeries> counters;
        for (const char* source : {"nvml", "pm"})
            for (const std::string_view key : {nvlinkSentKey, nvlinkReceivedKey})
                counters.push_back(sampledBy(source, counter(key, CounterUnit::BytesPerSecond, 0, -1, hundreds)));
        for (int32_t link = 1; link >= 0; --link) counters.push_back(sentOver(0, link, hundreds));
        const TracePtr trace = twoRanks(std::move(counters));
        QStringList titles;
        for (const Track& track : trace->tracks) {
            if (track.kind != TrackKind::Counter) continue;
            titles << QString::fromStdString(track.title);
            QCOMPARE(track.isInitiallyFolded, titles.size() == 1);
            QCOMPARE(trace->counters[track.subject].source == "pm", titles.size() == 1);
        }
        QCOMPARE(titles, (QStringList{"NVLink", "NVLink by NVML", "Link 0", "Link 1"}));
    }

    void unknownCountersHaveNoPeak() {
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        const TracePtr trace = twoRanks({counter("sm.activity", CounterUnit::Percent, 0, -1, {unknown, unknown}),
                                         counter("gpu.utilization", CounterUnit::Percent, 0, -1, {0, 0})});
        QStringList subtitles;
        for (const Track& track : trace->tracks)
            if (track.kind == TrackKind::Counter) subtitles << QString::fromStdString(track.subtitle);
        QCOMPARE(subtitles, (QStringList{"unknown", "peak 0.0 %"}));
    }

    void activityHasPlainNumbersWithUnit() {
        const TracePtr trace = twoRanks({counter("power", CounterUnit::Watts, 0, -1, {100, 300}),
                                         counter("memory.used", CounterUnit::Bytes, 0, -1, {3 << 20, 3 << 20}),
                                         counter("clock.sm", CounterUnit::Hertz, 1, -1, {1'980e6, 1'980e6}),
                                         counter("pcie.tx", CounterUnit::BytesPerSecond, 1, -1, {5e6, 15e6}),
                                         counter("energy", CounterUnit::Watts, 1, -1, {100, 300})});
        const std::string json = formatTable(report(*trace, "gpu_activity"), TableFormat::Json);
        const QJsonArray rows = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
        QStringList texts;
        for (const QJsonValue& value : rows) {
            const QJsonObject row = value.toObject();
            QVERIFY(row["Mean"].isDouble());
            QVERIFY(row["Max"].isDouble() || row["Counter"] == "energy");
            texts << QString("%1 %2 %3 %4")
                         .arg(row["Counter"].toString())
                         .arg(row["Mean"].toDouble())
                         .arg(row["Max"].toDouble())
                         .arg(row["Unit"].toString());
        }
        QCOMPARE(texts, (QStringList{"power 200 300 W", "memory.used 3 3 MiB", "clock.sm 1980 1980 MHz",
                                     "pcie.tx 10 15 MB/s", "energy 200 0 W"}));
    }
};

LANESCOPE_TEST(TestCounterReports, NoApplication)
#include "tst_CounterReports.moc"
