// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "model/fleet/RankDetails.h"
#include "model/format/Sqlite.h"
#include "model/format/tableSql.h"
#include "model/format/tables/Recording.h"
#include "model/trace/matchCollectives.h"
#include "model/trace/throttleReasons.h"

namespace lanescope::fleet {

namespace {

/// More than any process writes; a hostile file could have any number.
constexpr size_t mostClocks = 4096;

struct FoundWorker {
    uint32_t number = noIndex;
    const WorkerSteps* steps = nullptr;
};

/// The workers of the summary with their steps, in its order.
std::vector<FoundWorker> workersOf(const Trace& trace, const compare::RunSummary& run,
                                   const RunSteps& steps) {
    std::vector<FoundWorker> found;
    for (const WorkerSteps& each : steps.workers) {
        const uint32_t number = workerOf(run, trace, each.process, each.gpu);
        // Both were found alike; what a summary does not have says nothing here either.
        if (number != noIndex && run.workers[number].steps.size() == each.steps.size())
            found.push_back({number, &each});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return found;
}

RankPlace placeOf(const Trace& trace, const FoundWorker& worker) {
    const Process& process = trace.processes[worker.steps->process];
    RankPlace place;
    place.worker = worker.number;
    place.host = process.facts->host.empty() ? trace.facts.host : process.facts->host;
    place.bootId = process.facts->bootId;
    place.localRank = process.localRank;
    place.worldSize = process.worldSize;
    place.gpuUuid = trace.gpus[worker.steps->gpu].uuid;
    place.range = process.range;
    return place;
}

/// NCCL's calls of all workers. A process with several GPUs has several workers, and which of them
/// a call is for nobody tells before it has a kernel; they then go to the first.
class CollectiveLister {
  public:
    CollectiveLister(const Trace& trace, const std::vector<FoundWorker>& workers,
                     RankDetails& details)
        : trace_(trace), details_(details), workerOfProcess_(trace.processes.size()) {
        for (const FoundWorker& each : workers) {
            FoundWorker& first = workerOfProcess_[each.steps->process];
            if (first.steps == nullptr) first = each;
        }
    }

    void add() {
        const NcclTable& nccl = trace_.nccl;
        for (uint32_t row = 0; row < nccl.size(); ++row) {
            const uint32_t nvtx = nccl.nvtx[row];
            const FoundWorker& worker =
                workerOfProcess_[trace_.threads[trace_.nvtx.thread[nvtx]].process];
            const NcclFacts facts = nccl.facts[row];
            // What is captured into a graph runs later, as often as the graph.
            if (worker.steps == nullptr || nccl.communicator[row] == 0 || facts.isCaptured ||
                !isTimedCall(trace_, row))
                continue;
            addCall(worker, row, facts);
        }
    }

  private:
    using Key = std::pair<uint32_t, uint64_t>;

    void addCall(const FoundWorker& worker, uint32_t row, const NcclFacts& facts) {
        const uint64_t id = trace_.nccl.communicator[row];
        const StringIndex operation = trace_.nccl.operation[row];
        const auto [known, isNew] =
            communicators_.try_emplace({worker.number, id}, details_.communicators.size());
        if (isNew) details_.communicators.push_back({worker.number, id, {}, -1, -1, 0});
        RankCommunicator& communicator = details_.communicators[known->second];
        if (facts.communicatorName != 0)
            communicator.name = trace_.strings.at(facts.communicatorName);
        if (facts.rank >= 0) communicator.rank = facts.rank;
        if (facts.rankCount >= 0) communicator.rankCount = facts.rankCount;
        int64_t& ofOperation = counts_[{known->second, operation}];
        RankCollective call;
        call.worker = worker.number;
        call.communicator = id;
        call.operation = operation;
        call.place = communicator.calls++;
        call.isNumbered = facts.sequence >= 0;
        call.number = call.isNumbered ? facts.sequence : ofOperation;
        ++ofOperation;
        call.bytes = trace_.nccl.bytes[row];
        const uint32_t nvtx = trace_.nccl.nvtx[row];
        call.call = {trace_.nvtx.startNs[nvtx], trace_.nvtx.endNs[nvtx]};
        if (facts.operationCount > 0) call.gpu = facts.gpu;
        call.sharedBy = facts.sharedBy;
        call.step = worker.steps->stepOf(call.gpu ? call.gpu->startNs : call.call.startNs,
                                         call.call.startNs);
        if (details_.collectives.size() < mostCollectives) details_.collectives.push_back(call);
    }

    const Trace& trace_;
    RankDetails& details_;
    std::vector<FoundWorker> workerOfProcess_;
    std::map<Key, size_t> communicators_;  ///< Places in `RankDetails::communicators`.
    std::map<std::pair<size_t, StringIndex>, int64_t> counts_;
};

uint64_t asFlags(double value) {
    return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) : 0;
}

/// Nothing if no value is known in the range.
std::optional<CounterSummary> sumUp(const CounterSeries& counter, TimeRange range) {
    static const uint64_t slowing = slowingReasons();
    const bool areFlags = counter.unit == CounterUnit::Flags;
    double weighted = 0, timeNs = 0;
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    uint64_t flags = 0;
    for (uint32_t sample = 0; sample < counter.size(); ++sample) {
        const TimeRange held = counter.rangeOf(sample);
        const double value = counter.value(sample);
        const auto ns = static_cast<double>(std::min(held.endNs, range.endNs) -
                                            std::max(held.startNs, range.startNs));
        if (!(ns > 0) || !std::isfinite(value)) continue;
        flags |= asFlags(value);
        weighted += ns * (areFlags ? double((asFlags(value) & slowing) != 0) : value);
        timeNs += ns;
        least = std::min(least, value);
        greatest = std::max(greatest, value);
    }
    if (timeNs == 0) return std::nullopt;
    CounterSummary made;
    made.key = counter.key;
    if (counter.link >= 0) made.link = counter.link;
    made.device = counter.device;
    made.mean = weighted / timeNs;
    made.least = least;
    made.greatest = areFlags ? static_cast<double>(flags) : greatest;
    return made;
}

void addCounters(const Trace& trace, const std::vector<FoundWorker>& workers,
                 RankDetails& details) {
    TimeRange range;
    for (const FoundWorker& each : workers) {
        if (each.steps->steps.empty()) continue;
        const TimeRange own{each.steps->steps.front().range.startNs,
                            each.steps->steps.back().range.endNs};
        range = range.isEmpty() ? own
                                : TimeRange{std::min(range.startNs, own.startNs),
                                            std::max(range.endNs, own.endNs)};
    }
    for (const CounterSeries& counter : trace.counters) {
        if (counter.key.empty() || counter.core >= 0 || counter.process != noIndex) continue;
        std::optional<CounterSummary> made = sumUp(counter, range);
        if (!made) continue;
        if (counter.gpu != noIndex) {
            made->gpuId = trace.gpus[counter.gpu].id;
            made->gpuUuid = trace.gpus[counter.gpu].uuid;
        }
        details.counters.push_back(std::move(*made));
    }
}

}  // namespace

uint32_t workerOf(const compare::RunSummary& run, const Trace& trace, uint32_t process,
                  uint32_t gpu) {
    const Process& of = trace.processes[process];
    for (uint32_t number = 0; number < run.workers.size(); ++number) {
        const compare::WorkerSummary& worker = run.workers[number];
        if (worker.pid == of.pid && worker.rank == of.rank && worker.gpuId == trace.gpus[gpu].id)
            return number;
    }
    return noIndex;
}

Result<RankDetails> rankDetails(const Trace& trace, const compare::RunSummary& run) {
    RankDetails details;
    if (run.workers.empty()) return details;
    const Result<RunSteps> steps = findSteps(trace);
    if (!steps) return fail(steps.error());
    const std::vector<FoundWorker> workers = workersOf(trace, run, *steps);
    const LaunchRows launches(trace);
    for (const FoundWorker& each : workers) {
        details.places.push_back(placeOf(trace, each));
        addKernels(trace, launches, *each.steps, each.number, details.kernels);
    }
    CollectiveLister(trace, workers, details).add();
    addCounters(trace, workers, details);
    return details;
}

std::vector<ClockPair> readClocks(const Database& database, const Trace& trace,
                                  const compare::RunSummary& run) {
    constexpr const auto& t = tables::clocks;
    std::map<int64_t, uint32_t> workers;
    for (const Process& process : trace.processes)
        for (uint32_t number = 0; number < run.workers.size(); ++number)
            if (run.workers[number].pid == process.pid && run.workers[number].rank == process.rank)
                workers.try_emplace(process.globalPid, number);
    std::vector<ClockPair> pairs;
    if (!database.hasTable(t.tableName())) return pairs;
    auto rows = database.prepare(selectSql(t));
    if (!rows) return pairs;
    const auto at = [&](auto column) { return static_cast<int>(column.number()); };
    const auto number = [&](auto column) {
        return rows->isInteger(at(column)) ? std::optional(rows->integer(at(column)))
                                           : std::nullopt;
    };
    for (auto row = rows->step(); row && *row && pairs.size() < mostClocks; row = rows->step()) {
        const auto worker = workers.find(number(t.globalPid).value_or(-1));
        if (worker != workers.end())
            pairs.push_back({worker->second, number(t.realtimeNs), number(t.monotonicNs)});
    }
    return pairs;
}

}  // namespace lanescope::fleet
