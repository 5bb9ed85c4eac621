// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/format/threadStates.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

struct DomainLanes {
    StringIndex domain = 0;
    std::vector<Lane> lanes;
    uint32_t droppedCount = 0;  ///< Ranges without a lane.
};

/// The recorded states and stacks of a thread.
struct StateLanes {
    std::vector<Lane> states;        ///< States, and below them the calls in which it waited.
    std::vector<Lane> stacks = {};   ///< A flame graph: callees below callers.
    std::vector<Lane> running = {};  ///< Running time in one lane, or none if it never ran.
    uint32_t droppedCalls = 0, droppedFrames = 0;
    bool isWorthShowing = false;  ///< The thread ran, or was in a function.
};

struct ThreadLanes {
    std::vector<DomainLanes> domains = {};  ///< The default domain first, then by number of ranges, code last.
    std::vector<Lane> calls = {};
    uint32_t droppedCalls = 0;
    Rare<StateLanes> states = {};
    uint64_t count = 0;  ///< Number of calls and ranges.
    /// One lane of the times in the CUDA API. Without calls: in a range of its last domain. Without either: running.
    std::vector<Lane> busy = {};
};

/// The names of state slices. Made before the lanes, since strings must not grow while threads read them.
class StateNames {
  public:
    explicit StateNames(Trace& trace);
    StringIndex of(ThreadState state, bool isMixed) const {
        return names_[static_cast<size_t>(state) * 2 + (isMixed ? 1 : 0)];
    }

  private:
    std::array<StringIndex, threadStateCount * 2> names_{};
};

/// Returns the states of a thread. `rows` are its rows of `Trace::cpuStates`. Incomplete if
/// stopped. O(rows and frames of their stacks).
StateLanes stateLanes(const Trace& trace, std::span<const uint32_t> rows, const StateNames& names, StringIndex busy,
                      const std::stop_token& stop);

/// Distributes API calls, NVTX ranges and states over the lanes of their threads, one thread after the other. `busy`
/// names the slices of `ThreadLanes::busy`. Does not change the trace. O(n). If stopped, the result is incomplete.
std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names, StringIndex busy,
                                            const std::stop_token& stop);

/// The rows for tracks other than streams and threads, by owner: counters, and the kinds of events with their own
/// tracks. Computed once for all owners, as a file may name as many GPUs, processes and counters as it has rows.
class TrackSources {
  public:
    /// O(counters, rows of these kinds, GPUs and processes).
    TrackSources(const Trace& trace, const std::stop_token& stop);

    /// A GPU, a process if `gpu` is `noIndex`, or the machine if both are `noIndex`.
    struct Owner {
        uint32_t gpu = noIndex, process = noIndex;
    };
    /// Returns the counters of an owner in order. For two that share a track: the upper one.
    std::span<const uint32_t> countersOf(Owner owner) const { return counters_.of(numberOf(owner)); }
    const CounterPairs& pairs() const { return pairs_; }
    TimeRange whole() const { return whole_; }
    /// Returns the rows of an owner in order. `kind` is an index into the kinds with their own tracks.
    std::span<const uint32_t> eventsOf(size_t kind, Owner owner) const { return events_[kind].of(numberOf(owner)); }
    /// Returns true if the owner has any row with a track, or a counter that is not drawn.
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

void addGpuTracks(Trace& trace, const TrackSources& sources, GpuLanes work, const std::stop_token& stop);
/// Appends the tracks of all processes with an active thread. `work` is indexed by thread, `busy`
/// names the slices that summarize others.
void addProcessTracks(Trace& trace, const TrackSources& sources, std::vector<ThreadLanes> work, StringIndex busy,
                      const std::stop_token& stop);

/// Appends the track of the counters without a process and GPU, if any.
void addHostTracks(Trace& trace, const TrackSources& sources);

/// Appends the counters of a GPU, or of a process without a GPU, as one folded group. The first counter shows the
/// utilization of the GPU and is visible while the group is folded. Then follow memory, the NVLink sums, and the
/// counters derived from copies and collectives. Single links and all other counters are folded once more.
void addCounterTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner, uint32_t parent);
/// Appends a track for each kind of event with its own tracks that happened on this GPU or in this process.
void addEventTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner, uint32_t parent);
/// Marks in each track the intervals that were not recorded and those with lost events.
void markUnrecorded(Trace& trace);

/// Appends a track and returns its index. `parent` is -1 for a top-level track.
uint32_t addTrack(Trace& trace, TrackKind kind, uint32_t subject, int32_t parent, std::string title,
                  std::string subtitle = {});
/// Returns "PID 4242, rank 0".
std::string processSubtitle(const Process& process);
/// Adds a health note that `count` slices of `track` found no lane. No note for 0.
void noteDropped(Trace& trace, uint32_t track, uint32_t count);

/// Fills `tracks` from the tables: for each GPU its streams with their projected NVTX ranges, then
/// for each process its threads with their NVTX ranges and API calls, busiest first. `ofGpus` and
/// `ofThreads` contain their lanes. `busy` names the slices that summarize others. Adds a health
/// note if more events overlap than lanes exist. O(n log n). If stopped, slices are missing.
void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads, StringIndex busy,
                 const std::stop_token& stop);

}  // namespace lanescope
