// SPDX-License-Identifier: Apache-2.0
#include "model/live/LiveTrace.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <system_error>
#include <utility>

#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/Sqlite.h"
#include "model/format/files.h"
#include "model/format/tables/Schema.h"
#include "model/query/TraceQuery.h"

namespace lanescope {

namespace fs = std::filesystem;

namespace {

/// Rows read before the trace is closed and opened again: some hundredths of a second.
constexpr int64_t rowsPerStep = 50'000;
/// Like for finished traces, in bytes.
constexpr int maxCellBytes = 16 << 20;

struct Prepared {
    sqlite3_stmt* handle = nullptr;
    ~Prepared() { sqlite3_finalize(handle); }
};

bool prepare(sqlite3* database, const std::string& sql, Prepared& statement) {
    return sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement.handle, nullptr) ==
           SQLITE_OK;
}

std::vector<std::string> textsOf(sqlite3* database, const std::string& sql) {
    std::vector<std::string> texts;
    Prepared statement;
    if (!prepare(database, sql, statement)) return texts;
    while (sqlite3_step(statement.handle) == SQLITE_ROW) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.handle, 0));
        texts.emplace_back(text != nullptr ? text : "");
    }
    return texts;
}

bool isFile(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// Rows per step, small enough for a quick reaction to cancellation.
constexpr int64_t rowsAtOnce = 500'000;

}  // namespace

void TraceMirror::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<TraceMirror> TraceMirror::create(fs::path partial) {
    TraceMirror mirror(std::move(partial));
    if (auto made = mirror.makeCopy(); !made) return fail(made.error());
    return mirror;
}

/// The file loses its name as soon as it is open twice, so no part of it can remain.
Result<void> TraceMirror::makeCopy() {
    const Result<ScratchFolder> temporary = ScratchFolder::create();
    if (!temporary) return fail(temporary.error());
    const std::string name = "copy.sqlite";
    const fs::path path = temporary->path() / name;
    Result<void> made;
    {
        auto database = Database::create(path);
        if (!database) made = fail(database.error());
        if (made) made = createTraceTables(*database);
    }
    sqlite3* raw = nullptr;
    if (made) {
        descriptor_ = temporary->openFile(name);
        const int code = openToWrite(path, &raw);
        copy_.reset(raw);
        // The first read keeps the file open.
        if (descriptor_ < 0 || code != SQLITE_OK ||
            sqlite3_exec(raw,
                         "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;PRAGMA locking_mode = EXCLUSIVE; BEGIN "
                         "IMMEDIATE; COMMIT",
                         nullptr, nullptr, nullptr) != SQLITE_OK)
            made = fail("{}: cannot open the temporary file.", path.string());
    }
    return made;
}

Result<TraceMirror::Connection> TraceMirror::openPartial() const {
    std::error_code error;
    const fs::path absolute = fs::absolute(partial_, error);
    sqlite3* raw = nullptr;
    const int code = openToRead(absolute.c_str(), nullptr, &raw);
    Connection source(raw);
    if (code != SQLITE_OK)
        return fail("{}: cannot be read while it is being written: {}.", partial_.string(), sqlite3_errstr(code));
    if (textsOf(raw, "PRAGMA application_id") == std::vector{std::to_string(unfinishedTraceId)})
        if (auto readable = checkSqliteHeader(partial_); !readable) return fail(readable.error());
    hardenForQueries(raw);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, maxCellBytes);
    return source;
}

/// Columns that the trace lacks, for example in another version, stay empty in the copy.
Result<void> TraceMirror::findTables(sqlite3* source) {
    if (!tables_.empty()) return {};
    for (const tables::Table* known : tables::traceTables()) {
        const char* const name = known->tableName();
        const std::vector<std::string> theirs =
            textsOf(source, fmt::format("SELECT name FROM pragma_table_info('{}')", name));
        Table table{name, {}, 0, 0};
        for (const tables::ColumnInfo& column : known->columns()) {
            if (std::ranges::find(theirs, column.name) == theirs.end()) continue;
            table.columns += fmt::format("{}\"{}\"", table.columnCount > 0 ? ", " : "", column.name);
            ++table.columnCount;
        }
        // The schema itself has contents, such as the names of numbers.
        const auto last = textsOf(copy_.get(), fmt::format("SELECT coalesce(max(rowid), 0) FROM \"{}\"", name));
        if (!last.empty()) table.lastRow = std::atoll(last[0].c_str());
        if (table.columnCount > 0) tables_.push_back(std::move(table));
    }
    if (tables_.empty())
        return fail("{}: not a trace, or cannot be read while it is being written.", partial_.string());
    return {};
}

