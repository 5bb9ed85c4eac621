// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr uint64_t world = 0xabcdef;
constexpr int64_t us = 1'000;

struct Job : SimulatedRanks {
    using SimulatedRanks::SimulatedRanks;

    /// Adds a call, with a kernel from `kernelNs` on if that is not negative.
    void call(size_t rank, std::string_view operation, int64_t bytes, int64_t callNs, int64_t kernelNs = -1,
              int64_t sequence = -1, uint64_t communicator = world) {
        NcclFacts facts;
        facts.sequence = sequence;
        const TimeRange kernel{kernelNs, kernelNs + 50 * us};
        addCall(rank, operation, bytes, callNs, kernelNs >= 0 ? std::optional(kernel) : std::nullopt, facts,
                communicator);
    }
};

ReportTable report(const Trace& trace, std::string_view name, std::optional<TimeRange> range = std::nullopt) {
    const Result<ReportTable> table = makeReport(trace, name, range);
    return table ? *table : ReportTable();
}

int64_t whole(const ReportTable& table, size_t row, size_t column) {
    return std::get<int64_t>(table.rows.at(row).at(column));
}

double real(const ReportTable& table, size_t row, size_t column) {
    return std::get<double>(table.rows.at(row).at(column));
}

// Columns of the summary.
constexpr size_t rankAt = 1, pidAt = 2, countAt = 3, lastAt = 4, shareAt = 5, medianAt = 6, maxLatenessAt = 8,
                 waitedAt = 9;

}  // namespace

class TestNcclLateness : public QObject {
    Q_OBJECT
  private slots:
    void rankWhoseKernelsStartLastIsLate() {
        Job job(2);
        for (int64_t step = 0; step < 4; ++step) {
            const int64_t atNs = step * 1'000 * us;
            // Rank 0 calls first and starts last.
            job.call(0, "AllReduce", 1 << 20, atNs, atNs + (300 + step) * us);
            job.call(1, "AllReduce", 1 << 20, atNs + 20 * us, atNs + 100 * us);
        }
        const TracePtr trace = job.builder.finish();
        const ReportTable table = report(*trace, "nccl_lateness");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(std::get<std::string>(table.rows[0][0]), std::string("0x0000000000abcdef"));
        for (size_t rank = 0; rank < 2; ++rank) {
            QCOMPARE(whole(table, rank, rankAt), int64_t(rank));
            QCOMPARE(whole(table, rank, pidAt), int64_t(100 + rank));
            QCOMPARE(whole(table, rank, countAt), int64_t{4});
        }
        QCOMPARE(whole(table, 0, lastAt), int64_t{4});
        QCOMPARE(real(table, 0, shareAt), 100.0);
        QCOMPARE(real(table, 0, medianAt), 201.5 * us);
        QCOMPARE(whole(table, 0, maxLatenessAt), 203 * us);
        QCOMPARE(whole(table, 0, waitedAt), int64_t{0});
        QCOMPARE(whole(table, 1, lastAt), int64_t{0});
        QCOMPARE(real(table, 1, medianAt), 0.0);
        QCOMPARE(whole(table, 1, waitedAt), (200 + 201 + 202 + 203) * us);
        QVERIFY(hasNote(table, "when its kernel starts on the GPU. Its"));
    }

    void callsDecideWithoutWorkOfAllRanks() {
        Job job(2);
        job.call(0, "AllReduce", 64, 0, 500 * us);
        job.call(1, "AllReduce", 64, 30 * us);
        const TracePtr trace = job.builder.finish();
        const ReportTable each = report(*trace, "nccl_lateness:collective");
        QCOMPARE(each.rows.size(), size_t{2});
        QCOMPARE(whole(each, 1, 7), 30 * us);
        QCOMPARE(std::get<std::string>(each.rows[1][8]), std::string("last"));
        QCOMPARE(std::get<std::string>(each.rows[1][9]), std::string("CPU"));
        QVERIFY(hasNote(each, "when it calls NCCL"));
    }

