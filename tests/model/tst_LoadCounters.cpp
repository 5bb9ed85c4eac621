// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/LinkUse.h"
#include "model/compare/RunComparison.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/reports/describeTrace.h"
#include "tests/support/notes.h"
#include "tests/support/reportCells.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::test;

namespace {

constexpr int64_t second = 1'000'000'000;

QString counter(int id, const char* name, const char* unit, int meaning, const QString& gpu,
                const QString& link = "NULL", const char* source = "nvml") {
    return QString(
               "INSERT INTO LANESCOPE_COUNTERS (counterId, source, name, title, unit, meaning,"
               " gpuId, link, wrapBits) VALUES (%1, '%2', '%3', '%3', '%4', %5, %6, %7, 64);")
        .arg(id)
        .arg(source, name, unit)
        .arg(meaning)
        .arg(gpu, link);
}

/// One value per second from 0 on; "NULL" is unknown.
QString samples(int id, const QStringList& values) {
    QString sql;
    for (qsizetype index = 0; index < values.size(); ++index)
        sql += QString("INSERT INTO LANESCOPE_COUNTER_SAMPLES VALUES (%1, %2, %3);")
                   .arg(id)
                   .arg(index * second)
                   .arg(values[index]);
    return sql;
}

/// The packed ids of process 4242 and its main thread.
constexpr int64_t pid = globalPid(4242);
constexpr int64_t tid = globalTid(4242, 4242);

}  // namespace

class tst_LoadCounters : public QObject {
    Q_OBJECT

    std::unique_ptr<TemporaryFolder> folder_;

    /// Loads a trace file with the rows that `sql` inserts.
    TracePtr load(const QString& sql) {
        folder_ = std::make_unique<TemporaryFolder>();
        {
            Database database = orFail(Database::create(*folder_ / "trace"));
            orFail(createTraceTables(database));
            orFail(database.execute(sql.toUtf8().constData()));
        }
        return orFail(loadTrace(*folder_ / "trace"));
    }

    static const CounterSeries* find(const Trace& trace, std::string_view key, int link = -1) {
        for (const CounterSeries& series : trace.counters)
            if (series.key == key && series.link == link) return &series;
        return nullptr;
    }

    static QStringList titles(const Trace& trace) {
        QStringList titles;
        for (const Track& track : trace.tracks) {
            QString title = QString::fromStdString(track.title);
            for (int32_t parent = track.parent; parent >= 0; parent = trace.tracks[parent].parent)
                title = QString::fromStdString(trace.tracks[parent].title) + "/" + title;
            titles << title.replace("GPU 0/Counters/", "../");
        }
        return titles;
    }

    static QString twoLinks() {
        return counter(1, "nvlink.tx", "B", 1, "0", "0") + counter(2, "nvlink.tx", "B", 1, "0", "1") +
               counter(3, "nvlink.rx", "B", 1, "0", "0") + samples(1, {"1000", "2000", "5000"}) +
               samples(2, {"0", "500", "500"}) + samples(3, {"7", "7", "7"});
    }

