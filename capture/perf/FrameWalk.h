// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "capture/perf/LibDw.h"
#include "capture/perf/perfAttributes.h"

namespace lanescope::capture {

/// Follows a stack by its frame pointers, which only code has that was compiled so: of other code
/// it is no more than the innermost function, or leaves callers out. As `LibDw::walk`. O(frames).
std::vector<uint64_t> walkFramePointers(const PerfRegisters& registers,
                                        std::span<const std::byte> memory);

}  // namespace lanescope::capture
