// SPDX-License-Identifier: Apache-2.0
#include "model/flame/OpenRanges.h"

#include <algorithm>

namespace lanescope {

OpenRanges::OpenRanges(const Trace& trace)
    : tracksOf_(trace.threads.size()), leaderOf_(trace.processes.size(), noIndex), trace_(trace) {
    std::vector<size_t> most(trace.processes.size(), 0);
    std::vector<size_t> count(trace.threads.size(), 0);
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx) continue;
        tracksOf_[track.subject].push_back(&track);
        for (const Lane& lane : track.lanes) count[track.subject] += lane.size();
        const uint32_t process = trace.threads[track.subject].process;
        if (count[track.subject] <= most[process]) continue;
        most[process] = count[track.subject];
        leaderOf_[process] = track.subject;
    }
}

std::vector<StringIndex> OpenRanges::at(uint32_t thread, int64_t timeNs) const {
    std::vector<StringIndex> open = on(thread, timeNs);
    const uint32_t leader = leaderOf_[trace_.threads[thread].process];
    if (open.empty() && leader != noIndex && leader != thread) open = on(leader, timeNs);
    return open;
}

std::vector<StringIndex> OpenRanges::on(uint32_t thread, int64_t timeNs) const {
    struct Open {
        int64_t startNs, durationNs;
        StringIndex name;
    };
    std::vector<Open> open;
    for (const Track* track : tracksOf_[thread]) {
        for (const Lane& lane : track->lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs);
            if (slice < lane.size() && lane.startNs[slice] <= timeNs)
                open.push_back({lane.startNs[slice], lane.durationNs[slice], lane.name[slice]});
        }
    }
    std::stable_sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
        return a.startNs != b.startNs ? a.startNs < b.startNs : a.durationNs > b.durationNs;
    });
    std::vector<StringIndex> names;
    for (const Open& each : open) names.push_back(each.name);
    return names;
}

}  // namespace lanescope
