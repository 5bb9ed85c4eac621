// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/explain/StepGrid.h"
#include "model/values/ReportTable.h"

namespace lanescope::explain {

/// All steps of all workers as a table: time, parts, waiting and lateness.
struct StepsTable {
    ReportTable table;
    std::vector<StepPlace> places;  ///< Of each row.
};
/// Longest steps first; at most `mostStepRows`, and then a note says how many there are. The rank
/// that a step waits for is late by what the one that waits most waits longer. O(n log n).
StepsTable stepsTable(const compare::RunSummary& run);
inline constexpr size_t mostStepRows = 100'000;

}  // namespace lanescope::explain
