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

/// Version of all that is stored in a trace when it is closed: of the tables `LANESCOPE_STORED*`
/// (`tables/Stored.h`) and of the rules that their figures follow. Raised whenever the same events
/// would give other figures, as with a new part of a step, which takes its time from others.
inline constexpr int storedVersion = 23;

/// Stores the summary of a run in the trace it was made from, in one transaction, so that a
/// comparison needs no events. Replaces what was stored before, also by earlier versions. The
/// summary must be that of the default selection. Call it when all events are written.
Result<void> writeRunSummary(Database& database, const RunSummary& summary);

/// The stored summary. Nothing if there is none, if another version of the program wrote it, if the
/// events changed since, or if it contradicts itself: parts that do not sum to their step, cells
/// that make no sense. Quick: reads no events.
std::optional<RunSummary> readRunSummary(const Database& database);
/// The same of a file. Nothing, too, if it is missing, damaged, compressed or no SQLite file, and
/// of one that is not sealed or was written to since, by whomever: what is stored there belongs to
/// other events then.
std::optional<RunSummary> readRunSummary(const std::filesystem::path& path);
/// The same, with what the health of the trace would say of its other pages among the warnings:
/// what is stored is right where events are damaged that it was made of. Reads the whole file to
/// compare its checksums. O(bytes).
std::optional<RunSummary> readRunSummaryChecked(const std::filesystem::path& path);

/// Whether a summary from a file can be one that this program wrote: counts and times are not
/// negative and small enough to be summed, steps follow each other, the parts of a step sum to its
/// time, the contributors of a part to that part, and lists are no longer than they can be.
bool isConsistent(const RunSummary& summary);

}  // namespace lanescope::analysis
