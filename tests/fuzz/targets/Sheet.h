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

/// Returns the text before the next `separator`, and removes both from `rest`.
std::string_view takeUntil(std::string_view& rest, char separator);
/// Returns the words of a line, separated by spaces, up to the maximum number of columns.
std::vector<std::string_view> wordsOf(std::string_view line);

/// Returns a database of tables as text, so that fuzzing breaks cells and columns instead of
/// SQLite's pages, for which SQLite has its own fuzzers. Lines are
///
///     T name column column ...    a table; columns have no type, so a cell may contain anything
///     R value value ...           a row of the last table: 12, 1.5, ~ for NULL, 'text, x00ff
///     M count value value ...     that many rows: 5+2 gives 5, 7, 9 ..., 5?9 gives one of 5 to 13
///     A number                    the application id
///
/// In texts, %xx is the byte of that number. Other lines and excess content are skipped.
SqlitePtr databaseOf(std::string_view sheet);

/// Binds a word of a sheet to a statement parameter.
void bindWord(sqlite3_stmt* statement, int index, std::string_view word);

/// Returns a database in memory with the content of a file.
SqlitePtr databaseFrom(std::string_view file);

/// Returns the file bytes of that database.
std::string bytesOf(sqlite3* database);

}  // namespace lanescope::fuzz