    void everyCollectiveMatchesPlainLoop() {
        std::mt19937 random(7);
        constexpr int ranks = 4, count = 60;
        Job job(ranks);
        int64_t enterNs[count][ranks];
        for (int at = 0; at < count; ++at)
            for (size_t rank = 0; rank < ranks; ++rank) {
                const int64_t callNs = (at * 2'000 + static_cast<int64_t>(random() % 900)) * us;
                enterNs[at][rank] = callNs + static_cast<int64_t>(100 + random() % 900) * us;
                job.call(rank, at % 3 == 0 ? "AllGather" : "AllReduce", 64 + at, callNs, enterNs[at][rank]);
            }
        const TracePtr trace = job.builder.finish();
        const ReportTable table = report(*trace, "nccl_lateness");
        const ReportTable each = report(*trace, "nccl_lateness:collective");
        QCOMPARE(table.rows.size(), size_t{ranks});
        QCOMPARE(each.rows.size(), size_t{ranks * count});
        for (size_t rank = 0; rank < ranks; ++rank) {
            int64_t last = 0, waitedNs = 0, mostNs = 0;
            for (const auto& collective : enterNs) {
                const auto [first, latest] = std::minmax_element(std::begin(collective), std::end(collective));
                last += collective[rank] == *latest ? 1 : 0;
                waitedNs += *latest - collective[rank];
                mostNs = std::max(mostNs, collective[rank] - *first);
            }
            QCOMPARE(whole(table, rank, lastAt), last);
            QCOMPARE(whole(table, rank, waitedAt), waitedNs);
            QCOMPARE(whole(table, rank, maxLatenessAt), mostNs);
        }
        for (size_t row = 0; row < each.rows.size(); ++row) {
            const auto rank = static_cast<size_t>(whole(each, row, 4));
            const int at = static_cast<int>(whole(each, row, 3)) - 64;  // identified by its size
            QCOMPARE(whole(each, row, 6), enterNs[at][rank]);
            QCOMPARE(whole(each, row, 2), int64_t(at % 3 == 0 ? at / 3 : at - at / 3 - 1));
        }
    }

    void rangeCountsOnlyItsCollectives() {
        Job job(2);
        for (int64_t step = 0; step < 4; ++step)
            for (size_t rank = 0; rank < 2; ++rank)
                job.call(rank, "AllReduce", 64, step * 1'000 * us,
                         (step * 1'000 + 100 + 10 * static_cast<int64_t>(rank)) * us);
        const TracePtr trace = job.builder.finish();
        const ReportTable table = report(*trace, "nccl_lateness", TimeRange{1'000 * us, 2'900 * us});
        QCOMPARE(whole(table, 0, countAt), int64_t{2});
    }

    void ncclNumbersMatchPartiallyRecordedRanks() {
        Job job(2);
        for (int64_t number = 0; number < 5; ++number) job.call(0, "AllReduce", 64, number * 1'000 * us, -1, number);
        // Attached later, and ended sooner.
        for (int64_t number = 2; number < 4; ++number)
            job.call(1, "AllReduce", 64, (number * 1'000 + 70) * us, -1, number);
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
        QCOMPARE(whole(table, 1, countAt), int64_t{2});
        QCOMPARE(whole(table, 1, maxLatenessAt), 70 * us);
    }

    void unmatchedCollectivesAreSkippedAndReported() {
        for (const bool isOtherSize : {false, true}) {
            Job job(2);
            for (int64_t step = 0; step < 3; ++step) {
                job.call(0, "AllReduce", 64 << step, step * 1'000 * us);
                if (isOtherSize || step > 0) job.call(1, "AllReduce", 64 << (2 - step), step * 1'000 * us);
            }
            const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
            QVERIFY(table.rows.empty());
            QCOMPARE(table.notes.size(), size_t{1});
            QVERIFY(hasNote(table, "AllReduce in communicator 0x0000000000abcdef were skipped"));
            QVERIFY(hasNote(table, "record --nccl plugin"));
        }
    }

    void oneUnmatchedOperationKeepsTheOthers() {
        Job job(2);
        for (int64_t step = 0; step < 3; ++step) {
            const int64_t atNs = step * 1'000 * us;
            job.call(0, "AllReduce", 64, atNs);
            job.call(1, "AllReduce", 64, atNs + 7 * us);
            job.call(0, "AllGather", 64, atNs + 500 * us);
            if (step > 0) job.call(1, "AllGather", 64, atNs + 500 * us);
        }
        const TracePtr trace = job.builder.finish();
        const ReportTable table = report(*trace, "nccl_lateness");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(whole(table, 0, countAt), int64_t{3});
        QCOMPARE(whole(table, 1, maxLatenessAt), 7 * us);
        QVERIFY(hasNote(table, "Calls of AllGather in communicator 0x0000000000abcdef were skipped"));
        QVERIFY(!hasNote(table, "Calls of AllReduce"));
        const ReportTable each = report(*trace, "nccl_lateness:collective");
        QCOMPARE(each.rows.size(), size_t{6});
        for (const auto& row : each.rows) QCOMPARE(std::get<std::string>(row[1]), std::string("AllReduce"));
        QVERIFY(hasNote(each, "Calls of AllGather in communicator 0x0000000000abcdef were skipped"));
    }

    void numberedCallsAreNotReportedAsUnnumbered() {
        for (const bool isCalledByBoth : {false, true}) {
            Job job(2);
            job.call(0, "AllReduce", 64, 0, -1, 0);
            job.call(1, "AllReduce", 64, 9 * us, -1, 0);
            job.call(0, "Broadcast", 64, 500 * us, -1, 0);
            if (isCalledByBoth) job.call(1, "Broadcast", 64, 900 * us, -1, 1);
            const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
            QCOMPARE(table.rows.size(), size_t{2});
            QVERIFY(hasNote(table, "Calls of Broadcast in communicator 0x0000000000abcdef"));
            QVERIFY(!hasNote(table, "--nccl plugin"));
        }
    }

    void emptyRangeIsNotReportedAsSingleRank() {
        Job job(2);
        job.call(0, "AllReduce", 64, 0);
        job.call(1, "AllReduce", 64, 9 * us);
        job.call(0, "Send", 64, 900 * us);
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness", TimeRange{100 * us, 200 * us});
        QVERIFY(table.rows.empty());
        QVERIFY(!hasNote(table, "one rank of each communicator"));
    }

    void messagesAndSingleRanksHaveNoLateness() {
        Job one(1);
        one.call(0, "AllReduce", 64, 0);
        const ReportTable alone = report(*one.builder.finish(), "nccl_lateness");
        QVERIFY(alone.rows.empty());
        QVERIFY(hasNote(alone, "one rank of each communicator"));
        Job two(2);
        two.call(0, "Send", 64, 0);
        two.call(1, "Recv", 64, 0);
        const ReportTable table = report(*two.builder.finish(), "nccl_lateness");
        QVERIFY(table.rows.empty() && table.notes.empty());
    }

    void communicatorsStaySeparate() {
        Job job(3);
        job.call(0, "AllReduce", 64, 0);
        job.call(1, "AllReduce", 64, 5 * us);
        job.call(1, "AllReduce", 64, 100 * us, -1, -1, world + 1);
        job.call(2, "AllReduce", 64, 90 * us, -1, -1, world + 1);
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
        QCOMPARE(table.rows.size(), size_t{4});
        QCOMPARE(whole(table, 1, lastAt), int64_t{1});
        QCOMPARE(whole(table, 2, rankAt), int64_t{1});
        QCOMPARE(whole(table, 2, maxLatenessAt), 10 * us);
    }
};

LANESCOPE_TEST(TestNcclLateness, NoApplication)
#include "tst_NcclLateness.moc"
