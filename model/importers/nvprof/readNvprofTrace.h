// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Gives a builder what an SQLite file of nvprof holds: work on GPUs, calls, waits, ranges and
/// devices; what else there is is said in the health. The file is untrusted. Errors: those of the
/// database, whose rows cannot be read.
Result<void> readNvprofTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress);

}  // namespace lanescope
