// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/build/TraceBuilder.h"
#include "model/load/inspector/InspectorFile.h"

namespace lanescope {

/// What times are worth: of operations placed where they were written down, of those whose kernels
/// the CPU timed, and of those of which it timed the call only.
std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed);

/// Says in the trace's health what could not be read of the file, and what its times are worth.
void noteInspector(const InspectorFile& file, TraceBuilder& builder);

}  // namespace lanescope
