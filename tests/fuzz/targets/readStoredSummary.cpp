// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <charconv>
#include <fstream>

#include "model/compare/RunComparison.h"
#include "model/compare/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/PageSeal.h"
#include "model/format/tableSql.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/allTables.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/openForWriting.h"
#include "tests/support/simulatedTraining.h"

namespace lanescope::fuzz {

namespace {

/// The bytes of a trace with a summary.
std::string summarizedTrace() {
    const Scratch scratch;
    const auto path = scratch / "run.sqlite";
    const TracePtr trace = simulatedTraining({.steps = 3, .layers = 1, .ncclPlugin = true});
    require(writeTraceFile(*trace, path).has_value(), "No trace could be written.");
    const auto summary = compare::summarizeRun(*trace);
    Result<Database> database = openForWriting(path);
    require(summary && database && compare::writeRunSummary(*database, *summary),
            "No summary could be written.");
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

size_t numberIn(std::string_view word, size_t count) {
    size_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number % count;
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

}  // namespace

/// Edits of the summary that a trace holds, a line each; undone behind each input, which is quicker
/// than to read the tables' descriptions anew.
void readStoredSummary(Bytes bytes) {
    static const std::string whole = summarizedTrace();
    static sqlite3* const connection = databaseFrom(whole).release();
    static const Database database = Database::adopt(connection, "fuzz.sqlite");
    sqlite3_exec(connection, "BEGIN", nullptr, nullptr, nullptr);
    constexpr int mostEdits = 60;
    std::string_view edits = textOf(bytes);
    for (int number = 0; number < mostEdits && !edits.empty(); ++number)
        edit(connection, wordsOf(takeUntil(edits, '\n')));
    const auto summary = compare::readRunSummary(database);
    require(summary.has_value() || !bytes.empty(), "A summary that was written cannot be read.");
    // Which draws thousands of samples, each time the same.
    if (summary && bytes.size() % 4 == 0) (void)compare::compareRuns({*summary}, {*summary});
    require(sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK,
            "The edits cannot be undone.");
}

}  // namespace lanescope::fuzz
