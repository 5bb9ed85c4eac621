// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/buildNccl.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/format/ncclFunctions.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/collectives.h"
#include "model/trace/tasks.h"

namespace lanescope {

namespace {

void add(NcclFacts& facts, TimeRange work, uint32_t count) {
    facts.gpu = facts.operationCount == 0 ? work : facts.gpu.united(work);
    facts.operationCount += count;
}

using Calls = LargeVector<uint32_t>;

/// Returns the API calls of the threads on which NCCL launched, in order of start.
std::unordered_map<uint32_t, Calls> callsOfLaunchingThreads(const Trace& trace, const std::stop_token& stop) {
    std::unordered_map<uint32_t, Calls> calls;
    for (const NcclFacts facts : trace.nccl.facts)
        if (facts.launchThread != noIndex) calls.try_emplace(facts.launchThread, trace.memory.get());
    if (calls.empty()) return calls;
    for (uint32_t row = 0; row < trace.apiCalls.size() && !isStopped(stop, row); ++row)
        if (const auto found = calls.find(trace.apiCalls.thread[row]); found != calls.end())
            found->second.push_back(row);
    return calls;
}

/// A launch and one of the calls that it serves according to the file.
struct Launch {
    uint32_t thread;
    uint32_t row;  ///< Row of `NcclTable`.
    int64_t startNs;
    bool isSame(const Launch& other) const { return thread == other.thread && startNs == other.startNs; }
};

/// Returns the launches by thread and start, those of one launch adjacent.
LargeVector<Launch> launchesOf(const Trace& trace, const std::stop_token& stop) {
    LargeVector<Launch> launches(trace.memory.get());
    for (uint32_t row = 0; row < trace.nccl.size() && !isStopped(stop, row); ++row)
        if (const NcclFacts facts = trace.nccl.facts[row]; facts.launchThread != noIndex)
            launches.push_back({facts.launchThread, row, facts.launch.startNs});
    const auto isBefore = [](const Launch& a, const Launch& b) {
        return a.thread != b.thread ? a.thread < b.thread : a.startNs < b.startNs;
    };
    sortLarge(launches, isBefore, stop);
    return launches;
}

NcclFacts workOfLaunch(const Trace& trace, const Calls& calls, TimeRange launch) {
    NcclFacts found;
    auto call = std::lower_bound(calls.begin(), calls.end(), launch.startNs,
                                 [&](uint32_t row, int64_t startNs) { return trace.apiCalls.startNs[row] < startNs; });
    for (; call != calls.end() && trace.apiCalls.startNs[*call] < launch.endNs; ++call)
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, *call)))
            add(found, trace.rangeOf(work), 1);
    return found;
}

}  // namespace

void buildNcclWork(Trace& trace, const std::stop_token& stop) {
    NcclTable& nccl = trace.nccl;
    const auto calls = callsOfLaunchingThreads(trace, stop);
    const LargeVector<Launch> launches = launchesOf(trace, stop);
    // Launches of a thread do not overlap. A corrupt file must not cause quadratic time.
    std::pair<uint32_t, int64_t> lastLaunch{noIndex, 0};
    // Each launch is evaluated once, however many calls it serves according to the file.
    for (auto next = launches.begin(); next != launches.end();) {
        if (stop.stop_requested()) return;
        const Launch& launch = *next;
        const auto first = next;
        while (next != launches.end() && next->isSame(launch)) ++next;
        TimeRange range = nccl.facts[launch.row].launch;
        if (lastLaunch.first == launch.thread) range.startNs = std::max(range.startNs, lastLaunch.second);
        lastLaunch = {launch.thread, std::max(range.endNs, range.startNs)};
        const NcclFacts found = workOfLaunch(trace, calls.at(launch.thread), range);
        for (auto each = first; each != next; ++each) {
            NcclFacts facts = nccl.facts[each->row];
            facts.gpu = found.gpu;
            facts.operationCount = found.operationCount;
            facts.sharedBy = static_cast<uint32_t>(next - first);
            nccl.facts.set(each->row, facts);
        }
    }

    const ProjectionTable& projections = trace.projections;
    for (uint32_t row = 0; row < projections.size() && !isStopped(stop, row); ++row)
        if (const uint32_t call = nccl.rowOf(projections.nvtx[row]); call != noIndex) {
            NcclFacts facts = nccl.facts[call];
            if (facts.launchThread != noIndex) continue;
            add(facts, {projections.startNs[row], projections.endNs[row]}, projections.operationCount[row]);
            nccl.facts.set(call, facts);
        }
}

namespace {

/// Returns true if the trace contains every process of the job, and so every rank of each communicator.
bool hasWholeJob(const Trace& trace) {
    int worldSize = 0, ranks = 0;
    for (const Process& process : trace.processes) {
        worldSize = std::max(worldSize, process.worldSize.value_or(0));
        ranks += process.rank ? 1 : 0;
    }
    return worldSize == 0 || ranks >= worldSize;
}

bool hasAllRanks(const Trace& trace, Collective collective, bool isWholeJob) {
    const int32_t rankCount = trace.nccl.facts[collective.front().row].rankCount;
    return rankCount > 0 ? static_cast<size_t>(rankCount) == collective.size() : isWholeJob;
}

bool doAllWait(const Trace& trace, Collective collective) {
    const NcclFunction* function = findNcclFunction(trace.strings.at(collective.front().operation));
    return function != nullptr && !function->hasRoot;
}

/// Returns the start of the work of the last rank. Returns nullopt if the work of any rank had ended by then.
std::optional<int64_t> lastStart(const Trace& trace, Collective collective) {
    int64_t lastNs = INT64_MIN, firstEndNs = INT64_MAX;
    for (const CollectiveCall& call : collective) {
        const TimeRange gpu = trace.nccl.facts[call.row].gpu;
        lastNs = std::max(lastNs, gpu.startNs);
        firstEndNs = std::min(firstEndNs, gpu.endNs);
    }
    return firstEndNs < lastNs ? std::nullopt : std::optional(lastNs);
}

}  // namespace

void buildNcclWaits(Trace& trace, const std::stop_token& stop) {
    if (trace.nccl.size() == 0) return;
    const MatchedCollectives collectives(trace, stop);
    if (stop.stop_requested()) return;
    const bool isWholeJob = hasWholeJob(trace);
    for (size_t index = 0; index < collectives.size(); ++index) {
        const Collective collective = collectives.at(index);
        if (!hasAllRanks(trace, collective, isWholeJob) || !doAllWait(trace, collective) || !isOnGpu(trace, collective))
            continue;
        const std::optional<int64_t> lastNs = lastStart(trace, collective);
        if (!lastNs) continue;
        for (const CollectiveCall& call : collective) {
            NcclFacts facts = trace.nccl.facts[call.row];
            facts.waitedNs = *lastNs - facts.gpu.startNs;
            trace.nccl.facts.set(call.row, facts);
        }
    }
}

}  // namespace lanescope
