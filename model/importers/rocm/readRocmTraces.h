// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Sqlite.h"

namespace lanescope {

// Readers of databases into a builder. O(rows). They fail if the file cannot be read.

/// Reads a database of ROCm's rocprof, before version 3, or of hipprof, its cousin for DCUs: HIP calls, kernels, copies
/// and fills. Calls and work match by their index.
Result<void> readHipTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress);

/// Reads a file of ROCm's RPD: calls, ranges, the GPU work that they launched, and monitored GPU values.
Result<void> readRpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress);

/// Reads a rocpd file of rocprofv3 or rocprof-sys: calls, ranges, and the GPU work and memory operations that they
/// launched. A file may contain several processes, also of several hosts, each in tables of its own.
Result<void> readRocpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                            const LoadProgress& progress);

}  // namespace lanescope
