// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Which process started each, as an index into `Trace::processes`; `noIndex` where that is not
/// known, or where the trace does not have it. Loader workers are started by their rank's process.
/// O(processes log processes).
std::vector<uint32_t> startedBy(const Trace& trace);

/// The rank that each process works for: its own, or that of the nearest who started it and has
/// one.
std::vector<std::optional<int>> ranksServed(const Trace& trace);

}  // namespace lanescope
