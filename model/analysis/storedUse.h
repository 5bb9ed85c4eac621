// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/Inserter.h"

namespace lanescope {
class Database;
}

namespace lanescope::analysis {

/// Writes the use of tensor cores and the shapes of the workers of a summary into their tables.
void writeUse(const Database& database, const std::vector<WorkerSummary>& workers, FirstError& error);

/// Reads the same into the workers. Returns false if a cell is invalid.
bool readUse(const Database& database, std::vector<WorkerSummary>& workers);

/// Returns true if this program can have written the use of a worker, as `isConsistent`.
bool isUseGood(const WorkerSummary& worker);

}  // namespace lanescope::analysis
