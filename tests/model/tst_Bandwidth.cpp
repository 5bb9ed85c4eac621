#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "model/summary/Bandwidth.h"
#include "tests/support/TraceBuilder.h"

using namespace lanescope;

class TestBandwidth : public QObject {
    Q_OBJECT

  private slots:
    void matchesThePlainLoop() {
        std::mt19937 random(3);
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        for (int count = 0; count < 3000; ++count) {
            const int64_t start = random() % 1'000'000;
            builder.addMemcpy(stream, static_cast<MemcpyKind>(random() % memcpyKindCount),
                              random() % 100'000, start, start + random() % 500, 0,
                              static_cast<MemoryKind>(random() % 3),
                              static_cast<MemoryKind>(random() % 3));
        }
        const TracePtr trace = builder.finish();
        const TimeRange range{200'000, 800'000};

        using Key = std::tuple<MemcpyKind, MemoryKind, MemoryKind>;
        std::map<Key, std::vector<std::pair<int64_t, int64_t>>> copies;
        const MemcpyTable& table = trace->memcpys;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const bool isInstant = table.startNs[row] == table.endNs[row];
            const bool isInside = isInstant
                                      ? range.contains(table.startNs[row])
                                      : range.overlaps({table.startNs[row], table.endNs[row]});
            if (isInside)
                copies[{table.kind[row], table.sourceMemory[row], table.destinationMemory[row]}]
                    .emplace_back(table.bytes[row], table.endNs[row] - table.startNs[row]);
        }
        const std::vector<BandwidthRow> rows = bandwidthByKind(*trace, range);
        QCOMPARE(rows.size(), copies.size());
        for (const BandwidthRow& row : rows) {
            const auto& expected = copies[{row.kind, row.sourceMemory, row.destinationMemory}];
            int64_t bytes = 0, timedBytes = 0, timeNs = 0;
            std::vector<double> rates;
            for (const auto& [size, duration] : expected) {
                bytes += size;
                timeNs += duration;
                if (duration == 0) continue;
                timedBytes += size;
                rates.push_back(double(size) / double(duration));
            }
            std::sort(rates.begin(), rates.end());
            const size_t half = rates.size() / 2;
            const double median =
                rates.size() % 2 ? rates[half] : (rates[half - 1] + rates[half]) / 2;
            QCOMPARE(row.count, static_cast<int64_t>(expected.size()));
            QCOMPARE(row.bytes, bytes);
            QCOMPARE(row.timeNs, timeNs);
            QCOMPARE(row.minimumGBps, rates.front());
            QCOMPARE(row.maximumGBps, rates.back());
            QVERIFY(std::abs(row.medianGBps - median) < 1e-9 * median);
            QCOMPARE(row.meanGBps(), double(timedBytes) / double(timeNs));
        }
        for (size_t index = 1; index < rows.size(); ++index)
            QVERIFY(rows[index - 1].bytes >= rows[index].bytes);
    }

    void copyWithoutDurationHasBytesButNoRate() {
        TraceBuilder builder;
        builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 77, 5, 5);
        const std::vector<BandwidthRow> rows = bandwidthByKind(*builder.finish());
        QCOMPARE(rows.size(), size_t{1});
        QCOMPARE(rows[0].bytes, int64_t{77});
        QCOMPARE(rows[0].meanGBps(), 0.0);
        QCOMPARE(rows[0].maximumGBps, 0.0);
    }

    void pinnedAndPageableCopiesStandApart() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 55'000, 0, 1'000, 0, MemoryKind::Pinned);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 9'000, 2'000, 3'000, 0, MemoryKind::Pageable);
        const std::vector<BandwidthRow> rows = bandwidthByKind(*builder.finish());
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(rows[0].sourceMemory, MemoryKind::Pinned);
        QCOMPARE(rows[0].meanGBps(), 55.0);
        QCOMPARE(rows[1].meanGBps(), 9.0);
    }
};

QTEST_APPLESS_MAIN(TestBandwidth)
#include "tst_Bandwidth.moc"
