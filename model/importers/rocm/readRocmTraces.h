// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

// Readers of databases into a builder. O(rows). If the file cannot be read, `Database::trouble` has the cause.

/// Reads a database of ROCm's rocprof, before version 3, or of hipprof, its cousin for DCUs: HIP calls, kernels, copies
/// and fills. Calls and work match by their index.
void readHipTrace(LoadContext& context);

/// Reads a file of ROCm's RPD: calls, ranges, the GPU work that they launched, and monitored GPU values.
void readRpdTrace(LoadContext& context);

/// Reads a rocpd file of rocprofv3 or rocprof-sys: calls, ranges, and the GPU work and memory operations that they
/// launched. A file may contain several processes, also of several hosts, each in tables of its own.
void readRocpdTrace(LoadContext& load);

}  // namespace lanescope
