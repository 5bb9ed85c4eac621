// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/export/traceFile.h"
#include "model/format/ncclFunctions.h"
#include "model/importers/TraceFormat.h"
#include "model/lod/SelectionStatistics.h"
#include "model/query/TraceQuery.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/exported.h"
#include "tests/support/notes.h"
#include "tests/support/reportCells.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::test;

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
    /// Adds a call of 1 MiB with this kernel.
    void move(size_t rank, std::string_view operation, int64_t callNs, TimeRange kernel, const NcclFacts& facts = {}) {
        addCall(rank, operation, 1 << 20, callNs, kernel, facts, world);
    }
};

// Columns of the summary.
constexpr size_t rankAt = 1, pidAt = 2, countAt = 3, lastAt = 4, shareAt = 5, medianAt = 6, maxLatenessAt = 8,
                 waitedAt = 9;

/// Two ranks reduce once: rank 0 waits 60 of 100 us for rank 1.
TracePtr reduced(std::string_view operation, const NcclFacts& facts = {}, TimeRange first = {100 * us, 200 * us},
                 TimeRange last = {160 * us, 200 * us}) {
    Job job(2);
    job.move(0, operation, 0, first, facts);
    job.move(1, operation, 0, last, facts);
    return job.builder.finish();
}

std::vector<int64_t> waits(const Trace& trace) {
    std::vector<int64_t> all;
    for (const NcclFacts facts : trace.nccl.facts) all.push_back(facts.waitedNs);
    std::sort(all.begin(), all.end());
    return all;
}

const Track& trackOf(const Trace& trace, TrackKind kind, uint32_t subject) {
    for (const Track& track : trace.tracks)
        if (track.kind == kind && track.subject == subject) return track;
    qFatal("no such track");
}

int64_t busyNs(const Trace& trace, uint32_t gpu) {
    for (const BusyStatistics& busy : selectionStatistics(trace, trace.sums, trace.range).busy)
        if (trace.tracks[busy.track].kind == TrackKind::Gpu && trace.tracks[busy.track].subject == gpu)
            return busy.busyNs;
    return -1;
}

const std::vector<int64_t> unknown{-1, -1};

constexpr uint64_t group = 208820269817245835, negative = 15568366574649179806u;
const std::string nameOfGroup = "0x02e5e0edd45bb08b", nameOfNegative = "0xd80df2ea37077e9e";

/// Two simulated ranks that gather twice, with the payloads that NCCL writes.
TracePtr ranks() {
    SimulatedTrace builder;
    builder.addGpu();
    for (const uint32_t rank : {0u, 1u}) {
        const uint32_t process = builder.addProcess(5000 + rank, "rank", static_cast<int>(rank));
        const uint32_t thread = builder.addThread(process, 5000 + rank);
        for (const uint64_t each : {group, negative}) {
            const int64_t startNs = (each == group ? 0 : 10'000) + 100 * rank;
            const EventRef range = builder.add<kinds::Nvtx>(
                {.startNs = startNs,
                 .endNs = startNs + 50,
                 .text = builder.intern("ncclAllGather"),
                 .domain = builder.intern("NCCL"),
                 .thread = thread,
                 .payload = builder.intern("{\"NCCL communicator ID\":" + std::to_string(each) +
                                           ",\"Message size [bytes]\":8}")});
            NcclFacts facts{.sequence = 0, .rank = static_cast<int32_t>(rank), .rankCount = 2};
            builder.nccl(range,
                         {.operation = builder.intern("AllGather"), .bytes = 8, .communicator = each, .facts = facts});
        }
    }
    return builder.finish();
}

}  // namespace

