// SPDX-License-Identifier: Apache-2.0
#include "model/query/harden.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <vector>

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

}  // namespace lanescope
