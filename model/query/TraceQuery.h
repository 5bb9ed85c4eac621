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

/// Told now and then how long a query has been running; returns false to stop it. Called on the
/// thread of the query.
using QueryProgress = std::function<bool(std::chrono::milliseconds elapsed)>;

/// A trace file that is open for SQL that somebody typed. Neither the file nor the SQL is trusted:
/// statements may read tables, call harmless functions and ask for the layout of tables, and
/// nothing else; views, triggers and virtual tables of the file do not run. What is sorted and
/// grouped stays in memory. One thread at a time.
class TraceQuery {
  public:
    /// Opens `path`, which may be compressed with gzip and is then unpacked into a nameless file,
    /// with `progress`. Errors: those of `loadTrace` about files.
    static Result<TraceQuery> open(const std::filesystem::path& path,
                                   const LoadProgress& progress = {});

    /// Runs one statement. Columns called `start`, `startNs`, `end`, `endNs` or `timestamp` are
    /// times, one called `communicator` holds names (`communicatorId`); of columns of one name the
    /// second is called `name_2`. Texts are as they stand in the
    /// file. Blocks up to `limits.time`.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {},
                                        const QueryProgress& progress = {}) const;

    /// Whether what was read so far is what was recorded, and all that is in the file.
    std::optional<FileDoubt> doubt() const;

    /// The tables that can be asked, by name; those without rows last.
    Result<std::vector<QueryTable>> tables() const;

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    static Result<TraceQuery> openDatabase(const char* name, const char* vfs,
                                           const std::filesystem::path& path);

    std::unique_ptr<sqlite3, Close> database_;
    std::shared_ptr<ReadWatch> watch_;
    bool hasBytesBehind_ = false;
};

/// Where in the query it went wrong, counted from 1; the column in bytes.
struct QueryPosition {
    size_t line = 1;
    size_t column = 1;
};
QueryPosition queryPosition(std::string_view sql, size_t offset);

/// The error as one sentence, with line and column where they are known.
std::string sentenceOf(const QueryError& error, std::string_view sql);

/// A query that is worth running on most traces.
struct SampleQuery {
    const char* title;
    const char* sql;
};

std::span<const SampleQuery> sampleQueries();

}  // namespace lanescope
