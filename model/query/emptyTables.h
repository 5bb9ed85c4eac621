// SPDX-License-Identifier: Apache-2.0
#pragma once

struct sqlite3;

namespace lanescope {

/// Gives a trace of ours, for this connection alone, the tables that were left out since they have
/// no row: a query that fits one trace fits each. Does nothing to other files.
void addEmptyTables(sqlite3* database);

}  // namespace lanescope
