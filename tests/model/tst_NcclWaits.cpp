// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/lod/SelectionStatistics.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr uint64_t world = 0xabcdef;
constexpr int64_t us = 1'000;

struct Job : SimulatedRanks {
    using SimulatedRanks::SimulatedRanks;

    void call(size_t rank, std::string_view operation, int64_t callNs, TimeRange kernel, const NcclFacts& facts = {}) {
        addCall(rank, operation, 1 << 20, callNs, kernel, facts, world);
    }
};

/// Two ranks reduce once: rank 0 waits 60 of 100 us for rank 1.
TracePtr reduced(std::string_view operation, const NcclFacts& facts = {}, TimeRange first = {100 * us, 200 * us},
                 TimeRange last = {160 * us, 200 * us}) {
    Job job(2);
    job.call(0, operation, 0, first, facts);
    job.call(1, operation, 0, last, facts);
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

}  // namespace

/// Tests of splitting a collective into waiting for the last rank and moving data.
class TestNcclWaits : public QObject {
    Q_OBJECT
  private slots:
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
                job.call(rank, "AllReduce", endNs - 990 * us, each[rank]);
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

    void ambiguousCollectivesStayWhole() {
        QCOMPARE(waits(*reduced("AllReduce")), (std::vector<int64_t>{0, 60 * us}));
        // The root may finish before others begin.
        QCOMPARE(waits(*reduced("Broadcast")), unknown);
        QCOMPARE(waits(*reduced("Send")), unknown);
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
        job.call(0, "AllReduce", 0, {100 * us, 200 * us});
        job.call(1, "AllReduce", 0, {160 * us, 200 * us});
        QCOMPARE(waits(*job.builder.finish()), unknown);
    }

    void waitingIsShownInLanesAndNotCountedAsBusy() {
        const TracePtr trace = reduced("AllReduce");
        const Lane& lane = trackOf(*trace, TrackKind::Stream, 0).lanes.at(0);
        QCOMPARE(lane.size(), uint32_t{2});
        QCOMPARE(lane.category[0], SliceCategory::NcclWait);
        QCOMPARE(lane.category[1], SliceCategory::NcclKernel);
        QCOMPARE(lane.event[0], lane.event[1]);
        QCOMPARE(lane.startNs[0], 100 * us);
        QCOMPARE(lane.endNs(0), 160 * us);
        QCOMPARE(lane.startNs[1], 160 * us);
        QCOMPARE(lane.endNs(1), 200 * us);
        QCOMPARE(trackOf(*trace, TrackKind::Stream, 1).lanes.at(0).size(), uint32_t{1});
        QCOMPARE(busyNs(*trace, 0), 40 * us);
        QCOMPARE(busyNs(*trace, 1), 40 * us);
    }

    void bandwidthCountsOnlyMoving() {
        NcclFacts facts;
        facts.rankCount = 2;
        const TracePtr trace = reduced("AllReduce", facts);
        const Result<ReportTable> table = makeReport(*trace, "nccl_sum", std::nullopt);
        QVERIFY(table.has_value());
        QCOMPARE(table->columns.at(13).name, std::string("Waited"));
        QCOMPARE(std::get<int64_t>(table->rows.at(0).at(12)), 140 * us);
        QCOMPARE(std::get<int64_t>(table->rows.at(0).at(13)), 60 * us);
        // Two ranks move one message each over the link between them.
        const double movedGBps = double(1 << 20) / double(40 * us);
        QCOMPARE(std::get<double>(table->rows.at(0).at(7)), movedGBps);
        QVERIFY(table->notes.at(0).find("known for 2 of 2 calls") != std::string::npos);
    }

    /// A rank that waited has the same link bandwidth as the last rank.
    void detailsShowWaitedAndMovedTime() {
        NcclFacts facts;
        facts.rankCount = 2;
        const TracePtr trace = reduced("AllReduce", facts);
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
                job.call(rank, "AllReduce", atNs + us, {startNs, atNs + 200 * us});
            }
            job.builder.addMemcpy(copies, MemcpyKind::HtoD, 4096, atNs + 150 * us, atNs + 180 * us);
        }
        const Result<RunSummary> run = summarizeRun(*job.builder.finish());
        QVERIFY(run.has_value());
        QCOMPARE(run->workers.size(), size_t{2});
        for (const StepSummary& step : run->workers[0].steps) {
            QCOMPARE(step.parts[StepPart::WaitingForRanks], 50 * us);
            QCOMPARE(step.parts[StepPart::ExposedCommunication], 40 * us);
            QCOMPARE(step.parts[StepPart::ExposedHtoD], 10 * us);
            QCOMPARE(step.parts.sum(), step.wallNs);
        }
        for (const StepSummary& step : run->workers[1].steps) {
            QCOMPARE(step.parts[StepPart::WaitingForRanks], int64_t{0});
            QCOMPARE(step.parts[StepPart::ExposedCommunication], 40 * us);
        }
        // The others wait for the rank that does not wait.
        QCOMPARE(run->criticalWorker(), uint32_t{1});
        const auto waiting = std::find_if(run->workers[0].contributors.begin(), run->workers[0].contributors.end(),
                                          [](const auto& each) { return each.part == StepPart::WaitingForRanks; });
        QVERIFY(waiting != run->workers[0].contributors.end());
        QCOMPARE(waiting->name.text(), std::string("AllReduce"));
        QCOMPARE(waiting->totalNs, int64_t(run->workers[0].steps.size()) * 60 * us);
    }
};

LANESCOPE_TEST(TestNcclWaits, NoApplication)
#include "tst_NcclWaits.moc"
