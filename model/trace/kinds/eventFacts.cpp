// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/eventFacts.h"

#include <algorithm>

#include "model/trace/counterReadings.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

std::span<const EventKind> kindsInOrder() { return kinds::KindsInOrder::numbers; }

std::string_view nameOfKind(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.name; });
}

bool isRecorded(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.origin == kinds::Origin::Recorded; });
}

bool isSampled(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.origin == kinds::Origin::Sampled; });
}

bool mayHold(TrackKind track, EventKind events) {
    return visitKind(events, [track](auto each) { return std::ranges::find(each.tracks, track) != each.tracks.end(); });
}

bool isGpuWork(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.isGpuWork; });
}

uint32_t streamOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.streamOf(trace, row); });
}

uint32_t threadOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.threadOf(trace, row); });
}

uint32_t gpuOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.gpuOf(trace, row); });
}

uint32_t correlationOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.correlationOf(trace, row); });
}

std::optional<int64_t> bytesOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.bytesOf(trace, row); });
}

std::vector<Property> describe(const Trace& trace, EventRef event) {
    kinds::Details details(trace, event);
    visitKind(trace, event, [&](auto each, uint32_t row) { each.describe(trace, row, details); });
    return details.take();
}

// Functions of `Trace` that need the descriptions of all kinds.

uint32_t Trace::rowCount(EventKind kind) const {
    return visitKind(kind, [this](auto each) { return each.size(*this); });
}

TimeRange Trace::rangeOf(EventRef event) const {
    return visitKind(*this, event, [this](auto each, uint32_t row) { return each.rangeOf(*this, row); });
}

std::string Trace::nameOf(EventRef event) const {
    return visitKind(*this, event, [this](auto each, uint32_t row) { return each.nameOf(*this, row); });
}

EventRef Trace::launchingCall(EventRef gpuWork) const {
    return visitKind(*this, gpuWork, [this](auto each, uint32_t row) -> EventRef {
        if constexpr (each.isGpuWork) {
            const uint32_t correlation = each.correlationOf(*this, row);
            if (correlation != 0) return callOf(*this, each.processOf(*this, row), correlation);
        }
        return {};
    });
}

std::vector<EventRef> Trace::launchedWork(EventRef apiCall) const {
    std::vector<EventRef> work;
    if (apiCall.kind() != EventKind::Api || apiCall.row() >= apiCalls.size()) return work;
    const uint32_t correlation = apiCalls.correlation[apiCall.row()];
    if (correlation == 0) return work;
    work = workOf(*this, threads[apiCalls.thread[apiCall.row()]].process, correlation);
    std::ranges::stable_sort(work, {}, [this](EventRef each) { return rangeOf(each).startNs; });
    return work;
}

namespace {

/// Returns the first slice of a track of states that belongs to the sample or covers its begin: a
/// state extends over equal samples.
SliceLocation locateState(const Track& track, uint32_t index, EventRef event, int64_t startNs) {
    for (uint32_t laneIndex = 0; laneIndex < track.lanes.size(); ++laneIndex) {
        const Lane& lane = track.lanes[laneIndex];
        const auto after = std::ranges::upper_bound(lane.startNs, startNs);
        const auto slice = static_cast<uint32_t>(after - lane.startNs.begin()) - 1;
        if (after == lane.startNs.begin()) continue;
        if (lane.event[slice] == event || lane.endNs(slice) > startNs) return {index, laneIndex, slice};
    }
    return {};
}

SliceLocation locateSample(const Trace& trace, EventRef event) {
    const Trace::SamplePlace sample = trace.samplePlace(event);
    if (sample.counter == noIndex) return {};
    const uint32_t upper = upperCounterOf(trace.counters, sample.counter);
    for (uint32_t index = 0; index < trace.tracks.size(); ++index) {
        const Track& track = trace.tracks[index];
        if (track.kind == TrackKind::Counter && upper != noIndex && track.subject == upper)
            return {index, 1, sample.sample};
        if (track.subject != sample.counter) continue;
        if (track.kind == TrackKind::Counter) return {index, 0, sample.sample};
        if (track.kind == TrackKind::CounterStates)
            return locateState(track, index, event, trace.rangeOf(event).startNs);
    }
    return {};
}

}  // namespace

SliceLocation Trace::locate(EventRef event) const {
    // A curve has no slices.
    if (event.kind() == EventKind::CounterSample) return locateSample(*this, event);
    const kinds::TrackSubject own =
        visitKind(*this, event, [this](auto each, uint32_t row) { return each.trackOf(*this, row); });
    if (own.subject == noIndex) return {};
    const int64_t startNs = rangeOf(event).startNs;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        if (tracks[track].kind != own.kind || tracks[track].subject != own.subject) continue;
        for (uint32_t laneIndex = 0; laneIndex < tracks[track].lanes.size(); ++laneIndex) {
            const Lane& lane = tracks[track].lanes[laneIndex];
            const auto first = std::ranges::lower_bound(lane.startNs, startNs);
            for (auto slice = static_cast<uint32_t>(first - lane.startNs.begin());
                 slice < lane.size() && lane.startNs[slice] == startNs; ++slice)
                if (lane.event[slice] == event) return {track, laneIndex, slice};
        }
    }
    return {};
}

}  // namespace lanescope
