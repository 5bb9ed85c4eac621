// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/cli/compareSelection.h"
#include "model/compare/RunSummary.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// The summary of a run that `lanescope compare` needs: the one stored in the trace, if all steps
/// are asked for and it has one, else from its events, which takes as long as opening it. Keeps
/// nothing of the trace, so that any number of runs fit into memory one after the other.
Result<compare::RunSummary> summarizeFile(const std::string& file,
                                          const CompareSelection& selection);

}  // namespace lanescope::cli
