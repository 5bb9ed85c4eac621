// SPDX-License-Identifier: Apache-2.0
#include "model/compare/restBetween.h"

#include <algorithm>
#include <map>
#include <string>

#include "model/compare/StateWords.h"
#include "model/trace/ProvedWaits.h"

namespace lanescope::compare {

RestBetween restBetween(const RunContext& run, std::span<const TimeRange> steps,
                        const LargeVector<GpuWork>& work) {
    const Trace& trace = run.trace;
    ProvedWaits proved(trace, run.states);
    int64_t busyUntilNs = INT64_MIN;
    auto next = work.begin();
    for (size_t step = 1; step < steps.size(); ++step) {
        const TimeRange pause{steps[step - 1].endNs, steps[step].startNs};
        for (; next != work.end() && next->startNs < pause.endNs; ++next)
            busyUntilNs = std::max(busyUntilNs, next->endNs);
        const TimeRange idle{std::max(pause.startNs, busyUntilNs), pause.endNs};
        if (idle.durationNs() <= 0 || next == work.end() || next->call == noIndex) continue;
        proved.add(trace.apiCalls.thread[next->call], idle);
    }
    StateWords words(trace, run.states);
    RestBetween rest;
    std::map<std::string, int64_t> waits;
    proved.forEachRow([&](uint32_t row, int64_t waitedNs) {
        if (waitedNs <= 0) return;
        rest.ns += waitedNs;
        waits[onThread(trace, trace.cpuStates.thread[row]) + std::string(words.seenIn(row))] +=
            waitedNs;
    });
    const auto most =
        std::max_element(waits.begin(), waits.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != waits.end()) rest.name = most->first;
    return rest;
}

}  // namespace lanescope::compare
