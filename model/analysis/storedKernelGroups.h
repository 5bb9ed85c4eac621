// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/analysis/RunSummary.h"
#include "model/format/Inserter.h"

namespace lanescope::analysis {

/// Reads the groups of kernels of the workers of a stored summary. Returns false if a cell is invalid.
bool readKernelGroups(const Database& database, RunSummary& summary);

/// Writes these groups into an empty table.
void writeKernelGroups(const Database& database, const RunSummary& summary, FirstError& error);

/// Returns true if they can be of the worker: sums and counts are in bounds.
bool areKernelGroupsGood(const WorkerSummary& worker);

}  // namespace lanescope::analysis
