// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "model/analysis/RunSummary.h"
#include "model/fleet/RankDetails.h"
#include "model/format/Result.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/Trace.h"

namespace lanescope {
class Database;
}

namespace lanescope::cli {

/// Creates the summary and the index of a trace when all its events are written and before it gets its name. One load
/// yields both: the summary is stored in the trace, the index next to it. Works for traces of any size. After a failure
/// or cancellation the trace is as good as before: the next open or comparison creates the missing part. One thread.
class TraceClosing {
  public:
    /// Errors and cancellation come from `progress`, which receives the progress of both steps together.
    explicit TraceClosing(LoadProgress progress, const LoadOptions& options = {})
        : progress_(std::move(progress)), options_(options) {}

    /// Reads the trace of `database`, with all writes committed, by another connection, and stores
    /// its summary in one transaction. Stores none for a run without GPU work.
    Result<void> storeSummary(Database& database);

    /// Writes the same summary into a separate file in `folder`, for a trace called `name`; computes it from `file` if
    /// `storeSummary` has not. Fails for a run without GPU work.
    Result<void> writeSummary(const std::filesystem::path& file, const std::filesystem::path& name,
                              const std::filesystem::path& folder);

    /// Writes the index of `file`, which is final and will be called `name`; small traces get none
    /// (`OpenOptions`). Reads the file if `storeSummary` has not. Frees the memory of the trace.
    Result<void> writeIndex(const std::filesystem::path& file, const std::filesystem::path& name);

  private:
    Result<void> load(const std::filesystem::path& file);
    Result<void> sumUp(const Database& database);

    LoadProgress progress_;
    LoadOptions options_;
    TracePtr trace_;
    analysis::RunSummary summary_;
    std::optional<fleet::RankDetails> details_;  ///< Details of `summary_`, once computed.
};

}  // namespace lanescope::cli