/// Tests of splitting a collective into waiting for the last rank and moving data.
/// Tests that a communicator has the same name everywhere, so that two places can be matched.
class tst_Nccl : public QObject {
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
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
        QCOMPARE(table.rows.size(), size_t{2});
        QCOMPARE(text(table.rows[0][0]), std::string("0x0000000000abcdef"));
        QCOMPARE(cells(table, {rankAt, pidAt, countAt, lastAt}), "0 100 4 4; 1 101 4 0");
        QCOMPARE(real(table.rows.at(0).at(shareAt)), 100.0);
        QCOMPARE(real(table.rows.at(0).at(medianAt)), 201.5 * us);
        QCOMPARE(test::listed(whole(table, 0, maxLatenessAt), whole(table, 0, waitedAt)), test::listed(203 * us, 0));
        QCOMPARE(real(table.rows.at(1).at(medianAt)), 0.0);
        QCOMPARE(whole(table, 1, waitedAt), (200 + 201 + 202 + 203) * us);
        QVERIFY(hasNote(table, "when its kernel starts on the GPU. Its"));
    }

    void callsDecideWithoutWorkOfAllRanks() {
        Job job(2);
        job.call(0, "AllReduce", 64, 0, 500 * us);
        job.call(1, "AllReduce", 64, 30 * us);
        const ReportTable each = report(*job.builder.finish(), "nccl_lateness:collective");
        QCOMPARE(each.rows.size(), size_t{2});
        QCOMPARE(whole(each, 1, 7), 30 * us);
        QCOMPARE(test::listed(text(each.rows[1][8]), text(each.rows[1][9])), "last | CPU");
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
            int64_t last = 0, waitedNs = 0, maxNs = 0;
            for (const auto& collective : enterNs) {
                const auto [first, latest] = std::minmax_element(std::begin(collective), std::end(collective));
                last += collective[rank] == *latest ? 1 : 0;
                waitedNs += *latest - collective[rank];
                maxNs = std::max(maxNs, collective[rank] - *first);
            }
            QCOMPARE(whole(table, rank, lastAt), last);
            QCOMPARE(whole(table, rank, waitedAt), waitedNs);
            QCOMPARE(whole(table, rank, maxLatenessAt), maxNs);
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
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness", TimeRange{1'000 * us, 2'900 * us});
    }

    void ncclNumbersMatchPartiallyRecordedRanks() {
        Job job(2);
        for (int64_t number = 0; number < 5; ++number) job.call(0, "AllReduce", 64, number * 1'000 * us, -1, number);
        // Attached later, and ended sooner.
        for (int64_t number = 2; number < 4; ++number)
            job.call(1, "AllReduce", 64, (number * 1'000 + 70) * us, -1, number);
        const ReportTable table = report(*job.builder.finish(), "nccl_lateness");
        QCOMPARE(test::listed(whole(table, 1, countAt), whole(table, 1, maxLatenessAt)), test::listed(2, 70 * us));
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
        QCOMPARE(test::listed(whole(table, 0, countAt), whole(table, 1, maxLatenessAt)), test::listed(3, 7 * us));
        QVERIFY(hasNote(table, "Calls of AllGather in communicator 0x0000000000abcdef were skipped"));
        QVERIFY(!hasNote(table, "Calls of AllReduce"));
        const ReportTable each = report(*trace, "nccl_lateness:collective");
        QCOMPARE(each.rows.size(), size_t{6});
        for (const auto& row : each.rows) QCOMPARE(text(row[1]), std::string("AllReduce"));
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
        QCOMPARE(listed(whole(table, 1, lastAt), whole(table, 2, rankAt)), "1 | 1");
        QCOMPARE(whole(table, 2, maxLatenessAt), 10 * us);
    }

    void lastRankDividesEveryCollective() {
        std::mt19937 random(11);
        constexpr size_t ranks = 4;
        constexpr int64_t count = 50;
        Job job(ranks);
        std::vector<std::array<TimeRange, ranks>> kernels;
        for (int64_t at = 0; at < count; ++at) {
            auto& each = kernels.emplace_back();
            const int64_t endNs = (at + 1) * 1'000 * us;
            for (size_t rank = 0; rank < ranks; ++rank) {
                const auto beforeNs = static_cast<int64_t>(random() % 800 + 10) * us;
                each[rank] = {endNs - beforeNs, endNs};
                job.move(rank, "AllReduce", endNs - 990 * us, each[rank]);
            }
        }
        const TracePtr trace = job.builder.finish();
        QCOMPARE(trace->nccl.size(), uint32_t(count * ranks));
        for (const NcclFacts facts : trace->nccl.facts) {
            const auto at = static_cast<size_t>(facts.gpu.endNs / (1'000 * us) - 1);
            int64_t lastNs = 0;
            for (const TimeRange& kernel : kernels[at]) lastNs = std::max(lastNs, kernel.startNs);
            QCOMPARE(facts.waitedNs, lastNs - facts.gpu.startNs);
            QCOMPARE(facts.moving().startNs, lastNs);
            QCOMPARE(facts.moving().endNs, facts.gpu.endNs);
        }
    }

    void waitsOfRootedCollectivesFollowTheirData_data() {
        const test::Rows<QString, int, int64_t, int64_t> row;
        // Rank 0 starts 60 us before rank 1.
        row("Broadcast from the last", "Broadcast", 1, 60 * us, -1);
        row("Broadcast from the first", "Broadcast", 0, -1, 0);
        row("Scatter from the last", "Scatter", 1, 60 * us, -1);
        row("Reduce to the first", "Reduce", 0, 60 * us, -1);
        row("Reduce to the last", "Reduce", 1, -1, 0);
        row("Gather to the first", "Gather", 0, 60 * us, -1);
        row("unknown root", "Broadcast", -1, -1, -1);
        row("root of another job", "Broadcast", 7, -1, -1);
    }
    void waitsOfRootedCollectivesFollowTheirData() {
        const auto [operation, root, first, last] = test::row<QString, int, int64_t, int64_t>();
        Job job(2);
        for (int rank = 0; rank < 2; ++rank) {
            NcclFacts facts;
            facts.rankCount = 2;
            facts.rank = rank;
            facts.root = root;
            job.move(static_cast<size_t>(rank), operation.toStdString(), 0, {(rank == 0 ? 100 : 160) * us, 200 * us},
                     facts);
        }
        const TracePtr trace = job.builder.finish();
        QCOMPARE(trace->nccl.size(), 2u);
        for (const NcclFacts facts : trace->nccl.facts) QCOMPARE(facts.waitedNs, facts.rank == 0 ? first : last);
    }

    void ranksThatReadARootEndAfterItBegins() {
        NcclFacts facts;
        facts.rankCount = 2;
        Job job(2);
        // Rank 0 ends before the root sends: clocks or calls are wrong.
        for (int rank = 0; rank < 2; ++rank) {
            facts.rank = rank;
            facts.root = 1;
            job.move(static_cast<size_t>(rank), "Broadcast", 0,
                     rank == 0 ? TimeRange{100 * us, 150 * us} : TimeRange{160 * us, 200 * us}, facts);
        }
        QCOMPARE(waits(*job.builder.finish()), unknown);
    }

    void ambiguousCollectivesStayWhole() {
        QCOMPARE(waits(*reduced("AllReduce")), (std::vector<int64_t>{0, 60 * us}));
        // The root is unknown.
        QCOMPARE(test::listed(waits(*reduced("Broadcast")), waits(*reduced("Send"))), test::listed(unknown, unknown));
        NcclFacts third;
        third.rankCount = 3;
        QCOMPARE(waits(*reduced("AllReduce", third)), unknown);
        NcclFacts both;
        both.rankCount = 2;
        QCOMPARE(waits(*reduced("AllReduce", both)), (std::vector<int64_t>{0, 60 * us}));
        NcclFacts captured;
        captured.isCaptured = true;
        QCOMPARE(waits(*reduced("AllReduce", captured)), unknown);
        // No rank can finish before the last one begins: the clocks or the calls are wrong.
        QCOMPARE(waits(*reduced("AllReduce", {}, {100 * us, 150 * us})), unknown);
    }

    void missingRankMayBeTheLast() {
        Job job(2);
        for (Process& process : job.builder.processes())
            if (process.rank) process.worldSize = 4;
        job.move(0, "AllReduce", 0, {100 * us, 200 * us});
        job.move(1, "AllReduce", 0, {160 * us, 200 * us});
        QCOMPARE(waits(*job.builder.finish()), unknown);
    }

    void waitingIsShownInLanesAndNotCountedAsBusy() {
        const TracePtr trace = reduced("AllReduce");
        const Lane& lane = trackOf(*trace, TrackKind::Stream, 0).lanes.at(0);
        QCOMPARE(lane.size(), uint32_t{2});
        QCOMPARE(lane.category[0], SliceCategory::NcclWait);
        QCOMPARE(lane.category[1], SliceCategory::NcclKernel);
        QCOMPARE(lane.event[0], lane.event[1]);
        QCOMPARE(test::listed(lane.startNs[0], lane.endNs(0), lane.startNs[1]), "100000 | 160000 | 160000");
        QCOMPARE(lane.endNs(1), 200 * us);
        QCOMPARE(trackOf(*trace, TrackKind::Stream, 1).lanes.at(0).size(), uint32_t{1});
        QCOMPARE(test::listed(busyNs(*trace, 0), busyNs(*trace, 1)), test::listed(40 * us, 40 * us));
    }

    void bandwidthCountsOnlyMoving() {
        const ReportTable table = report(*reduced("AllReduce", NcclFacts{.rankCount = 2}), "nccl_sum");
        QCOMPARE(table.columns.at(13).name, std::string("Waited"));
        QCOMPARE(cells(table.rows.at(0), {12, 13}), "140000 60000");
        // Two ranks move one message each over the link between them.
        const double movedGBps = double(1 << 20) / double(40 * us);
        QCOMPARE(real(table.rows.at(0).at(7)), movedGBps);
        QVERIFY(table.notes.at(0).find("known for 2 of 2 calls") != std::string::npos);
    }

    /// A rank that waited has the same link bandwidth as the last rank.
    void detailsShowWaitedAndMovedTime() {
        const TracePtr trace = reduced("AllReduce", NcclFacts{.rankCount = 2});
        std::set<std::string> rates, waited, moved;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            for (const Property& line : describe(*trace, {EventKind::Kernel, row})) {
                if (line.name == "Bus bandwidth") rates.insert(line.value);
                if (line.name == "Waited for other ranks") waited.insert(line.value);
                if (line.name == "Moved data") moved.insert(line.value);
            }
        QCOMPARE(rates, (std::set<std::string>{"26.21 GB/s"}));
        QCOMPARE(waited, (std::set<std::string>{formatDuration(0), formatDuration(60 * us)}));
        QCOMPARE(moved, (std::set<std::string>{formatDuration(40 * us)}));
    }

    void stepSeparatesWaitingFromMoving() {
        Job job(2);
        // A copy while rank 0 waits is work; 20 us of it overlap the data movement.
        const uint32_t copies = job.builder.addStream(job.processes[0], job.gpus[0], 8);
        for (int64_t step = 0; step < 5; ++step) {
            const int64_t atNs = step * 1'000 * us;
            for (size_t rank = 0; rank < 2; ++rank) {
                job.builder.addNvtx(job.threads[rank], "step " + std::to_string(step), atNs, atNs + 1'000 * us);
                const int64_t startNs = atNs + (rank == 0 ? 100 : 160) * us;
                job.move(rank, "AllReduce", atNs + us, {startNs, atNs + 200 * us});
            }
            job.builder.addMemcpy(copies, MemcpyKind::HtoD, 4096, atNs + 150 * us, atNs + 180 * us);
        }
        const RunSummary run = orFail(summarizeRun(*job.builder.finish()));
        QCOMPARE(run.workers.size(), size_t{2});
        for (const StepSummary& step : run.workers[0].steps) {
            QCOMPARE(step.parts[StepPart::WaitingForRanks], 50 * us);
            QCOMPARE(step.parts[StepPart::ExposedCommunication], 40 * us);
            QCOMPARE(step.parts[StepPart::ExposedHtoD], 10 * us);
            QCOMPARE(step.parts.sum(), step.wallNs);
        }
        for (const StepSummary& step : run.workers[1].steps) {
            QCOMPARE(step.parts[StepPart::WaitingForRanks], int64_t{0});
            QCOMPARE(step.parts[StepPart::ExposedCommunication], 40 * us);
        }
        // The others wait for the rank that does not wait.
        QCOMPARE(run.criticalWorker(), uint32_t{1});
        const auto waiting = std::find_if(run.workers[0].contributors.begin(), run.workers[0].contributors.end(),
                                          [](const auto& each) { return each.part == StepPart::WaitingForRanks; });
        QVERIFY(waiting != run.workers[0].contributors.end());
        QCOMPARE(waiting->name.text(), std::string("AllReduce"));
        QCOMPARE(waiting->totalNs, int64_t(run.workers[0].steps.size()) * 60 * us);
    }

    /// Compared with a count, byte by byte, of the data that each operation moves over the links.
    void ncclTrafficMatchesByteCount() {
        for (const int ranks : {1, 2, 3, 8, 64}) {
            const int64_t each = 720'720;  // divisible by all of them
            const int64_t all = each * ranks;
            // A ring: every rank forwards every byte except its own part, and reduces on the way.
            int64_t gathered = 0;
            for (int other = 1; other < ranks; ++other) gathered += each;
            const auto bus = [&](const char* operation) { return ncclTraffic(operation, each, ranks)->busBytes; };
            const auto algorithm = [&](const char* operation) {
                return ncclTraffic(operation, each, ranks)->algorithmBytes;
            };
            for (const char* operation : {"AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter"}) {
                QCOMPARE(bus(operation), double(gathered));
                QCOMPARE(algorithm(operation), double(all));
            }
            // A reduce-scatter and an all-gather of a message split into as many parts as ranks.
            int64_t reduced = 0;
            for (int part = 1; part < ranks; ++part) reduced += 2 * (each / ranks);
            QCOMPARE(qRound64(bus("AllReduce")), ranks == 64 ? qRound64(double(each) * 126 / 64) : reduced);
            QCOMPARE(algorithm("AllReduce"), double(each));
            for (const char* operation : {"Broadcast", "Reduce", "Send", "Recv"}) {
                QCOMPARE(bus(operation), double(each));
                QCOMPARE(algorithm(operation), double(each));
            }
        }
    }

    void functionAliasesHaveOneName() {
        QCOMPARE(listed(ncclOperationOf("ncclAllReduce"), ncclOperationOf("ncclBcast")), "AllReduce | Broadcast");
        QCOMPARE(ncclOperationOf("ncclAllToAll"), ncclOperationOf("ncclAlltoAll"));
        QCOMPARE(listed(ncclOperationName("AllToAllv"), ncclOperationName("Barrier")), "AlltoAllv | Barrier");
        for (const char* other : {"ncclGroupStart", "ncclCommInitRank", "AllReduce", "nccl", ""})
            QVERIFY(ncclOperationOf(other).empty());
        QCOMPARE(ncclTraffic("AllToAll", 8, 4)->busBytes, ncclTraffic("AlltoAll", 8, 4)->busBytes);
        QVERIFY(!ncclTraffic("AllToAllv", 8, 4));  // the sizes vary by peer
    }

    void trafficIsUnknownWithoutSizeRanksOrName() {
        QVERIFY(!ncclTraffic("AllReduce", -1, 8) && !ncclTraffic("AllReduce", 8, -1));
        QVERIFY(!ncclTraffic("AllGather", 8, 0));
        for (const char* part : {"Barrier", ""}) QVERIFY2(!ncclTraffic(part, 8, 8), part);
        QVERIFY(ncclTraffic("Send", 8, -1) && ncclTraffic("AllReduce", 0, 8));
        QVERIFY(ncclTraffic("AllGather", INT64_MAX, 1 << 24)->busBytes > 0);
    }

    void communicatorIdRoundTrips() {
        QCOMPARE(communicatorId(group), nameOfGroup);
        QCOMPARE(communicatorId(negative), nameOfNegative);
        QCOMPARE(communicatorFrom(nameOfGroup), std::optional(group));
        QCOMPARE(communicatorFrom(nameOfNegative), std::optional(negative));
        for (const char* other : {"", "0", "0x2e5e0edd45bb08b", "0x02e5e0edd45bb08g", "default_pg",
                                  "0x02e5e0edd45bb08b0", "0x-2e5e0edd45bb08b"})
            QVERIFY2(!communicatorFrom(other), other);
    }

    void onlyCommunicatorNumbersAreNames() {
        QCOMPARE(withCommunicatorIds("{\"NCCL communicator ID\": 208820269817245835,\"Root\":0}"),
                 "{\"NCCL communicator ID\": \"" + nameOfGroup + "\",\"Root\":0}");
        QCOMPARE(withCommunicatorIds("{\"communicator\":-2878377499060371810}"),
                 "{\"communicator\":\"" + nameOfNegative + "\"}");
        for (const char* other : {"", "7", "communicator", "{\"what\":\"communicator\",\"size\":8}",
                                  "{\"communicator\":", "{\"communicator\":\"tp\"}", "{\"communicator\":-}",
                                  "{\"communicator\":99999999999999999999999}", "\"communicator\":"})
            QCOMPARE(withCommunicatorIds(other), std::string(other));
    }

    void detailsUseOneName() {
        const TracePtr trace = ranks();
        for (uint32_t row = 0; row < trace->nvtx.size(); ++row) {
            const bool isFirst = trace->nccl.communicator[row] == group;
            const std::string& name = isFirst ? nameOfGroup : nameOfNegative;
            int named = 0;
            for (const Property& line : describe(*trace, {EventKind::Nvtx, row})) {
                QVERIFY2(!has(line.value, std::to_string(isFirst ? group : negative)), line.value.c_str());
                if (has(line.value, name)) ++named;
            }
            QCOMPARE(named, 2);  // the communicator and the payload
        }
    }

    void reportsUseTheNameInEveryFormat() {
        const TracePtr trace = ranks();
        for (const char* name : {"nccl_sum", "nccl_trace", "nccl_lateness", "nccl_lateness:collective"}) {
            const ReportTable table = report(*trace, name);
            for (const TableFormat format : {TableFormat::Text, TableFormat::Csv, TableFormat::Json}) {
                const std::string text = formatTable(table, format);
                for (const std::string& each : {nameOfGroup, nameOfNegative})
                    QVERIFY2(has(text, each), (name + text).c_str());
                for (const char* number : {"208820269817245835", "15568366574649179806", "-2878377499060371810"})
                    QVERIFY2(!has(text, number), (name + text).c_str());
            }
        }
    }

    void queriesShowAndAcceptTheName() {
        const TemporaryFolder folder;
        const auto path = folder / "run.sqlite";
        QVERIFY(writeTraceFile(*ranks(), path).has_value());
        const auto query = orFail(TraceQuery::open(path));
        const auto found =
            query.run("SELECT communicator, count(*) FROM LANESCOPE_NCCL_OPERATIONS GROUP BY communicator");
        QVERIFY(found.has_value());
        std::vector<std::string> names;
        for (const auto& row : found->table.rows) names.push_back(text(row[0]));
        QCOMPARE(names, (std::vector{nameOfNegative, nameOfGroup}));
        for (const std::string& name : names) {
            const auto rows =
                orFail(query.run("SELECT count(*) FROM LANESCOPE_NCCL_OPERATIONS WHERE communicator = " + name));
            QCOMPARE(whole(rows.table.rows[0][0]), int64_t{2});
        }
    }

    void exportsRoundTripTheName() {
        const TracePtr trace = ranks();
        const std::string perfetto = perfettoOf(*trace);
        QVERIFY(has(perfetto, nameOfGroup) && has(perfetto, nameOfNegative));
        QVERIFY(!has(perfetto, std::to_string(group)));
        const std::string kineto = kinetoOf(*trace, 1);
        QVERIFY(has(kineto, nameOfGroup) && has(kineto, nameOfNegative));
        const TemporaryFolder folder;
        const auto path = folder / "rank0.json";
        std::ofstream(path) << kineto;
        const TracePtr read = orFail(loadTrace(path));
        std::vector<uint64_t> communicators;
        for (uint32_t row = 0; row < read->nccl.size(); ++row) communicators.push_back(read->nccl.communicator[row]);
        QCOMPARE(communicators, (std::vector<uint64_t>{group, negative}));
        for (uint32_t row = 0; row < read->nccl.size(); ++row) QVERIFY(read->nccl.facts[row].communicatorName == 0);
    }
};

LANESCOPE_TEST(tst_Nccl, NoApplication)
#include "tst_Nccl.moc"
