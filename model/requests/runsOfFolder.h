// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/compare/RunSummary.h"
#include "model/format/Result.h"
#include "model/requests/makeComparison.h"

namespace lanescope {

/// The traces of a folder that are runs like another one.
struct FolderRuns {
    std::vector<compare::RunSummary> runs;  ///< Oldest first.
    /// Traces there that are not, that are damaged or that cannot be read.
    int64_t others = 0;
};

/// Whether both are runs of one command on one machine, on as many processes and the same GPUs,
/// recorded alike. Runs of which command or host are unknown are like none.
bool areAlike(const compare::RunSummary& run, const compare::RunSummary& other);

/// Reads the traces (`*.sqlite`) that lie in `folder`, not below it, as `summarizeFile` does. Fails
/// if the folder cannot be read.
Result<FolderRuns> runsOfFolder(const std::string& folder, const compare::RunSummary& like,
                                const CompareSelection& selection, const TraceOpener& open);

/// "; 3 other traces there are damaged, or of another command, machine or way of recording"; empty
/// for none.
std::string othersClause(int64_t others);

}  // namespace lanescope