  private slots:
    void linksAreSummedByGpu() {
        const TracePtr trace = load(twoLinks());
        const CounterSeries* total = find(*trace, "nvlink.tx");
        QVERIFY(total);
        QCOMPARE(total->unit, CounterUnit::BytesPerSecond);
        QCOMPARE(total->value(*total->sampleAt(second / 2)), 1'500.0);
        QCOMPARE(total->value(*total->sampleAt(second + second / 2)), 3'000.0);
        // Sent and received bytes share a track.
        QCOMPARE(titles(*trace),
                 (QStringList{"GPU 0", "GPU 0/Counters", "../NVLink", "../NVLink/Link 0", "../NVLink/Link 1"}));
        QVERIFY(trace->tracks[1].isInitiallyFolded && trace->tracks[2].isInitiallyFolded);
        QCOMPARE(trace->timelineRange().endNs, total->endNs());
    }

    void unusuallyManyLinksAreAllKept() {
        QString sql;
        for (int link = 0; link < 40; ++link)
            sql += counter(link, "nvlink.tx", "B", 1, "0", QString::number(link)) + samples(link, {"0", "10"});
        const TracePtr trace = load(sql);
        QCOMPARE(test::listed(find(*trace, "nvlink.tx")->value(0), report(*trace, "nvlink").rows.size()), "400 | 41");
    }

    void lostLinkMakesTheSumUnknown() {
        const TracePtr trace =
            load(counter(1, "nvlink.tx", "B", 1, "0", "0") + counter(2, "nvlink.tx", "B", 1, "0", "1") +
                 samples(1, {"0", "10", "20", "30"}) + samples(2, {"0", "10", "NULL", "30"}));
        const CounterSeries* total = find(*trace, "nvlink.tx");
        QCOMPARE(total->value(*total->sampleAt(1)), 20.0);
        QVERIFY(!total->sampleAt(second + 1) && !total->sampleAt(2 * second + 1));
    }

    void counterResetsAreReported() {
        const TracePtr trace = load(counter(1, "nvlink.tx", "B", 1, "0", "0") + samples(1, {"1000", "5", "10"}));
        QVERIFY(hasNote(*trace, "were reset 1 time"));
    }

    void linkBytesByRange() {
        const TracePtr trace =
            load(twoLinks() +
                 "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (0, 'epoch', 0, 0, NULL, NULL, NULL), "
                 "(1000000000, 'epoch', 0, 1, NULL, NULL, NULL), (1000000000, 'epoch', 1, 0, NULL, NULL, NULL), "
                 "(1500000000, 'epoch', 1, 1, NULL, NULL, NULL), (9, 'never ended', 0, 0, NULL, NULL, NULL);");
        const ReportTable table = report(*trace, "nvlink_by_range:link");
        // Two ranges, by the sum and two links.
        QCOMPARE(table.rows.size(), size_t{6});
        QCOMPARE(cells(table.rows[0], {6, 7, 9}), "'all' 1500 'read at both ends'");
        // Half of an interval: the bytes may belong to the other half.
        QCOMPARE(cells(table.rows[3], {7, 8, 9}), "- - 'not read'");
    }

    void rangesUseTheReadingsAtTheirEnds() {
        // Counts 10 bytes every 10 ms; each value was read slightly after its time.
        const auto counted = [](int id, int link, const char* values) {
            return counter(id, "nvlink.tx", "B", 1, "0", QString::number(link)) +
                   QString("INSERT INTO LANESCOPE_COUNTER_SAMPLES VALUES %1;")
                       .arg(values)
                       .replace("#", QString::number(id));
        };
        const TracePtr trace =
            load(counted(1, 0, "(#, 0, 0), (#, 11000000, 11), (#, 35000000, 35), (#, 60000000, 60)") +
                 // Did not move while the ranges ran.
                 counted(2, 1, "(#, 0, 0), (#, 5000000, 5), (#, 60000000, 5)") +
                 // Was not read for the end of the first range.
                 counted(3, 2, "(#, 0, 0), (#, 11000000, 11), (#, 60000000, 60)") +
                 "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (10000000, 'a', 0, 0, 5, 10500000, 12000000), "
                 "(34000000, 'a', 0, 1, 5, 34500000, 36000000),"
                 // One reading for both ends: too short.
                 " (10100000, 'b', 0, 0, 6, 10500000, 12000000), (10200000, 'b', 0, 1, 6, 10500000, 12000000),"
                 // The sampler was late.
                 " (12000000, 'd', 0, 0, 8, 34500000, 36000000), (60000000, 'd', 0, 1, 8, 60000000, 60500000),"
                 // Nonsense from a corrupt file.
                 " (10000000, 'c', 0, 0, 7, 12000000, -3), (34000000, 'c', 0, 1, 7, 'x', NULL);");
        const ReportTable table = report(*trace, "nvlink_by_range:link");
        QStringList rows;
        for (const auto& row : table.rows)
            if (text(row[6]) != "all")
                rows += QString::fromStdString(text(row[0]) + text(row[6]) + ' ' + cells(row, {7}).text + ' ' +
                                               text(row[9]));
        rows.sort();
        QCOMPARE(rows,
                 (QStringList{"a0 24 read at both ends", "a1 0 read at both ends", "a2 - not read", "b0 - not read",
                              "b1 0 between samples", "b2 - not read", "c0 24 between samples", "c1 0 between samples",
                              "c2 - not read", "d0 48 between samples", "d1 0 between samples", "d2 - not read"}));
    }

    void energyByRange() {
        const TracePtr trace = load(counter(1, "energy", "J", 1, "0") + samples(1, {"0", "700", "1000"}) +
                                    counter(2, "power", "W", 0, "0") + samples(2, {"1", "1", "1"}) +
                                    "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (0, 'e', 0, 0, NULL, NULL, NULL),"
                                    " (2000000000, 'e', 0, 1, NULL, NULL, NULL);");
        const ReportTable table = report(*trace, "energy_by_range");
        QCOMPARE(cells(table, {6, 7}), "1000.0 500.0");
    }

    /// A counter read once per second cannot resolve a tenth of a second; the power can.
    void energyOfARangeBetweenReadingsUsesPower() {
        const QString range =
            "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (100000000, 'e', 0, 0, NULL, NULL,"
            " NULL), (300000000, 'e', 0, 1, NULL, NULL, NULL);";
        const QString energy = counter(1, "energy", "J", 1, "0") + samples(1, {"0", "700"});
        QCOMPARE(cells(report(*load(energy + range), "energy_by_range").rows.at(0), {6, 8}), "- 'not read'");
        const QString power = counter(2, "power", "W", 0, "0") +
                              "INSERT INTO LANESCOPE_COUNTER_SAMPLES VALUES (2, 0, 100), (2, 200000000, 300),"
                              " (2, 400000000, NULL);";
        QCOMPARE(cells(report(*load(energy + power + range), "energy_by_range").rows.at(0), {6, 8}),
                 "40.0 'between samples'");
    }

    void energyOfAShortRangeIsReportedAsCoarse() {
        const TracePtr trace = load(counter(1, "energy", "J", 1, "0") +
                                    "INSERT INTO LANESCOPE_COUNTER_SAMPLES VALUES (1, 0, 500), (1, 80000000, 500),"
                                    " (1, 160000000, 560);"
                                    "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (0, 'e', 0, 0, NULL, NULL, NULL),"
                                    " (80000000, 'e', 0, 1, NULL, NULL, NULL), (80000000, 'e', 1, 0, NULL, NULL, NULL),"
                                    " (160000000, 'e', 1, 1, NULL, NULL, NULL);");
        const ReportTable table = report(*trace, "energy_by_range");
        QCOMPARE(cells(table, {6, 7, 8}), "- - 'coarse'; 60.0 - 'coarse'");
    }

    void rangesUseTheBestSamplerOfALink() {
        const TracePtr trace = load(counter(1, "nvlink.tx", "B", 1, "0", "NULL") + samples(1, {"0", "1000", "3000"}) +
                                    counter(2, "nvlink.tx", "B/s", 2, "0", "NULL").replace("'nvml'", "'gpm'") +
                                    samples(2, {"900", "900", "900"}) +
                                    "INSERT INTO LANESCOPE_SAMPLING_MOMENTS VALUES (0, 'e', 0, 0, NULL, NULL, NULL),"
                                    " (1000000000, 'e', 0, 1, NULL, NULL, NULL);");
        const ReportTable table = report(*trace, "nvlink_by_range:link");
        QCOMPARE(cells(table, {7}), "1000");
    }

    void throttlingIsALaneOfReasons() {
        const TracePtr trace =
            load(counter(1, "throttle.reasons", "flags", 0, "0") + samples(1, {"1", "4", "4", "36", "NULL", "0"}));
        const auto track = std::find_if(trace->tracks.begin(), trace->tracks.end(),
                                        [](const Track& each) { return each.kind == TrackKind::CounterStates; });
        QVERIFY(track != trace->tracks.end());
        const Lane& lane = track->lanes.front();
        QCOMPARE(lane.size(), 2u);  // idle time is no slice
        QCOMPARE(test::listed(lane.startNs[0], lane.endNs(0)), test::listed(second, 3 * second));
        QCOMPARE(trace->strings.at(lane.name[0]), std::string_view("power cap"));
        QCOMPARE(trace->strings.at(lane.name[1]), std::string_view("power cap, software thermal"));
        QCOMPARE(trace->locate(trace->sampleEvent(0, 2)).slice, 0u);
        const auto rows = report(*trace, "gpu_activity").rows;
        QVERIFY(std::any_of(rows.begin(), rows.end(), [](const auto& row) {
            return text(row[1]) == "throttled: power cap" && real(row[2]) == 60.0 && text(row[4]) == "% of the time";
        }));
    }

    void defaultViewShowsFewCounters() {
        QString sql = counter(1, "gpu.utilization", "%", 0, "0") + counter(2, "memory.utilization", "%", 0, "0") +
                      counter(3, "memory.used", "B", 0, "0") + counter(4, "power", "W", 0, "0") +
                      counter(5, "temperature", "C", 0, "0") + counter(6, "clock.sm", "Hz", 0, "0") +
                      counter(7, "memory.total", "B", 0, "0") + counter(8, "cpu.share", "%", 2, "NULL", "NULL", "host");
        for (int id = 1; id <= 8; ++id) sql += samples(id, {"1", "2"});
        const TracePtr trace = load(sql);
        QCOMPARE(titles(*trace),
                 (QStringList{"GPU 0", "GPU 0/Counters", "../gpu.utilization", "../gpu.utilization/memory.utilization",
                              "../memory.used", "../More counters", "../More counters/power",
                              "../More counters/temperature", "../More counters/clock.sm", "Host", "Host/cpu.share"}));
        for (const size_t folded : {1, 2, 5, 9}) QVERIFY(trace->tracks[folded].isInitiallyFolded);
    }

    void nsightMetricsAreRead() {
        const TracePtr trace = load(
            "INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId,"
            " metricName) VALUES (72057594037927937, 0, 'x', 3, 'SMs Active [Throughput %]');"
            "INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES"
            " (0, 72057594037927937, 3, 10), (1000000, 72057594037927937, 3, 90);");
        QCOMPARE(trace->counters.size(), size_t{1});
        QCOMPARE(trace->counters[0].unit, CounterUnit::Percent);
        QCOMPARE(listed(trace->counters[0].value(0), trace->counters[0].name), "90 | SMs Active");
        QCOMPARE(trace->gpus[trace->counters[0].gpu].id, int64_t{1});
    }

    void peaksAndTopologyAreRead() {
        const TracePtr trace = load(
            "INSERT INTO LANESCOPE_TOPOLOGY VALUES (0, 1, 18, 'NVSwitch', 'NV18');"
            "INSERT INTO LANESCOPE_GPU_AFFINITY VALUES (0, '0-15', 1);"
            "INSERT INTO LANESCOPE_LINK_PEAKS VALUES"
            " ('nvlink', 0, NULL, 'tx', NULL, 450000000000, 18, 4, NULL, 'nvml'),"
            " ('nvlink', 0, 1, 'tx', NULL, 380000000000, NULL, NULL, NULL, 'measured'),"
            " ('pcie', 0, NULL, NULL, NULL, -5, NULL, 5, 16, 'nvml'),"
            " ('magic', 0, NULL, NULL, NULL, 1, NULL, 5, 16, 'nvml');");
        QCOMPARE(trace->interconnect.peaks.size(), size_t{2});
        QCOMPARE(trace->interconnect.connections.size(), size_t{2});  // and the opposite direction
        QCOMPARE(connectionOf(*trace, 1, 0)->abbreviation, std::string("NV18"));
        QCOMPARE(trace->interconnect.affinities[0].numaNode, 1);
        QCOMPARE(peakOfNvlink(*trace, 0, 1)->gigabytesPerSecond, 380.0);
        QCOMPARE(peakOfNvlink(*trace, 0, 1)->origin, PeakOrigin::Measured);
        QCOMPARE(peakOfNvlink(*trace, 0)->gigabytesPerSecond, 450.0);
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(test::listed(verdict.activeLinks, verdict.use), test::listed(18, NvlinkVerdict::Use::Unknown));
    }

    void countersDecideIfNvlinkWasUsed() {
        const QString links =
            "INSERT INTO LANESCOPE_TOPOLOGY VALUES (0, 1, 18, 'NVLink', 'NV18');"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid)"
            " VALUES (0, 2000000000, 59, 'all', 281474976710656);" +
            counter(1, "nvlink.tx", "B", 1, "0", "0");
        QCOMPARE(judgeNvlink(*load(links + samples(1, {"0", "500", "600"}))).use, NvlinkVerdict::Use::NotSeen);
        const NvlinkVerdict used = judgeNvlink(*load(links + samples(1, {"0", "5000000000", "6000000000"})));
        QCOMPARE(used.use, NvlinkVerdict::Use::Used);
        QCOMPARE(test::listed(used.evidence, used.bytes), test::listed(LinkEvidence::Counters, 6'000'000'000));
        QCOMPARE(used.bestGBps, 0.0);  // a mean over a second is not a peak rate
    }

    void resetMakesTheLinkUnknownInsteadOfUnused() {
        const TracePtr trace = load(
            "INSERT INTO LANESCOPE_TOPOLOGY VALUES (0, 1, 18, 'NVLink', 'NV18');"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid)"
            " VALUES (0, 4000000000, 59, 'all', 281474976710656);" +
            counter(1, "nvlink.tx", "B", 1, "0", "0") + samples(1, {"9000000000", "0", "5000000000", "3", "5"}));
        const CounterSeries* total = find(*trace, "nvlink.tx");
        QVERIFY(!total->sampleAt(second / 2) && total->sampleAt(second + 1));
        QVERIFY(!total->sampleAt(2 * second + 1));
        QCOMPARE(total->maximum(), 5e9);
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(test::listed(verdict.use, verdict.bytes), test::listed(NvlinkVerdict::Use::Used, 5'000'000'002));
        QCOMPARE(verdict.sentences.at(2),
                 std::string("This covers 50 % of the time; for the rest, the counters of some GPU are missing."));
        const ReportTable table = report(*trace, "nvlink_by_range", "all");
        QCOMPARE(text(table.rows.at(0).back()), std::string("in part unknown"));
        // An unknown interval has no number.
        QCOMPARE(cells(report(*trace, "nvlink", TimeRange{0, second}).rows.at(0), {2, 4}), "- -");
    }

    void mostlyUnknownCountersDoNotProveDisuse() {
        const TracePtr trace = load(
            "INSERT INTO LANESCOPE_TOPOLOGY VALUES (0, 1, 18, 'NVLink', 'NV18');"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid)"
            " VALUES (0, 4000000000, 59, 'all', 281474976710656);" +
            counter(1, "nvlink.tx", "B", 1, "0", "0") + samples(1, {"0", "10", "NULL", "NULL", "NULL"}));
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(verdict.use, NvlinkVerdict::Use::Unknown);
        QVERIFY(verdict.sentences.back().find("unknown for most of the time") != std::string::npos);
    }

    void gpuLostDuringTheRunIsUnknownAfterwards() {
        QString sql =
            "INSERT INTO LANESCOPE_TOPOLOGY VALUES (0, 1, 18, 'NVLink', 'NV18');"
            "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid)"
            " VALUES (0, 4000000000, 59, 'all', 281474976710656);" +
            counter(1, "nvlink.tx", "B", 1, "0", "0") + counter(2, "nvlink.tx", "B", 1, "1", "0") +
            counter(3, "gpu.utilization", "%", 0, "1") +
            samples(1, {"0", "2000000000", "4000000000", "6000000000", "8000000000"}) +
            samples(2, {"0", "1000000000", "2000000000"}) + samples(3, {"90", "90", "NULL"});
        const TracePtr trace = load(sql);
        const CounterSeries* busy = find(*trace, "gpu.utilization");
        QVERIFY(busy->sampleAt(second) && !busy->sampleAt(2 * second + 1));
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(verdict.bytes, int64_t{10'000'000'000});
        QVERIFY(verdict.sentences.at(2).starts_with("This covers 50 % of the time"));
        const auto rows = report(*trace, "gpu_activity", TimeRange{3 * second, 4 * second}).rows;
        QCOMPARE(rows.size(), size_t{1 + 2});
        for (const auto& row : rows)
            if (text(row[1]) == "gpu.utilization") QVERIFY(isEmpty(row[2]));
        const auto links = report(*trace, "nvlink").rows;
        for (const auto& row : links) QCOMPARE(std::round(real(row[10])), whole(row[0]) == 1 ? 50.0 : 100.0);
    }

    void wrappingCounterContinues() {
        const TracePtr trace =
            load(counter(1, "nvlink.tx", "B", 1, "0", "0") + "UPDATE LANESCOPE_COUNTERS SET wrapBits = 32;" +
                 samples(1, {"4294967000", "704", "1704"}));
        const CounterSeries* total = find(*trace, "nvlink.tx");
        QCOMPARE(listed(total->value(0), total->value(1)), "1000 | 1000");
    }

    void gpuSlicesHaveNoNvlink() {
        const TracePtr trace = load(
            "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, uuid) VALUES"
            " (0, 0, 'NVIDIA H200 MIG 1g.18gb', 'MIG-5a1c'), (1, 1, 'NVIDIA H200', 'MIG-77');");
        QCOMPARE(trace->gpus.size(), size_t{2});
        for (const Gpu& gpu : trace->gpus) QVERIFY(isMigDevice(gpu));
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(verdict.use, NvlinkVerdict::Use::Absent);
        QVERIFY(verdict.sentences.front().find("(MIG)") != std::string::npos && !verdict.bytesPerStep);
        QVERIFY(!peakOfNvlink(*trace, 0));
        QVERIFY(!peakOfPcie(*trace, 0));
    }

    void virtualGpusReportNoLinks() {
        const TracePtr trace = load(
            "INSERT INTO TARGET_INFO_GPU (id, cuDevice, name, uuid) VALUES"
            " (0, 0, 'GRID A100-40C', 'GPU-1'), (1, 1, 'GRID A100-40C', 'GPU-2');" +
            counter(1, "gpu.utilization", "%", 0, "0") + samples(1, {"NULL", "NULL"}));
        const NvlinkVerdict verdict = judgeNvlink(*trace);
        QCOMPARE(verdict.use, NvlinkVerdict::Use::Unknown);
        QCOMPARE(verdict.sentences.front(), std::string("The trace does not show whether the GPUs have NVLink."));
        const auto rows = report(*trace, "gpu_activity").rows;
        for (const auto& row : rows) QVERIFY(isEmpty(row[2]));
    }

    void withoutNvmlThereAreNoLinkCounters() {
        const TracePtr trace = load("");
        QVERIFY(trace->counters.empty());
        for (const char* name : {"nvlink", "nvlink_by_range", "energy_by_range", "gpu_activity"})
            QVERIFY(report(*trace, name).rows.empty());
        QCOMPARE(judgeNvlink(*trace).use, NvlinkVerdict::Use::Unknown);
    }

    void wronglyTypedCellsCostOnlyTheCell() {
        const TracePtr trace = load(counter(1, "power", "W", 0, "0") + samples(1, {"'x'", "x'00'", "5.5", "1e999"}) +
                                    counter(2, "power", "W", 9, "0") + counter(3, "power", "W", 0, "'gpu'") +
                                    "INSERT INTO LANESCOPE_COUNTER_SAMPLES VALUES (77, 0, 1);");
        const CounterSeries* series = find(*trace, "power");
        QVERIFY(series);
        QVERIFY(std::isnan(series->value(0)));
        QCOMPARE(series->value(2), 5.5);
        QVERIFY(std::isnan(series->value(3)));
    }

    void countersOfTwoRunsAreCompared() {
        const TracePtr a = load(twoLinks());
        const TracePtr b = load(counter(1, "nvlink.tx", "B", 1, "0", "0") + counter(2, "nvlink.tx", "B", 1, "0", "1") +
                                samples(1, {"0", "3000", "6000"}) + samples(2, {"0", "0", "0"}));
        const auto all = counterDifferences(*a, {0, 2 * second}, *b, {0, 2 * second});
        std::set<std::string> names;
        for (const CounterDifference& each : all) {
            names.insert(each.name + each.owner);
            if (each.name == "NVLink transmitted")
                QCOMPARE(listed(each.baseline.mean, each.candidate.mean), "2250 | 3000");
        }
        // Links of one GPU stay distinct.
        QCOMPARE(test::listed(names.size(), all.size()), test::listed(all.size(), 3));
    }

    void hostsWithEqualProcessIdsAreDistinguished() {
        const int64_t elsewhere = globalPid(4242, 1);
        const TracePtr trace =
            load(QString("INSERT INTO TARGET_INFO_GPU (id, name) VALUES (0, 'first'), (1, 'second');"
                         "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, %1), (1, 0, %2);"
                         "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, 4242, 0, 1, NULL, 0),"
                         " (8, 1, 1, 4242, 0, 1, NULL, 0), (8, 2, 1, 4242, 0, 1, NULL, 0);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId,"
                         " streamId, globalPid, value, bytes) VALUES (1, 2, 0, 1, 7, %1, 0, 4),"
                         " (3, 4, 0, 1, 8, %2, 0, 4), (5, 6, 0, 1, 8, %1, 0, 4)")
                     .arg(pid)
                     .arg(elsewhere));
        const auto streamOf = [&](size_t row) { return trace->streams[trace->memsets.stream[row]]; };
        QCOMPARE(trace->processes.size(), size_t{2});
        QCOMPARE(listed(trace->gpus[streamOf(0).gpu].name, trace->gpus[streamOf(1).gpu].name), "first | second");
        QCOMPARE(trace->gpus[streamOf(2).gpu].name, std::string("first"));
        QVERIFY(streamOf(0).isNullStream && streamOf(1).isNullStream && !streamOf(2).isNullStream);
    }

    void unknownDeviceIsNoGpu() {
        const TracePtr trace = load(
            QString("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId, contextId, streamId,"
                    " globalPid, syncType, eventId) VALUES (330, 340, -1, 1, 7, %1, 3, 0)")
                .arg(pid));
        QCOMPARE(trace->syncs.size(), 1u);
        QCOMPARE(trace->syncs.stream[0], noIndex);
        QVERIFY(trace->gpus.empty() && trace->streams.empty());
    }

    void gpuConnectionsAreReported_data() {
        const test::Rows<QString, QStringList> row;
        row("two", "(0, 1, 18, 'NVLink'), (1, 0, 18, 'NVLink')", {"GPU 0\u2013GPU 1: NVLink, 18 links"});
        row("no NVLink", "(0, 1, 0, 'PCIe switch')", {"GPU 0\u2013GPU 1: PCIe switch"});
        row("all alike", "(0, 1, 18, 'NVSwitch'), (0, 2, 18, 'NVSwitch'), (1, 2, 18, 'NVSwitch')",
            {"between any two of GPU 0\u20132: NVSwitch, 18 links"});
        row("not alike", "(0, 1, 1, 'NVLink'), (0, 2, 0, 'system'), (1, 2, 0, 'system')",
            {"GPU 0\u2013GPU 1: NVLink, 1 link", "GPU 0\u2013GPU 2: system", "GPU 1\u2013GPU 2: system"});
        row("not all", "(0, 1, 4, 'NVLink'), (2, 3, 4, 'NVLink'), (4, 5, 4, 'NVLink')",
            {"GPU 0\u2013GPU 1: NVLink, 4 links", "GPU 2\u2013GPU 3: NVLink, 4 links",
             "GPU 4\u2013GPU 5: NVLink, 4 links"});
        row("nonsense", "('x', 1, 4, 'NVLink'), (2, 2, 4, 'NVLink'), (NULL, NULL, 0, 0)", {});
    }
    void gpuConnectionsAreReported() {
        const auto [rows, lines] = test::row<QString, QStringList>();
        const TracePtr trace =
            load("INSERT INTO LANESCOPE_TOPOLOGY (gpuId, peerGpuId, nvlinkCount, connection) VALUES " + rows);
        QStringList found;
        for (const LinkLine& line : linkLines(*trace)) found << QString::fromStdString(line.gpus + ": " + line.text());
        QCOMPARE(found, lines);
    }

    void profilerOverheadIsReported() {
        // Flushing on two threads and on none, instrumentation, loading a module, no time, nonsense.
        const TracePtr trace =
            load(QString("INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (0, 5000000, 103, %1, 1, 0, 3), "
                         "(10, 3000010, 103, %1 + 1, 1, 0, 3), (0, 9000000, 103, %2, 1, 0, 3), "
                         "(7, 4000007, 103, %1, 1, 0, 4), (0, 7000000, 103, %1, 1, 0, 6), (0, 0, 103, %1, 1, 0, 3), "
                         "('x', 7, 103, %1, 1, 0, 3)")
                     .arg(tid)
                     .arg(pid));
        QStringList notes;
        for (const HealthNote& note : trace->health)
            if (note.severity == Severity::Info) notes << QString::fromStdString(note.sentence);
        QCOMPARE(
            notes,
            QStringList{"Profiler overhead that CUPTI reports, sum over the run and all threads: 12.00 ms (flushing "
                        "CUPTI's buffers 8.000 ms, CUPTI's instrumentation 4.000 ms)."});
    }
};

LANESCOPE_TEST(tst_LoadCounters, QCoreApplication)
#include "tst_LoadCounters.moc"
