// SPDX-License-Identifier: Apache-2.0
#include "model/query/TraceQuery.h"

#include <sqlite3.h>

#include <system_error>

#include "model/format/checkSqliteHeader.h"
#include "model/format/descriptorVfs.h"
#include "model/format/watchedVfs.h"
#include "model/load/TraceFormat.h"
#include "model/load/TraceSource.h"
#include "model/query/RunningQuery.h"
#include "model/query/emptyTables.h"
#include "model/query/harden.h"

namespace lanescope {

namespace {

constexpr int largestSchema = 2000;  ///< Tables; no trace has a tenth of it.

}  // namespace

void TraceQuery::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Result<TraceQuery> TraceQuery::open(const std::filesystem::path& path,
                                    const LoadProgress& progress) {
    Result<TraceSource> source = TraceSource::open(path, progress);
    if (!source) return fail(source.error());
    if (const Result<void> has = refuseWithoutTables(*source); !has) return fail(has.error());
    if (source->isCompressed()) {
        const Result<UnpackedFile> unpacked = source->unpacked();
        if (!unpacked) return fail(unpacked.error());
        Result<TraceQuery> query = openDatabase(descriptorName(unpacked->file.descriptor()).c_str(),
                                                descriptorVfs(), path);
        if (query) query->hasBytesBehind_ = unpacked->hasBytesBehind;
        return query;
    }
    if (const auto header = checkSqliteHeader(path); !header) return fail(header.error());
    std::error_code error;
    // An absolute path, so that no file name can be taken for a URI or for ":memory:".
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
        if (std::optional<Error> unread = query.watch_->unreadLog(sqlite3_extended_errcode(raw)))
            return fail(std::move(*unread));
    // What a program left that wrote to it and did not end well.
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
    if (!hasBytesBehind_) return std::nullopt;
    return FileDoubt{Severity::Warning, HealthCode::BytesBehindPacked,
                     std::string(bytesBehindSentence)};
}

Result<std::vector<QueryTable>> TraceQuery::tables() const {
    // Real tables have a root page; views and virtual tables have none.
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
            if (tables.size() == largestSchema) break;
            tables.push_back({name, {}});
        }
        tables.back().columns.push_back({textOf(row[1]), textOf(row[2])});
    }
    return tables;
}

}  // namespace lanescope
