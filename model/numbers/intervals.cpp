// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/intervals.h"

#include <algorithm>
#include <limits>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

Stretches withoutOverlaps(Stretches stretches) {
    const auto isEarlier = [](const Stretch& a, const Stretch& b) { return a.startNs < b.startNs; };
    if (!std::is_sorted(stretches.begin(), stretches.end(), isEarlier))
        sortLarge(stretches, isEarlier);
    size_t kept = 0;
    int64_t coveredUntil = std::numeric_limits<int64_t>::min();
    for (Stretch stretch : stretches) {
        stretch.startNs = std::max(stretch.startNs, coveredUntil);
        if (stretch.endNs <= stretch.startNs) continue;
        coveredUntil = stretch.endNs;
        stretches[kept++] = stretch;
    }
    stretches.resize(kept);
    return stretches;
}

Stretches without(const Stretches& from, const Stretches& holes) {
    Stretches result(from.get_allocator());
    size_t next = 0;
    for (const Stretch& whole : from) {
        int64_t startNs = whole.startNs;
        while (next < holes.size() && holes[next].endNs <= startNs) ++next;
        for (size_t index = next; index < holes.size(); ++index) {
            if (holes[index].startNs >= whole.endNs) break;
            if (holes[index].startNs > startNs)
                result.push_back({startNs, holes[index].startNs, whole.label});
            startNs = std::max(startNs, holes[index].endNs);
        }
        if (startNs < whole.endNs) result.push_back({startNs, whole.endNs, whole.label});
    }
    return result;
}

FreeTime::FreeTime(const std::vector<TimeRange>& windows, LargeMemory* memory) : free_(memory) {
    for (uint32_t index = 0; index < windows.size(); ++index)
        if (!windows[index].isEmpty())
            free_.push_back({windows[index].startNs, windows[index].endNs, index});
}

}  // namespace lanescope
