// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"
#include "model/values/stretches.h"

namespace lanescope::compare {

/// Which API call launched each piece of GPU work, and when which thread was in a call. The lookups
/// of `Trace`, made once for all rows; O(n log n) in calls and work.
struct LaunchingCalls : LaunchRows {
    explicit LaunchingCalls(const Trace& trace);

    /// By thread: outermost calls. Labels are names.
    std::vector<Stretches> callsOf;
};

}  // namespace lanescope::compare
