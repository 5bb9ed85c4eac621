// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/numbers/MixedMap.h"
#include "model/numbers/groups.h"
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"
#include "model/trace/StringTable.h"

namespace lanescope {

/// Category of a slice, for its colour and legend.
enum class SliceCategory : uint8_t {
    Kernel,
    NcclKernel,
    NcclWait,  ///< Part of an NCCL kernel that waits for other ranks.
    MemcpyHtoD,
    MemcpyDtoH,
    MemcpyDtoD,
    MemcpyPtoP,
    MemcpyOther,
    Memset,
    ApiLaunch,
    ApiMemory,
    ApiSync,
    ApiOther,
    Nvtx,
    NcclCall,
    Projection,
    Graph,
    ManagedMemory,  ///< Managed memory without copies.
    Counter,
    Busy,
    CpuRunning,
    CpuRunnable,  ///< Runnable (waiting for a core).
    CpuGil,       ///< Waiting for Python's lock.
    CpuLock,      ///< Waiting for another thread or process.
    CpuInput,     ///< Waiting for data, a disk or a driver.
    CpuSleep,
    CpuFrame,  ///< Function on the stack of a thread.
    CpuMixed,  ///< Ran and waited alternately between samples.
};
inline constexpr size_t sliceCategoryCount = 28;

constexpr bool isOfNcclKernel(SliceCategory category) {
    return category == SliceCategory::NcclKernel || category == SliceCategory::NcclWait;
}

struct Lane;

/// State of a lane at a point in time.
struct LaneEdge {
    uint32_t slice = 0;      ///< First slice that starts at that time or later.
    int64_t busyNs = 0;      ///< Time covered by slices before.
    int64_t overhangNs = 0;  ///< Remaining duration of the slice that covers the edge, 0 if none.
};

/// Slices of a lane counted into buckets of time, in levels of doubled bucket width, so that any
/// range can be drawn without reading slices. Immutable once built.
struct LaneTiles {
    /// Buckets of 2^`shift` ns. Bucket 0 begins at `firstBucket << shift`, the others follow.
    struct Level {
        Level() = default;
        explicit Level(LargeMemory* memory)
            : slice(memory), busyNs(memory), overhangNs(memory), longestNs(memory), category(memory), name(memory) {}

        uint8_t shift = 0;
        int64_t firstBucket = 0;
        // One per edge between buckets, including both outer edges; see `LaneEdge`.
        Column<uint32_t> slice;
        Column<int64_t> busyNs, overhangNs;
        // One per bucket, for the slices that start in it.
        Column<int64_t> longestNs;       ///< Duration of the longest slice; negative if none starts.
        Column<SliceCategory> category;  ///< Category of the first of the longest slices.
        Column<StringIndex> name;        ///< Name of the same slice.

        size_t bucketCount() const { return longestNs.size(); }
        /// Returns the edge at `timeNs`, which must be an edge of a bucket or outside of all.
        size_t edgeIndex(int64_t timeNs) const {
            const int64_t bucket = timeNs >> shift;
            if (bucket <= firstBucket) return 0;
            const uint64_t index = static_cast<uint64_t>(bucket) - static_cast<uint64_t>(firstBucket);
            return index < bucketCount() ? static_cast<size_t>(index) : bucketCount();
        }
        LaneEdge at(int64_t timeNs) const {
            const size_t edge = edgeIndex(timeNs);
            return {slice[edge], busyNs[edge], overhangNs[edge]};
        }
    };
    /// Finest first; empty for a lane with few slices.
    std::vector<Level> levels;

    /// Minimum average of slices per bucket on the finest level; the average is less than twice this.
    static constexpr uint32_t slicesPerBucket = 16;
    static constexpr uint32_t minSlices = 4096;
    static constexpr size_t minBuckets = 2048;

    /// Longest slice of each run of `runLength` slices, then of as many runs, and so on, for
    /// buckets of the finest level with many slices.
    static constexpr uint32_t runLength = 64;
    struct Runs {
        Runs() = default;
        explicit Runs(LargeMemory* memory) : widest(memory), longestNs(memory) {}

        Column<uint32_t> widest;
        Column<int64_t> longestNs;
    };
    std::vector<Runs> runs;

