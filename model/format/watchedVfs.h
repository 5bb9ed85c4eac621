// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

struct sqlite3;

namespace lanescope {

class ReadWatch;

/// The name of a way for SQLite to read files as `vfs` does, null for its own way, that shows each
/// page to a `ReadWatch`. A file that says it has a log beside it, but has none, is taken not to
/// change, so that nothing is made beside it. Null if SQLite does not take it. Any thread.
const char* watchedVfs(const char* vfs);

/// Shows `watch` what a connection that was opened by `watchedVfs` reads from now on, and gives it
/// the seal of the file if it `readsSeal`. False for any other connection.
bool watchReads(sqlite3* database, std::shared_ptr<ReadWatch> watch, bool readsSeal);

/// Reads all of the file, for whoever watches it. False if it cannot be read. O(bytes).
bool readEveryPage(sqlite3* database);

}  // namespace lanescope
