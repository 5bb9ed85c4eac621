// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "model/analysis/RunSummary.h"
#include "model/format/Result.h"

namespace lanescope {
class Database;
}

namespace lanescope::analysis {

/// Version of the data stored in a trace when it is finished: of the tables `LANESCOPE_STORED*`
/// (`tables/Stored.h`) and of the rules behind their figures. Raised whenever the same events would
/// give other figures, as with a new part of a step, which takes its time from others.
inline constexpr int storedVersion = 38;

/// Writes the summary of a run into its trace, in one transaction, for comparisons. Replaces stored data, also of
/// earlier versions. The summary must be that of the default selection. Call it when all events are written.
Result<void> writeRunSummary(Database& database, const RunSummary& summary);

/// Returns the stored summary; nullopt if there is none, if another version of the program wrote it, if the events
/// changed since, or if it is inconsistent: parts that do not sum to their step, invalid cells. Fast: reads no events.
std::optional<RunSummary> readRunSummary(const Database& database);
/// Reads the summary of a file. Returns nullopt also if the file is missing, corrupt, compressed or no SQLite file, and
/// if it is not sealed or was modified since: the summary then belongs to other events.
std::optional<RunSummary> readRunSummary(const std::filesystem::path& path);
/// Reads the same, with the warnings that the trace would have about its other pages: the summary is right even if the
/// events behind it are corrupt. Reads the whole file to compare its checksums. O(bytes).
std::optional<RunSummary> readRunSummaryChecked(const std::filesystem::path& path);

/// Returns true if this program can have written the summary: counts and times are not negative and
/// small enough to be summed, steps follow each other, the parts of a step sum to its time, the
/// contributors of a part to that part, and lists do not exceed their limits.
bool isConsistent(const RunSummary& summary);

}  // namespace lanescope::analysis
