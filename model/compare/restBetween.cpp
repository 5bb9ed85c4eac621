// SPDX-License-Identifier: Apache-2.0
#include "model/compare/restBetween.h"

#include <algorithm>
#include <map>
#include <string>

#include "model/compare/StateWords.h"

namespace lanescope::compare {

RestBetween restBetween(const Trace& trace, std::span<const TimeRange> steps,
                        const LargeVector<GpuWork>& work) {
    StateWords words(trace);
    std::map<std::string, int64_t> waits;
    RestBetween rest;
    int64_t busyUntilNs = INT64_MIN;
    auto next = work.begin();
    for (size_t step = 1; step < steps.size(); ++step) {
        const TimeRange pause{steps[step - 1].endNs, steps[step].startNs};
        for (; next != work.end() && next->startNs < pause.endNs; ++next)
            busyUntilNs = std::max(busyUntilNs, next->endNs);
        const TimeRange idle{std::max(pause.startNs, busyUntilNs), pause.endNs};
        if (idle.durationNs() <= 0 || next == work.end() || next->call == noIndex) continue;
        const uint32_t thread = trace.apiCalls.thread[next->call];
        words.forEachIn(thread, idle, [&](TimeRange piece, std::string_view told) {
            const std::optional<ThreadState> state = stateTold(told);
            if (!state || !isWaiting(*state)) return;
            rest.ns += piece.durationNs();
            waits[onThread(trace, thread) + std::string(told)] += piece.durationNs();
        });
    }
    const auto most =
        std::max_element(waits.begin(), waits.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != waits.end()) rest.name = most->first;
    return rest;
}

}  // namespace lanescope::compare
