// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/format/Sqlite.h"
#include "model/format/Table.h"

namespace lanescope {

/// Returns a multi-line `CREATE TABLE ...;`.
std::string createSql(const tables::Table& table);

/// Returns a SELECT of all columns in order, in row order.
std::string selectSql(const tables::Table& table);

/// Returns an INSERT with a parameter for each column, in order from `?1` on.
std::string insertSql(const tables::Table& table);

/// First error of writing a file. Writers that share it write nothing after it.
using FirstError = std::optional<Error>;

/// Prepared INSERT of one table, for writers that keep several tables; `Inserter` lists the
/// accepted values. One thread.
class RowInserter {
  public:
    /// `error` and the database must outlive the inserter.
    RowInserter(const Database& database, const tables::Table& table, FirstError& error);

    /// Inserts a row whose cells were checked against the table. Columns without a cell become NULL.
    void write(const auto&... cells) {
        if (*error_) return;
        (bind(static_cast<int>(cells.column) + 1, cells.value), ...);
        if (auto done = statement_.run(); !done) *error_ = done.error();
    }

  private:
    template <class Value>
    void bind(int index, const Value& value) {
        if constexpr (tables::isNothing<Value>)
            statement_.bindNull(index);
        else if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
            statement_.bind(index, static_cast<int64_t>(value));
        else if constexpr (std::is_floating_point_v<Value>)
            statement_.bind(index, static_cast<double>(value));
        else if constexpr (std::is_convertible_v<const Value&, std::string_view>)
            bindText(index, value);
        else if (value)
            bind(index, *value);
    }

    /// Replaces bytes that are not UTF-8, because other programs reject a whole table for one.
    void bindText(int index, std::string_view text);

    Statement statement_;
    FirstError* error_;
};

/// Writes rows into a table that is given by its description:
///
///     Inserter rows(database, tables::processes, error);
///     rows.insert(tables::processes.globalPid = id, tables::processes.pid = 4242);
///
/// A row is `column = value` pairs in any order: whole and real numbers, enums, texts, `nullptr` for NULL, or an
/// optional of any of them. Bytes that are not UTF-8 become U+FFFD. An omitted column becomes NULL. An invalid row does
/// not compile: a column of another table, a value of another type, a duplicate column, an omitted column that must not
/// be NULL. The first error is kept in a `FirstError`. One thread.
template <class Table>
class Inserter {
  public:
    /// `error` and the database must outlive the inserter.
    Inserter(const Database& database, const Table& table, FirstError& error) : rows_(database, table, error) {}

    template <class... Cells>
    requires tables::RowOf<Table, Cells...>
    void insert(const Cells&... cells) { rows_.write(cells...); }

  private:
    RowInserter rows_;
};

}  // namespace lanescope
