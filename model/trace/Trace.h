// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/CounterSeries.h"
#include "model/trace/EventRef.h"
#include "model/trace/Facts.h"
#include "model/trace/Interconnect.h"
#include "model/trace/LaneSums.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/StringTable.h"
#include "model/trace/Tables.h"
#include "model/trace/Track.h"
#include "model/trace/fields.h"

namespace lanescope {

/// A GPU of the machine, seen by at least one process.
struct Gpu {
    int64_t id = 0;    ///< The number by which it is called on screen ("GPU 0").
    std::string name;  ///< "NVIDIA H200"; empty if the file does not say.
    std::string uuid;
    std::string busLocation;  ///< PCI address.
    int64_t memoryBytes = 0;  ///< 0 if unknown, as are the following.
    int64_t memoryBandwidthBytesPerSecond = 0;
    int smCount = 0;
    int computeMajor = 0;
    int computeMinor = 0;
};

struct Process {
    int64_t globalPid = 0;
    uint32_t pid = 0;
    std::string name;
    std::optional<int> rank;         ///< Of a distributed job.
    std::optional<int> localRank;    ///< Among the ranks of its host.
    std::optional<int> worldSize;    ///< How many ranks the job has.
    bool endedAbnormally = false;    ///< No END record: killed, crashed, or the file was cut.
    TimeRange range;                 ///< Of its events, and on to its end if known.
    bool hasWindows = false;         ///< It recorded in `windows` only, not all the time.
    std::vector<TimeRange> windows;  ///< Sorted, without overlaps; may reach beyond the trace.
    std::vector<Gap> gaps;           ///< Sorted by start.
    Rare<ProcessFacts> facts;
};

struct Thread {
    int64_t globalTid = 0;
    uint32_t tid = 0;
    uint32_t process = 0;  ///< Index into `Trace::processes`.
    std::string name;
};

struct Stream {
    uint32_t process = 0;
    uint32_t gpu = 0;  ///< Index into `Trace::gpus`.
    int64_t contextId = 0;
    int64_t streamId = 0;
    bool isNullStream = false;
};

/// How many events of a kind the file holds, and how many of them carry no time.
struct EventCount {
    std::string name;  ///< "kernels": `plural` of a kind, or what else a file has.
    int64_t total = 0;
    int64_t untimed = 0;
};

/// Where an event stands on the timeline.
struct SliceLocation {
    uint32_t track = noIndex;
    uint32_t lane = 0;
    uint32_t slice = 0;
    bool isValid() const { return track != noIndex; }
};

/// What a trace says beside its events.
struct TraceDescription {
    std::filesystem::path path;
    std::string title;       ///< File name without folder.
    std::string producer;    ///< "Lanescope 0.1.0", "Nsight Systems 2026.2.1".
    int64_t startUtcNs = 0;  ///< Of time 0, since 1970; 0 if unknown.
    RunFacts facts;
    std::vector<GpuFacts> gpuFacts;  ///< By the number of the GPU.
    std::vector<HealthNote> health;
    Interconnect interconnect;
};

/// Everything a trace file holds, in memory. Only a `TraceBuilder` makes one, or the index of one
/// that was made before; immutable and shared as `shared_ptr<const Trace>` from then on. Every
/// member function may be called from any thread.
class Trace : public TraceDescription {
  public:
    /// Where its tables and all that is made of them grow; none if it is null.
    std::shared_ptr<LargeMemory> memory;

    TimeRange range;  ///< First event to last event or process end.
    std::vector<EventCount> counts;

    StringTable strings;
    std::vector<Gpu> gpus;
    std::vector<Process> processes;
    std::vector<Thread> threads;
    std::vector<Stream> streams;
    std::vector<LaunchConfig> launchConfigs;
    KernelTable kernels;
    MemcpyTable memcpys;
    MigrationTable migrations;
    MemsetTable memsets;
    GraphTable graphs;
    MemoryEventTable memoryEvents;
    MemoryPoolTable memoryPools;
    AllocationTable allocations;
    PageFaultTable pageFaults;
    ApiTable apiCalls;
    StackTable stacks;  ///< Of calls, ranges, nodes and states; see `stacks.h`.
    GraphNodeTable graphNodes;
    CpuStateTable cpuStates;
    SyncTable syncs;
    EventCallTable eventRecords, eventWaits;  ///< Empty in a finished trace.
    StreamWaitTable streamWaits;
    NvtxTable nvtx;
    BackwardTable backwards;
    ProjectionTable projections;
    NcclTable nccl;
    std::vector<CounterSeries> counters;
    std::vector<uint32_t> counterRows;  ///< Row of the first `CounterSample` of each counter.
    std::vector<Track> tracks;

