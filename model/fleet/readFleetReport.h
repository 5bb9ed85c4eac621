// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/build/LoadProgress.h"
#include "model/fleet/FleetReport.h"
#include "model/format/Sqlite.h"

namespace lanescope::fleet {

/// Whether a file says in its first bytes that it is of `lanescope fleet`.
bool isFleetReport(const std::filesystem::path& path);

/// How many cells, ranks by steps, a report that is read may have; 24 bytes are kept of each.
inline constexpr size_t mostCells = size_t{1} << 23;

/// Reads a report. Errors, a sentence each: no report, one of two jobs, a table that is missing or
/// none, more cells than `mostCells`, damage, cancelled. What single cells hold that cannot be is
/// left out and counted in the notes. O(cells); blocks.
Result<FleetReportPtr> readFleetReport(const std::filesystem::path& path,
                                       const LoadProgress& progress = {});

/// The same of a file that is open; errors call it `path`.
Result<FleetReportPtr> readFleetReport(Database database, const std::filesystem::path& path,
                                       const LoadProgress& progress = {});

}  // namespace lanescope::fleet