    /// Returns the coarsest level whose edges include all multiples of 2^`gridShift` ns; null if
    /// the finest is too coarse.
    const Level* levelFor(int gridShift) const;
};

/// Builds the tiles of a lane from its times, in their memory; incomplete if stopped. O(n).
LaneTiles buildLaneTiles(const Lane& lane, const std::stop_token& stop = {});

/// Returns the longest of the slices `[first, end)`, the first of equal ones; the range must not be
/// empty. O(log n), O(n) for a lane without tiles.
uint32_t longestSlice(const Lane& lane, uint32_t first, uint32_t end);

/// Line of slices: equally long columns sorted by start. Slices never overlap, so ends are sorted
/// too. Immutable once built.
struct Lane {
    Lane() = default;
    /// Makes a lane that grows in `memory`, which must outlive it.
    explicit Lane(LargeMemory* memory)
        : startNs(memory), durationNs(memory), name(memory), event(memory), category(memory), busyNs(memory) {}

    Column<int64_t> startNs, durationNs;
    Column<StringIndex> name;
    Column<EventRef> event;  ///< Invalid for slices that summarize others (`SliceCategory::Busy`).
    Column<SliceCategory> category;
    /// Total duration of the slices before each `busyStep`th, including the end of the lane.
    Column<int64_t> busyNs;
    static constexpr uint32_t busyStep = 16;
    Rare<LaneTiles> tiles;  ///< Built last; empty for few slices.

    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
    /// Returns true if its slices summarize others. The lane must not be empty.
    bool isSummary() const {
        // Drawing has read the tiles already.
        const auto& first = tiles->levels.empty() ? category : tiles->levels.back().category;
        return first.front() == SliceCategory::Busy;
    }
    int64_t endNs(size_t slice) const { return startNs[slice] + durationNs[slice]; }
    /// Returns the first slice that ends at `timeNs` or later. O(log n).
    uint32_t firstEndingAt(int64_t timeNs) const {
        return firstNotBefore(0u, size(), [&](uint32_t slice) { return endNs(slice) < timeNs; });
    }
    /// Returns the total duration of the first `slice` slices, so that any range of slices needs one subtraction. O(1).
    int64_t busyBefore(uint32_t slice) const {
        int64_t sumNs = slice < busyStep ? 0 : busyNs[slice / busyStep];
        for (uint32_t i = slice / busyStep * busyStep; i < slice; ++i) sumNs += durationNs[i];
        return sumNs;
    }
};

enum class TrackKind : uint8_t {
    Gpu,
    Stream,
    StreamProjection,
    Process,
    Thread,
    ThreadNvtx,
    ThreadApi,
    ThreadStates,   ///< States of the thread, and below them the calls in which it waited.
    ThreadStacks,   ///< Stacks of the thread as a flame chart, from samples.
    Counter,        ///< One `CounterSeries`; its single lane is empty.
    CounterStates,  ///< Counter of flags: a slice (`CounterSample`) for each interval in which a flag was set.
    CounterGroup,   ///< Group of counters, which are its children; its single lane is empty.
    GpuEvents,      ///< Events of one kind of a GPU, outside of its streams.
    ProcessEvents,  ///< Events of one kind of a process, outside of its threads.
};

/// Titled band of the timeline with its lanes. `Trace::tracks` is in pre-order. A parent with
/// children has lanes of its own that summarize them while it is collapsed.
struct Track {
    TrackKind kind = TrackKind::Process;
    std::string title;
    std::string subtitle;  ///< "NVIDIA H200, 132 SMs", "PID 4242, rank 0"; may be empty.
    int32_t parent = -1;   ///< Index into `Trace::tracks`.
    uint16_t depth = 0;    ///< 0 for a root.
    /// Index into gpus, streams, processes, threads or counters, by `kind`; for a `CounterGroup`
    /// the GPU, or `noIndex` for the host.
    uint32_t subject = 0;
    bool isInitiallyFolded = false;
    std::vector<Lane> lanes = {};
    /// Intervals without recording for this track, and intervals with losses; each sorted, without overlaps.
    Rare<std::vector<TimeRange>> unrecorded = {}, lossy = {};
};

/// Returns the category of an API call by its name: launch, memory transfer or allocation, wait, other.
SliceCategory apiCategory(std::string_view apiName);
SliceCategory memcpyCategory(MemcpyKind kind);

}  // namespace lanescope
