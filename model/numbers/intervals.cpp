// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/intervals.h"

#include <algorithm>
#include <limits>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

Intervals withoutOverlaps(Intervals intervals) {
    const auto isEarlier = [](const LabelledInterval& a, const LabelledInterval& b) { return a.startNs < b.startNs; };
    if (!std::is_sorted(intervals.begin(), intervals.end(), isEarlier)) sortLarge(intervals, isEarlier);
    size_t kept = 0;
    int64_t coveredUntil = std::numeric_limits<int64_t>::min();
    for (LabelledInterval interval : intervals) {
        interval.startNs = std::max(interval.startNs, coveredUntil);
        if (interval.endNs <= interval.startNs) continue;
        coveredUntil = interval.endNs;
        intervals[kept++] = interval;
    }
    intervals.resize(kept);
    return intervals;
}

Intervals without(const Intervals& from, const Intervals& holes) {
    Intervals result(from.get_allocator());
    size_t next = 0;
    for (const LabelledInterval& whole : from) {
        int64_t startNs = whole.startNs;
        while (next < holes.size() && holes[next].endNs <= startNs) ++next;
        for (size_t index = next; index < holes.size(); ++index) {
            if (holes[index].startNs >= whole.endNs) break;
            if (holes[index].startNs > startNs) result.push_back({startNs, holes[index].startNs, whole.label});
            startNs = std::max(startNs, holes[index].endNs);
        }
        if (startNs < whole.endNs) result.push_back({startNs, whole.endNs, whole.label});
    }
    return result;
}

UnassignedTime::UnassignedTime(const std::vector<TimeRange>& windows, LargeMemory* memory) : free_(memory) {
    for (uint32_t index = 0; index < windows.size(); ++index)
        if (!windows[index].isEmpty()) free_.push_back({windows[index].startNs, windows[index].endNs, index});
}

}  // namespace lanescope
