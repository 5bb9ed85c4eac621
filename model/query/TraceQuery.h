// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/Result.h"
#include "model/importers/loadTrace.h"
#include "model/query/QueryResult.h"

struct sqlite3;

namespace lanescope {

/// Called at intervals with the running time of a query, on its thread. Returns false to stop it.
using QueryProgress = std::function<bool(std::chrono::milliseconds elapsed)>;

/// A trace file opened for SQL of the user. Neither the file nor the SQL is trusted. Statements may
/// only read tables, call harmless functions and read the layout of tables. Views, triggers and
/// virtual tables of the file are disabled. Sorting and grouping use memory only. One thread at a
/// time.
class TraceQuery {
  public:
    /// Opens `path`. A gzip file is decompressed into a file without a name, with `progress`.
    /// Errors: those of `loadTrace` about files.
    static Result<TraceQuery> open(const std::filesystem::path& path,
                                   const LoadProgress& progress = {});

    /// Runs one statement. Columns called `start`, `startNs`, `end`, `endNs` or `timestamp` are
    /// times. A column called `communicator` contains names (`communicatorId`). The second of two
    /// columns with one name is called `name_2`. Texts are unchanged. Blocks up to `limits.time`.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {},
                                        const QueryProgress& progress = {}) const;

    /// Returns the doubts about the file, if the data read so far may differ from the recording or
    /// be incomplete.
    std::optional<FileDoubt> doubt() const;

    /// Returns the readable tables by name, those without rows last.
    Result<std::vector<QueryTable>> tables() const;

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    static Result<TraceQuery> openDatabase(const char* name, const char* vfs,
                                           const std::filesystem::path& path);

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

}  // namespace lanescope
