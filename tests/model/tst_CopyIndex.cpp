#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "model/bandwidth/CopyIndex.h"
#include "model/bandwidth/CopyRangeTable.h"
#include "tests/support/TraceBuilder.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

TracePtr randomCopies(unsigned seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t streams[] = {builder.addStream(0, 0, 7), builder.addStream(0, 0, 8),
                                builder.addStream(0, 1, 7)};
    for (int count = 0; count < 2000; ++count) {
        const int64_t start = random() % 1'000'000;
        const int64_t bytes = random() % 8 == 0 ? 0 : int64_t{1} << (random() % 33);
        const int64_t end = start + random() % 700;
        const uint32_t stream = streams[random() % 3];
        if (random() % 10 == 0)
            builder.addMemset(stream, bytes, start, end);
        else if (random() % 10 == 0)
            builder.addPeerCopy(stream, random() % 2, random() % 2, bytes, start, end);
        else
            builder.addMemcpy(stream, static_cast<MemcpyKind>(random() % memcpyKindCount), bytes,
                              start, end, 0, static_cast<MemoryKind>(random() % 3),
                              static_cast<MemoryKind>(random() % 3));
        if (random() % 3 == 0) {
            const int64_t kernel = random() % 1'000'000;
            builder.addKernel(stream, "k", kernel, kernel + random() % 900);
        }
    }
    return builder.finish();
}

/// Every nanosecond that a list of stretches covers, by plain union.
int64_t unionNs(std::vector<TimeRange> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
    int64_t total = 0, until = INT64_MIN;
    for (const TimeRange& range : ranges) {
        total += std::max<int64_t>(0, range.endNs - std::max(range.startNs, until));
        until = std::max(until, range.endNs);
    }
    return total;
}

double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double place = share * double(values.size() - 1);
    const auto low = size_t(place);
    const double next = values[std::min(low + 1, values.size() - 1)];
    return values[low] + (place - double(low)) * (next - values[low]);
}

bool isNear(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

}  // namespace

class TestCopyIndex : public QObject {
    Q_OBJECT

  private slots:
    void matchesThePlainLoop_data() {
        QTest::addColumn<bool>("hasRange");
        QTest::newRow("whole trace") << false;
        QTest::newRow("a range that cuts copies") << true;
    }
    void matchesThePlainLoop() {
        QFETCH(bool, hasRange);
        const TracePtr trace = randomCopies(hasRange ? 5 : 6);
        const TimeRange range{200'100, 800'050};
        const MemcpyTable& table = trace->memcpys;
        struct Plain {
            int64_t count = 0, bytes = 0, unrated = 0;
            std::vector<TimeRange> ranges;
            std::map<uint32_t, std::vector<TimeRange>> byGpu;
            std::vector<double> rates;
        };
        // HtoD by memory and size: other kinds go the same way.
        std::map<std::tuple<MemoryKind, MemoryKind, int>, Plain> groups;
        for (uint32_t row = 0; row < table.size(); ++row) {
            if (table.kind[row] != MemcpyKind::HtoD) continue;
            const TimeRange whole{table.startNs[row], table.endNs[row]};
            TimeRange part = whole;
            if (hasRange) {
                const bool isIn =
                    whole.isEmpty() ? range.contains(whole.startNs) : whole.overlaps(range);
                if (!isIn) continue;
                part = whole.intersected(range);
            }
            int64_t bytes = table.bytes[row];
            if (part != whole)
                bytes = std::llround((long double)(bytes)*part.durationNs() / whole.durationNs());
            Plain& plain = groups[{table.sourceMemory[row], table.destinationMemory[row],
                                   sizeBucketOf(table.bytes[row])}];
            ++plain.count;
            plain.bytes += bytes;
            if (part.isEmpty() || bytes == 0)
                ++plain.unrated;
            else
                plain.rates.push_back(double(bytes) / double(part.durationNs()));
            plain.ranges.push_back(part);
            plain.byGpu[trace->streams[table.stream[row]].gpu].push_back(part);
        }
        const CopyIndex index(trace);
        CopyIndex::Query query{CopyGrouping::Size, std::nullopt, noIndex};
        if (hasRange) query.range = range;
        size_t found = 0;
        for (const CopyStatistics& row : index.statistics(query)) {
            if (row.group.isMemset || row.group.kind != MemcpyKind::HtoD) continue;
            ++found;
            const auto place =
                groups.find({row.group.source, row.group.destination, row.group.sizeBucket});
            QVERIFY(place != groups.end());
            const Plain& plain = place->second;
            QCOMPARE(row.count, plain.count);
            QCOMPARE(row.bytes, plain.bytes);
            QCOMPARE(row.unratedCount, plain.unrated);
            QCOMPARE(row.busyNs, unionNs(plain.ranges));
            int64_t gpuBusyNs = 0, overlappedNs = 0;
            for (const auto& [gpu, ranges] : plain.byGpu) {
                gpuBusyNs += unionNs(ranges);
                std::vector<TimeRange> kernels;
                for (uint32_t k = 0; k < trace->kernels.size(); ++k)
                    if (trace->streams[trace->kernels.stream[k]].gpu == gpu)
                        kernels.push_back({trace->kernels.startNs[k], trace->kernels.endNs[k]});
                // |copies and kernels| = |copies| + |kernels| - |either|
                std::vector<TimeRange> either = kernels;
                either.insert(either.end(), ranges.begin(), ranges.end());
                overlappedNs += unionNs(ranges) + unionNs(kernels) - unionNs(either);
            }
            QCOMPARE(row.gpuBusyNs, gpuBusyNs);
            QCOMPARE(row.overlappedNs, overlappedNs);
            QCOMPARE(row.rates.has_value(), !plain.rates.empty());
            if (!row.rates) continue;
            QVERIFY(isNear(row.rates->minimum, quantile(plain.rates, 0)));
            QVERIFY(isNear(row.rates->p10, quantile(plain.rates, 0.1)));
            QVERIFY(isNear(row.rates->median, quantile(plain.rates, 0.5)));
            QVERIFY(isNear(row.rates->p90, quantile(plain.rates, 0.9)));
            QVERIFY(isNear(row.rates->maximum, quantile(plain.rates, 1)));
        }
        QCOMPARE(found, groups.size());
    }

