// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"

namespace lanescope::test {

/// Adds a state of a thread, in which it had a core for `cpuNs` and waited for one for `delayNs`.
inline EventRef addState(SimulatedTrace& made, uint32_t thread, ThreadState state, TimeRange range, int64_t cpuNs = 0,
                         int64_t delayNs = 0, uint32_t stack = noIndex) {
    kinds::CpuState::Row row{.startNs = range.startNs, .endNs = range.endNs, .thread = thread, .state = state};
    row.cpuNs = cpuNs;
    row.delayNs = delayNs;
    row.stack = stack;
    return made.add<kinds::CpuState>(row);
}

/// Adds a sample of a running thread, 10 ns long.
inline EventRef addSample(SimulatedTrace& made, uint32_t thread, int64_t timeNs, uint32_t stack) {
    kinds::CpuState::Row row{.startNs = timeNs, .endNs = timeNs + 10, .thread = thread, .state = ThreadState::Running};
    row.source = StateSource::Samples;
    row.stack = stack;
    return made.add<kinds::CpuState>(row);
}

}  // namespace lanescope::test
