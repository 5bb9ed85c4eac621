// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"
#include "model/trace/LaneTiles.h"
#include "model/trace/SliceCategory.h"
#include "model/trace/StringTable.h"
#include "model/values/Rare.h"

namespace lanescope {

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

}  // namespace lanescope
