// SPDX-License-Identifier: Apache-2.0
#include "model/format/Inserter.h"

#include <fmt/format.h>

#include "model/format/text.h"

namespace lanescope {

namespace {

using tables::ColumnInfo;
using tables::Presence;
using tables::Type;

/// Returns the declaration of a column after its name.
std::string declaration(const ColumnInfo& column) {
    std::string text;
    switch (column.type) {
        case Type::Integer:
        case Type::Number: text = " INTEGER"; break;
        case Type::Real: text = " REAL"; break;
        case Type::Text: text = " TEXT"; break;
        case Type::Any: break;
    }
    if (column.presence != Presence::Optional) text += " NOT NULL";
    if (column.presence == Presence::Key) text += " PRIMARY KEY";
    return text;
}

}  // namespace

std::string createSql(const tables::Table& table) {
    std::string columns;
    for (const ColumnInfo& column : table.columns())
        columns += fmt::format("{}    \"{}\"{}", columns.empty() ? "" : ",\n", column.name, declaration(column));
    return fmt::format("CREATE TABLE {} (\n{}\n);\n", table.tableName(), columns);
}

std::string selectSql(const tables::Table& table) {
    std::string columns;
    // Qualified by the table, a missing name is an error; alone SQLite reads it as text.
    for (const ColumnInfo& column : table.columns())
        columns += fmt::format("{}{}.\"{}\"", columns.empty() ? "" : ", ", table.tableName(), column.name);
    return fmt::format("SELECT {} FROM {} ORDER BY rowid", columns, table.tableName());
}

std::string insertSql(const tables::Table& table) {
    std::string columns, parameters;
    for (size_t number = 0; number < table.columns().size(); ++number) {
        const char* separator = number > 0 ? ", " : "";
        columns += fmt::format("{}\"{}\"", separator, table.columns()[number].name);
        parameters += fmt::format("{}?{}", separator, number + 1);
    }
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.tableName(), columns, parameters);
}

RowInserter::RowInserter(const Database& database, const tables::Table& table, FirstError& error) : error_(&error) {
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
