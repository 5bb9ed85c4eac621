// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the events of a trace in memory into a new trace file, through the same tables that the
/// recorder fills. Start-of-session, health and clocks are not written.
Result<void> writeTrace(const Trace& trace, const std::filesystem::path& path);

}  // namespace lanescope
