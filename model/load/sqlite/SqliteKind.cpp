// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/SqliteKind.h"

#include <algorithm>
#include <string>

#include "model/format/tables/Kernels.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/allTables.h"

namespace lanescope {

namespace {

bool has(const Database& database, const tables::Table& table) {
    return database.hasTable(table.tableName());
}

/// nvprof keeps its texts in `StringTable`, where Nsight Systems has `StringIds`.
bool isOfNvprof(const Database& database) {
    return database.hasTable("StringTable") && !has(database, tables::strings) &&
           (database.hasTable("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL") ||
            database.hasTable("CUPTI_ACTIVITY_KIND_DRIVER") || has(database, tables::kernels));
}

/// The newer of its tables have the number of the run behind their names.
bool isOfRocm(const Database& database) {
    return std::ranges::any_of(database.tables(), [](const std::string& table) {
        return table.starts_with("rocpd_string");
    });
}

bool isOfRpd(const Database& database) {
    return database.hasTable("rocpd_api") || database.hasTable("rocpd_op");
}

/// An export of a run without GPU work has none of the tables of events.
bool isOfNsight(const Database& database) {
    return std::ranges::any_of(tables::eventTables(),
                               [&](const tables::Table* table) { return has(database, *table); }) ||
           (has(database, tables::strings) &&
            (has(database, tables::processes) || has(database, tables::threadNames)));
}

/// Some tools that copy a file table by table lose its mark.
bool hasOurTables(const Database& database) {
    const std::vector<std::string> tables = database.tables();
    return std::any_of(tables.begin(), tables.end(),
                       [](const std::string& table) { return table.starts_with("LANESCOPE_"); });
}

}  // namespace

SqliteKind kindOf(const Database& database) {
    if (database.pragma("application_id") == traceApplicationId) return SqliteKind::Lanescope;
    if (isOfNvprof(database)) return SqliteKind::Nvprof;
    if (isOfRocm(database)) return isOfRpd(database) ? SqliteKind::Rpd : SqliteKind::Rocpd;
    if (!isOfNsight(database)) return SqliteKind::Unknown;
    return hasOurTables(database) ? SqliteKind::Lanescope : SqliteKind::Nsight;
}

}  // namespace lanescope
