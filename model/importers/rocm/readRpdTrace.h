// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Gives the builder what a file of ROCm's RPD holds: calls, ranges, the work on GPUs that they
/// launched, and what was monitored of GPUs. Linear in the rows. Errors: the file could not be
/// read.
Result<void> readRpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                          const LoadProgress& progress);

}  // namespace lanescope
