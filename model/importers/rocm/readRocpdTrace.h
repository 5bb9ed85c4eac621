// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Reads a rocpd file of rocprofv3 or rocprof-sys into the builder: calls, ranges, and the GPU work
/// and memory operations that they launched. A file may contain several processes, also of several
/// hosts, each in tables of its own. O(rows). Fails if the file cannot be read.
Result<void> readRocpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                            const LoadProgress& progress);

}  // namespace lanescope
