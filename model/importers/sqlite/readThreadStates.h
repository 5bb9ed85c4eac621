// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

struct ThreadSwitch {
    int64_t timeNs = 0;
    bool isIn = false;
    bool isPreempted = false;  ///< The core was taken away while the thread was runnable.
};

/// State samples of threads with scheduler data, by thread, in the order of the file.
using SampledStates = std::map<uint32_t, std::vector<kinds::CpuState::Row>>;
/// Times on a core, by thread and time.
using CoreTimes = std::map<uint32_t, std::vector<TimeRange>>;

/// Returns the states of a thread. Scheduler switches decide when it had a core or was preempted. Overlapping state
/// samples add the reason of waits and the source line. Outside of scheduler data, samples are used as they are. Of
/// overlapping samples the first counts. Sorts `switches` by time. O(n log n).
std::vector<kinds::CpuState::Row> exactStates(uint32_t thread, std::vector<kinds::CpuState::Row> samples,
                                              std::vector<ThreadSwitch>& switches);

}  // namespace lanescope
