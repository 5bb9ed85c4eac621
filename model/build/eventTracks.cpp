// SPDX-License-Identifier: Apache-2.0
#include "model/build/TrackBuilding.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// The events of one kind that are drawn there.
template <class Kind>
void addEventTrack(Trace& trace, Kind kind, std::span<const uint32_t> rows, kinds::TrackSubject own,
                   uint32_t parent) {
    if (rows.empty()) return;
    LaneBuilder builder(Packing::Compact, trace.memory.get());
    for (const uint32_t row : rows) {
        const TimeRange range = kind.rangeOf(trace, row);
        builder.add(range.startNs, range.endNs, trace.strings.intern(kind.nameOf(trace, row)),
                    EventRef(kind.kind, row), kind.categoryOf(trace, row));
    }
    const uint32_t track = addTrack(trace, own.kind, own.subject, static_cast<int32_t>(parent),
                                    std::string(kind.trackTitle), std::string(kind.trackSubtitle));
    trace.tracks[track].lanes = builder.build();
    noteDropped(trace, track, builder.droppedCount());
}

}  // namespace

void addEventTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner,
                    uint32_t parent) {
    const kinds::TrackSubject own =
        owner.gpu != noIndex ? kinds::TrackSubject{TrackKind::GpuEvents, owner.gpu}
                             : kinds::TrackSubject{TrackKind::ProcessEvents, owner.process};
    size_t number = 0;
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; })
            addEventTrack(trace, each, sources.eventsOf(number++, owner), own, parent);
    });
}

}  // namespace lanescope
