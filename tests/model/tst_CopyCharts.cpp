// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/copyCharts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int copyCount = 3000;

/// Simulated copies with sizes and rates over many powers of ten; some have no bytes, some no duration.
TracePtr simulatedCopies(double slowest, double fastest) {
    SimulatedTrace builder;
    std::mt19937_64 random(7);
    const uint32_t stream = builder.defaultStream();
    std::uniform_real_distribution<double> share(0, 1);
    int64_t atNs = 0;
    for (int copy = 0; copy < copyCount; ++copy) {
        const auto bytes = static_cast<int64_t>(std::pow(10, 2 + 6 * share(random)));
        const double rate = slowest * std::pow(fastest / slowest, share(random));
        const auto durationNs = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(bytes) / rate));
        const bool isPageable = share(random) < 0.3;
        builder.addMemcpy(stream, copy % 3 == 0 ? MemcpyKind::DtoH : MemcpyKind::HtoD, copy % 97 == 0 ? 0 : bytes, atNs,
                          copy % 89 == 0 ? atNs : atNs + durationNs, 0,
                          isPageable ? MemoryKind::Pageable : MemoryKind::Pinned);
        atNs += durationNs / 2 + 10;
    }
    return builder.finish();
}

/// The copies that a chart of `range` shows, by the plain loop.
std::vector<uint32_t> ratedCopies(const Trace& trace, std::optional<TimeRange> range) {
    std::vector<uint32_t> rows;
    const MemcpyTable& copies = trace.memcpys;
    for (uint32_t row = 0; row < copies.size(); ++row) {
        if (copies.bytes[row] <= 0 || copies.endNs[row] <= copies.startNs[row]) continue;
        if (range && (copies.endNs[row] <= range->startNs || copies.startNs[row] >= range->endNs)) continue;
        rows.push_back(row);
    }
    return rows;
}

double rateOf(const Trace& trace, uint32_t row) {
    const MemcpyTable& copies = trace.memcpys;
    return double(copies.bytes[row]) / double(copies.endNs[row] - copies.startNs[row]);
}

}  // namespace

class TestCopyCharts : public QObject {
    Q_OBJECT
  private slots:
    void everyRatedCopyIsInOneCell_data() {
        QTest::addColumn<bool>("isTime");
        QTest::addColumn<bool>("isWhole");
        QTest::newRow("time, whole trace") << true << true;
        QTest::newRow("time, a range") << true << false;
        QTest::newRow("size, whole trace") << false << true;
        QTest::newRow("size, a range") << false << false;
    }

    void everyRatedCopyIsInOneCell() {
        QFETCH(bool, isTime);
        QFETCH(bool, isWhole);
        const TracePtr trace = simulatedCopies(0.01, 60);
        const CopyIndex index(trace);
        CopyIndex::Query query;
        if (!isWhole) {
            const int64_t thirdNs = trace->range.durationNs() / 3;
            query.range = TimeRange{trace->range.startNs + thirdNs, trace->range.startNs + 2 * thirdNs};
        }
        const CopyGrid grid{isTime ? CopyAxis::Time : CopyAxis::Size, 40, 20};
        const CopyCells cells = copyCells(index, query, grid);
        const std::vector<uint32_t> expected = ratedCopies(*trace, query.range);
        QVERIFY(!expected.empty());
        QCOMPARE(cells.copyCount, int64_t(expected.size()));
        double least = 1e300, most = 0;
        std::set<uint32_t> shown(expected.begin(), expected.end());
        for (const uint32_t row : expected) {
            least = std::min(least, rateOf(*trace, row));
            most = std::max(most, rateOf(*trace, row));
        }
        QCOMPARE(cells.rates.minGBps, least);
        QCOMPARE(cells.rates.maxGBps, most);
        int64_t sum = 0;
        std::map<uint32_t, size_t> cellsOfGroup;
        for (const CopyCell& cell : cells.cells) {
            QVERIFY(cell.count > 0);
            sum += cell.count;
            ++cellsOfGroup[cell.largest.group];
            const uint32_t row = cell.largest.event.row();
            QVERIFY(shown.count(row) == 1);
            QCOMPARE(cell.largest.bytes, trace->memcpys.bytes[row]);
            QCOMPARE(cells.groups[cell.largest.group].source, trace->memcpys.sourceMemory[row]);
            QCOMPARE(cells.groups[cell.largest.group].kind, trace->memcpys.kind[row]);
        }
        QCOMPARE(sum, int64_t(expected.size()));
        for (const auto& [group, count] : cellsOfGroup) QVERIFY(count <= 40u * 20u);
        QVERIFY(cells.cells.size() < expected.size());
    }

    void largestCopyIsInSomeCell() {
        const TracePtr trace = simulatedCopies(0.01, 60);
        const CopyCells cells = copyCells(CopyIndex(trace), {}, {CopyAxis::Time, 3, 3});
        int64_t greatest = 0;
        for (const CopyCell& cell : cells.cells) greatest = std::max(greatest, cell.largest.bytes);
        int64_t expected = 0;
        for (const uint32_t row : ratedCopies(*trace, {})) expected = std::max(expected, trace->memcpys.bytes[row]);
        QCOMPARE(greatest, expected);
        QCOMPARE(cells.maxBytes, expected);
    }

    void closeRatesUseALinearScale() {
        const CopyIndex narrow(simulatedCopies(10, 50));
        const CopyIndex wide(simulatedCopies(0.1, 50));
        QVERIFY(!copyCells(narrow, {}, {}).rates.isLogarithmic());
        QVERIFY(copyCells(wide, {}, {}).rates.isLogarithmic());
    }

    void histogramCountsEachCopyAtItsRate_data() {
        QTest::addColumn<double>("slowest");
        QTest::newRow("linear") << 10.0;
        QTest::newRow("logarithmic") << 0.01;
    }

    void histogramCountsEachCopyAtItsRate() {
        QFETCH(double, slowest);
        const TracePtr trace = simulatedCopies(slowest, 60);
        const RateHistogram histogram = rateHistogram(CopyIndex(trace), {}, 24);
        QCOMPARE(histogram.binCount, 24);
        std::map<int, int64_t> counts, bytes;
        for (const RateBin& bin : histogram.bins) {
            QVERIFY(bin.bin >= 0 && bin.bin < 24);
            counts[bin.bin] += bin.count;
            bytes[bin.bin] += bin.bytes;
            const double rate = bin.largest.gigabytesPerSecond;
            QVERIFY(rate >= histogram.binStart(bin.bin) * 0.999999);
            QVERIFY(rate <= histogram.binStart(bin.bin + 1) * 1.000001);
        }
        int64_t inBins = 0, bytesInBins = 0, bytesExpected = 0;
        for (const auto& [bin, count] : counts) inBins += count;
        for (const auto& [bin, sum] : bytes) bytesInBins += sum;
        const std::vector<uint32_t> expected = ratedCopies(*trace, {});
        for (const uint32_t row : expected) bytesExpected += trace->memcpys.bytes[row];
        QCOMPARE(inBins, int64_t(expected.size()));
        QCOMPARE(bytesInBins, bytesExpected);
    }

    void chartsWithoutCopiesAreEmpty() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        const CopyIndex index(builder.finish());
        QVERIFY(copyCells(index, {}, {}).cells.empty());
        const RateHistogram histogram = rateHistogram(index, {}, 10);
        QVERIFY(histogram.bins.empty());
        QVERIFY(histogram.rates.isEmpty());
        QCOMPARE(histogram.binStart(3), 0.0);
    }
};

LANESCOPE_TEST(TestCopyCharts, NoApplication)
#include "tst_CopyCharts.moc"
