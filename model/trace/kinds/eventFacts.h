// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// What the description of its kind (`allKinds.h`) says of an event, for those who need no more. An
// event that the trace does not have is of no stream, thread or GPU. Each is O(1).

/// Every kind but none, in the order in which events that start together are listed.
std::span<const EventKind> kindsInOrder();
/// "Kernel", "CUDA API call"; empty for none.
std::string_view nameOfKind(EventKind kind);
/// Whether such events have a row of their own in a file.
bool isRecorded(EventKind kind);
/// Whether they are values of counters, which are curves on a timeline and not listed by start.
bool isSampled(EventKind kind);
/// Whether a track of this kind holds slices that are events of this kind of events.
bool mayHold(TrackKind track, EventKind events);

/// Whether it is work that a call gave to a stream of a GPU: a kernel, copy, memset or graph.
bool isGpuWork(EventKind kind);
/// Index into `Trace::streams`, or `noIndex`.
uint32_t streamOf(const Trace& trace, EventRef event);
/// Index into `Trace::threads`, or `noIndex`.
uint32_t threadOf(const Trace& trace, EventRef event);
/// Index into `Trace::gpus`, or `noIndex`.
uint32_t gpuOf(const Trace& trace, EventRef event);
/// Joins a call with what it launched, within a process; 0 for none.
uint32_t correlationOf(const Trace& trace, EventRef event);
/// What it moved or set; nothing for any other kind of event.
std::optional<int64_t> bytesOf(const Trace& trace, EventRef event);

/// What there is to say about one event, in the order to show it: names, times, where, sizes,
/// bandwidth, payload. Values carry their units. Empty for an invalid reference.
std::vector<Property> describe(const Trace& trace, EventRef event);

}  // namespace lanescope
