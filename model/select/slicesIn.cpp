// SPDX-License-Identifier: Apache-2.0
#include "model/select/slicesIn.h"

#include <algorithm>

namespace lanescope {

SliceRun slicesIn(const Lane& lane, TimeRange range) {
    if (range.isEmpty()) return {};
    uint32_t first = lane.firstEndingAt(range.startNs);
    // Ends where the range starts: outside, unless it has no length.
    while (first < lane.size() && lane.endNs(first) == range.startNs &&
           lane.startNs[first] < range.startNs)
        ++first;
    const auto to = std::lower_bound(lane.startNs.begin(), lane.startNs.end(), range.endNs);
    return {first, std::max(first, static_cast<uint32_t>(to - lane.startNs.begin()))};
}

int64_t busyTime(const Lane& lane, TimeRange range) {
    const SliceRun run = slicesIn(lane, range);
    if (run.isEmpty()) return 0;
    const int64_t beforeNs = std::max<int64_t>(0, range.startNs - lane.startNs[run.first]);
    const int64_t afterNs = std::max<int64_t>(0, lane.endNs(run.end - 1) - range.endNs);
    return lane.busyBefore(run.end) - lane.busyBefore(run.first) - beforeNs - afterNs;
}

}  // namespace lanescope
