// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildNcclWork.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/isStopped.h"

namespace lanescope {

namespace {

/// Adds a piece of work.
void add(NcclFacts& facts, TimeRange work, uint32_t count) {
    facts.gpu = facts.operationCount == 0 ? work : facts.gpu.united(work);
    facts.operationCount += count;
}

/// API calls by the threads on which NCCL launched, in order of start.
std::unordered_map<uint32_t, std::vector<uint32_t>> callsOfLaunchingThreads(
    const Trace& trace, const std::stop_token& stop) {
    std::unordered_map<uint32_t, std::vector<uint32_t>> calls;
    for (const NcclFacts facts : trace.nccl.facts)
        if (facts.launchThread != noIndex) calls.try_emplace(facts.launchThread);
    if (calls.empty()) return calls;
    for (uint32_t row = 0; row < trace.apiCalls.size() && !isStopped(stop, row); ++row)
        if (const auto found = calls.find(trace.apiCalls.thread[row]); found != calls.end())
            found->second.push_back(row);
    return calls;
}

NcclFacts workOfLaunch(const Trace& trace, const std::vector<uint32_t>& calls, TimeRange launch) {
    NcclFacts found;
    auto call = std::lower_bound(
        calls.begin(), calls.end(), launch.startNs,
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
    // Each launch is looked at once, however many calls a file says it was for.
    std::map<std::pair<uint32_t, int64_t>, std::vector<uint32_t>> rowsOfLaunch;
    for (uint32_t row = 0; row < nccl.size(); ++row)
        if (nccl.facts[row].launchThread != noIndex)
            rowsOfLaunch[{nccl.facts[row].launchThread, nccl.facts[row].launch.startNs}].push_back(
                row);
    // Launches of a thread do not overlap; in a damaged file they must not take for ever either.
    std::pair<uint32_t, int64_t> looked{noIndex, 0};
    for (const auto& [launch, rows] : rowsOfLaunch) {
        if (stop.stop_requested()) return;
        TimeRange range = nccl.facts[rows.front()].launch;
        if (looked.first == launch.first) range.startNs = std::max(range.startNs, looked.second);
        looked = {launch.first, std::max(range.endNs, range.startNs)};
        const NcclFacts found = workOfLaunch(trace, calls.at(launch.first), range);
        for (const uint32_t row : rows) {
            NcclFacts facts = nccl.facts[row];
            facts.gpu = found.gpu;
            facts.operationCount = found.operationCount;
            facts.sharedBy = static_cast<uint32_t>(rows.size());
            nccl.facts.set(row, facts);
        }
    }

    std::unordered_map<uint32_t, uint32_t> rowOfRange;
    for (uint32_t row = 0; row < nccl.size(); ++row)
        if (nccl.facts[row].launchThread == noIndex) rowOfRange[nccl.nvtx[row]] = row;
    const ProjectionTable& projections = trace.projections;
    for (uint32_t row = 0; row < projections.size() && !isStopped(stop, row); ++row)
        if (const auto found = rowOfRange.find(projections.nvtx[row]); found != rowOfRange.end()) {
            NcclFacts facts = nccl.facts[found->second];
            add(facts, {projections.startNs[row], projections.endNs[row]},
                projections.operationCount[row]);
            nccl.facts.set(found->second, facts);
        }
}

}  // namespace lanescope
