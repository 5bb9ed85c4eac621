// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildNcclWaits.h"

#include <algorithm>
#include <optional>

#include "model/format/ncclFunctions.h"
#include "model/trace/matchCollectives.h"

namespace lanescope {

namespace {

/// Whether every process of the job is in the trace; then so is every rank of each communicator.
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

/// When the last rank's work began; nothing if some rank's had ended by then.
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
        if (!hasAllRanks(trace, collective, isWholeJob) || !doAllWait(trace, collective) ||
            !isOnGpu(trace, collective))
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
