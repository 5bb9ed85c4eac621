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
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"
#include "model/trace/StringTable.h"

namespace lanescope {

/// What a slice is, for its colour and its legend.
enum class SliceCategory : uint8_t {
    Kernel,
    NcclKernel,
    NcclWait,  ///< The part of a kernel of NCCL that waits for other ranks.
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
    ManagedMemory,  ///< What befell it, but for copies.
    Counter,
    Busy,
    CpuRunning,
    CpuNoCore,  ///< Could run.
    CpuGil,     ///< Waits for it.
    CpuLock,    ///< Waits for another thread or process.
    CpuInput,   ///< Waits for data, a disk or a driver.
    CpuSleep,
    CpuFrame,  ///< A function on the stack of a thread.
    CpuMixed,  ///< Ran and waited by turns, between looks.
};
inline constexpr size_t sliceCategoryCount = 28;

constexpr bool isOfNcclKernel(SliceCategory category) {
    return category == SliceCategory::NcclKernel || category == SliceCategory::NcclWait;
}

struct Lane;

/// What is known of a lane at one moment.
struct LaneEdge {
    uint32_t slice = 0;      ///< The first that starts then or later.
    int64_t busyNs = 0;      ///< Time that slices covered until then.
    int64_t overhangNs = 0;  ///< How long the slice that covers it goes on, 0 if none does.
};

/// The slices of a lane counted into buckets of time, in levels of buckets twice as wide each: what
/// a picture of any stretch needs without looking at the slices. Immutable once built.
struct LaneTiles {
    /// Buckets of 2^`shift` ns. Bucket 0 begins at `firstBucket << shift`, the others follow.
    struct Level {
        Level() = default;
        explicit Level(LargeMemory* memory)
            : slice(memory),
              busyNs(memory),
              overhangNs(memory),
              widestNs(memory),
              category(memory),
              name(memory) {}

        uint8_t shift = 0;
        int64_t firstBucket = 0;
        // One for each edge between buckets, the outer two included; see `LaneEdge`.
        Column<uint32_t> slice;
        Column<int64_t> busyNs, overhangNs;
        // One for each bucket, of the slices that start in it.
        Column<int64_t> widestNs;        ///< How long the longest is; negative where none starts.
        Column<SliceCategory> category;  ///< Of the first of the longest.
        Column<StringIndex> name;        ///< Of the same.

        size_t bucketCount() const { return widestNs.size(); }
        /// The edge at `timeNs`, which must be one between buckets or lie outside of them all.
        size_t edgeIndex(int64_t timeNs) const {
            const int64_t bucket = timeNs >> shift;
            if (bucket <= firstBucket) return 0;
            const uint64_t index =
                static_cast<uint64_t>(bucket) - static_cast<uint64_t>(firstBucket);
            return index < bucketCount() ? static_cast<size_t>(index) : bucketCount();
        }
        LaneEdge at(int64_t timeNs) const {
            const size_t edge = edgeIndex(timeNs);
            return {slice[edge], busyNs[edge], overhangNs[edge]};
        }
    };
    /// The finest first; none for a lane with few slices.
    std::vector<Level> levels;

    /// How many slices a bucket of the finest level holds on average, at least; less than twice as
    /// many.
    static constexpr uint32_t slicesPerBucket = 16;
    static constexpr uint32_t leastSlices = 4096;
    static constexpr size_t leastBuckets = 2048;

    /// The longest slice of each `runLength` slices in order, then of as many of those, and so on:
    /// finds the longest where many slices lie within one bucket of the finest level.
    static constexpr uint32_t runLength = 64;
    struct Runs {
        Runs() = default;
        explicit Runs(LargeMemory* memory) : widest(memory), widestNs(memory) {}

        Column<uint32_t> widest;
        Column<int64_t> widestNs;
    };
    std::vector<Runs> runs;

