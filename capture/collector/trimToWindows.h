// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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

/// When a process, by `globalPid`, was to be recorded: ranges on the trace's axis, sorted, which do
/// not touch; null if all the time.
using WindowsOfProcess = std::function<const std::vector<TimeRange>*(int64_t)>;

/// Leaves of what looks and samples found of threads what lies within the windows of their process.
/// A state goes from edge to edge at most, with its share of the times that the kernel counted.
/// Where a window begins a switch says what the thread was then, and where it ends others end what
/// it was; nothing is told of a thread from its last switch on. Returns how many rows were left
/// out. Holds the switches of such processes in memory. O(n log windows).
Result<int64_t> trimThreadsToWindows(Database& database, const WindowsOfProcess& windowsOf);

/// Sorted, and those that touch made one.
std::vector<TimeRange> joined(std::vector<TimeRange> ranges);

}  // namespace lanescope::capture
