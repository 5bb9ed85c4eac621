// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "model/analysis/RunSummary.h"
#include "model/fleet/RankDetails.h"
#include "model/format/Result.h"
#include "model/importers/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {
class Database;
}

namespace lanescope::cli {

/// Makes of a trace what it is opened and compared by, when all its events are written and before
/// it gets its name: one load gives the summary, which goes into the trace itself, and the index
/// beside it. Works on traces of any size. Whatever fails or is cancelled, the trace is as good as
/// before: whoever opens or compares it makes what is missing. One thread.
class TraceClosing {
  public:
    /// Errors and cancelling are those of `progress`, which is told of both steps together.
    explicit TraceClosing(LoadProgress progress, const LoadOptions& options = {})
        : progress_(std::move(progress)), options_(options) {}

    /// Reads the trace that `database` has written, all of it committed, by another connection, and
    /// stores its summary, in one transaction. Of a run without work of a GPU there is none.
    Result<void> storeSummary(Database& database);

    /// Writes the same summary into a file of its own, in `folder`, for a trace called `name`;
    /// makes it of `file` if `storeSummary` has not. Nothing of a run without work of a GPU.
    Result<void> writeSummary(const std::filesystem::path& file, const std::filesystem::path& name,
                              const std::filesystem::path& folder);

    /// Writes the index of `file`, which will not change any more and is going to be called `name`;
    /// small ones get none (`OpenOptions`). Reads the file if `storeSummary` has not. Gives the
    /// memory of the trace back.
    Result<void> writeIndex(const std::filesystem::path& file, const std::filesystem::path& name);

  private:
    Result<void> load(const std::filesystem::path& file);
    Result<void> sumUp(const Database& database);

    LoadProgress progress_;
    LoadOptions options_;
    TracePtr trace_;
    analysis::RunSummary summary_;
    std::optional<fleet::RankDetails> details_;  ///< Of `summary_`, once it is made.
};

}  // namespace lanescope::cli
