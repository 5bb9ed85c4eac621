#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "model/format/Sqlite.h"
#include "model/format/Table.h"
#include "model/format/tableSql.h"

namespace lanescope {

/// The first thing that went wrong while a file was written. What shares one writes nothing after
/// it.
using FirstError = std::optional<Error>;

/// One prepared INSERT into a table that is given by its description:
///
///     Inserter rows(database, tables::processes, error);
///     rows.insert(tables::processes.globalPid = id, tables::processes.pid = 4242);
///
/// A column that is left out becomes NULL. What is not a row of the table does not compile: a
/// column of another table, a value of another type, a column twice, one left out that may not be
/// NULL. The first error is kept in a `FirstError`. One thread.
template <class Table>
class Inserter {
  public:
    /// `error` and the database outlive it.
    Inserter(const Database& database, const Table& table, FirstError& error) : error_(&error) {
        auto prepared = database.prepare(insertSql(table));
        if (prepared)
            statement_ = std::move(*prepared);
        else if (!*error_)
            *error_ = prepared.error();
    }

    /// Writes one row of `column = value` pairs in any order. Whole and real numbers, enums, texts,
    /// `nullptr` for NULL, or an optional of any of them.
    template <class... Cells>
    requires tables::RowOf<Table, Cells...>
    void insert(const Cells&... cells) {
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
            statement_.bind(index, std::string_view(value));
        else if (value)
            bind(index, *value);
        else
            statement_.bindNull(index);
    }

    Statement statement_;
    FirstError* error_;
};

/// For columns in which 0 means that there is nothing: NULL then.
template <class T>
std::optional<T> unlessZero(T value) {
    return value != 0 ? std::optional<T>(value) : std::nullopt;
}

}  // namespace lanescope
