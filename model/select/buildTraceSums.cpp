#include "model/select/buildTraceSums.h"

#include "model/select/sumSlices.h"

namespace lanescope {

bool holdsEvents(TrackKind kind) {
    switch (kind) {
        case TrackKind::Stream:
        case TrackKind::StreamProjection:
        case TrackKind::ThreadNvtx:
        case TrackKind::ThreadApi:
        case TrackKind::GpuPageFaults:
        case TrackKind::CpuPageFaults:
            return true;
        default:
            return false;
    }
}

TraceSums buildTraceSums(const Trace& trace) {
    TraceSums sums;
    for (const Track& track : trace.tracks) {
        TrackSums& ofTrack = sums.tracks.emplace_back();
        ofTrack.lanes.resize(track.lanes.size());
        if (!holdsEvents(track.kind)) continue;
        for (size_t lane = 0; lane < track.lanes.size(); ++lane)
            ofTrack.lanes[lane] = buildLaneSums(trace, track.lanes[lane]);
        if (track.kind == TrackKind::Stream) ofTrack.busy = buildUnionSums(track.lanes);
    }
    return sums;
}

}  // namespace lanescope
