// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/WorkerTimeline.h"

namespace lanescope::compare {

/// Says of contributors to launch-bound time in which the thread ran and waited by turns, as looks
/// saw it, how much of that in `windows` it cannot have run in (`Contributor::waitedNs`): of all
/// such time that lies between the same looks no more than the kernel counts of its time on a core,
/// and a tenth of the time between them more, as nobody knows to the nanosecond where a run of
/// looks ends. Who waits for a lock may wait for another thread that launches work of this worker,
/// and then the time of these counts, too. `contributors` are those of the timeline, `windows` as
/// for it. O(n log n) in the pieces of launch-bound time.
void addWaitedTime(const Trace& trace, const WorkerTimeline& timeline,
                   const std::vector<TimeRange>& windows, std::vector<Contributor>& contributors);

}  // namespace lanescope::compare
