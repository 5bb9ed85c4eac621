// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/traceFingerprint.h"

#include <fmt/format.h>

#include "model/format/Fnv1a.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/allTables.h"

namespace lanescope {

namespace {

/// What `expression` is in the first row; 0 where the file does not say.
int64_t answer(const Database& database, const char* expression, const tables::Table& table) {
    if (!database.hasTable(table.tableName())) return 0;
    auto statement =
        database.prepare(fmt::format("SELECT {} FROM {}", expression, table.tableName()));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row && statement->isInteger(0) ? statement->integer(0) : 0;
}

}  // namespace

int64_t traceFingerprint(const Database& database) {
    Fnv1a hash;
    const auto add = [&](const char* expression, const tables::Table& table) {
        hash.add(static_cast<uint64_t>(answer(database, expression, table)));
    };
    for (const tables::Table* table : tables::eventTables()) add("max(rowid)", *table);
    add("max(rowid)", tables::strings);
    add(tables::sessionStart.utcEpochNs.name, tables::sessionStart);
    return static_cast<int64_t>(hash.value());
}

}  // namespace lanescope
