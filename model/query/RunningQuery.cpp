// SPDX-License-Identifier: Apache-2.0
#include "model/query/RunningQuery.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/query/harden.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"

namespace lanescope {

namespace {

/// Instructions of SQLite's machine between two checks of the time. One instruction may call a
/// function that takes a second.
constexpr int instructionsPerTick = 50;
constexpr std::chrono::milliseconds reportInterval{100};
/// Bytes of a blob that are shown as hexadecimal digits.
constexpr int shownBlobBytes = 32;

bool isTimeColumn(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"start", "startNs", "end", "endNs",
                                                    "timestamp"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns true for a column of communicator ids, which are displayed like everywhere else.
bool isCommunicatorColumn(const char* name) {
    return name != nullptr && std::string_view(name) == "communicator";
}

std::string blobText(const void* data, int bytes) {
    std::string text = "x'";
    const auto* from = static_cast<const unsigned char*>(data);
    for (int index = 0; index < std::min(bytes, shownBlobBytes); ++index)
        text += fmt::format("{:02x}", from[index]);
    return text + (bytes > shownBlobBytes ? fmt::format("...' ({} bytes)", bytes) : "'");
}

Cell cellOf(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
        case SQLITE_INTEGER: {
            const auto number = static_cast<int64_t>(sqlite3_column_int64(statement, column));
            if (isCommunicatorColumn(sqlite3_column_name(statement, column)))
                return communicatorId(static_cast<uint64_t>(number));
            return number;
        }
        case SQLITE_FLOAT:
            return sqlite3_column_double(statement, column);
        case SQLITE_TEXT: {
            const auto* text =
                reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
            const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement, column));
            return text != nullptr ? std::string(text, bytes) : std::string();
        }
        case SQLITE_BLOB:
            return blobText(sqlite3_column_blob(statement, column),
                            sqlite3_column_bytes(statement, column));
        default:
            return {};
    }
}

int64_t bytesOf(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return static_cast<int64_t>(sizeof(Cell) + (text ? text->size() : 0));
}

/// Returns `name`, or "name_2" and so on if a column has that name, since a JSON object has each
/// name once.
std::string freeName(const std::string& name, const std::vector<ReportColumn>& columns) {
    const auto isTaken = [&](const std::string& wanted) {
        return std::any_of(columns.begin(), columns.end(),
                           [&](const ReportColumn& column) { return column.name == wanted; });
    };
    std::string free = name;
    for (int number = 2; isTaken(free); ++number) free = fmt::format("{}_{}", name, number);
    return free;
}

/// Names the columns. A column without text cells is numeric.
void nameColumns(sqlite3_stmt* statement, ReportTable& table) {
    const auto count = static_cast<size_t>(sqlite3_column_count(statement));
    for (size_t column = 0; column < count; ++column) {
        const char* given = sqlite3_column_name(statement, static_cast<int>(column));
        const std::string name = printable(given != nullptr ? given : "");
        const bool hasText = std::any_of(table.rows.begin(), table.rows.end(), [&](auto& row) {
            return std::holds_alternative<std::string>(row[column]);
        });
        const Unit unit = hasText              ? Unit::Text
                          : isTimeColumn(name) ? Unit::Timestamp
                                               : Unit::Identifier;
        table.columns.push_back({freeName(name, table.columns), unit});
    }
}

}  // namespace

RunningQuery::RunningQuery(sqlite3* database, const QueryLimits& limits,
                           const QueryProgress& progress)
    : database_(database),
      limits_(limits),
      progress_(progress),
      bytesBefore_(sqlite3_memory_used()) {
    sqlite3_progress_handler(database_, instructionsPerTick, &RunningQuery::tick, this);
}

RunningQuery::~RunningQuery() {
    sqlite3_finalize(statement_);
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
}

int RunningQuery::tick(void* self) {
    return static_cast<RunningQuery*>(self)->goesOn() ? 0 : 1;
}

std::chrono::milliseconds RunningQuery::elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
}

bool RunningQuery::goesOn() {
    const Clock::time_point now = Clock::now();
    if (now - begun_ > limits_.time) stop_ = Stop::Time;
    // Includes memory of other connections of the program, which errs on the safe side.
    if (sqlite3_memory_used() - bytesBefore_ > limits_.workingBytes) stop_ = Stop::Memory;
    if (progress_ && now >= nextReport_) {
        nextReport_ = now + reportInterval;
        if (!progress_(elapsed())) stop_ = Stop::User;
    }
    return stop_ == Stop::None;
}

Result<QueryResult, QueryError> RunningQuery::run(std::string_view sql) {
    if (auto prepared = prepare(sql); !prepared) return tl::unexpected(prepared.error());
    QueryResult result;
    if (auto collected = collect(sql, result); !collected) return tl::unexpected(collected.error());
    nameColumns(statement_, result.table);
    result.table.name = "sql";
    result.table.title = "SQL";
    result.took = elapsed();
    return result;
}

