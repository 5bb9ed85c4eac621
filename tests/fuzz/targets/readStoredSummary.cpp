// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <charconv>
#include <optional>

#include "model/analysis/storedSummary.h"
#include "model/compare/RunComparison.h"
#include "model/export/traceFile.h"
#include "model/format/Inserter.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"
#include "tests/support/openForWriting.h"
#include "tests/support/simulatedTraining.h"

namespace lanescope::fuzz {

namespace {

/// Returns the bytes of a trace with a summary, as left by `record`.
std::string summarizedTrace() {
    const Scratch scratch;
    const auto path = scratch / "run.sqlite";
    const TracePtr trace = simulatedTraining({.steps = 3, .layers = 1, .ncclPlugin = true});
    require(writeTraceFile(*trace, path).has_value(), "No trace could be written.");
    const auto summary = analysis::summarizeRun(*trace);
    {
        Result<Database> database = openForWriting(path);
        require(summary && database && announceSeal(*database) && analysis::writeRunSummary(*database, *summary),
                "No summary could be written.");
    }
    require(sealPages(path).has_value(), "A trace could not be sealed.");
    return contentOf(path);
}

size_t numberIn(std::string_view word, size_t count) {
    size_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number % count;
}

/// "+ TABLE VALUE VALUE ..." adds a row.
void add(sqlite3* database, const std::vector<std::string_view>& line) {
    if (line.size() < 3) return;
    const auto tables = tables::storedTables();
    const tables::Table& table = *tables[numberIn(line[1], tables.size())];
    std::string sql = std::string("INSERT INTO ") + table.tableName() + " VALUES(?";
    const size_t count = table.columns().size();
    for (size_t column = 1; column < count; ++column) sql += ",?";
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, (sql + ")").c_str(), -1, &statement, nullptr);
    for (size_t value = 0; value + 2 < line.size() && value < count; ++value)
        bindWord(statement, static_cast<int>(value + 1), line[value + 2]);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

/// "TABLE ROW COLUMN VALUE" sets a cell, "TABLE ROW" removes a row.
void edit(sqlite3* database, const std::vector<std::string_view>& line) {
    if (line.size() < 2) return;
    const auto tables = tables::storedTables();
    const tables::Table& table = *tables[numberIn(line[0], tables.size())];
    const auto row = static_cast<int64_t>(numberIn(line[1], 1000));
    std::string sql = std::string("DELETE FROM ") + table.tableName();
    if (line.size() > 3) {
        const auto& column = table.columns()[numberIn(line[2], table.columns().size())];
        sql = std::string("UPDATE ") + table.tableName() + " SET \"" + column.name + "\" = ?2";
    }
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database, (sql + " WHERE rowid = ?1").c_str(), -1, &statement, nullptr);
    sqlite3_bind_int64(statement, 1, row);
    if (line.size() > 3) bindWord(statement, 2, line[3]);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

/// "B PLACE BYTE" changes a byte of the file, "B" none.
void change(std::string& file, const std::vector<std::string_view>& line) {
    if (line.size() > 2) file[numberIn(line[1], file.size())] = static_cast<char>(numberIn(line[2], 256));
}

/// Reads the file of a run like a comparison.
void readFile(const std::string& file, bool isAsWritten) {
    static const Scratch scratch;
    const auto path = scratch.write("run.sqlite", file);
    const auto summary = analysis::readRunSummary(path);
    require(summary.has_value() || !isAsWritten, "The summary of a whole file cannot be read.");
    const auto checked = analysis::readRunSummaryChecked(path);
    require(summary.has_value() || !checked.has_value(), "The second read returned a summary.");
}

/// Applies edits to the stored summary of a trace, one per line, and undoes them after each input, which is faster than
/// reading the table descriptions again. Byte edits apply to the file as recorded.
std::optional<analysis::RunSummary> summaryAfter(Bytes bytes) {
    static const std::string whole = summarizedTrace();
    static sqlite3* const connection = databaseFrom(whole).release();
    static const Database database = Database::adopt(connection, "fuzz.sqlite");
    sqlite3_exec(connection, "BEGIN", nullptr, nullptr, nullptr);
    constexpr int maxEdits = 60;
    std::string_view edits = textOf(bytes);
    std::string file;
    for (int number = 0; number < maxEdits && !edits.empty(); ++number) {
        const std::vector<std::string_view> line = wordsOf(takeUntil(edits, '\n'));
        if (line.empty()) continue;
        if (line[0] == "B") {
            if (file.empty()) file = whole;
            change(file, line);
        } else if (line[0] == "+") {
            add(connection, line);
        } else {
            edit(connection, line);
        }
    }
    if (!file.empty()) readFile(file, file == whole);
    auto summary = analysis::readRunSummary(database);
    require(summary.has_value() || !bytes.empty(), "A summary that was written cannot be read.");
    require(sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK,
            "The edits cannot be undone.");
    return summary;
}

}  // namespace

void readStoredSummary(Bytes bytes) { (void)summaryAfter(bytes); }

void compareStoredSummary(Bytes bytes) {
    const auto summary = summaryAfter(bytes);
    if (summary) (void)compare::compareRuns({*summary}, {*summary});
}

}  // namespace lanescope::fuzz
