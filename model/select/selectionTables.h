// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/select/SelectionStatistics.h"
#include "model/values/ReportTable.h"

namespace lanescope {

/// The names that took the most time, at most `most` of each kind: what, name, share of the range,
/// total, count, mean, shortest, longest.
ReportTable selectedNames(const Trace& trace, const SelectionStatistics& statistics, size_t most);

/// The copies and memsets: kind, memories, GB/s, bytes, count, time.
ReportTable selectedCopies(const SelectionStatistics& statistics);

/// "12.5 ms selected: GPU 0 busy 83 %, GPU 1 busy 79 %".
std::string selectionHeadline(const Trace& trace, const SelectionStatistics& statistics);

}  // namespace lanescope
