// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {
class Database;
}

namespace lanescope::capture {

/// Lets others read a trace while it is being written: from here on SQLite keeps what is committed
/// in a log beside the file, where readers and the writer do not wait for each other. Where that is
/// not possible, as on some network file systems, nobody can read along, and what may have to be
/// taken back is kept in memory. Before anything is written.
void beginLiveJournal(Database& database);

/// Brings everything into the file itself, so that it can be renamed, copied and read by itself.
/// Readers give way within a moment; one that does not is waited for, for some seconds, and then
/// left to `settleJournal`. Outside of a transaction.
Result<void> endLiveJournal(Database& database);

/// The same when a reader kept the file open: says in the file that there is no log any more. Where
/// the reader still looks at an earlier state, a copy takes the place of the file, which needs as
/// much room again. Call it when the writer's connection is closed.
Result<void> settleJournal(const std::filesystem::path& path);

/// Removes the log of a file that is to be made anew, and what is left of a copy; with the log the
/// next file would be damaged.
void removeJournal(const std::filesystem::path& path);

}  // namespace lanescope::capture
