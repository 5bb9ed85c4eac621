// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/WorkerTimeline.h"

namespace lanescope::compare {

/// From which length of a stretch on idle time outside of calls is of work of the host, and not of
/// the way from one launch to the next, which takes some microseconds.
inline constexpr int64_t leastWorkNs = 500'000;

/// Says of contributors to launch-bound time what of it in `windows` the launching thread ran:
/// the kernel's count of its time on a core decides, whatever looks saw. Of all such time that lies
/// between the same looks it cannot have run for longer than that (`Contributor::waitedNs`); where
/// the count misses by no more than a tenth of the time between them it ran all of it, as nobody
/// knows to the nanosecond where a run of looks ends. Who waits for a lock may wait for another
/// thread that launches work of this worker, and then the time of these counts, too. What it ran in
/// stretches from `leastWorkNs` on is work of its own (`Contributor::workedNs`), if looks saw it
/// run. `contributors` are those of the timeline, `windows` as for it. O(n log n) in the pieces of
/// launch-bound time.
void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline,
                     const std::vector<TimeRange>& windows, std::vector<Contributor>& contributors);

}  // namespace lanescope::compare
