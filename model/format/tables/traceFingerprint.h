// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

class Database;

/// A number that changes when events are added to a trace file or it becomes another recording:
/// over the last row of each table of events and of the strings, and the start of the session.
/// O(log n) a table.
int64_t traceFingerprint(const Database& database);

}  // namespace lanescope
