// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::cli {

/// `openTrace` with its progress on stderr where that is a terminal and the load takes long enough
/// to wonder. Of a trace that is still being recorded, named as it is until it is whole, what there
/// is of it.
Result<TracePtr> loadForCommand(const std::filesystem::path& path);
/// `ensureIndex` with the same.
Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path);

/// Prints what the trace's health says is lost or doubtful as warnings on stderr.
void reportHealth(const Trace& trace);

}  // namespace lanescope::cli
