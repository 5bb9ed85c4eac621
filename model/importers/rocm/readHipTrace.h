// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Reads a database of ROCm's rocprof, before version 3, or of hipprof, its cousin for DCUs: HIP calls, kernels, copies
/// and fills. Calls and work match by their index. O(rows). Fails if the file cannot be read.
Result<void> readHipTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress);

}  // namespace lanescope