    void groupingsHoldTheSameBytes() {
        const CopyIndex index(randomCopies(9));
        const auto total = [&](CopyGrouping grouping) {
            int64_t bytes = 0;
            for (const CopyStatistics& row : index.statistics({grouping, std::nullopt, noIndex}))
                bytes += row.bytes;
            return bytes;
        };
        for (const CopyGrouping grouping :
             {CopyGrouping::Memory, CopyGrouping::Device, CopyGrouping::Size})
            QCOMPARE(total(grouping), total(CopyGrouping::Kind));
    }

    void bucketsMeetWithoutAGap() {
        for (int bucket = 0; bucket + 1 < sizeBucketCount; ++bucket) {
            QCOMPARE(sizeBucketOf(sizeBucketEnd(bucket) - 1), bucket);
            QCOMPARE(sizeBucketOf(sizeBucketEnd(bucket)), bucket + 1);
        }
        QCOMPARE(sizeBucketOf(0), 0);
        QCOMPARE(sizeBucketOf(INT64_MAX), sizeBucketCount - 1);
        QCOMPARE(sizeBucketName(0), std::string("< 4 KiB"));
        QCOMPARE(sizeBucketName(9), std::string("256 MiB to 1 GiB"));
        QCOMPARE(sizeBucketName(10), std::string("1 GiB and more"));
    }

