// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/Result.h"
#include "model/importers/TraceFormat.h"
#include "model/text/ReportTable.h"

struct sqlite3;

namespace lanescope {

/// Prepares a connection for SQL of the user on an untrusted file: limits, no views, no triggers,
/// no virtual tables but those for JSON, no writing.
void hardenForQueries(sqlite3* database);

/// Makes `database` refuse everything but reading during its lifetime. The statement `sql` is
/// prepared in that time. `sql` must outlive it.
class ReadingOnly {
  public:
    ReadingOnly(sqlite3* database, std::string_view sql);
    ReadingOnly& operator=(ReadingOnly&&) = delete;
    ~ReadingOnly();

    /// Returns the first refused action as a sentence, or an empty text.
    const std::string& refusal() const { return refusal_; }

  private:
    static int decide(void* self, int action, const char* first, const char* second, const char* schema,
                      const char* view);
    bool isAllowed(int action, const char* first, const char* second);

    sqlite3* database_;
    std::string_view sql_;
    std::string refusal_;
};

}  // namespace lanescope

struct sqlite3;

namespace lanescope {

struct QueryLimits {
    std::chrono::milliseconds time{30'000};    ///< The query fails after this time.
    int64_t rows = 100'000;                    ///< Later rows are skipped, which is reported.
    int64_t resultBytes = int64_t{256} << 20;  ///< Size of the result. Later rows are skipped, too.
    int64_t workingBytes = int64_t{1} << 30;   ///< For sorting and grouping; then the query fails.
};

struct QueryResult {
    ReportTable table;
    bool isCut = false;  ///< More rows exist beyond the limits.
    std::chrono::milliseconds took{0};
};

struct QueryError {
    std::string sentence;
    /// Position in the text of the query in bytes, if known.
    std::optional<size_t> offset;
};

/// The errors of a query that ran out of time, was cancelled, or ran out of memory.
QueryError timeError(const QueryLimits& limits);
QueryError stopError();
QueryError memoryError();

/// A readable table with its columns in order.
struct QueryTable {
    struct Column {
        std::string name;
        std::string type;  ///< As declared. May be empty.
    };
    std::string name;
    std::vector<Column> columns;
};

/// A trace file opened for SQL of the user. Neither the file nor the SQL is trusted. Statements may only read tables,
/// call harmless functions and read the layout of tables. Views, triggers and virtual tables of the file are disabled.
/// Sorting and grouping use memory only. One thread at a time.
class TraceQuery {
  public:
    /// Opens `path`. A gzip file is decompressed into a file without a name, with `progress`.
    /// Errors: those of `loadTrace` about files.
    static Result<TraceQuery> open(const std::filesystem::path& path, const LoadProgress& progress = {});

    /// Runs one statement. Columns called `start`, `startNs`, `end`, `endNs` or `timestamp` are times. A column called
    /// `communicator` contains names (`communicatorId`). The second of two columns with one name is called `name_2`.
    /// Texts are unchanged. Blocks up to `limits.time`, and until a function of SQLite returns: some take minutes.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {}) const;
    /// Makes a running query fail at its next check, within one function of SQLite. Any thread. No
    /// effect if no query runs.
    void interrupt() const;

    /// Returns the doubts about the file, if the data read so far may differ from the recording or be incomplete.
    std::optional<FileDoubt> doubt() const;

    /// Returns the readable tables by name, those without rows last.
    Result<std::vector<QueryTable>> tables() const;

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    static Result<TraceQuery> openDatabase(const char* name, const char* vfs, const std::filesystem::path& path);

    std::unique_ptr<sqlite3, Close> database_;
    std::shared_ptr<ReadWatch> watch_;
    bool hasTrailingBytes_ = false;
};

/// The position of an error in a query, counted from 1. The column is in bytes.
struct QueryPosition {
    size_t line = 1;
    size_t column = 1;
};
QueryPosition queryPosition(std::string_view sql, size_t offset);

/// Returns the error as one sentence, with line and column if known.
std::string sentenceOf(const QueryError& error, std::string_view sql);

struct SampleQuery {
    const char* title;
    const char* sql;
};

std::span<const SampleQuery> sampleQueries();

/// Called at intervals with the running time of a query, on the caller's thread. Returns false to stop it.
using QueryProgress = std::function<bool(std::chrono::milliseconds elapsed)>;

/// A `TraceQuery` with a thread for each query, so that the caller waits no longer than the time limit. Some functions
/// of SQLite take minutes without checking the time. Such a query is abandoned: its thread and its open file end when
/// the function returns, and the next query opens the file again. One thread at a time.
class TimedQuery {
  public:
    /// Opens a trace like `TraceQuery::open`.
    static Result<TimedQuery> open(const std::filesystem::path& path, const LoadProgress& progress = {});

    /// Runs a query like `TraceQuery::run`. Takes at most 10 % more than `limits.time`.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {},
                                        const QueryProgress& progress = {});
    /// Returns the tables like `TraceQuery::tables`.
    Result<std::vector<QueryTable>> tables();
    /// Returns `TraceQuery::doubt` as a sentence, or an empty text.
    std::string doubt() const;

  private:
    explicit TimedQuery(std::filesystem::path path) : path_(std::move(path)) {}
    Result<void> openIfClosed(const LoadProgress& progress);

    std::filesystem::path path_;
    std::shared_ptr<const TraceQuery> query_;  ///< Null after an abandoned query.
};

}  // namespace lanescope
