// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/Trace.h"
#include "views/timeline/TrackArrangement.h"

namespace lanescope::views {

/// How the tracks of a trace stand until somebody arranges them. As they are in the trace, GPUs
/// that did nothing folded and behind all else. `manyGpus` that
/// worked, or more, stand by the rank that works on them, as do then their processes, and all of
/// them are folded: one line each, low from `manyRows` on, so that a whole machine fits one screen.
/// Where there is no GPU the threads that had a core for longest stand first, and those that had
/// one for a twentieth of that are folded. O(tracks log tracks) and the states of threads.
TrackArrangement firstArrangement(const Trace& trace);
inline constexpr size_t manyGpus = 4;
inline constexpr size_t manyRows = 9;

}  // namespace lanescope::views
