// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Runs of one program as one.
struct PooledRuns {
    /// Steps of all runs after each other; contributors summed; of the facts those of the first
    /// run, with all losses.
    RunSummary summary;
    /// For each run the worker that stands for each of `summary.workers`.
    std::vector<std::vector<uint32_t>> workers;
};

/// Puts runs together, so that a mean step is that of all runs and its contributors still sum to
/// it. `side` is for errors: "baseline". Fails if there are no runs, if one has no steps or if they
/// have not the same number of workers. Linear but for looking up names.
Result<PooledRuns> poolRuns(RunGroup runs, std::string_view side);

}  // namespace lanescope::compare
