// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/finishTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/format/ncclFunctions.h"
#include "model/numbers/LargeMemory.h"
#include "model/numbers/groups.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/processes.h"

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
    auto call =
        std::ranges::lower_bound(calls, launch.startNs, {}, [&](uint32_t row) { return trace.apiCalls.startNs[row]; });
    for (; call != calls.end() && trace.apiCalls.startNs[*call] < launch.endNs; ++call)
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, *call)))
            add(found, trace.rangeOf(work), 1);
    return found;
}

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

/// Returns the time from which all data of a collective can move: the start of the last rank, or of a root that sends.
/// Returns nullopt if the root is unknown, or if the work of a waiting rank had ended by then.
std::optional<int64_t> movingFrom(const Trace& trace, Collective collective, NcclRoot kind) {
    const int32_t root = trace.nccl.facts[collective.front().row].root;
    int64_t fromNs = INT64_MIN, firstEndNs = INT64_MAX;
    for (const CollectiveCall& call : collective) {
        const NcclFacts facts = trace.nccl.facts[call.row];
        if (kind != NcclRoot::None && (root < 0 || facts.root != root)) return std::nullopt;
        const bool isRoot = facts.rank == root;
        if (kind != NcclRoot::Sends || isRoot) fromNs = std::max(fromNs, facts.gpu.startNs);
        if (kind != NcclRoot::Receives || isRoot) firstEndNs = std::min(firstEndNs, facts.gpu.endNs);
    }
    return fromNs == INT64_MIN || firstEndNs < fromNs ? std::nullopt : std::optional(fromNs);
}

/// An NCCL operation with its number in its communicator.
struct Numbered {
    uint64_t communicator;
    StringIndex operation;
    uint32_t process;
    int32_t rank;
    int64_t number;
    auto ofAll() const { return std::tuple(communicator, operation); }
    auto ofRank() const { return std::tuple(communicator, operation, process, rank); }
};
using Operations = std::span<const Numbered>;

/// Operations of one process that its log lacks.
struct Missing {
    int32_t rank = -1;
    int64_t count = 0, all = 0;
    std::set<StringIndex> operations;
    std::vector<int64_t> first;  ///< The first few numbers.
};

/// Adds the numbers between the first and the last of all ranks that one rank lacks.
void addMissing(Operations ofRank, int64_t firstNumber, int64_t lastNumber, Missing& missing) {
    constexpr size_t maxNamed = 3;
    int64_t expected = firstNumber, count = 0;
    const auto skipTo = [&](int64_t number) {
        count += number - expected;
        for (; expected < number && missing.first.size() < maxNamed; ++expected) missing.first.push_back(expected);
        expected = number;
    };
    for (const Numbered& each : ofRank) {
        if (each.number < expected) continue;
        skipTo(each.number);
        ++expected;
    }
    skipTo(lastNumber + 1);
    missing.rank = ofRank.front().rank;
    missing.all += lastNumber - firstNumber + 1;
    missing.count += count;
    if (count > 0) missing.operations.insert(ofRank.front().operation);
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

void buildNcclWaits(Trace& trace, const std::stop_token& stop) {
    if (trace.nccl.size() == 0) return;
    const MatchedCollectives collectives(trace, stop);
    if (stop.stop_requested()) return;
    const bool isWholeJob = hasWholeJob(trace);
    for (size_t index = 0; index < collectives.size(); ++index) {
        const Collective collective = collectives.at(index);
        const NcclFunction* function = findNcclFunction(trace.strings.at(collective.front().operation));
        if (!function || !hasAllRanks(trace, collective, isWholeJob) || !isOnGpu(trace, collective)) continue;
        const std::optional<int64_t> fromNs = movingFrom(trace, collective, function->root);
        if (!fromNs) continue;
        for (const CollectiveCall& call : collective) {
            NcclFacts facts = trace.nccl.facts[call.row];
            // A rank that only sends may end before others begin, or wait for those that receive.
            if (function->root != NcclRoot::None && (function->root == NcclRoot::Sends) == (facts.rank == facts.root))
                continue;
            facts.waitedNs = std::max<int64_t>(*fromNs - facts.gpu.startNs, 0);
            trace.nccl.facts.set(call.row, facts);
        }
    }
}

void noteMissingOperations(Trace& trace, const std::stop_token& stop) {
    constexpr int64_t minShareDivisor = 100, minMissing = 3;
    if (trace.producerKind != ProducerKind::NcclInspector) return;
    LargeVector<Numbered> operations(trace.memory.get());
    const NcclTable& nccl = trace.nccl;
    for (uint32_t row = 0; row < nccl.size() && !isStopped(stop, row); ++row) {
        const NcclFacts facts = nccl.facts[row];
        // Messages to a peer are numbered by the pair.
        if (facts.sequence < 0 || facts.peer >= 0 || nccl.communicator[row] == 0) continue;
        operations.push_back({nccl.communicator[row], nccl.operation[row],
                              trace.threads[trace.nvtx.thread[nccl.nvtx[row]]].process, facts.rank, facts.sequence});
    }
    sortLarge(operations, [](const Numbered& a, const Numbered& b) {
        return std::tuple(a.ofRank(), a.number) < std::tuple(b.ofRank(), b.number);
    });
    std::map<uint32_t, Missing> ofProcesses;
    forEachGroup(operations, &Numbered::ofAll, [&](Operations ofAll) {
        int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
        size_t most = 0;
        forEachGroup(ofAll, &Numbered::ofRank, [&](Operations each) {
            first = std::min(first, each.front().number);
            last = std::max(last, each.back().number);
            most = std::max(most, each.size());
        });
        // A corrupt number could claim any gap.
        if (last - first >= 2 * static_cast<int64_t>(most)) return;
        forEachGroup(ofAll, &Numbered::ofRank,
                     [&](Operations each) { addMissing(each, first, last, ofProcesses[each.front().process]); });
    });
    for (const auto& [process, missing] : ofProcesses) {
        // Logs that end a moment apart are whole.
        if (missing.count * minShareDivisor < missing.all || missing.count < minMissing) continue;
        std::vector<std::string_view> names;
        for (const StringIndex each : missing.operations) names.push_back(trace.strings.at(each));
        trace.health.push_back({Severity::Warning,
                                HealthCode::OperationsMissing,
                                fmt::format("Rank {}: the log lacks {} of {} operations ({}, numbers {}{}). Its time "
                                            "in NCCL cannot be compared with that of other ranks.",
                                            missing.rank, formatCount(missing.count), formatCount(missing.all),
                                            fmt::join(names, ", "), fmt::join(missing.first, ", "),
                                            missing.count > static_cast<int64_t>(missing.first.size()) ? " ..." : ""),
                                trace.processes[process].globalPid,
                                {},
                                missing.count});
    }
}

}  // namespace lanescope
