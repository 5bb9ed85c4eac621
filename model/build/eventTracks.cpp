// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/build/TrackBuilding.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// `visit(description)` for the kinds of events that have tracks of their own.
template <class Visitor>
void forEachOwnTrack(Visitor visit) {
    forEachKind([&visit](auto each) {
        if constexpr (requires { each.trackTitle; }) visit(each);
    });
}

/// The events of one kind that are drawn there.
template <class Kind>
void addEventTrack(Trace& trace, Kind kind, kinds::TrackSubject own, uint32_t parent) {
    LaneBuilder builder(Packing::Compact, trace.memory.get());
    for (uint32_t row = 0; row < kind.size(trace); ++row) {
        if (kind.trackOf(trace, row) != own) continue;
        const TimeRange range = kind.rangeOf(trace, row);
        builder.add(range.startNs, range.endNs, trace.strings.intern(kind.nameOf(trace, row)),
                    EventRef(kind.kind, row), kind.categoryOf(trace, row));
    }
    if (builder.isEmpty()) return;
    const uint32_t track = addTrack(trace, own.kind, own.subject, static_cast<int32_t>(parent),
                                    std::string(kind.trackTitle), std::string(kind.trackSubtitle));
    trace.tracks[track].lanes = builder.build();
    noteDropped(trace, track, builder.droppedCount());
}

bool hasEvents(const Trace& trace, kinds::TrackSubject own) {
    bool hasAny = false;
    forEachOwnTrack([&](auto each) {
        for (uint32_t row = 0; row < each.size(trace) && !hasAny; ++row)
            hasAny = each.trackOf(trace, row) == own;
    });
    return hasAny;
}

}  // namespace

void addEventTracks(Trace& trace, TrackKind kind, uint32_t subject, uint32_t parent) {
    forEachOwnTrack([&](auto each) { addEventTrack(trace, each, {kind, subject}, parent); });
}

bool gpuHasOtherTracks(const Trace& trace, uint32_t gpu) {
    return hasEvents(trace, {TrackKind::GpuEvents, gpu}) ||
           std::ranges::any_of(trace.counters,
                               [&](const CounterSeries& series) { return series.gpu == gpu; });
}

bool processHasOtherTracks(const Trace& trace, uint32_t process) {
    return hasEvents(trace, {TrackKind::ProcessEvents, process}) ||
           std::ranges::any_of(trace.counters, [&](const CounterSeries& series) {
               return series.gpu == noIndex && series.process == process;
           });
}

}  // namespace lanescope
