// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// What a merged trace calls, among the facts of a process, within how many nanoseconds the clock
/// of its file is known by that of the first.
inline constexpr std::string_view clockErrorFact = "clock.errorNs";

/// That of a process; 0 where nothing is told, as of a process whose clock is the first.
int64_t clockErrorNs(const Process& process);

}  // namespace lanescope
