// SPDX-License-Identifier: Apache-2.0
#include "model/query/TraceQuery.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

#include "model/format/Inserter.h"
#include "model/format/ReadWatch.h"
#include "model/format/checkFile.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/TraceSource.h"
#include "model/query/RunningQuery.h"
#include "model/query/harden.h"

struct sqlite3;

namespace lanescope {

/// Adds to a Lanescope trace, for this connection only, the tables that were omitted because they
/// are empty, so that a query works on every trace. No effect on other files.
void addEmptyTables(sqlite3* database);

namespace {

bool isOurs(sqlite3* database) {
    sqlite3_stmt* statement = nullptr;
    const bool is = sqlite3_prepare_v2(database, "PRAGMA application_id", -1, &statement,
                                       nullptr) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_ROW &&
                    sqlite3_column_int(statement, 0) == traceApplicationId;
    sqlite3_finalize(statement);
    return is;
}

}  // namespace

void addEmptyTables(sqlite3* database) {
    if (!isOurs(database)) return;
    constexpr std::string_view create = "CREATE TABLE ";
    // Otherwise not even temporary tables could be created.
    sqlite3_exec(database, "PRAGMA query_only = OFF", nullptr, nullptr, nullptr);
    for (const tables::Table* table : tables::traceTables()) {
        const bool isThere =
            sqlite3_table_column_metadata(database, "main", table->tableName(), nullptr, nullptr,
                                          nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
        if (isThere) continue;
        const std::string sql = "CREATE TEMP TABLE " + createSql(*table).substr(create.size());
        // A query that needs a table which could not be created reports it.
        sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    }
    sqlite3_exec(database, "PRAGMA query_only = ON", nullptr, nullptr, nullptr);
}

namespace {

constexpr int maxTables = 2000;  ///< Tables. No trace has a tenth of it.

}  // namespace

void TraceQuery::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Result<TraceQuery> TraceQuery::open(const std::filesystem::path& path,
                                    const LoadProgress& progress) {
    Result<TraceSource> source = TraceSource::open(path, progress);
    if (!source) return fail(source.error());
    if (const Result<void> has = requireTables(*source); !has) return fail(has.error());
    if (source->isCompressed()) {
        const Result<UnpackedFile> unpacked = source->unpacked();
        if (!unpacked) return fail(unpacked.error());
        Result<TraceQuery> query = openDatabase(descriptorName(unpacked->file.descriptor()).c_str(),
                                                descriptorVfs(), path);
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

Result<TraceQuery> TraceQuery::openDatabase(const char* name, const char* vfs,
                                            const std::filesystem::path& path) {
    TraceQuery query;
    sqlite3* raw = nullptr;
    int code =
        sqlite3_open_v2(name, &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, watchedVfs(vfs));
    query.database_.reset(raw);
    query.watch_ = std::make_shared<ReadWatch>(path.string());
    if (code == SQLITE_OK && !watchReads(raw, query.watch_, true)) code = SQLITE_CANTOPEN;
    if (code != SQLITE_OK)
        return fail("SQLite could not open {}: {}.", path.string(), sqlite3_errstr(code));
    hardenForQueries(raw);
    const auto schema = query.run("SELECT count(*) FROM sqlite_schema");
    if (!schema)
        if (std::optional<Error> unread = query.watch_->logReadError(sqlite3_extended_errcode(raw)))
            return fail(std::move(*unread));
    // The log of a program that wrote to it and crashed.
    if (const int failed = sqlite3_extended_errcode(raw);
        !schema && (failed & 0xff) == SQLITE_READONLY && failed != SQLITE_READONLY)
        return fail(hotJournalSentence, path.string());
    if (!schema)
        return fail("The tables of {} cannot be read: {}", path.string(), schema.error().sentence);
    addEmptyTables(raw);
    return query;
}

Result<QueryResult, QueryError> TraceQuery::run(std::string_view sql, const QueryLimits& limits,
                                                const QueryProgress& progress) const {
    return RunningQuery(database_.get(), limits, progress).run(sql);
}

std::optional<FileDoubt> TraceQuery::doubt() const {
    if (std::optional<FileDoubt> found = watch_->doubt()) return found;
    if (!hasTrailingBytes_) return std::nullopt;
    return FileDoubt{Severity::Warning, HealthCode::BytesBehindPacked,
                     std::string(trailingBytesSentence)};
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

namespace {

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
    {"NVTX ranges step by step", R"sql(SELECT n.start, n.end,
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
    {"What was lost or is doubtful",
     R"sql(SELECT severity, code, timestamp, count, sentence FROM LANESCOPE_HEALTH
ORDER BY severity DESC)sql"},
};

}  // namespace

std::span<const SampleQuery> sampleQueries() {
    return samples;
}

}  // namespace lanescope
