// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

// Queries of a single event by the description of its kind (`allKinds.h`). An event that is not in
// the trace has no stream, thread or GPU. Each is O(1).

/// Returns every kind but none, in the order in which events that start together are listed.
std::span<const EventKind> kindsInOrder();
/// Returns "Kernel", "CUDA API call"; empty for none.
std::string_view nameOfKind(EventKind kind);
/// Returns true if such events have their own rows in a file.
bool isRecorded(EventKind kind);
/// Returns true for values of counters, which are curves on a timeline and not listed by start.
bool isSampled(EventKind kind);
/// Returns true if tracks of this kind show events of this kind.
bool mayHold(TrackKind track, EventKind events);

/// Returns true for work that a call submitted to a stream of a GPU: kernel, copy, memset or graph.
bool isGpuWork(EventKind kind);
/// Returns an index into `Trace::streams`, or `noIndex`.
uint32_t streamOf(const Trace& trace, EventRef event);
/// Returns an index into `Trace::threads`, or `noIndex`.
uint32_t threadOf(const Trace& trace, EventRef event);
/// Returns an index into `Trace::gpus`, or `noIndex`.
uint32_t gpuOf(const Trace& trace, EventRef event);
/// Returns the number that joins a call and its GPU work within a process; 0 for none.
uint32_t correlationOf(const Trace& trace, EventRef event);
/// Returns the bytes moved or set; nullopt for other kinds of events.
std::optional<int64_t> bytesOf(const Trace& trace, EventRef event);

/// Returns the properties of an event in display order: names, times, place, sizes, bandwidth,
/// payload. Values include their units. Empty for an invalid reference.
std::vector<Property> describe(const Trace& trace, EventRef event);

}  // namespace lanescope
