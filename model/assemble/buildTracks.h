// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/assemble/GpuLanes.h"
#include "model/assemble/ThreadLanes.h"
#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

/// What has tracks beside streams and threads, by whose they are: counters, and the kinds of events
/// that have tracks of their own. Found once for all, as a file may name as many GPUs, processes
/// and counters as it has rows.
class TrackSources {
  public:
    /// O(counters, rows of those kinds, GPUs and processes).
    TrackSources(const Trace& trace, const std::stop_token& stop);

    /// A GPU, or a process where `gpu` is `noIndex`; where both are, the machine.
    struct Owner {
        uint32_t gpu = noIndex, process = noIndex;
    };
    /// In their order; of two that share a track the upper one.
    std::span<const uint32_t> countersOf(Owner owner) const {
        return counters_.of(numberOf(owner));
    }
    const CounterPairs& pairs() const { return pairs_; }
    /// `Trace::timelineRange`.
    TimeRange whole() const { return whole_; }
    /// Rows of the kind which is number `kind` of those with tracks of their own, in their order.
    std::span<const uint32_t> eventsOf(size_t kind, Owner owner) const {
        return events_[kind].of(numberOf(owner));
    }
    /// Whether there is anything of it that has a track. Of a counter also one that is not drawn.
    bool hasAny(Owner owner) const;

  private:
    uint32_t numberOf(Owner owner) const {
        if (owner.gpu != noIndex) return owner.gpu;
        return gpus_ + (owner.process != noIndex ? owner.process : processes_);
    }

    uint32_t gpus_, processes_;
    TimeRange whole_;
    CounterPairs pairs_;
    RowsByOwner counters_;
    std::vector<RowsByOwner> events_;
};

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

/// Fills `tracks` from the tables: for each GPU its streams with their projected NVTX ranges, then
/// for each process its threads with their NVTX ranges and API calls, busiest first. Adds a health
/// note where more events overlap than there are lanes. O(n log n).
/// What GPUs and threads did is given; `busy` is what to call slices that sum up others.
/// Stopped, it leaves slices out.
void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads,
                 StringIndex busy, const std::stop_token& stop);

}  // namespace lanescope
