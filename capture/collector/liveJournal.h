// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {
class Database;
}

namespace lanescope::capture {

/// Lets others read a trace while it is written: SQLite then keeps committed data in a log next to the file, so readers
/// and the writer do not wait. If that is impossible, as on some network file systems, the unfinished trace is not
/// readable and rollback data stays in memory. Before anything is written.
void beginLiveJournal(Database& database);

/// Brings everything into the file itself, so that it can be renamed, copied and read by itself. Waits some seconds for
/// readers to finish and then leaves the rest to `settleJournal`. Outside of a transaction.
Result<void> endLiveJournal(Database& database);

/// Completes `endLiveJournal` when a reader kept the file open: marks in the file that there is no
/// log any more. If the reader still uses an earlier state, a copy replaces the file, which needs
/// as much space again. Call it when the writer's connection is closed.
Result<void> settleJournal(const std::filesystem::path& path);

/// Removes the log of a file that will be created again, and the rest of a copy; a leftover log
/// would damage the next file.
void removeJournal(const std::filesystem::path& path);

}  // namespace lanescope::capture
