// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/format/Result.h"
#include "model/format/Table.h"

namespace lanescope::tables {

/// Returns every table of a new trace, in order of creation.
std::span<const Table* const> traceTables();
/// Returns the tables of `traceTables` that contain events.
std::span<const Table* const> eventTables();
/// Returns the tables of stored results, which not every trace has.
std::span<const Table* const> storedTables();

}  // namespace lanescope::tables

namespace lanescope {

class Database;

/// `PRAGMA application_id` of a Lanescope trace: "LNSC".
inline constexpr int32_t traceApplicationId = 0x4c4e5343;
/// `PRAGMA user_version`. Each version of the program opens files of all earlier versions, and the supported parts of
/// files of later versions (FORMAT.md).
inline constexpr int traceSchemaVersion = 8;

/// Protection of a trace if the writer is killed.
enum class TraceState : uint8_t {
    Whole,       ///< By a journal or a private path; every committed state is a trace.
    Unfinished,  ///< No protection; readers refuse the file until `markWhole`.
};

/// Creates every table of a trace in an empty database and fills the `ENUM_*` tables.
/// `model/format/FORMAT.md` describes the tables and columns.
Result<void> createTraceTables(Database& database, TraceState state = TraceState::Whole);

/// Lets readers open a trace that was created as unfinished, in one write of one page. Call after the last commit
/// without a journal.
Result<void> markWhole(Database& database);

/// Drops empty tables that also exist in exports of Nsight Systems. These exports omit empty tables, and their readers
/// assume that an existing table has rows. Keeps Lanescope's own tables and `ENUM_*` tables. Call after the last write.
Result<void> dropEmptyTables(Database& database);

/// Announces the seal (`PageSeal.h`) in a trace, so that readers detect a seal overwritten by another program.
Result<void> announceSeal(Database& database);
/// Returns true if `announceSeal` was called on the trace.
bool wasSealed(const Database& database);

/// Returns a fingerprint of a trace file, which changes with added events and differs between recordings. Covers the
/// last row of each event table and of the strings, and the start of the session. O(log n) per table.
int64_t traceFingerprint(const Database& database);

}  // namespace lanescope
