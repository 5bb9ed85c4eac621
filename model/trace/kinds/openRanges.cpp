// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/openRanges.h"

#include <limits>

namespace lanescope {

EventRef innermostRange(const Trace& trace, uint32_t thread, int64_t timeNs,
                        std::string_view domain) {
    EventRef innermost;
    int64_t latestNs = std::numeric_limits<int64_t>::min();
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx || track.subject != thread) continue;
        for (const Lane& lane : track.lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs + 1);
            if (slice >= lane.size() || lane.startNs[slice] > timeNs) continue;
            const EventRef range = lane.event[slice];
            // A track has the ranges of one domain.
            if (range.kind() != EventKind::Nvtx ||
                trace.strings.at(trace.nvtx.domain[range.row()]) != domain)
                break;
            if (lane.startNs[slice] < latestNs) continue;
            latestNs = lane.startNs[slice];
            innermost = range;
        }
    }
    return innermost;
}

}  // namespace lanescope
