// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lanescope::fuzz {

struct CloseSqlite {
    void operator()(sqlite3* database) const;
};
using SqlitePtr = std::unique_ptr<sqlite3, CloseSqlite>;

/// What stands before the next `separator`; both are taken from `rest`.
std::string_view takeUntil(std::string_view& rest, char separator);
/// The words of a line, by spaces; no more than there may be columns.
std::vector<std::string_view> wordsOf(std::string_view line);

/// Tables as text, so that what is broken are cells and columns, not the pages of SQLite, which has
/// fuzzers of its own. Lines are
///
///     T name column column ...    a table; its columns have no type, so a cell holds anything
///     R value value ...           a row of the last table: 12, 1.5, ~ for NULL, 'text, x00ff
///     M count value value ...     as many rows: with 5+2 for a number it is 5, 7, 9 ..., with 5?9
///                                 one of 5 to 13 each time
///     A number                    the application id
///
/// In texts %xx is the byte of that number. Other lines and what is too much are left out.
SqlitePtr databaseOf(std::string_view sheet);

/// Gives a parameter of a statement the value of a word of a sheet.
void bindWord(sqlite3_stmt* statement, int index, std::string_view word);

/// A database in memory with the content of a file.
SqlitePtr databaseFrom(std::string_view file);

/// The bytes that a file of that database has.
std::string bytesOf(sqlite3* database);

}  // namespace lanescope::fuzz
