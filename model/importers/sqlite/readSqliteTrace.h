// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/format/Sqlite.h"
#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

enum class SqliteKind : uint8_t {
    Unknown,
    Lanescope,
    Nsight,  ///< An export of Nsight Systems.
    Nvprof,  ///< Tables with names of Nsight Systems have other columns.
    Rocpd,   ///< ROCm's rocprofv3 and rocprof-sys.
    Rpd,     ///< ROCm's RPD. Its tables have the same prefix.
    Hip,     ///< ROCm's rocprof before version 3, and hipprof.
};

/// Returns the kind of a file by the mark of Lanescope files and by names of tables. O(tables).
SqliteKind kindOf(const Database& database);

/// A table of a third-party file that is not imported.
struct UnreadTable {
    std::string_view table;
    std::string_view rows;  ///< The contents of its rows, in the plural.
};

/// Adds a health note for each nonempty table, so that users do not mistake skipped data for
/// missing data. Returns their number. O(rows of these tables).
size_t noteSkippedTables(LoadContext& context, std::span<const UnreadTable> tables);

/// Adds the notes for exports of Nsight Systems on the tables that were not read: known event
/// tables, and others whose rows have a time.
void noteSkippedNsightTables(LoadContext& context);

/// Reads all tables of a file of Lanescope or Nsight Systems into the builder. Invalid cells are
/// skipped and counted. The result does not depend on the number of threads. If `progress` cancels,
/// it is undefined. If the file cannot be read completely, `Database::trouble` has the cause. O(rows).
void readSqliteTrace(LoadContext& context);

}  // namespace lanescope
