// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/format/Sqlite.h"
#include "model/format/Table.h"

namespace lanescope {

/// `CREATE TABLE ...;` over several lines.
std::string createSql(const tables::Table& table);

/// A SELECT of all columns in their order, row after row.
std::string selectSql(const tables::Table& table);

/// An INSERT with a parameter for each column, in their order from `?1` on.
std::string insertSql(const tables::Table& table);

/// The first thing that went wrong while a file was written. What shares one writes nothing after
/// it.
using FirstError = std::optional<Error>;

/// One prepared INSERT, for who keeps those of many tables; `Inserter` says what can be given. One
/// thread.
class RowInserter {
  public:
    /// `error` and the database outlive it.
    RowInserter(const Database& database, const tables::Table& table, FirstError& error);

    /// The cells are a row of the table, which was checked before. Columns without one become NULL.
    template <class... Cells>
    void write(const Cells&... cells) {
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

    /// Other programs refuse a whole table for one byte that is not UTF-8, so there is none.
    void bindText(int index, std::string_view text);

    Statement statement_;
    FirstError* error_;
};

/// Writes rows into a table that is given by its description:
///
///     Inserter rows(database, tables::processes, error);
///     rows.insert(tables::processes.globalPid = id, tables::processes.pid = 4242);
///
/// A row is `column = value` pairs in any order: whole and real numbers, enums, texts, `nullptr`
/// for NULL, or an optional of any of them. Bytes of texts that are not UTF-8 become U+FFFD. A
/// column that is left out becomes NULL. What is not a row of the table does not compile: a column
/// of another table, a value of another type, a column twice, one left out that may not be NULL.
/// The first error is kept in a `FirstError`. One thread.
template <class Table>
class Inserter {
  public:
    /// `error` and the database outlive it.
    Inserter(const Database& database, const Table& table, FirstError& error)
        : rows_(database, table, error) {}

    template <class... Cells>
    requires tables::RowOf<Table, Cells...>
    void insert(const Cells&... cells) { rows_.write(cells...); }

  private:
    RowInserter rows_;
};

}  // namespace lanescope
