// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/format/Result.h"
#include "model/format/Sqlite.h"
#include "model/format/TimeRange.h"

namespace lanescope::capture {

/// When each process recorded, by `globalPid`, on the trace's axis; windows sorted by start. Only
/// processes that recorded in windows.
using RecordedWindows = std::map<int64_t, std::vector<TimeRange>>;

/// Whether a moment lies in one of the windows of a process. O(log n).
bool isInside(const std::vector<TimeRange>& windows, int64_t timeNs);

/// Removes the GPU work that such a process launched while it did not record: it starts outside all
/// windows, and no API call of the file launched it. CUPTI hands out what was under way when
/// recording began. A process without any API call keeps all. Returns how many rows went. Reads
/// the tables of GPU work once.
Result<int64_t> trimToWindows(Database& database, const RecordedWindows& windows);

}  // namespace lanescope::capture
