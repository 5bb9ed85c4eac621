// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/Collectives.h"

#include <algorithm>
#include <limits>
#include <set>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/trace/collectives.h"

namespace lanescope::analysis {

namespace {

uint32_t processOfCall(const Trace& trace, uint32_t row) {
    return trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
}

/// The processes that called each communicator: its ranks if the trace contains the whole job.
std::map<uint64_t, std::set<uint32_t>> ranksByCommunicator(const Trace& trace) {
    std::map<uint64_t, std::set<uint32_t>> ranks;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row)
        if (trace.nccl.communicator[row] != 0) ranks[trace.nccl.communicator[row]].insert(processOfCall(trace, row));
    return ranks;
}

/// Returns NCCL's rank count, else the ranks seen in the trace, else the number of processes on GPUs.
int32_t rankCountOf(const NcclFacts& facts, size_t seenRanks, int64_t worldSize) {
    if (facts.rankCount > 0) return facts.rankCount;
    const int64_t count = seenRanks > 1 ? static_cast<int64_t>(seenRanks) : worldSize;
    return static_cast<int32_t>(std::clamp<int64_t>(count, 1, 1 << 20));
}

int64_t wholeBytes(double bytes) {
    constexpr auto most = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
    return static_cast<int64_t>(std::clamp(bytes, 0.0, most));
}

}  // namespace

Collectives::Collectives(const Trace& trace, int64_t worldSize)
    : callsOf_(trace.threads.size(), LargeVector<Call>(trace.memory.get())) {
    const auto ranks = ranksByCommunicator(trace);
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        if (trace.nccl.bytes[row] <= 0) continue;
        const NcclFacts& facts = trace.nccl.facts[row];
        const auto known = ranks.find(trace.nccl.communicator[row]);
        const size_t seen = known == ranks.end() ? 0 : known->second.size();
        const int64_t bytes = trace.nccl.bytes[row];
        const auto traffic =
            ncclTraffic(trace.strings.at(trace.nccl.operation[row]), bytes, rankCountOf(facts, seen, worldSize));
        const uint32_t nvtx = trace.nccl.nvtx[row];
        const bool isLaunchKnown = facts.launchThread != noIndex;
        callsOf_[isLaunchKnown ? facts.launchThread : trace.nvtx.thread[nvtx]].push_back(
            {isLaunchKnown ? facts.launch.startNs : trace.nvtx.startNs[nvtx],
             {bytes, traffic ? wholeBytes(traffic->busBytes) : 0}});
    }
    for (LargeVector<Call>& calls : callsOf_)
        sortLarge(calls, [](const Call& a, const Call& b) { return a.startNs < b.startNs; });
}

CollectiveBytes Collectives::Taker::take(uint32_t thread, int64_t callStartNs) {
    CollectiveBytes sum;
    if (thread >= collectives_.callsOf_.size()) return sum;
    const LargeVector<Call>& calls = collectives_.callsOf_[thread];
    for (size_t& next = taken_[thread]; next < calls.size() && calls[next].startNs <= callStartNs; ++next) {
        sum.bytes = saturatingSum(sum.bytes, calls[next].amount.bytes);
        sum.busBytes = saturatingSum(sum.busBytes, calls[next].amount.busBytes);
    }
    return sum;
}

}  // namespace lanescope::analysis
