// SPDX-License-Identifier: Apache-2.0
#include "model/select/buildTraceSums.h"

#include <algorithm>

#include "model/select/buildUnionSums.h"
#include "model/select/sumSlices.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/runTasks.h"

namespace lanescope {

bool holdsEvents(TrackKind kind) {
    return std::ranges::any_of(kindsInOrder(), [kind](EventKind events) {
        return !isSampled(events) && mayHold(kind, events);
    });
}

TraceSums buildTraceSums(const Trace& trace, unsigned threads, const std::stop_token& stop) {
    TraceSums sums;
    sums.tracks.reserve(trace.tracks.size());
    Tasks tasks;
    for (const Track& track : trace.tracks) {
        TrackSums& ofTrack = sums.tracks.emplace_back();
        if (!holdsEvents(track.kind)) continue;
        if (std::ranges::any_of(track.lanes, [](const Lane& lane) { return needsSums(lane); }))
            ofTrack.lanes.resize(track.lanes.size());
        for (size_t lane = 0; lane < ofTrack.lanes.size(); ++lane)
            tasks.emplace_back(
                [&trace, &stop, &sums = ofTrack.lanes[lane], &slices = track.lanes[lane]] {
                    sums = buildLaneSums(trace, slices, stop);
                });
        if (track.kind == TrackKind::Stream && track.lanes.size() > 1)
            tasks.emplace_back(
                [&ofTrack, &track, &stop] { ofTrack.busy = buildUnionSums(track.lanes, stop); });
    }
    runTasks(threads, tasks);
    return sums;
}

}  // namespace lanescope
