// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/build/LoadProgress.h"
#include "model/build/TraceBuilder.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Gives the builder all that the tables of the file hold, of Lanescope's and Nsight Systems' what
/// is there. Bad cells are skipped and counted, never trusted. Reads with as many `threads`; what
/// it reads is the same for any number. False once `progress` has cancelled it. Linear in the rows.
bool readSqliteTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                     const LoadProgress& progress);

}  // namespace lanescope
