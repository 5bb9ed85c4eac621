// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "model/build/GpuLanes.h"
#include "model/build/ThreadLanes.h"
#include "model/build/TrackSources.h"
#include "model/trace/Trace.h"

namespace lanescope {

// The steps of `buildTracks`.

/// Appends the tracks of all GPUs that did something.
void addGpuTracks(Trace& trace, const TrackSources& sources, GpuLanes work,
                  const std::stop_token& stop);
/// Appends the tracks of all processes with a thread that did something; `work` by thread, `busy`
/// is what to call slices that sum up others.
void addProcessTracks(Trace& trace, const TrackSources& sources, std::vector<ThreadLanes> work,
                      StringIndex busy, const std::stop_token& stop);

/// Appends the track of the counters that are of no process and no GPU, if there are any.
void addHostTracks(Trace& trace, const TrackSources& sources);

/// Appends the counters of a GPU, or those of a process that are no GPU's, as one folded group: its
/// first one, which it shows while it is folded, says how busy the GPU is; then memory, the sums of
/// its NVLinks and what follows from copies and collectives. Single links and everything else are
/// folded once more.
void addCounterTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner,
                      uint32_t parent);
/// Appends a track for each kind of events that has tracks of its own and happened to this GPU or
/// process.
void addEventTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner,
                    uint32_t parent);
/// Says in each track when nothing was recorded that could stand there, and when something of it
/// was lost.
void markUnrecorded(Trace& trace);

/// Appends a track and returns its index. `parent` -1 for a top track.
uint32_t addTrack(Trace& trace, TrackKind kind, uint32_t subject, int32_t parent, std::string title,
                  std::string subtitle = {});
/// "PID 4242, rank 0".
std::string processSubtitle(const Process& process);
/// Says in the trace's health that `count` slices of `track` found no lane; nothing if none.
void noteDropped(Trace& trace, uint32_t track, uint32_t count);

}  // namespace lanescope
