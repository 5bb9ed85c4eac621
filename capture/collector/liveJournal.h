// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {
class Database;
}

namespace lanescope::capture {

/// Way to write a trace.
enum class Journal : uint8_t {
    Live,  ///< Others can read the trace while it is written.
    None,  ///< Readers refuse it until it is whole (`TraceState`); needs about half of the disk space.
};

/// Lets others read a trace while it is written: SQLite then keeps committed data in a log next to the file, so readers
/// and the writer do not wait. Returns false if that is impossible, as on some network file systems; the connection is
/// then unusable. Before anything is written.
bool beginLiveJournal(Database& database);

/// Fails if a file that SQLite uses next to `path` was not made by this user for itself alone: its owner could read or
/// change the trace. When the connection is open.
Result<void> checkSideFiles(const std::filesystem::path& path);

/// Brings everything into the file itself, so that it can be renamed, copied and read by itself. Waits some seconds for
/// readers to finish and then leaves the rest to `settleJournal`. Outside of a transaction.
Result<void> endLiveJournal(Database& database);

/// Completes `endLiveJournal` when a reader kept the file open: marks in the file that there is no
/// log any more. Fails if the reader still uses an earlier state. Call it when the writer's
/// connection is closed.
Result<void> settleJournal(const std::filesystem::path& path);

/// Removes the files that SQLite would use next to `path`; a leftover would damage the file of that name.
Result<void> removeSideFiles(const std::filesystem::path& path);

/// Reads the finished trace once and fails if a part is missing, such as after another program truncated its log.
/// O(bytes).
Result<void> checkWhole(const std::filesystem::path& path);

/// Removes an unfinished trace with its log; a leftover log would damage the next file. Fails
/// if one of them stays, as the file of another user in a shared folder. Missing files are no failure.
Result<void> removeUnfinished(const std::filesystem::path& path);

}  // namespace lanescope::capture
