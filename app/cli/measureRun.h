// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/RecordSupervisor.h"
#include "model/analysis/RunSummary.h"
#include "model/compare/CompareSelection.h"
#include "model/format/Result.h"

namespace lanescope::cli {

struct RunFiles {
    std::filesystem::path trace, log;
};

/// A folder for the traces of several runs and the output of their programs: A1.sqlite, A1.log, B1.sqlite ...
class RunsFolder {
  public:
    /// Creates `folder`, or uses it if it is empty; an empty name creates "lanescope-<purpose>-1", or the next free
    /// one.
    static Result<RunsFolder> make(const std::string& folder, std::string_view purpose);

    const std::filesystem::path& path() const { return path_; }
    RunFiles files(const std::string& run) const { return {path_ / (run + ".sqlite"), path_ / (run + ".log")}; }

  private:
    std::filesystem::path path_;
};

/// Records a run of the program in `options` and returns its summary, which has a step. Reports the median step. Fails
/// with a sentence if the run, called `name`, fails or is interrupted. Then only its log is left.
Result<analysis::RunSummary> measureRun(RecordSupervisor& supervisor, capture::RecordOptions options,
                                        const std::string& name, const RunFiles& files,
                                        const CompareSelection& selection);

/// Runs a program without the agent; fails like `measureRun`.
Result<void> runUnrecorded(RecordSupervisor& supervisor, const std::vector<std::string>& program,
                           const std::string& name, const std::filesystem::path& log);

}  // namespace lanescope::cli