    /// When the event happened; empty range for an invalid reference. O(1).
    TimeRange rangeOf(EventRef event) const;
    /// What to call it: kernel short name, "HtoD 4.0 MiB", API name, NVTX text. O(1).
    std::string nameOf(EventRef event) const;
    /// The API call that started this GPU work, or invalid. O(log n).
    EventRef launchingCall(EventRef gpuWork) const;
    /// The GPU work that this API call started, in order of start. O(log n).
    std::vector<EventRef> launchedWork(EventRef apiCall) const;
    /// Which sample of which counter a `CounterSample` is; counter `noIndex` if it is none.
    struct SamplePlace {
        uint32_t counter = noIndex;
        uint32_t sample = 0;
    };
    SamplePlace samplePlace(EventRef event) const;
    EventRef sampleEvent(uint32_t counter, uint32_t sample) const;
    /// Where it is drawn; invalid if on no track. O(tracks), and O(log n) in the lanes of its
    /// track.
    SliceLocation locate(EventRef event) const;
    bool isEmpty() const { return range.isEmpty(); }
    /// What a timeline is to show: `range`, or without events what the counters know. O(counters).
    TimeRange timelineRange() const;
    /// How many events of a kind there are.
    uint32_t rowCount(EventKind kind) const;

    LaunchLinks links;  ///< For the lookups above.
    TraceSums sums;     ///< For `selectionStatistics`.

    /// What the columns are views of, if they are mapped.
    std::shared_ptr<const void> backing;
    /// How many blocks of that differ from their checksums, of those that were read so far; null
    /// unless they are mapped.
    const std::atomic<uint32_t>* damagedBlocks = nullptr;
    /// Whether some of what was read so far is not what was stored.
    bool isDamaged() const {
        return damagedBlocks != nullptr && damagedBlocks->load(std::memory_order_relaxed) > 0;
    }

  private:
    friend class TraceBuilder;  // fills and finishes it
    friend class IndexedTrace;  // maps one that was finished
    Trace() = default;
};

/// Visits the tables of a trace, in the order in which an index stores them.
template <Of<Trace> S, class V>
void forEachTable(S& trace, V&& visit) {
    visitEach(visit, trace.kernels, trace.memcpys, trace.migrations, trace.memsets, trace.graphs,
              trace.memoryEvents, trace.memoryPools, trace.allocations, trace.pageFaults,
              trace.apiCalls, trace.stacks, trace.graphNodes, trace.cpuStates, trace.syncs,
              trace.eventRecords, trace.eventWaits, trace.streamWaits, trace.nvtx, trace.backwards,
              trace.projections, trace.nccl);
}

using TracePtr = std::shared_ptr<const Trace>;

/// What a process is called, without the folders that its program lies in: some files keep a path,
/// others a name or what the program called itself, which may have a slash elsewhere. O(length).
inline std::string_view programName(const Process& process) {
    const std::string_view name = process.name;
    return name.starts_with('/') ? name.substr(name.find_last_of('/') + 1) : name;
}

/// Whether a GPU did anything: kernels, copies or memsets. O(1).
inline bool hasWorkOfGpu(const Trace& trace) {
    return trace.kernels.size() > 0 || trace.memcpys.size() > 0 || trace.memsets.size() > 0;
}

/// The counter that a `CounterGroup` shows while it is folded, the first in it; `noIndex` if that
/// is none that can be drawn as a graph, and for other tracks. O(1).
inline uint32_t leadingCounter(const Trace& trace, uint32_t group) {
    const size_t first = size_t{group} + 1;
    if (first >= trace.tracks.size()) return noIndex;
    const Track& track = trace.tracks[first];
    const bool leads = trace.tracks[group].kind == TrackKind::CounterGroup &&
                       track.parent == static_cast<int64_t>(group) &&
                       track.kind == TrackKind::Counter;
    return leads ? track.subject : noIndex;
}

}  // namespace lanescope
