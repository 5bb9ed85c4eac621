// SPDX-License-Identifier: Apache-2.0
#include "model/query/TraceQuery.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <future>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceSource.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"

namespace lanescope {

namespace {

/// Maximum text or blob that a query may make or read, in bytes. Some functions take quadratic time
/// and cannot be stopped.
constexpr int maxCellBytes = 1 << 20;

constexpr std::array limits{
    std::pair{SQLITE_LIMIT_LENGTH, maxCellBytes},
    std::pair{SQLITE_LIMIT_SQL_LENGTH, 100'000},
    std::pair{SQLITE_LIMIT_COLUMN, 500},
    std::pair{SQLITE_LIMIT_EXPR_DEPTH, 200},
    std::pair{SQLITE_LIMIT_COMPOUND_SELECT, 50},
    std::pair{SQLITE_LIMIT_VDBE_OP, 250'000},
    std::pair{SQLITE_LIMIT_FUNCTION_ARG, 32},
    std::pair{SQLITE_LIMIT_ATTACHED, 0},
    std::pair{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    std::pair{SQLITE_LIMIT_VARIABLE_NUMBER, 16},
    std::pair{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    std::pair{SQLITE_LIMIT_WORKER_THREADS, 0},
};

/// SQLite's functions that only compute.
constexpr std::string_view allowedFunctions =
    "-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce cos cosh count cume_dist "
    "current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob "
    "group_concat hex ifnull iif instr json json_array json_array_length json_each json_extract json_group_array "
    "json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set json_tree "
    "json_type json_valid julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim "
    "max min mod nth_value ntile nullif percent_rank pi pow power printf quote radians random rank replace round "
    "row_number rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr substring subtype sum tan "
    "tanh time total trim trunc typeof unhex unicode unixepoch unlikely upper zeroblob";

/// Pragmas that describe the layout of tables.
constexpr std::string_view allowedPragmas = "index_info index_list table_info table_xinfo";
/// Pragmas that are read without an argument and set with one.
constexpr std::string_view settablePragmas = "application_id user_version";

/// Returns true if `name` is one of the names, which are separated by spaces.
bool contains(std::string_view names, const char* name) {
    if (name == nullptr) return false;
    const std::string_view wanted(name);
    for (std::string_view left = names; !left.empty();) {
        const std::string_view next = left.substr(0, left.find(' '));
        if (next == wanted) return true;
        left.remove_prefix(std::min(next.size() + 1, left.size()));
    }
    return false;
}

const char* text(const char* name) { return name != nullptr ? name : ""; }

std::string_view statementOf(std::string_view sql) {
    while (!sql.empty()) {
        size_t end = sql.find_first_not_of(" \t\r\n\f;");
        if (end == 0 && sql.starts_with("--")) end = sql.find('\n');
        if (end == 0 && sql.starts_with("/*")) {
            const size_t close = sql.find("*/", 2);
            end = close == std::string_view::npos ? close : close + 2;
        }
        if (end == 0) break;
        sql.remove_prefix(std::min(end, sql.size()));
    }
    return sql;
}

/// Returns the first keyword of a statement in capitals, after any EXPLAIN: "DROP" for "drop table x".
std::string verbOf(std::string_view sql) {
    for (;;) {
        sql = statementOf(sql);
        std::string word;
        for (const char letter : sql) {
            const bool isSmall = letter >= 'a' && letter <= 'z';
            if (!isSmall && (letter < 'A' || letter > 'Z')) break;
            word += isSmall ? static_cast<char>(letter - 'a' + 'A') : letter;
        }
        if (word != "EXPLAIN" && word != "QUERY" && word != "PLAN") return word;
        sql.remove_prefix(word.size());
    }
}

/// Returns the name of the refused action. SQLite's first request is often indirect: DROP deletes a
/// row of the schema table. So the statement itself decides, unless it begins with WITH.
std::string nameOfAction(int action, std::string_view sql) {
    std::string verb = verbOf(sql);
    if (!verb.empty() && verb != "WITH" && verb != "SELECT" && verb != "VALUES") return verb;
    switch (action) {
        case SQLITE_INSERT: return "INSERT";
        case SQLITE_UPDATE: return "UPDATE";
        case SQLITE_DELETE: return "DELETE";
        default: return "What changes a trace";
    }
}

std::string refusalOf(int action, const char* first, const char* second, std::string_view sql) {
    switch (action) {
        case SQLITE_FUNCTION: return fmt::format("The function {}() is not allowed here.", text(second));
        case SQLITE_PRAGMA:
            return fmt::format("PRAGMA {} is not allowed here; PRAGMA table_info(TABLE) is.", text(first));
        default:
            return fmt::format("{} is not allowed here: a trace can only be read, with SELECT.",
                               nameOfAction(action, sql));
    }
}

/// Creates SQLite's tables of pragmas, which would otherwise be created at first use and be refused
/// by the authorizer. Runs nothing: each use of a pragma is checked.
void makeTablesOfPragmas(sqlite3* database) {
    std::vector<std::string> queries;
    const auto add = [](void* list, int, char** cells, char**) {
        if (cells[0] != nullptr)
            static_cast<std::vector<std::string>*>(list)->push_back(fmt::format("SELECT 1 FROM pragma_{}", cells[0]));
        return 0;
    };
    sqlite3_exec(database, "PRAGMA pragma_list", add, &queries, nullptr);
    for (const std::string& query : queries) {
        sqlite3_stmt* statement = nullptr;
        // Many pragmas have no table.
        sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr);
        sqlite3_finalize(statement);
    }
}

}  // namespace

void hardenForQueries(sqlite3* database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
    for (const auto& [limit, value] : limits) sqlite3_limit(database, limit, value);
    // Full-text and R-tree tables read what the file defines.
    std::array<const char*, 3> kept{"json_each", "json_tree", nullptr};
    sqlite3_drop_modules(database, kept.data());
    // These are created at first use, too.
    sqlite3_exec(database, "SELECT 1 FROM json_each('[]'), json_tree('[]')", nullptr, nullptr, nullptr);
    makeTablesOfPragmas(database);
    sqlite3_exec(database, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
    sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
    // In memory, where the size can be counted.
    sqlite3_exec(database, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
}

ReadingOnly::ReadingOnly(sqlite3* database, std::string_view sql) : database_(database), sql_(sql) {
    sqlite3_set_authorizer(database_, &ReadingOnly::decide, this);
}

ReadingOnly::~ReadingOnly() { sqlite3_set_authorizer(database_, nullptr, nullptr); }

int ReadingOnly::decide(void* self, int action, const char* first, const char* second, const char*, const char*) {
    auto& guard = *static_cast<ReadingOnly*>(self);
    if (guard.isAllowed(action, first, second)) return SQLITE_OK;
    if (guard.refusal_.empty()) guard.refusal_ = refusalOf(action, first, second, guard.sql_);
    return SQLITE_DENY;
}

bool ReadingOnly::isAllowed(int action, const char* first, const char* second) {
    switch (action) {
        case SQLITE_SELECT:
        case SQLITE_READ:
        case SQLITE_RECURSIVE: return true;
        case SQLITE_FUNCTION: return contains(allowedFunctions, second);
        case SQLITE_PRAGMA:
            if (contains(settablePragmas, first)) return second == nullptr;
            return contains(allowedPragmas, first);
        default: return false;
    }
}

using std::chrono::milliseconds;

namespace {

/// Time between two checks for cancellation.
constexpr milliseconds checkInterval{50};
/// Time for a cancelled query to end by itself, which keeps its file open for the next one.
constexpr milliseconds stopTime{200};

constexpr int maxTables = 2000;  ///< Tables. No trace has a tenth of it.

/// Instructions of SQLite's machine between two checks of the time. One instruction may call a
/// function that takes a second.
constexpr int instructionsPerTick = 50;
/// Bytes of a blob that are shown as hexadecimal digits.
constexpr int shownBlobBytes = 32;

bool isTimeColumn(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"start", "startNs", "end", "endNs", "timestamp"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns true for a column of communicator ids, which are displayed like everywhere else.
bool isCommunicatorColumn(const char* name) { return name != nullptr && std::string_view(name) == "communicator"; }

std::string blobText(const void* data, int bytes) {
    std::string text = "x'";
    const auto* from = static_cast<const unsigned char*>(data);
    for (int index = 0; index < std::min(bytes, shownBlobBytes); ++index) text += fmt::format("{:02x}", from[index]);
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
        case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
        case SQLITE_TEXT: {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
            const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement, column));
            return text != nullptr ? std::string(text, bytes) : std::string();
        }
        case SQLITE_BLOB:
            return blobText(sqlite3_column_blob(statement, column), sqlite3_column_bytes(statement, column));
        default: return {};
    }
}

int64_t bytesOf(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return static_cast<int64_t>(sizeof(Cell) + (text ? text->size() : 0));
}

/// Returns `name`, or "name_2" and so on if a column has that name, since a JSON object has each name once.
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
        const bool hasText = std::any_of(table.rows.begin(), table.rows.end(),
                                         [&](auto& row) { return std::holds_alternative<std::string>(row[column]); });
        const Unit unit = hasText ? Unit::Text : isTimeColumn(name) ? Unit::Timestamp : Unit::Identifier;
        table.columns.push_back({freeName(name, table.columns), unit});
    }
}

/// The execution of one statement within limits. Used once.
class RunningQuery {
  public:
    RunningQuery(sqlite3* database, const QueryLimits& limits) : database_(database), limits_(limits) {
        sqlite3_progress_handler(database_, instructionsPerTick, &RunningQuery::tick, this);
    }

    RunningQuery& operator=(RunningQuery&&) = delete;
    ~RunningQuery() {
        sqlite3_finalize(statement_);
        sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    }

    Result<QueryResult, QueryError> run(std::string_view sql) {
        if (auto prepared = prepare(sql); !prepared) return tl::unexpected(prepared.error());
        QueryResult result;
        if (auto collected = collect(sql, result); !collected) return tl::unexpected(collected.error());
        nameColumns(statement_, result.table);
        result.table.name = "sql";
        result.table.title = "SQL";
        result.took = elapsed();
        return result;
    }

  private:
    using Clock = std::chrono::steady_clock;
    enum class Stop { None, Time, Memory };

    static int tick(void* self) { return static_cast<RunningQuery*>(self)->goesOn() ? 0 : 1; }
    bool goesOn() {
        if (Clock::now() - begun_ > limits_.time) stop_ = Stop::Time;
        // Includes memory of other connections of the program, which errs on the safe side.
        if (sqlite3_memory_used() - bytesBefore_ > limits_.workingBytes) stop_ = Stop::Memory;
        return stop_ == Stop::None;
    }

    Result<void, QueryError> prepare(std::string_view sql) {
        const size_t zero = sql.find('\0');
        if (zero != std::string_view::npos)
            return tl::unexpected(QueryError{"The query contains a zero byte. Remove it.", zero});
        const std::string text(sql);
        const ReadingOnly guard(database_, sql);
        const char* tail = nullptr;
        const int code =
            sqlite3_prepare_v2(database_, text.c_str(), static_cast<int>(text.size()) + 1, &statement_, &tail);
        if (code != SQLITE_OK) return tl::unexpected(failure(code, guard.refusal()));
        if (statement_ == nullptr) return tl::unexpected(QueryError{"There is no statement to run.", std::nullopt});
        // The authorizer has checked this. SQLite's own check comes in addition.
        if (sqlite3_stmt_readonly(statement_) == 0 || sqlite3_column_count(statement_) == 0)
            return tl::unexpected(QueryError{"A trace can only be read, with SELECT.", std::nullopt});
        if (sqlite3_bind_parameter_count(statement_) > 0)
            return tl::unexpected(
                QueryError{"The query has a parameter without a value. Write the value.", std::nullopt});
        const auto checked = checkTail(tail, text.c_str() + text.size());
        if (!checked) {
            QueryError error = checked.error();
            error.offset = static_cast<size_t>(tail - text.c_str());
            return tl::unexpected(error);
        }
        return {};
    }

    Result<void, QueryError> checkTail(const char* tail, const char* end) const {
        if (tail == nullptr || tail >= end) return {};
        // SQLite's own parser detects comments.
        sqlite3_stmt* next = nullptr;
        const int code = sqlite3_prepare_v2(database_, tail, static_cast<int>(end - tail) + 1, &next, nullptr);
        const bool isMore = code != SQLITE_OK || next != nullptr;
        sqlite3_finalize(next);
        if (!isMore) return {};
        return tl::unexpected(QueryError{"Only one statement at a time: a second one starts here.", {}});
    }

    Result<void, QueryError> collect(std::string_view sql, QueryResult& result) {
        // A statement that SQLite prepares again must obey the same rules.
        const ReadingOnly guard(database_, sql);
        const int columns = sqlite3_column_count(statement_);
        int64_t bytes = 0;
        for (;;) {
            const int code = sqlite3_step(statement_);
            if (code == SQLITE_DONE) return {};
            if (code != SQLITE_ROW) return tl::unexpected(failure(code, guard.refusal()));
            if (static_cast<int64_t>(result.table.rows.size()) >= limits_.rows || bytes >= limits_.resultBytes) {
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

    QueryError failure(int code, const std::string& refusal = {}) const {
        if (!refusal.empty()) return {refusal, std::nullopt};
        switch (code & 0xff) {
            case SQLITE_INTERRUPT:
                if (stop_ == Stop::Time) return timeError(limits_);
                if (stop_ == Stop::Memory)
                    return {fmt::format("The query was stopped: sorting and grouping needed more than "
                                        "{}.",
                                        formatBytes(limits_.workingBytes)),
                            std::nullopt};
                return stopError();
            case SQLITE_CORRUPT:
            case SQLITE_NOTADB: return {"The file is corrupt where the query reads it.", std::nullopt};
            case SQLITE_BUSY:
            case SQLITE_LOCKED: return {"The file is being written. Try again later.", std::nullopt};
            case SQLITE_NOMEM: return memoryError();
            case SQLITE_TOOBIG: return {"A text or blob of this query is longer than 1 MiB.", std::nullopt};
            default: break;
        }
        const int offset = sqlite3_error_offset(database_);
        std::string message = printable(sqlite3_errmsg(database_));
        // These words are followed by names from the file or the query.
        if (message.starts_with("no such module: ") || message.starts_with("access to view "))
            message += "; views and virtual tables of a trace are not allowed";
        if (!message.empty() && message[0] >= 'a' && message[0] <= 'z')
            message[0] = static_cast<char>(message[0] - 'a' + 'A');
        return {message + '.', offset >= 0 ? std::optional(static_cast<size_t>(offset)) : std::nullopt};
    }

    std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_);
    }

    sqlite3* database_;
    const QueryLimits& limits_;
    sqlite3_stmt* statement_ = nullptr;
    Clock::time_point begun_ = Clock::now();
    int64_t bytesBefore_ = sqlite3_memory_used();
    Stop stop_ = Stop::None;
};

bool isNative(sqlite3* database) {
    sqlite3_stmt* statement = nullptr;
    const bool is = sqlite3_prepare_v2(database, "PRAGMA application_id", -1, &statement, nullptr) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == traceApplicationId;
    sqlite3_finalize(statement);
    return is;
}

/// Adds to a Lanescope trace, for this connection only, the tables that were omitted because they
/// are empty, so that a query works on every trace. No effect on other files.
void addEmptyTables(sqlite3* database) {
    if (!isNative(database)) return;
    constexpr std::string_view create = "CREATE TABLE ";
    // Otherwise not even temporary tables could be created.
    sqlite3_exec(database, "PRAGMA query_only = OFF", nullptr, nullptr, nullptr);
    for (const tables::Table* table : tables::traceTables()) {
        const bool isThere = sqlite3_table_column_metadata(database, "main", table->tableName(), nullptr, nullptr,
                                                           nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
        if (isThere) continue;
        const std::string sql = "CREATE TEMP TABLE " + createSql(*table).substr(create.size());
        // A query that needs a table which could not be created reports it.
        sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    }
    sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
}

constexpr SampleQuery samples[] = {
    {"Kernels that take the most time", R"sql(SELECT s.value AS name, count(*) AS calls,
       sum(k.end - k.start) / 1e6 AS total_ms,
       round(avg(k.end - k.start) / 1e3, 2) AS mean_us,
       max(k.end - k.start) / 1e3 AS max_us
FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName
GROUP BY k.shortName ORDER BY total_ms DESC LIMIT 30)sql"},
    {"Memcpys by kind", R"sql(SELECT o.label AS kind, f.label AS "from", t.label AS "to",
       count(*) AS copies, sum(m.bytes) AS bytes,
       sum(m.end - m.start) / 1e6 AS total_ms,
       round(sum(m.bytes) * 1.0 / sum(m.end - m.start), 2) AS gb_per_s
FROM CUPTI_ACTIVITY_KIND_MEMCPY m
LEFT JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
LEFT JOIN ENUM_CUDA_MEM_KIND f ON f.id = m.srcKind
LEFT JOIN ENUM_CUDA_MEM_KIND t ON t.id = m.dstKind
GROUP BY m.copyKind, m.srcKind, m.dstKind ORDER BY total_ms DESC)sql"},
    {"Largest memcpys", R"sql(SELECT m.start, m.end, o.label AS kind, m.bytes,
       round(m.bytes * 1.0 / (m.end - m.start), 2) AS gb_per_s, m.streamId
FROM CUPTI_ACTIVITY_KIND_MEMCPY m
LEFT JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind
WHERE m.end > m.start ORDER BY m.bytes DESC LIMIT 100)sql"},
    {"Slowest CUDA API calls", R"sql(SELECT r.start, r.end, s.value AS name,
       (r.end - r.start) / 1e6 AS ms, r.globalTid % 0x1000000 AS thread
FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId
ORDER BY r.end - r.start DESC LIMIT 100)sql"},
    {"NVTX ranges of steps", R"sql(SELECT n.start, n.end,
       coalesce(n.text, s.value) AS name, (n.end - n.start) / 1e6 AS ms,
       n.globalTid % 0x1000000 AS thread
FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
WHERE n.end IS NOT NULL AND coalesce(n.text, s.value) LIKE '%step%'
ORDER BY n.start)sql"},
    {"Longest times without a kernel", R"sql(SELECT * FROM (
  SELECT lag("end") OVER busy AS start, start AS "end",
         (start - lag("end") OVER busy) / 1e6 AS ms, deviceId, globalPid
  FROM CUPTI_ACTIVITY_KIND_KERNEL
  WINDOW busy AS (PARTITION BY globalPid, deviceId, streamId ORDER BY start))
WHERE ms > 0 ORDER BY ms DESC LIMIT 100)sql"},
    {"Losses and other warnings",
     R"sql(SELECT severity, code, timestamp, count, sentence FROM LANESCOPE_HEALTH
ORDER BY severity DESC)sql"},
};

}  // namespace

Result<TimedQuery> TimedQuery::open(const std::filesystem::path& path, const LoadProgress& progress) {
    TimedQuery query(path);
    if (auto opened = query.openIfClosed(progress); !opened) return fail(opened.error());
    return query;
}

Result<void> TimedQuery::openIfClosed(const LoadProgress& progress) {
    if (query_) return {};
    Result<TraceQuery> opened = TraceQuery::open(path_, progress);
    if (!opened) return fail(opened.error());
    query_ = std::make_shared<const TraceQuery>(std::move(*opened));
    return {};
}

Result<QueryResult, QueryError> TimedQuery::run(std::string_view sql, const QueryLimits& limits,
                                                const QueryProgress& progress) {
    using Clock = std::chrono::steady_clock;
    if (auto opened = openIfClosed({}); !opened)
        return tl::unexpected(QueryError{opened.error().sentence, std::nullopt});
    const Clock::time_point begun = Clock::now();
    // A query that checks the time itself should end by itself.
    Clock::time_point deadline = begun + limits.time + limits.time / 20;
    bool isWanted = true;
    try {
        // The task owns whatever an abandoned query uses.
        std::packaged_task<Result<QueryResult, QueryError>()> task(
            [query = query_, text = std::string(sql), limits] { return query->run(text, limits); });
        auto answer = task.get_future();
        std::thread(std::move(task)).detach();
        while (answer.wait_until(std::min(deadline, Clock::now() + checkInterval)) != std::future_status::ready) {
            const Clock::time_point now = Clock::now();
            if (now >= deadline) {
                query_->interrupt();
                query_.reset();
                return tl::unexpected(isWanted ? timeError(limits) : stopError());
            }
            if (isWanted && progress && !progress(std::chrono::duration_cast<milliseconds>(now - begun))) {
                isWanted = false;
                deadline = std::min(deadline, now + stopTime);
            }
            // Again each time, since SQLite forgets an interrupt before its first step.
            if (!isWanted) query_->interrupt();
        }
        if (!isWanted) return tl::unexpected(stopError());
        return answer.get();
    } catch (const std::bad_alloc&) {
        return tl::unexpected(memoryError());
    } catch (const std::system_error& error) {
        return tl::unexpected(
            QueryError{fmt::format("No thread could be started for a query: {}.", error.what()), std::nullopt});
    }
}

Result<std::vector<QueryTable>> TimedQuery::tables() {
    if (auto opened = openIfClosed({}); !opened) return fail(opened.error());
    return query_->tables();
}

std::string TimedQuery::doubt() const {
    const std::optional<FileDoubt> found = query_ ? query_->doubt() : std::nullopt;
    return found ? found->sentence : std::string();
}

QueryError timeError(const QueryLimits& limits) {
    return {fmt::format("The query was stopped after {:.3g} s. Query less data, or raise the time limit.",
                        static_cast<double>(limits.time.count()) / 1000),
            std::nullopt};
}

QueryError stopError() { return {"The query was stopped.", std::nullopt}; }

QueryError memoryError() { return {"There is not enough memory for this query.", std::nullopt}; }

void TraceQuery::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<TraceQuery> TraceQuery::open(const std::filesystem::path& path, const LoadProgress& progress) {
    Result<TraceSource> source = TraceSource::open(path, progress);
    if (!source) return fail(source.error());
    if (const Result<void> has = requireTables(*source); !has) return fail(has.error());
    if (source->isCompressed()) {
        const Result<UnpackedFile> unpacked = source->unpacked();
        if (!unpacked) return fail(unpacked.error());
        Result<TraceQuery> query =
            openDatabase(descriptorName(unpacked->file.descriptor()).c_str(), descriptorVfs(), path);
        if (query) query->hasTrailingBytes_ = unpacked->hasTrailingBytes;
        return query;
    }
    if (const auto header = checkSqliteHeader(path); !header) return fail(header.error());
    std::error_code error;
    // An absolute path, so that no file name can be mistaken for a URI or ":memory:".
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    if (error) return fail("Cannot open {}: {}.", path.string(), error.message());
    return openDatabase(absolute.c_str(), nullptr, path);
}

Result<TraceQuery> TraceQuery::openDatabase(const char* name, const char* vfs, const std::filesystem::path& path) {
    TraceQuery query;
    sqlite3* raw = nullptr;
    int code = openToRead(name, vfs, &raw);
    query.database_.reset(raw);
    query.watch_ = std::make_shared<ReadWatch>(path.string());
    if (code == SQLITE_OK && !watchReads(raw, query.watch_, true)) code = SQLITE_CANTOPEN;
    if (code != SQLITE_OK) return fail("{}: SQLite could not open it: {}.", path.string(), sqlite3_errstr(code));
    hardenForQueries(raw);
    const auto schema = query.run("SELECT count(*) FROM sqlite_schema");
    if (!schema)
        if (std::optional<Error> unread = query.watch_->logReadError(sqlite3_extended_errcode(raw)))
            return fail(std::move(*unread));
    // The log of a program that wrote to it and crashed.
    if (const int failed = sqlite3_extended_errcode(raw);
        !schema && (failed & 0xff) == SQLITE_READONLY && failed != SQLITE_READONLY)
        return fail(hotJournalSentence, path.string());
    if (!schema) return fail("{}: the tables cannot be read: {}", path.string(), schema.error().sentence);
    addEmptyTables(raw);
    return query;
}

Result<QueryResult, QueryError> TraceQuery::run(std::string_view sql, const QueryLimits& limits) const {
    return RunningQuery(database_.get(), limits).run(sql);
}

void TraceQuery::interrupt() const { sqlite3_interrupt(database_.get()); }

std::optional<FileDoubt> TraceQuery::doubt() const {
    for (std::optional<FileDoubt> found : {watch_->doubt(), watch_->ignored()})
        if (found) return found;
    if (!hasTrailingBytes_) return std::nullopt;
    return FileDoubt{Severity::Warning, HealthCode::BytesBehindPacked, std::string(trailingBytesSentence)};
}

Result<std::vector<QueryTable>> TraceQuery::tables() const {
    // Real tables have a root page. Views and virtual tables have none.
    const auto rows =
        run("SELECT s.name, c.name, c.type FROM sqlite_schema s, pragma_table_xinfo(s.name) c "
            "WHERE s.type = 'table' AND s.rootpage > 0 AND s.name NOT LIKE 'sqlite!_%' ESCAPE '!' "
            "ORDER BY s.name, c.cid");
    if (!rows) return fail({rows.error().sentence});
    std::vector<QueryTable> tables;
    const auto textOf = [](const Cell& cell) {
        const auto* text = std::get_if<std::string>(&cell);
        return text ? *text : std::string();
    };
    for (const std::vector<Cell>& row : rows->table.rows) {
        const std::string name = textOf(row[0]);
        if (tables.empty() || tables.back().name != name) {
            if (tables.size() == maxTables) break;
            tables.push_back({name, {}});
        }
        tables.back().columns.push_back({textOf(row[1]), textOf(row[2])});
    }
    return tables;
}

QueryPosition queryPosition(std::string_view sql, size_t offset) {
    const std::string_view before = sql.substr(0, std::min(offset, sql.size()));
    const size_t lineStart = before.rfind('\n');
    return {static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
            before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1) + 1};
}

std::string sentenceOf(const QueryError& error, std::string_view sql) {
    if (!error.offset) return error.sentence;
    const QueryPosition position = queryPosition(sql, *error.offset);
    return fmt::format("Line {}, column {}: {}", position.line, position.column, error.sentence);
}

std::span<const SampleQuery> sampleQueries() { return samples; }

}  // namespace lanescope
