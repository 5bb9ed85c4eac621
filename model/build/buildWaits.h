// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// Fills `streamWaits` from `eventRecords` and `eventWaits`, and empties those two: each wait is
/// paired with the last record of its event before it. Calls are ordered by correlation, which
/// CUPTI counts upwards within a process. Waits for an event that nobody recorded, and those that a
/// stream does for itself, make no difference and are left out. O(n log n) in records and waits.
void buildWaits(Trace& trace);

}  // namespace lanescope
