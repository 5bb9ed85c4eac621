// SPDX-License-Identifier: Apache-2.0
#include "model/trace/ProvedWaits.h"

#include <algorithm>

#include "model/trace/mixedState.h"
#include "model/values/Statistics.h"

namespace lanescope {

int64_t mostRunNs(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    int64_t ranNs = states.cpuNs[row];
    // What a scheduler tells is no estimate.
    if (states.source[row] != StateSource::Looks) return ranNs;
    ranNs += (states.endNs[row] - states.startNs[row]) / 10;
    return states.state[row] == ThreadState::Running ? ranNs + countTickNs : ranNs;
}

void ProvedWaits::add(uint32_t thread, TimeRange piece) {
    states_.forEachIn(thread, piece, [this](uint32_t row, TimeRange within) {
        int64_t& spentNs = spentNs_[row];
        spentNs = saturatingSum(spentNs, within.durationNs());
    });
}

int64_t ProvedWaits::waitedNs(uint32_t row) const {
    const auto spent = spentNs_.find(row);
    if (spent == spentNs_.end() || !isWaiting(trace_.cpuStates.state[row])) return 0;
    // Nobody looked often enough, and the kernel did not count.
    if (states_.tells(row, spent->second) == StatesOfThreads::Telling::Nothing) return 0;
    return std::max<int64_t>(
        0, spent->second - mostRunNs(trace_, row) - trace_.cpuStates.delayNs[row]);
}

int64_t ProvedWaits::outsideNs() const {
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        if (isOutside(trace_.cpuStates.state[row])) sumNs = saturatingSum(sumNs, waitedNs(row));
    return sumNs;
}

int64_t ProvedWaits::workedNs() const {
    const CpuStateTable& states = trace_.cpuStates;
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        sumNs =
            saturatingSum(sumNs, states.state[row] == ThreadState::Disk ||
                                         states.state[row] == ThreadState::Running ||
                                         states.state[row] == ThreadState::Runnable
                                     ? spentNs
                                     : std::min(spentNs, states.cpuNs[row] + states.delayNs[row]));
    return sumNs;
}

}  // namespace lanescope
