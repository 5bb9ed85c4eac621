// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/build/LoadProgress.h"
#include "model/build/TraceBuilder.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// Gives the builder all that the tables of the file hold, of Lanescope's and Nsight Systems' what
/// is there. Bad cells are skipped and counted, never trusted. Reads with as many `threads`; what
/// it reads is the same for any number. What was read when `progress` cancels it does not matter.
/// Fails with what kept it from reading all that is there (`Database::trouble`): a trace with less
/// is none. Linear in the rows.
Result<void> readSqliteTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress);

}  // namespace lanescope
