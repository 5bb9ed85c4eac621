// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/eventFacts.h"

#include <algorithm>

#include "model/trace/kinds/allKinds.h"

namespace lanescope {

std::span<const EventKind> kindsInOrder() {
    return kinds::InOrder::numbers;
}

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
    return visitKind(events, [track](auto each) {
        return std::find(each.tracks.begin(), each.tracks.end(), track) != each.tracks.end();
    });
}

bool isGpuWork(EventKind kind) {
    return visitKind(kind, [](auto each) { return each.isGpuWork; });
}

uint32_t streamOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event,
                     [&](auto each, uint32_t row) { return each.streamOf(trace, row); });
}

uint32_t threadOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event,
                     [&](auto each, uint32_t row) { return each.threadOf(trace, row); });
}

uint32_t gpuOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event, [&](auto each, uint32_t row) { return each.gpuOf(trace, row); });
}

uint32_t correlationOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event,
                     [&](auto each, uint32_t row) { return each.correlationOf(trace, row); });
}

std::optional<int64_t> bytesOf(const Trace& trace, EventRef event) {
    return visitKind(trace, event,
                     [&](auto each, uint32_t row) { return each.bytesOf(trace, row); });
}

std::vector<Property> describe(const Trace& trace, EventRef event) {
    kinds::Details details(trace, event);
    visitKind(trace, event, [&](auto each, uint32_t row) { each.describe(trace, row, details); });
    return details.take();
}

}  // namespace lanescope
