// SPDX-License-Identifier: Apache-2.0
#include "model/format/Inserter.h"

#include "model/format/tableSql.h"

namespace lanescope {

RowInserter::RowInserter(const Database& database, const tables::Table& table, FirstError& error)
    : error_(&error) {
    auto prepared = database.prepare(insertSql(table));
    if (prepared)
        statement_ = std::move(*prepared);
    else if (!*error_)
        *error_ = prepared.error();
}

}  // namespace lanescope
