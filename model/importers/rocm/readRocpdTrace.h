// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Gives the builder what a rocpd file holds, which rocprofv3 and rocprof-sys write: calls, ranges,
/// and the work on GPUs and memory that they launched. One file may hold several processes, also of
/// several hosts, each in tables of its own. Linear in the rows. Errors: the file could not be
/// read.
Result<void> readRocpdTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                            const LoadProgress& progress);

}  // namespace lanescope
