// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "model/trace/Trace.h"
#include "model/trace/TraceSums.h"

namespace lanescope {

/// Whether the slices of a track are events themselves, no sum of others and no values of a
/// counter.
bool holdsEvents(TrackKind kind);

/// Sums up the tracks of a trace, on as many threads; not all if stopped. O(n). `Trace::sums` are
/// these.
TraceSums buildTraceSums(const Trace& trace, unsigned threads = 1,
                         const std::stop_token& stop = {});

}  // namespace lanescope
