// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/Result.h"

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

}  // namespace lanescope
