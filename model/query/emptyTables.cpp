// SPDX-License-Identifier: Apache-2.0
#include "model/query/emptyTables.h"

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "model/format/tableSql.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/allTables.h"

namespace lanescope {

namespace {

bool isOurs(sqlite3* database) {
    sqlite3_stmt* statement = nullptr;
    const bool is = sqlite3_prepare_v2(database, "PRAGMA application_id", -1, &statement,
                                       nullptr) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_ROW &&
                    sqlite3_column_int(statement, 0) == traceApplicationId;
    sqlite3_finalize(statement);
    return is;
}

}  // namespace

void addEmptyTables(sqlite3* database) {
    if (!isOurs(database)) return;
    constexpr std::string_view create = "CREATE TABLE ";
    // Otherwise not even what no file has could be made.
    sqlite3_exec(database, "PRAGMA query_only = OFF", nullptr, nullptr, nullptr);
    for (const tables::Table* table : tables::traceTables()) {
        const bool isThere =
            sqlite3_table_column_metadata(database, "main", table->tableName(), nullptr, nullptr,
                                          nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
        if (isThere) continue;
        const std::string sql = "CREATE TEMP TABLE " + createSql(*table).substr(create.size());
        // A query that needs one that could not be made says which it misses.
        sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    }
    sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
}

}  // namespace lanescope
