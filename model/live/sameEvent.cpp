// SPDX-License-Identifier: Apache-2.0
#include "model/live/sameEvent.h"

namespace lanescope {

EventRef sameEvent(const Trace& before, EventRef event, const Trace& after) {
    if (!event.isValid() || event.row() >= before.rowCount(event.kind())) return {};
    const TimeRange range = before.rangeOf(event);
    uint32_t low = 0, high = after.rowCount(event.kind());
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int64_t startNs = after.rangeOf(EventRef(event.kind(), middle)).startNs;
        startNs < range.startNs ? low = middle + 1 : high = middle;
    }
    const std::string name = before.nameOf(event);
    EventRef open;
    for (; low < after.rowCount(event.kind()); ++low) {
        const EventRef found(event.kind(), low);
        const TimeRange there = after.rangeOf(found);
        if (there.startNs != range.startNs) break;
        if (after.nameOf(found) != name) continue;
        if (there.endNs == range.endNs) return found;
        // A range that was still open has an end by now.
        if (there.endNs > range.endNs && !open.isValid()) open = found;
    }
    return open;
}

}  // namespace lanescope