    void copiesWithoutBytesOrTimeHaveNoRate() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 0, 0, 100);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, 200, 200);
        const CopyIndex index(builder.finish());
        const auto rows = index.statistics({CopyGrouping::Memory, std::nullopt, noIndex});
        QCOMPARE(rows.size(), size_t{1});
        QCOMPARE(rows[0].count, int64_t{2});
        QCOMPARE(rows[0].unratedCount, int64_t{2});
        QVERIFY(!rows[0].rates);
        QVERIFY(!rows[0].meanGBps());
        QVERIFY(!rows[0].busyGBps());
        QVERIFY(!rows[0].peakPercent());
    }

    void measuredPeaksWinOverNominalOnes() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 27'500 * 1000, 0, ms);
        Interconnect& links = builder.trace().interconnect;
        LinkPeak nominal;
        nominal.kind = LinkKind::Pcie;
        nominal.gpu = 0;
        nominal.bytesPerSecond = 63'000'000'000;
        links.peaks.push_back(nominal);
        LinkPeak measured = nominal;
        measured.kind = LinkKind::HostCopy;
        measured.direction = LinkDirection::Receive;
        measured.memory = MemoryKind::Pinned;
        measured.bytesPerSecond = 55'000'000'000;
        measured.origin = PeakOrigin::Measured;
        links.peaks.push_back(measured);
        const TracePtr trace = builder.finish();
        const auto rows =
            CopyIndex(trace).statistics({CopyGrouping::Memory, std::nullopt, noIndex});
        QCOMPARE(rows[0].peak->origin, PeakOrigin::Measured);
        QCOMPARE(*rows[0].peakPercent(), 50.0);
        // Nobody measured pageable memory, so the link itself is what it could be.
        const auto pageable = peakOfCopy(*trace, MemcpyKind::HtoD, MemoryKind::Pageable, 0);
        QCOMPARE(pageable->gigabytesPerSecond, 63.0);
        // Within a GPU each byte is read and written.
        QCOMPARE(peakOfCopy(*trace, MemcpyKind::DtoD, MemoryKind::Device, 0)->gigabytesPerSecond,
                 double(trace->gpus[0].memoryBandwidthBytesPerSecond) / 2e9);
        QVERIFY(!peakOfCopy(*trace, MemcpyKind::DtoD, MemoryKind::Device, 7));
        QVERIFY(!peakOfCopy(*trace, MemcpyKind::HtoH, MemoryKind::Pinned, 0));
    }

    void saysWhatPinningWouldGain() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1'000 * ms, 0, 100 * ms, 0,
                          MemoryKind::Pageable);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 250 * ms, 100 * ms, 105 * ms);
        builder.addKernel(stream, "k", 105 * ms, 1'000 * ms);
        const CopyIndex index(builder.finish());
        const std::vector<BandwidthAdvice> all = index.advice();
        const auto pinning = std::find_if(all.begin(), all.end(), [](const auto& each) {
            return each.kind == AdviceKind::PageableMemory;
        });
        QVERIFY(pinning != all.end());
        QCOMPARE(pinning->gainNs, 80 * ms);  // 10 instead of 50 GB/s
        QCOMPARE(QString::fromStdString(pinning->sentence),
                 QString("80 % of HtoD bytes were pageable at 10 GB/s; the pinned copies of this "
                         "run reach 50: about 80.00 ms of 1.000 s."));
        QCOMPARE(pinning->example, EventRef(EventKind::Memcpy, 0));
    }

    void saysNothingOfWhatIsWell() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 55 * ms, 0, ms);
        builder.addKernel(builder.addStream(0, 0, 9), "k", 0, 100 * ms);
        QVERIFY(CopyIndex(builder.finish()).advice().empty());
    }

    void tinyCopiesAndCopiesOverPcieAreNamed() {
        TraceBuilder builder;
        builder.addGpu();
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        int64_t timeNs = 0;
        for (int count = 0; count < 2'000; ++count, timeNs += 10'000)
            builder.addMemcpy(stream, MemcpyKind::HtoD, 8, timeNs, timeNs + 1'500);
        builder.addPeerCopy(stream, 0, 1, 100 * ms, timeNs, timeNs + 10 * ms);
        builder.trace().interconnect.connections = {{0, 1, 0, "host bridge", "PHB"}};
        std::set<AdviceKind> kinds;
        for (const BandwidthAdvice& each : CopyIndex(builder.finish()).advice()) {
            kinds.insert(each.kind);
            if (each.kind == AdviceKind::PeerOverPcie)
                QVERIFY(each.sentence.find("(PHB)") != std::string::npos);
            if (each.kind == AdviceKind::TinyCopies)
                QVERIFY(each.sentence.starts_with("2,000 HtoD copies under 4 KiB"));
        }
        QVERIFY(kinds.contains(AdviceKind::TinyCopies));
        QVERIFY(kinds.contains(AdviceKind::PeerOverPcie));
    }

    void rangesCountTheirOwnProcessOnly() {
        TraceBuilder builder;
        const uint32_t other = builder.addProcess(4243, "python3");
        const uint32_t stream = builder.defaultStream();
        const uint32_t second = builder.addStream(other, 0, 7);
        for (int step = 0; step < 3; ++step) {
            const int64_t at = step * 1'000;
            builder.addNvtx(builder.defaultThread(), "step " + std::to_string(step), at, at + 900);
            builder.addMemcpy(stream, MemcpyKind::HtoD, 100, at + 800, at + 1'000);
            builder.addMemcpy(second, MemcpyKind::HtoD, 7, at + 10, at + 20);
        }
        const TracePtr trace = builder.finish();
        const auto instances = rangeInstances(*trace);
        QCOMPARE(instances.size(), size_t{3});
        const auto table = copiesByRange(CopyIndex(trace), instances, CopyGrouping::Memory);
        QCOMPARE(table.size(), size_t{3});
        for (const CopiesOfRange& each : table) {
            QCOMPARE(each.rows.size(), size_t{1});
            QCOMPARE(each.rows[0].bytes, int64_t{50});  // half of the copy lies behind the range
            QCOMPARE(each.rows[0].cutCount, int64_t{1});
        }
        QVERIFY(rangeInstances(*trace, "nothing like it").empty());
    }

    void pointsAreThinnedByGroup() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        for (int count = 0; count < 10'000; ++count)
            builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, count * 10, count * 10 + 5);
        builder.addMemcpy(stream, MemcpyKind::DtoH, 4096, 7, 12);
        std::vector<CopyGroup> groups;
        const auto points =
            CopyIndex(builder.finish()).points({CopyGrouping::Kind, {}, noIndex}, 1'000, groups);
        QVERIFY(points.size() <= 1'000);
        QVERIFY(std::any_of(points.begin(), points.end(), [&](const CopyPoint& each) {
            return groups[each.group].kind == MemcpyKind::DtoH;
        }));
        QVERIFY(std::is_sorted(points.begin(), points.end(),
                               [](const auto& a, const auto& b) { return a.startNs < b.startNs; }));
    }
};

QTEST_APPLESS_MAIN(TestCopyIndex)
#include "tst_CopyIndex.moc"
