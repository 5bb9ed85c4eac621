// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Reads a file of ROCm's RPD into the builder: calls, ranges, the GPU work that they launched, and
/// monitored GPU values. O(rows). Fails if the file cannot be read.
Result<void> readRpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress);

}  // namespace lanescope
