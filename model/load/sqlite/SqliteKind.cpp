#include "model/load/sqlite/SqliteKind.h"

#include <algorithm>
#include <string>

#include "model/format/Schema.h"
#include "model/load/sqlite/eventTables.h"

namespace lanescope {

namespace {

/// nvprof keeps its texts in `StringTable`, where Nsight Systems has `StringIds`.
bool isOfNvprof(const Database& database) {
    return database.hasTable("StringTable") && !database.hasTable("StringIds") &&
           (database.hasTable("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL") ||
            database.hasTable("CUPTI_ACTIVITY_KIND_DRIVER") ||
            database.hasTable("CUPTI_ACTIVITY_KIND_KERNEL"));
}

/// An export of a run without GPU work has none of the tables of events.
bool isOfNsight(const Database& database) {
    return std::any_of(eventTables.begin(), eventTables.end(),
                       [&](const char* table) { return database.hasTable(table); }) ||
           (database.hasTable("StringIds") &&
            (database.hasTable("PROCESSES") || database.hasTable("ThreadNames")));
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
    if (!isOfNsight(database)) return SqliteKind::Unknown;
    return hasOurTables(database) ? SqliteKind::Lanescope : SqliteKind::Nsight;
}

}  // namespace lanescope
