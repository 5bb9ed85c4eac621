// SPDX-License-Identifier: Apache-2.0
#include "model/format/Inserter.h"

#include "model/format/tableSql.h"
#include "model/format/utf8.h"

namespace lanescope {

RowInserter::RowInserter(const Database& database, const tables::Table& table, FirstError& error)
    : error_(&error) {
    auto prepared = database.prepare(insertSql(table));
    if (prepared)
        statement_ = std::move(*prepared);
    else if (!*error_)
        *error_ = prepared.error();
}

void RowInserter::bindText(int index, std::string_view text) {
    if (isUtf8(text))
        statement_.bind(index, text);
    else
        statement_.bind(index, validUtf8(text));
}

}  // namespace lanescope
