// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Sqlite.h"
#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

/// Whose tables an SQLite file holds.
enum class SqliteKind : uint8_t {
    Unknown,
    Lanescope,
    Nsight,  ///< An export of Nsight Systems.
    Nvprof,  ///< Its tables of the same names have other columns.
    Rocpd,   ///< What ROCm's rocprofv3 and rocprof-sys write.
    Rpd,     ///< What ROCm's RPD writes, whose tables begin with the same word.
};

/// Goes by the mark that our files carry and by the names of tables. O(tables).
SqliteKind kindOf(const Database& database);

/// A table of a foreign file that nothing is made of.
struct UnreadTable {
    std::string_view table;
    std::string_view rows;  ///< What its rows are, in the plural.
};

/// Adds a health note for each of the tables that has rows, so that nobody takes what is not shown
/// for what is not there; says how many. O(rows of these tables).
size_t noteNotShown(LoadContext& context, std::span<const UnreadTable> tables);

/// The same of what exports of Nsight Systems hold beside what was read of them until now: tables
/// that are known to hold events, and any others whose rows have a time.
void noteNotShownOfNsight(LoadContext& context);

/// Gives the builder all that the tables of the file hold, of Lanescope's and Nsight Systems' what
/// is there. Bad cells are skipped and counted, never trusted. Reads with as many `threads`; what
/// it reads is the same for any number. What was read when `progress` cancels it does not matter.
/// Fails with what kept it from reading all that is there (`Database::trouble`): a trace with less
/// is none. Linear in the rows.
Result<void> readSqliteTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress);

}  // namespace lanescope
