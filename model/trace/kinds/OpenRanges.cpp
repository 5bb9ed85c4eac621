// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/OpenRanges.h"

#include <algorithm>
#include <utility>

#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// A track has the ranges of one domain.
bool hasPythonFunctionsOnly(const Trace& trace, const Track& track) {
    for (const Lane& lane : track.lanes)
        if (lane.size() > 0 && lane.event.front().kind() == EventKind::Nvtx)
            return isFunctionDomain(trace.strings.at(trace.nvtx.domain[lane.event.front().row()]));
    return false;
}

}  // namespace

OpenRanges::OpenRanges(const Trace& trace, bool hasPythonFunctions)
    : tracksOf_(trace.threads.size()), leaderOf_(trace.processes.size(), noIndex) {
    std::vector<size_t> maxRanges(trace.processes.size(), 0);
    std::vector<size_t> count(trace.threads.size(), 0);
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::ThreadNvtx) continue;
        if (!hasPythonFunctions && hasPythonFunctionsOnly(trace, track)) continue;
        tracksOf_[track.subject].push_back(&track);
        for (const Lane& lane : track.lanes) count[track.subject] += lane.size();
        const uint32_t process = trace.threads[track.subject].process;
        if (count[track.subject] <= maxRanges[process]) continue;
        maxRanges[process] = count[track.subject];
        leaderOf_[process] = track.subject;
    }
}

std::vector<uint32_t> OpenRanges::at(uint32_t thread, int64_t timeNs) const {
    struct Open {
        int64_t startNs, durationNs;
        uint32_t row;
    };
    std::vector<Open> open;
    for (const Track* track : tracksOf_[thread]) {
        for (const Lane& lane : track->lanes) {
            const uint32_t slice = lane.firstEndingAt(timeNs + 1);
            if (slice >= lane.size() || lane.startNs[slice] > timeNs) continue;
            const EventRef range = lane.event[slice];
            if (range.kind() != EventKind::Nvtx) continue;
            open.push_back({lane.startNs[slice], lane.durationNs[slice], range.row()});
        }
    }
    std::ranges::stable_sort(open, {}, [](const Open& each) { return std::pair(each.startNs, -each.durationNs); });
    std::vector<uint32_t> rows;
    for (const Open& each : open) rows.push_back(each.row);
    return rows;
}

}  // namespace lanescope
