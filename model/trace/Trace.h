// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/text/apiCalls.h"
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

/// GPU of the machine, seen by at least one process.
struct Gpu {
    int64_t id = 0;    ///< Number on screen ("GPU 0").
    std::string name;  ///< "NVIDIA H200"; empty if unknown.
    GpuVendor vendor = GpuVendor::Nvidia;
    std::string uuid;
    std::string busLocation;  ///< PCI address.
    int64_t memoryBytes = 0;  ///< 0 if unknown, also for the members below.
    int64_t memoryBandwidthBytesPerSecond = 0;
    int smCount = 0;
    int computeMajor = 0;
    int computeMinor = 0;
    /// Its times do not fit those of the CPU, so that causes of its idle time are unknown. Computed (`checkLaunches`).
    bool isClockInconsistent = false;
};

struct Process {
    int64_t globalPid = 0;
    uint32_t pid = 0;
    std::string name;
    std::optional<int> rank;         ///< In a distributed job.
    std::optional<int> localRank;    ///< Among the ranks of its host.
    std::optional<int> worldSize;    ///< Number of ranks of the job.
    bool endedAbnormally = false;    ///< No END record: killed, crashed, or the file is truncated.
    TimeRange range;                 ///< Interval of its events, extended to its end if known.
    bool hasWindows = false;         ///< Recorded in `windows` only, not all the time.
    std::vector<TimeRange> windows;  ///< Sorted, without overlaps; may extend beyond the trace.
    std::vector<Gap> gaps;           ///< Sorted by start.
    Rare<ProcessFacts> facts;
};

struct Thread {
    int64_t globalTid = 0;
    uint32_t tid = 0;
    uint32_t process = 0;
    std::string name = {};
};

struct Stream {
    uint32_t process = 0;
    uint32_t gpu = 0;  ///< Index into `Trace::gpus`.
    int64_t contextId = 0;
    int64_t streamId = 0;
    bool isNullStream = false;
};

/// Number of events of a kind in the file, and how many of them have no time.
struct EventCount {
    std::string name;  ///< "kernels": `plural` of a kind, or the name of other events of a file.
    int64_t total = 0;
    int64_t untimed = 0;
};

/// Place of an event on the timeline.
struct SliceLocation {
    uint32_t track = noIndex;
    uint32_t lane = 0;
    uint32_t slice = 0;
    bool isValid() const { return track != noIndex; }
};

/// Description of a trace other than its events.
struct TraceDescription {
    std::filesystem::path path;
    std::string title;       ///< File name without folder.
    std::string producer;    ///< "Lanescope 0.1.0", "Nsight Systems 2026.2.1".
    int64_t startUtcNs = 0;  ///< Time 0 since 1970; 0 if unknown.
    RunFacts facts;
    std::vector<GpuFacts> gpuFacts;  ///< Sorted by GPU number.
    std::vector<HealthNote> health;
    Interconnect interconnect;
};

/// Content of a trace file in memory. Made by a `TraceBuilder` or from an index; immutable and
/// shared as `shared_ptr<const Trace>` afterwards. Any thread can call any member function.
class Trace : public TraceDescription {
  public:
    /// Memory of its tables and derived data; null for the heap.
    std::shared_ptr<LargeMemory> memory;

    ProducerKind producerKind = ProducerKind::Other;
    GpuApi gpuApi = GpuApi::Cuda;  ///< API of the program.
    TimeRange range;               ///< First event to last event or process end.
    std::vector<EventCount> counts;

    StringTable strings;
    std::vector<Gpu> gpus;
    std::vector<Process> processes;
    std::vector<Thread> threads;
    std::vector<Stream> streams;
    LaunchConfigColumn launchConfigs;
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
    StackTable stacks;  ///< Stacks of calls, ranges, nodes and states; see `stacks.h`.
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

    /// Returns the interval of the event; empty for an invalid reference. O(1).
    TimeRange rangeOf(EventRef event) const;
    /// Returns the label of the event: kernel short name, "HtoD 4.0 MiB", API name, NVTX text. O(1).
    std::string nameOf(EventRef event) const;
    /// Returns the API call that launched this GPU work, or an invalid reference. O(log n).
    EventRef launchingCall(EventRef gpuWork) const;
    /// Returns the GPU work that this API call launched, by start. O(log n).
    std::vector<EventRef> launchedWork(EventRef apiCall) const;
    /// Counter and sample of a `CounterSample`; counter `noIndex` if the event is none.
    struct SamplePlace {
        uint32_t counter = noIndex;
        uint32_t sample = 0;
    };
    SamplePlace samplePlace(EventRef event) const;
    EventRef sampleEvent(uint32_t counter, uint32_t sample) const;
    /// Returns the place on the timeline; invalid if the event is on no track. O(tracks), and O(log
    /// n) in the lanes of its track.
    SliceLocation locate(EventRef event) const;
    bool isEmpty() const { return range.isEmpty(); }
    /// Returns the range of a timeline: `range`, or that of the counters if there are no events. O(counters).
    TimeRange timelineRange() const;
    uint32_t rowCount(EventKind kind) const;

    LaunchLinks links;  ///< For the lookups above.
    TraceSums sums;     ///< For `selectionStatistics`.

    /// Owner of the memory of mapped columns; null if they are owned.
    std::shared_ptr<const void> backing;
    /// Number of mapped blocks read so far that differ from their checksums; null unless mapped.
    const std::atomic<uint32_t>* corruptBlocks = nullptr;
    /// Returns true if any block read so far is corrupt.
    bool isCorrupt() const { return corruptBlocks != nullptr && corruptBlocks->load(std::memory_order_relaxed) > 0; }

  private:
    friend class TraceBuilder;  // Fills and finishes it.
    friend class IndexedTrace;  // Maps a finished one.
    Trace() = default;
};

/// Visits the tables of a trace, in the order of an index.
void forEachTable(Of<Trace> auto& trace, auto&& visit) {
    visitEach(visit, trace.kernels, trace.memcpys, trace.migrations, trace.memsets, trace.graphs, trace.memoryEvents,
              trace.memoryPools, trace.allocations, trace.pageFaults, trace.apiCalls, trace.stacks, trace.graphNodes,
              trace.cpuStates, trace.syncs, trace.eventRecords, trace.eventWaits, trace.streamWaits, trace.nvtx,
              trace.backwards, trace.projections, trace.nccl);
}

using TracePtr = std::shared_ptr<const Trace>;

/// Returns the name of a process without the folders of its program. Some files store a path,
/// others a name or a title, which may contain slashes elsewhere. O(length).
inline std::string_view programName(const Process& process) {
    const std::string_view name = process.name;
    return name.starts_with('/') ? name.substr(name.find_last_of('/') + 1) : name;
}

/// Returns true if any GPU ran kernels, copies or memsets. O(1).
inline bool hasGpuWork(const Trace& trace) {
    return trace.kernels.size() > 0 || trace.memcpys.size() > 0 || trace.memsets.size() > 0;
}

/// Returns the counter that a collapsed `CounterGroup` shows, its first one. Returns `noIndex` if
/// that cannot be drawn as a graph, and for other tracks. O(1).
inline uint32_t leadingCounter(const Trace& trace, uint32_t group) {
    const size_t first = size_t{group} + 1;
    if (first >= trace.tracks.size()) return noIndex;
    const Track& track = trace.tracks[first];
    const bool leads = trace.tracks[group].kind == TrackKind::CounterGroup &&
                       track.parent == static_cast<int64_t>(group) && track.kind == TrackKind::Counter;
    return leads ? track.subject : noIndex;
}

}  // namespace lanescope