Result<void, QueryError> RunningQuery::prepare(std::string_view sql) {
    const size_t zero = sql.find('\0');
    if (zero != std::string_view::npos)
        return tl::unexpected(QueryError{"A query holds no zero byte.", zero});
    const std::string text(sql);
    const ReadingOnly guard(database_, sql);
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v2(database_, text.c_str(), static_cast<int>(text.size()) + 1,
                                        &statement_, &tail);
    if (code != SQLITE_OK) return tl::unexpected(failure(code, guard.refusal()));
    if (statement_ == nullptr)
        return tl::unexpected(QueryError{"There is no statement to run.", std::nullopt});
    // The authorizer has checked this. SQLite's own check comes in addition.
    if (sqlite3_stmt_readonly(statement_) == 0 || sqlite3_column_count(statement_) == 0)
        return tl::unexpected(QueryError{"A trace can only be read, with SELECT.", std::nullopt});
    if (sqlite3_bind_parameter_count(statement_) > 0)
        return tl::unexpected(
            QueryError{"The query has a parameter, which nobody gives a value; write the value.",
                       std::nullopt});
    const auto checked = checkTail(tail, text.c_str() + text.size());
    if (!checked) {
        QueryError error = checked.error();
        error.offset = static_cast<size_t>(tail - text.c_str());
        return tl::unexpected(error);
    }
    return {};
}

Result<void, QueryError> RunningQuery::checkTail(const char* tail, const char* end) const {
    if (tail == nullptr || tail >= end) return {};
    // SQLite's own parser detects comments.
    sqlite3_stmt* next = nullptr;
    const int code =
        sqlite3_prepare_v2(database_, tail, static_cast<int>(end - tail) + 1, &next, nullptr);
    const bool isMore = code != SQLITE_OK || next != nullptr;
    sqlite3_finalize(next);
    if (!isMore) return {};
    return tl::unexpected(QueryError{"One statement at a time: here a second one begins.", {}});
}

Result<void, QueryError> RunningQuery::collect(std::string_view sql, QueryResult& result) {
    // A statement that SQLite prepares again must obey the same rules.
    const ReadingOnly guard(database_, sql);
    const int columns = sqlite3_column_count(statement_);
    int64_t bytes = 0;
    for (;;) {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_DONE) return {};
        if (code != SQLITE_ROW) return tl::unexpected(failure(code, guard.refusal()));
        if (static_cast<int64_t>(result.table.rows.size()) >= limits_.rows ||
            bytes >= limits_.resultBytes) {
            result.isCut = true;
            return {};
        }
        std::vector<Cell> row(static_cast<size_t>(columns));
        for (int column = 0; column < columns; ++column) {
            row[static_cast<size_t>(column)] = cellOf(statement_, column);
            bytes += bytesOf(row[static_cast<size_t>(column)]);
        }
        result.table.rows.push_back(std::move(row));
    }
}

QueryError RunningQuery::failure(int code, const std::string& refusal) const {
    if (!refusal.empty()) return {refusal, std::nullopt};
    switch (code & 0xff) {
        case SQLITE_INTERRUPT:
            if (stop_ == Stop::Time)
                return {fmt::format("The query was stopped after {:.3g} s: ask for less, or allow "
                                    "more time.",
                                    static_cast<double>(limits_.time.count()) / 1000),
                        std::nullopt};
            if (stop_ == Stop::Memory)
                return {fmt::format("The query was stopped: sorting and grouping took more than "
                                    "{}.",
                                    formatBytes(limits_.workingBytes)),
                        std::nullopt};
            return {"The query was stopped.", std::nullopt};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {"The file is damaged where the query reads it.", std::nullopt};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {"The file is being written: try again in a moment.", std::nullopt};
        case SQLITE_NOMEM:
            return {"There is not enough memory for this query.", std::nullopt};
        case SQLITE_TOOBIG:
            return {"A text or blob of this query is longer than 1 MiB.", std::nullopt};
        default:
            break;
    }
    const int offset = sqlite3_error_offset(database_);
    std::string message = printable(sqlite3_errmsg(database_));
    // These words are followed by names from the file or the query.
    if (message.starts_with("no such module: ") || message.starts_with("access to view "))
        message += "; views and virtual tables of a trace are not run";
    if (!message.empty() && message[0] >= 'a' && message[0] <= 'z')
        message[0] = static_cast<char>(message[0] - 'a' + 'A');
    return {message + '.', offset >= 0 ? std::optional(static_cast<size_t>(offset)) : std::nullopt};
}

}  // namespace lanescope
