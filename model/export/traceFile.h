// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes a trace that was read from another tool's file as a file of our own, which opens as the
/// same trace: work on GPUs, calls, waits, ranges, NCCL calls, counters, and what is known beside
/// them. The file appears when it is whole. Errors: it exists, or cannot be written; the trace has
/// events that only SQLite files have, so that it comes from one and needs no other. Some million
/// rows a second; blocks.
Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path);

}  // namespace lanescope
