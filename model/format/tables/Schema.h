// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "model/format/Result.h"
#include "model/format/Table.h"

namespace lanescope::tables {

/// Every table that a new trace has, in the order in which they are made.
std::span<const Table* const> traceTables();
/// Those of them that hold events.
std::span<const Table* const> eventTables();
/// Those of what is stored when a recording is closed, which not every trace has.
std::span<const Table* const> storedTables();

}  // namespace lanescope::tables

namespace lanescope {

class Database;

/// `PRAGMA application_id` of a Lanescope trace: "LNSC".
inline constexpr int32_t traceApplicationId = 0x4c4e5343;
/// `PRAGMA user_version`. Every version of the program opens the files of all earlier ones, and
/// later ones as far as it knows them (FORMAT.md).
inline constexpr int traceSchemaVersion = 8;

/// Creates every table of a trace in an empty database and fills the `ENUM_*` tables.
/// `model/format/FORMAT.md` says what each table and column means.
Result<void> createTraceTables(Database& database);

/// Removes the tables that exports of Nsight Systems have too and that got no row: they leave those
/// out, and programs that read them ask whether there is a table and take it for filled. For when
/// all is written. Tables of our own, and those that say what numbers mean, stay.
Result<void> dropEmptyTables(Database& database);

/// Writes into a trace that it is going to be sealed (`PageSeal.h`), so that it is known where
/// another program wrote over the seal.
Result<void> announceSeal(Database& database);
/// Whether that was written.
bool wasSealed(const Database& database);

/// A number that changes when events are added to a trace file or it becomes another recording:
/// over the last row of each table of events and of the strings, and the start of the session.
/// O(log n) a table.
int64_t traceFingerprint(const Database& database);

}  // namespace lanescope
