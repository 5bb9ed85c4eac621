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

/// Recording times of each process, by `globalPid`, on the trace's axis; windows sorted by start.
/// Only processes that recorded in windows.
using RecordedWindows = std::map<int64_t, std::vector<TimeRange>>;

/// Returns true if a time lies in one of the windows of a process. O(log n).
bool isInside(const std::vector<TimeRange>& windows, int64_t timeNs);

/// Removes GPU work launched while its process did not record: it starts outside all windows, and no API call of the
/// file launched it. CUPTI also returns work in progress at the start of recording. A process without any API call
/// keeps all. Returns the number of removed rows. Reads the tables of GPU work once.
Result<int64_t> trimToWindows(Database& database, const RecordedWindows& windows);

/// Times at which a process, by `globalPid`, was to be recorded: sorted, disjoint ranges on the
/// trace's axis; null if all the time.
using WindowsOfProcess = std::function<const std::vector<TimeRange>*(int64_t)>;

/// Removes thread states, switches and samples outside the windows of their process, and returns the number of removed
/// rows. A state is clipped to the edges, with its share of the kernel's times. At the begin of a window a switch is
/// added for the thread's state then, and at its end the last state is ended. Nothing is written for a thread after its
/// last switch. Keeps the switches of such processes in memory. O(n log windows).
Result<int64_t> trimThreadsToWindows(Database& database, const WindowsOfProcess& windowsOf);

/// Sorts the ranges and joins those that touch.
std::vector<TimeRange> joined(std::vector<TimeRange> ranges);

}  // namespace lanescope::capture
