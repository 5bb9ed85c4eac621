// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/query/TraceQuery.h"

namespace lanescope {

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
