#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope {

class Database;

/// Lets others read a trace while it is being written: from here on SQLite keeps what is committed
/// in a log beside the file, where readers and the writer do not wait for each other. Where that is
/// not possible, as on some network file systems, nothing changes and nobody can read along. Before
/// anything is written.
void beginLiveJournal(Database& database);

/// Brings everything into the file itself, so that it can be renamed, copied and read by itself.
/// Readers give way within a moment; one that does not is waited for, up to half a minute. Outside
/// of a transaction.
Result<void> endLiveJournal(Database& database);

/// The same for a reader that only kept its connection open: what is left is to say so in the file.
/// Call it when the writer's connection is closed.
Result<void> settleJournal(const std::filesystem::path& path);

/// Removes the log of a file that is to be made anew; with it the next file would be damaged.
void removeJournal(const std::filesystem::path& path);

}  // namespace lanescope
