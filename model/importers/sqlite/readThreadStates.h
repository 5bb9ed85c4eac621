// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

/// A thread got a core, or lost it.
struct ThreadSwitch {
    int64_t timeNs = 0;
    bool isIn = false;
    bool isPreempted = false;  ///< It lost it, and could have gone on.
};

/// What looks saw of threads that the scheduler tells of, too; by thread, in the order of the file.
using LooksOfThreads = std::map<uint32_t, std::vector<kinds::CpuState::Row>>;
/// When threads had a core, by thread and time.
using CoreTimes = std::map<uint32_t, std::vector<TimeRange>>;

/// What a thread did: when it had a core, or wanted one that was taken from it, is the scheduler's
/// word; what it waited for, and at which line it was, that of the look which fell there. Where the
/// scheduler says nothing looks stand as they are. Looks do not overlap: of two that do the first
/// counts. `switches` are put in order of time. O(n log n).
std::vector<kinds::CpuState::Row> exactStates(uint32_t thread,
                                              std::vector<kinds::CpuState::Row> looks,
                                              std::vector<ThreadSwitch>& switches);

}  // namespace lanescope
