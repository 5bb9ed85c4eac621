// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/CopyRangeTable.h"
#include "model/bandwidth/CopyIndex.h"
#include "model/bandwidth/CopyStatistics.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

/// Some copies are so long that they overlap many others.
TracePtr randomCopies(unsigned seed, bool hasLongOnes = false) {
    std::mt19937 random(seed);
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    const uint32_t streams[] = {builder.addStream(0, 0, 7), builder.addStream(0, 0, 8), builder.addStream(0, 1, 7)};
    for (int count = 0; count < 2000; ++count) {
        const int64_t start = random() % 1'000'000, bytes = random() % 8 == 0 ? 0 : int64_t{1} << (random() % 33);
        const bool isLong = hasLongOnes && random() % 100 == 0;
        const int64_t end = start + random() % (isLong ? 300'000 : 700);
        const uint32_t stream = streams[random() % 3];
        if (random() % 10 == 0)
            builder.addMemset(stream, bytes, start, end);
        else if (random() % 10 == 0)
            builder.addPeerCopy(stream, random() % 2, random() % 2, bytes, start, end);
        else
            builder.addMemcpy(stream, static_cast<MemcpyKind>(random() % memcpyKindCount), bytes, start, end, 0,
                              static_cast<MemoryKind>(random() % 3), static_cast<MemoryKind>(random() % 3));
        if (random() % 3 == 0) {
            const int64_t kernel = random() % 1'000'000;
            builder.addKernel(stream, "k", kernel, kernel + random() % 900);
        }
    }
    return builder.finish();
}

/// Nanoseconds covered by a list of intervals, by plain union.
int64_t unionNs(std::vector<TimeRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
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

/// Compares rows for exact equality, including rates.
void compareRows(const std::vector<CopyStatistics>& rows, const std::vector<CopyStatistics>& expected) {
    QCOMPARE(rows.size(), expected.size());
    for (size_t row = 0; row < rows.size(); ++row) {
        const CopyStatistics &a = rows[row], &b = expected[row];
        QVERIFY(a.group == b.group);
        for (const auto member :
             {&CopyStatistics::count, &CopyStatistics::bytes, &CopyStatistics::busyNs, &CopyStatistics::summedNs,
              &CopyStatistics::gpuBusyNs, &CopyStatistics::overlappedNs, &CopyStatistics::unratedCount,
              &CopyStatistics::ratedBytes, &CopyStatistics::ratedNs, &CopyStatistics::clippedCount})
            QCOMPARE(a.*member, b.*member);
        QCOMPARE(a.rates.has_value(), b.rates.has_value());
        if (!a.rates) continue;
        for (const auto rate :
             {&CopyRates::minimum, &CopyRates::p10, &CopyRates::median, &CopyRates::p90, &CopyRates::maximum})
            QVERIFY((*a.rates).*rate == (*b.rates).*rate);
    }
}

bool isNear(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

class TestCopyIndex : public QObject {
    Q_OBJECT

  private slots:
    void matchesThePlainLoop_data() {
        QTest::addColumn<bool>("hasRange");
        QTest::newRow("whole trace") << false;
        QTest::newRow("a range that clips copies") << true;
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
        // HtoD by memory and size; other kinds work the same way.
        std::map<std::tuple<MemoryKind, MemoryKind, int>, Plain> groups;
        for (uint32_t row = 0; row < table.size(); ++row) {
            if (table.kind[row] != MemcpyKind::HtoD) continue;
            const TimeRange whole{table.startNs[row], table.endNs[row]};
            TimeRange part = whole;
            if (hasRange) {
                const bool isIn = whole.isEmpty() ? range.contains(whole.startNs) : whole.overlaps(range);
                if (!isIn) continue;
                part = whole.intersected(range);
            }
            int64_t bytes = table.bytes[row];
            if (part != whole) bytes = std::llround((long double)(bytes)*part.durationNs() / whole.durationNs());
            Plain& plain =
                groups[{table.sourceMemory[row], table.destinationMemory[row], sizeBucketOf(table.bytes[row])}];
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
            const auto place = groups.find({row.group.source, row.group.destination, row.group.sizeBucket});
            QVERIFY(place != groups.end());
            const Plain& plain = place->second;
            QCOMPARE(test::listed(row.count, row.bytes), test::listed(plain.count, plain.bytes));
            QCOMPARE(test::listed(row.unratedCount, row.busyNs), test::listed(plain.unrated, unionNs(plain.ranges)));
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
            QCOMPARE(test::listed(row.gpuBusyNs, row.overlappedNs), test::listed(gpuBusyNs, overlappedNs));
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

    void precomputedSumsMatchPlainLoop_data() {
        QTest::addColumn<int>("grouping");
        for (const auto& [name, grouping] :
             {std::pair("kind", CopyGrouping::Kind), std::pair("memory", CopyGrouping::Memory),
              std::pair("device", CopyGrouping::Device), std::pair("size", CopyGrouping::Size)})
            QTest::newRow(name) << int(grouping);
    }
    void precomputedSumsMatchPlainLoop() {
        QFETCH(int, grouping);
        const auto plainOf = [](const TracePtr& trace) { return std::make_unique<CopyIndex>(trace, UINT32_MAX); };
        for (const bool hasLongOnes : {false, true}) {
            const TracePtr trace = randomCopies(7, hasLongOnes);
            const CopyIndex ready(trace, 0);
            const auto plain = plainOf(trace);
            std::mt19937 random(8);
            for (int round = 0; round < 200; ++round) {
                CopyIndex::Query query{static_cast<CopyGrouping>(grouping), std::nullopt, noIndex};
                const int64_t a = int64_t(random() % 1'100'000) - 50'000;
                const int64_t b = int64_t(random() % 1'100'000) - 50'000;
                const int64_t length = round % 3 == 0 ? int64_t(random() % 50) : std::abs(a - b);
                if (round > 0) query.range = TimeRange{std::min(a, b), std::min(a, b) + length};
                // The whole trace once more, after the sums are built.
                if (round == 199) query.range.reset();
                compareRows(ready.statistics(query), plain->statistics(query));
            }
        }
    }

    void blockTalliesMatchSingleCopies() {
        std::mt19937 random(11);
        for (int round = 0; round < 40; ++round) {
            std::vector<std::pair<CopyGroup, TalliedCopy>> copies;
            CopyGroup group;
            group.kind = round % 2 == 0 ? MemcpyKind::DtoH : MemcpyKind::HtoD;
            for (uint32_t row = 0; row < 100; ++row) {
                group.source = group.destination = random() % 2 == 0 ? MemoryKind::Pageable : MemoryKind::Pinned;
                const int64_t ns = random() % 50;
                copies.emplace_back(group, TalliedCopy{EventRef(EventKind::Memcpy, row),
                                                       {row, row + ns},
                                                       ns,
                                                       int64_t(random() % 4'000'000),
                                                       uint32_t(random() % 90),
                                                       random() % 2 == 0});
            }
            CopyTally all, joined;
            for (const auto& [of, copy] : copies) all.add(of, copy);
            for (size_t from = 0; from < copies.size();) {
                CopyTally block;
                const size_t end = std::min(copies.size(), from + random() % 30);
                for (; from < end; ++from) block.add(copies[from].first, copies[from].second);
                joined.append(block);
            }
            for (const auto member :
                 {&CopyTally::count, &CopyTally::tinyCount, &CopyTally::tinyGpuNs, &CopyTally::tinyCallNs,
                  &CopyTally::holdingCount, &CopyTally::holdingCallNs, &CopyTally::longestHoldNs,
                  &CopyTally::slowestPageableNs, &CopyTally::longestNs, &CopyTally::pinnedBytes, &CopyTally::pinnedNs})
                QCOMPARE(joined.*member, all.*member);
            for (const auto member : {&CopyTally::tinyExample, &CopyTally::holdingExample, &CopyTally::slowestPageable,
                                      &CopyTally::longest})
                QCOMPARE(joined.*member, all.*member);
        }
    }

    void adviceOnARangeUsesOnlyItsCopies() {
        constexpr int count = 5'000;
        const auto build = [](int from, int to) {
            SimulatedTrace builder;
            const uint32_t stream = builder.defaultStream();
            for (int copy = from; copy < to; ++copy) {
                const int64_t at = copy * 10'000;
                builder.addMemcpy(stream, MemcpyKind::HtoD, copy % 3 == 0 ? 8 : 1 << 20, at, at + 8'000 + copy % 7, 0,
                                  copy % 2 == 0 ? MemoryKind::Pinned : MemoryKind::Pageable);
                builder.addKernel(stream, "k", at + 8'100, at + 9'900);
            }
            return builder.finish();
        };
        const CopyIndex all(build(0, count));
        const std::pair<int, int> parts[] = {{0, 5'000}, {3, 4'999}, {1'024, 2'048}, {900, 4'200}};
        for (const auto& [from, to] : parts) {
            const TimeRange range{from * 10'000, to * 10'000};
            const auto advice = all.advice(range);
            const auto expected = CopyIndex(build(from, to)).advice(range);
            QVERIFY(!advice.empty());
            QCOMPARE(advice.size(), expected.size());
            for (size_t index = 0; index < advice.size(); ++index) {
                QCOMPARE(advice[index].sentence, expected[index].sentence);
                QCOMPARE(advice[index].gainNs, expected[index].gainNs);
                QCOMPARE(advice[index].example.row(), expected[index].example.row() + static_cast<uint32_t>(from));
            }
        }
    }

    void hugeSumsAreNotPrecomputed() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        for (int copy = 0; copy < 4; ++copy)
            builder.addMemcpy(stream, MemcpyKind::HtoD, INT64_MAX / 3, copy * 10, copy * 10 + 5);
        const TracePtr trace = builder.finish();
        const CopyIndex::Query query{CopyGrouping::Memory, TimeRange{0, 37}, noIndex};
        compareRows(CopyIndex(trace, 0).statistics(query), CopyIndex(trace, UINT32_MAX).statistics(query));
    }

    void unsortedCopiesAreNotPrecomputed() {
        // Such pieces occur only in a corrupt index.
        const std::vector<CopySweep::Piece> pieces{{500, 600, 10, 0, 0, 0, false}, {100, 900, 10, 0, 0, 0, false}};
        const CopyLookup lookup{[&](uint32_t copy) { return pieces[copy]; },
                                [](uint32_t, int64_t) { return int64_t{0}; }};
        QVERIFY(!CopyGroupSums({}, {0, 1}, 1, lookup).isUsable());
        QVERIFY(CopyGroupSums({}, {1, 0}, 1, lookup).isUsable());
    }

    void ranksAreSelectedLikeSorted() {
        std::mt19937 random(9);
        for (const size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{64}, size_t{1000}}) {
            std::vector<uint32_t> ranks(size);
            std::iota(ranks.begin(), ranks.end(), 0U);
            std::shuffle(ranks.begin(), ranks.end(), random);
            const RankSequence sequence(ranks);
            QCOMPARE(sequence.size(), size);
            for (size_t position = 0; position < size; ++position) QCOMPARE(sequence.at(position), ranks[position]);
            for (int round = 0; round < 50 && size > 0; ++round) {
                const size_t first = random() % size, last = first + 1 + random() % (size - first);
                std::vector<uint32_t> sorted(ranks.begin() + ptrdiff_t(first), ranks.begin() + ptrdiff_t(last));
                std::sort(sorted.begin(), sorted.end());
                std::vector<uint32_t> left, kept;
                for (const uint32_t rank : sorted) (random() % 4 == 0 ? left : kept).push_back(rank);
                for (size_t k = 0; k < kept.size(); ++k) QCOMPARE(sequence.select(first, last, k, left), kept[k]);
            }
        }
    }

    void groupingsContainTheSameBytes() {
        const CopyIndex index(randomCopies(9));
        const auto total = [&](CopyGrouping grouping) {
            int64_t bytes = 0;
            for (const CopyStatistics& row : index.statistics({grouping, std::nullopt, noIndex})) bytes += row.bytes;
            return bytes;
        };
        for (const CopyGrouping grouping : {CopyGrouping::Memory, CopyGrouping::Device, CopyGrouping::Size})
            QCOMPARE(total(grouping), total(CopyGrouping::Kind));
    }

    void bucketsAreContiguous() {
        for (int bucket = 0; bucket + 1 < sizeBucketCount; ++bucket) {
            QCOMPARE(sizeBucketOf(sizeBucketEnd(bucket) - 1), bucket);
            QCOMPARE(sizeBucketOf(sizeBucketEnd(bucket)), bucket + 1);
        }
        QCOMPARE(test::listed(sizeBucketOf(0), sizeBucketOf(INT64_MAX)), test::listed(0, sizeBucketCount - 1));
        QCOMPARE(test::listed(sizeBucketName(0), sizeBucketName(9)), "< 4 KiB | 256 MiB to 1 GiB");
        QCOMPARE(sizeBucketName(10), std::string("1 GiB and more"));
    }

    void copiesWithoutBytesOrTimeHaveNoRate() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 0, 0, 100);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, 200, 200);
        const CopyIndex index(builder.finish());
        const auto rows = index.statistics({CopyGrouping::Memory, std::nullopt, noIndex});
        QCOMPARE(rows.size(), size_t{1});
        QCOMPARE(test::listed(rows[0].count, rows[0].unratedCount), "2 | 2");
        QVERIFY(!rows[0].rates && !rows[0].meanGBps() && !rows[0].peakPercent());
    }

    void measuredPeaksTakePrecedenceOverNominalOnes() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 27'500 * 1000, 0, ms);
        Interconnect& links = builder.description().interconnect;
        LinkPeak nominal{.kind = LinkKind::Pcie, .gpu = 0, .bytesPerSecond = 63'000'000'000};
        links.peaks.push_back(nominal);
        LinkPeak measured = nominal;
        measured.kind = LinkKind::HostCopy;
        measured.direction = LinkDirection::Receive;
        measured.memory = MemoryKind::Pinned;
        measured.bytesPerSecond = 55'000'000'000;
        measured.origin = PeakOrigin::Measured;
        links.peaks.push_back(measured);
        const TracePtr trace = builder.finish();
        const auto rows = CopyIndex(trace).statistics({CopyGrouping::Memory, std::nullopt, noIndex});
        QCOMPARE(test::listed(rows[0].peak->origin, *rows[0].peakPercent()), test::listed(PeakOrigin::Measured, 50));
        // Pageable memory has no measured peak, so the peak of the link counts.
        QCOMPARE(peakOfCopy(*trace, MemcpyKind::HtoD, MemoryKind::Pageable, 0)->gigabytesPerSecond, 63.0);
        // Within a GPU, each byte is read and written.
        QCOMPARE(peakOfCopy(*trace, MemcpyKind::DtoD, MemoryKind::Device, 0)->gigabytesPerSecond,
                 double(trace->gpus[0].memoryBandwidthBytesPerSecond) / 2e9);
        QVERIFY(!peakOfCopy(*trace, MemcpyKind::DtoD, MemoryKind::Device, 7));
        QVERIFY(!peakOfCopy(*trace, MemcpyKind::HtoH, MemoryKind::Pinned, 0));
    }

    void rangesCountOnlyTheirOwnProcess() {
        SimulatedTrace builder;
        const uint32_t other = builder.addProcess(4243, "python3"), stream = builder.defaultStream();
        const uint32_t second = builder.addStream(other, 0, 7);
        builder.addSteps(builder.defaultThread(), 3, 1'000, 900, [&](int64_t at) {
            builder.addMemcpy(stream, MemcpyKind::HtoD, 100, at + 800, at + 1'000);
            builder.addMemcpy(second, MemcpyKind::HtoD, 7, at + 10, at + 20);
        });
        const TracePtr trace = builder.finish();
        const auto instances = rangeInstances(*trace);
        QCOMPARE(instances.size(), size_t{3});
        const auto table = copiesByRange(CopyIndex(trace), instances, CopyGrouping::Memory);
        QCOMPARE(table.size(), size_t{3});
        for (const CopiesOfRange& each : table) {
            QCOMPARE(each.rows.size(), size_t{1});
            QCOMPARE(each.rows[0].bytes, int64_t{50});  // half of the copy lies after the range
            QCOMPARE(each.rows[0].clippedCount, int64_t{1});
        }
        QVERIFY(rangeInstances(*trace, "nothing like it").empty());
    }

    void allInstancesOfARangeAreSummed() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        constexpr int64_t sizes[] = {100, 300, 500};
        for (int epoch = 0; epoch < 4; ++epoch) {
            const int64_t at = epoch * 10'000;
            builder.addNvtx(builder.defaultThread(), "epoch " + std::to_string(epoch), at, at + 9'000);
            // The last range copies nothing to the GPU.
            for (int copy = 0; epoch < 3 && copy <= epoch; ++copy)
                builder.addMemcpy(stream, MemcpyKind::HtoD, sizes[epoch], at + copy * 1'000, at + copy * 1'000 + 100);
            builder.addMemcpy(stream, MemcpyKind::DtoH, 8, at + 8'000, at + 8'010, 0, MemoryKind::Device,
                              MemoryKind::Pinned);
        }
        const TracePtr trace = builder.finish();
        const CopyIndex index(trace);
        const auto each = copiesByRange(index, rangeInstances(*trace, "epoch #"), CopyGrouping::Memory);
        const auto rows = copiesOfAllInstances(index, each, CopyGrouping::Memory);
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(test::listed(rows[0].range, rows[0].instanceCount, rows[0].total.count), "epoch # | 4 | 6");
        QCOMPARE(rows[0].total.bytes, int64_t{100 + 2 * 300 + 3 * 500});
        QCOMPARE(rows[0].total.busyNs, int64_t{600});
        // Counts of 1, 2, 3 and 0 copies; 100, 600, 1500 and 0 bytes.
        QCOMPARE(test::listed(rows[0].medianCount, rows[0].medianBytes, rows[0].medianBusyNs), "1.5 | 350 | 150");
        QVERIFY(isNear(rows[0].total.rates->minimum, 1) && isNear(rows[0].total.rates->maximum, 5));
        QVERIFY(isNear(rows[0].total.rates->median, quantile({1, 3, 3, 5, 5, 5}, 0.5)));
        QCOMPARE(rows[1].medianBytes, 8.0);
        // A name without varying numbers stays unchanged.
        const auto one = copiesByRange(index, rangeInstances(*trace, "epoch 2"), CopyGrouping::Memory);
        QCOMPARE(copiesOfAllInstances(index, one, CopyGrouping::Memory).front().range, std::string("epoch 2"));
        QVERIFY(copiesOfAllInstances(index, {}, CopyGrouping::Memory).empty());
    }

    void sharesAboveThePeakAreExplained() {
        SimulatedTrace builder;
        builder.addGpu();
        const uint32_t stream = builder.addStream(0, 0, 7);
        builder.addMemcpy(stream, MemcpyKind::DtoD, 4 * ms, 0, 1'000, 0, MemoryKind::Device, MemoryKind::Device);
        LinkPeak memory{.kind = LinkKind::Dram, .gpu = 0, .bytesPerSecond = 4'800'000'000'000};
        builder.description().interconnect.peaks = {memory};
        const auto rows = CopyIndex(builder.finish()).statistics({});
        QVERIFY(*rows[0].peakPercent() > 100);
        QVERIFY(rows[0].whyBeyondPeak().find("L2 cache") != std::string_view::npos);
        CopyStatistics within = rows[0];
        within.ratedNs *= 10;
        QVERIFY(within.whyBeyondPeak().empty());
        within.peak.reset();
        QVERIFY(within.whyBeyondPeak().empty());
    }
};

LANESCOPE_TEST(TestCopyIndex, NoApplication)
#include "tst_CopyIndex.moc"
