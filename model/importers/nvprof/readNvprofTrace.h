// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Reads GPU work, calls, waits, ranges and devices of an nvprof SQLite file into a builder. Other
/// contents are noted in the health. The file is untrusted. Errors: those of the database.
Result<void> readNvprofTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress);

}  // namespace lanescope