Result<int64_t> TraceMirror::copyRows(sqlite3* source, Table& table, int64_t maxRows) {
    std::string places = "?1";
    for (int column = 1; column <= table.columnCount; ++column) places += fmt::format(", ?{}", column + 1);
    Prepared select, insert;
    const bool isPrepared =
        prepare(source,
                fmt::format("SELECT rowid, {} FROM \"{}\" WHERE rowid > ?1 ORDER BY rowid LIMIT ?2", table.columns,
                            table.name),
                select) &&
        prepare(copy_.get(),
                fmt::format("INSERT OR REPLACE INTO \"{}\" (rowid, {}) VALUES ({})", table.name, table.columns, places),
                insert);
    if (!isPrepared)
        return fail("{}: cannot be read while it is being written: {}.", partial_.string(), sqlite3_errmsg(source));
    sqlite3_bind_int64(select.handle, 1, table.lastRow);
    sqlite3_bind_int64(select.handle, 2, maxRows);
    int64_t rows = 0;
    int code = SQLITE_DONE;
    while ((code = sqlite3_step(select.handle)) == SQLITE_ROW) {
        for (int column = 0; column <= table.columnCount; ++column)
            sqlite3_bind_value(insert.handle, column + 1, sqlite3_column_value(select.handle, column));
        const int written = sqlite3_step(insert.handle);
        sqlite3_reset(insert.handle);
        if (written != SQLITE_DONE)
            return fail("{}: cannot write a temporary copy: {}.", partial_.string(), sqlite3_errmsg(copy_.get()));
        table.lastRow = sqlite3_column_int64(select.handle, 0);
        ++rows;
    }
    if (code != SQLITE_DONE)
        return fail("{}: cannot be read while it is being written: {}.", partial_.string(), sqlite3_errmsg(source));
    return rows;
}

Result<int64_t> TraceMirror::refresh(int64_t maxRows) {
    int64_t all = 0;
    for (bool isMore = true; isMore && all < maxRows;) {
        isMore = false;
        // Closed after each step, since the writer needs exclusive access at its end.
        const auto source = openPartial();
        if (!source) return fail(source.error());
        if (auto found = findTables(source->get()); !found) return fail(found.error());
        int64_t room = std::min(rowsPerStep, maxRows - all);
        sqlite3_exec(source->get(), "BEGIN", nullptr, nullptr, nullptr);
        sqlite3_exec(copy_.get(), "BEGIN", nullptr, nullptr, nullptr);
        Result<int64_t> copied = 0;
        for (Table& table : tables_) {
            if (room <= 0) break;
            copied = copyRows(source->get(), table, room);
            if (!copied) break;
            room -= *copied;
            all += *copied;
        }
        isMore = room <= 0;
        const int code = sqlite3_exec(copy_.get(), "COMMIT", nullptr, nullptr, nullptr);
        if (!copied) return copied;
        if (code != SQLITE_OK)
            return fail("{}: cannot write a temporary copy: {}.", partial_.string(), sqlite3_errstr(code));
    }
    return all;
}

std::optional<LiveTrace> liveTraceAt(const fs::path& path) {
    LiveTrace live{path, path};
    if (path.extension() == unfinishedEnding)
        live.finished.replace_extension();
    else
        live.partial += unfinishedEnding;
    if (isFile(live.finished) || !isFile(live.partial)) return std::nullopt;
    return live;
}

fs::path logFolderOf(const LiveTrace& live) {
    return live.finished.parent_path() / ("." + live.finished.filename().string() + ".run");
}

LiveState stateOf(const LiveTrace& live) {
    // The trace gets its name before the lock is released, so the checks are in reverse order.
    UniqueFd file = openTrustedFile(logFolderOf(live) / "session.json", live.partial);
    const bool isHeld = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    file.reset();
    if (isFile(live.finished) && !isFile(live.partial)) return LiveState::Finished;
    return isHeld ? LiveState::Recording : LiveState::Abandoned;
}

Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress) {
    Result<TraceMirror> mirror = TraceMirror::create(live.partial);
    if (!mirror) return fail(mirror.error());
    for (int64_t rows = rowsAtOnce; rows >= rowsAtOnce;) {
        const Result<int64_t> more = mirror->refresh(rowsAtOnce);
        if (!more) return fail(more.error());
        rows = *more;
        if (progress && !progress(0, "reading along")) return fail("{}: opening was cancelled.", live.partial.string());
    }
    return loadOpenTrace(mirror->descriptor(), live.partial, progress);
}

EventRef sameEvent(const Trace& before, EventRef event, const Trace& after) {
    if (!event.isValid() || event.row() >= before.rowCount(event.kind())) return {};
    const TimeRange range = before.rangeOf(event);
    const uint32_t count = after.rowCount(event.kind());
    const auto startOf = [&](uint32_t row) { return after.rangeOf(EventRef(event.kind(), row)).startNs; };
    uint32_t row = *std::ranges::lower_bound(std::views::iota(0U, count), range.startNs, {}, startOf);
    const std::string name = before.nameOf(event);
    EventRef open;
    for (; row < count; ++row) {
        const EventRef found(event.kind(), row);
        const TimeRange there = after.rangeOf(found);
        if (there.startNs != range.startNs) break;
        if (after.nameOf(found) != name) continue;
        if (there.endNs == range.endNs) return found;
        // A range that was open in `before` may have ended.
        if (there.endNs > range.endNs && !open.isValid()) open = found;
    }
    return open;
}

}  // namespace lanescope
