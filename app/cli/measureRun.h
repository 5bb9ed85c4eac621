// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/RecordSupervisor.h"
#include "model/analysis/RunSummary.h"
#include "model/compare/CompareSelection.h"
#include "model/format/Result.h"

namespace lanescope::cli {

struct RunFiles {
    std::filesystem::path trace, log;
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
