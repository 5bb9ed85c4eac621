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
/// Returns the tables of stored results; not every trace has them.
std::span<const Table* const> storedTables();

}  // namespace lanescope::tables

namespace lanescope {

class Database;

/// `PRAGMA application_id` of a Lanescope trace: "LNSC".
inline constexpr int32_t traceApplicationId = 0x4c4e5343;
/// `PRAGMA user_version`. Every version of the program opens files of all earlier versions, and the
/// known parts of later ones (FORMAT.md).
inline constexpr int traceSchemaVersion = 8;

/// Protection of a trace whose writer is killed.
enum class TraceState : uint8_t {
    Whole,       ///< A journal or a place that no other program knows; every committed state is a trace.
    Unfinished,  ///< None: readers refuse the file until `markWhole`.
};

/// Creates every table of a trace in an empty database and fills the `ENUM_*` tables.
/// `model/format/FORMAT.md` describes the tables and columns.
Result<void> createTraceTables(Database& database, TraceState state = TraceState::Whole);

/// Lets readers open a trace that was created as unfinished, in one write of one page. After the last commit without a
/// journal.
Result<void> markWhole(Database& database);

/// Drops empty tables that also exist in exports of Nsight Systems. Such exports omit empty tables,
/// and programs that read them assume that an existing table has rows. Call after the last write.
/// Lanescope's own tables and `ENUM_*` tables stay.
Result<void> dropEmptyTables(Database& database);

/// Stores in a trace that it will be sealed (`PageSeal.h`), to detect that another program overwrote the seal.
Result<void> announceSeal(Database& database);
/// Returns true if `announceSeal` was called on the trace.
bool wasSealed(const Database& database);

/// Returns a number that changes if events are added to a trace file or the file is another recording. It covers the
/// last row of each event table and of the strings, and the start of the session. O(log n) per table.
int64_t traceFingerprint(const Database& database);

}  // namespace lanescope
