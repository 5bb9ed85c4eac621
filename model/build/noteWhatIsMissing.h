// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Notes what cannot be shown, unless the recorder has noted it with more detail: events without a
/// time, a trace without events, processes that ended abnormally.
void noteWhatIsMissing(std::span<const EventCount> counts, std::span<const Process> processes,
                       std::vector<HealthNote>& health);

}  // namespace lanescope
