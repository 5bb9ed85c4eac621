// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "model/trace/Trace.h"

namespace lanescope {

/// Of a thread on a core the kernel counts in ticks, of as much at most.
inline constexpr int64_t countTickNs = 10'000'000;

/// Whether looks saw one state of a thread where it was in several by turns: it waited at each
/// look, but the kernel counts that it also had or wanted a core for more than a tenth of the time,
/// or it ran at each look, but had and wanted none for as long. When in the run it did what is not
/// known then, and a look says nothing of the time between. What the scheduler tells is never
/// mixed. O(1).
inline bool isMixed(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    if (states.source[row] != StateSource::Looks) return false;
    const ThreadState state = states.state[row];
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    const int64_t ranNs = states.cpuNs[row] + states.delayNs[row];
    constexpr int64_t leastRunNs = 1'000'000;
    if (state == ThreadState::Running)
        return ranNs > 0 && wholeNs - ranNs > std::max(wholeNs / 10, countTickNs);
    return isWaiting(state) && ranNs > std::max(wholeNs / 10, leastRunNs);
}

/// "Lock", or "Lock, running" of a mixed run.
inline std::string stateText(ThreadState state, bool isMixed) {
    const std::string seen(nameOf(state).name);
    if (!isMixed) return seen;
    return seen + (state == ThreadState::Running ? ", waiting" : ", running");
}

}  // namespace lanescope