    /// The coarsest level whose edges include all multiples of 2^`gridShift` ns; null if even the
    /// finest is too coarse.
    const Level* levelFor(int gridShift) const;
};

/// The tiles of a lane, from its columns of times and in their memory; not whole if stopped. O(n).
LaneTiles buildLaneTiles(const Lane& lane, const std::stop_token& stop = {});

/// The longest of the slices `[first, end)`, of equals the first; the run must not be empty.
/// O(log n), O(n) for a lane without tiles.
uint32_t widestSlice(const Lane& lane, uint32_t first, uint32_t end);

/// One line of slices: equally long columns sorted by start, slices never overlap, so ends are
/// sorted too. Immutable once built.
struct Lane {
    Lane() = default;
    /// Grows in `memory`, which must outlive it.
    explicit Lane(LargeMemory* memory)
        : startNs(memory),
          durationNs(memory),
          name(memory),
          event(memory),
          category(memory),
          busyNs(memory) {}

    Column<int64_t> startNs, durationNs;
    Column<StringIndex> name;
    Column<EventRef> event;  ///< Invalid for slices that sum up others (`SliceCategory::Busy`).
    Column<SliceCategory> category;
    /// The summed duration of the slices before each `busyStep`th, the end of the lane included.
    Column<int64_t> busyNs;
    static constexpr uint32_t busyStep = 16;
    Rare<LaneTiles> tiles;  ///< Made last; none for few slices.

    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
    /// Whether its slices sum up others. The lane must not be empty.
    bool isSummary() const {
        // A picture has looked at the tiles anyway.
        const auto& first = tiles->levels.empty() ? category : tiles->levels.back().category;
        return first.front() == SliceCategory::Busy;
    }
    int64_t endNs(size_t slice) const { return startNs[slice] + durationNs[slice]; }
    /// The first slice that ends at `timeNs` or later. O(log n).
    uint32_t firstEndingAt(int64_t timeNs) const {
        uint32_t low = 0;
        uint32_t high = size();
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            endNs(middle) < timeNs ? low = middle + 1 : high = middle;
        }
        return low;
    }
    /// The summed duration of the first `slice` slices, so that the covered time of any run of
    /// slices is one subtraction. O(1).
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
    ThreadStates,   ///< What the thread did, and below it calls that it waited in.
    ThreadStacks,   ///< Its stack as a flame, by looks or samples.
    Counter,        ///< One `CounterSeries`; its one lane is empty.
    CounterStates,  ///< One of flags: a slice, a `CounterSample`, for as long as a flag stood.
    CounterGroup,   ///< Counters that belong together, as children; its one lane is empty.
    GpuEvents,      ///< Of one kind, that happened to a GPU and on no stream of it.
    ProcessEvents,  ///< Of one kind, that happened to a process and on no thread of it.
};

/// A titled band of the timeline with its lanes. Tracks stand in pre-order in `Trace::tracks`; a
/// parent with children also carries lanes of its own that sum them up when it is folded.
struct Track {
    TrackKind kind = TrackKind::Process;
    std::string title;
    std::string subtitle;  ///< "NVIDIA H200, 132 SMs", "PID 4242, rank 0"; may be empty.
    int32_t parent = -1;   ///< Index into `Trace::tracks`.
    uint16_t depth = 0;    ///< 0 for a top track.
    /// Index into gpus, streams, processes, threads or counters, by `kind`; of a `CounterGroup` the
    /// GPU, or `noIndex` for the host.
    uint32_t subject = 0;
    bool isInitiallyFolded = false;
    std::vector<Lane> lanes;
    /// Stretches of the trace in which nothing was recorded that could stand here, and those in
    /// which something was lost; each sorted, without overlaps.
    Rare<std::vector<TimeRange>> unrecorded, lossy;
};

/// What an API call does, judged by its name: launches, moves or allocates memory, waits, other.
SliceCategory apiCategory(std::string_view apiName);
/// Whether an API call, judged by its name, allocates or frees memory.
bool isAllocation(std::string_view apiName);
/// `NcclKernel` for the kernels of NCCL, by their prefix, `Kernel` for all others.
SliceCategory kernelCategory(std::string_view kernelName);
SliceCategory memcpyCategory(MemcpyKind kind);

}  // namespace lanescope
