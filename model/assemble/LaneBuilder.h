// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

/// The distribution of overlapping intervals over lanes.
enum class Packing : uint8_t {
    Compact,  ///< Into the first lane with room.
    Nested,   ///< Below every interval that contains it, like a call stack.
};

/// Distributes intervals over lanes so that none overlap within a lane. Input: sorted by start, longer ones first.
/// O(lanes) per interval. The limit of lanes prevents quadratic time for a hostile file.
class LanePacker {
  public:
    static constexpr uint32_t maxLanes = 64;
    static constexpr uint32_t noLane = 0xffffffff;

    explicit LanePacker(Packing packing) : packing_(packing) {}

    /// Returns the lane of the interval, or `noLane` if it overlaps `maxLanes` others.
    uint32_t place(int64_t startNs, int64_t endNs);
    uint32_t laneCount() const { return static_cast<uint32_t>(laneEndNs_.size()); }

  private:
    Packing packing_;
    std::vector<int64_t> laneEndNs_;
};

/// Distributes slices that may overlap over lanes. Slices in order of start are placed at once.
/// From the first slice out of order on, all are kept and sorted at the end.
class LaneBuilder {
  public:
    /// The lanes are allocated in `memory`, which must outlive them.
    explicit LaneBuilder(Packing packing = Packing::Compact, LargeMemory* memory = nullptr)
        : packing_(packing), packer_(packing), waiting_(memory) {}

    /// The beginning of a slice, drawn differently from the rest of it.
    struct Head {
        int64_t untilNs = 0;
        StringIndex name = 0;
        SliceCategory category = SliceCategory::Busy;
    };
    /// Adds a slice. A slice that ends before its start gets length 0. A slice with a head becomes
    /// two consecutive slices of one lane, or one if nothing is left after the head.
    void add(int64_t startNs, int64_t endNs, StringIndex name, EventRef event, SliceCategory category,
             const std::optional<Head>& head = {});
    bool isEmpty() const { return isEmpty_; }

    /// Returns the lanes (see `LanePacker`) and empties the builder. O(n) if the slices came in order, else O(n log n).
    std::vector<Lane> build();
    /// Number of slices without a lane because too many overlap, counted by `build`.
    uint32_t droppedCount() const { return droppedCount_; }

  private:
    struct Slice {
        int64_t startNs;
        int64_t endNs;
        StringIndex name;
        EventRef event;
        SliceCategory category;
        std::optional<Head> head;
    };
    void placeWaiting();
    void place(const Slice& slice);
    void takeBack();
    LargeMemory* memory() const { return waiting_.get_allocator().memory(); }
    bool isBefore(const Slice& a, const Slice& b) const;

    Packing packing_;
    LanePacker packer_;
    std::vector<Lane> lanes_;
    LargeVector<Slice> waiting_;  ///< Last ones of equal start; all, once out of order.
    bool isInOrder_ = true;
    bool isEmpty_ = true;
    uint32_t droppedCount_ = 0;
};

/// Appends a slice, which must not start before the end of the last one.
void appendSlice(Lane& lane, int64_t startNs, int64_t endNs, StringIndex name, EventRef event, SliceCategory category);

/// Returns one lane of slices without events, one for each gapless interval covered by slices of
/// `lanes`. Waiting (`SliceCategory::NcclWait`) does not count. Incomplete if stopped. Allocated in
/// the memory of the lanes. O(n log lanes).
Lane unionOf(std::span<const Lane* const> lanes, StringIndex name, SliceCategory category = SliceCategory::Busy,
             const std::stop_token& stop = {});

/// Names of copies, memsets and graphs, like "HtoD 4.00 MiB", one for each kind and size.
class WorkNames {
  public:
    /// Adds the names to the strings of the trace. O(copies and graphs).
    explicit WorkNames(Trace& trace, const std::stop_token& stop = {});

    StringIndex ofMemcpy(int64_t bytes, MemcpyKind kind) const;
    StringIndex ofMemset(int64_t bytes) const;
    StringIndex ofGraph(int64_t graph) const;
    StringIndex ofWaiting() const { return waiting_; }  ///< Wait of a collective.

  private:
    MixedMap<uint64_t, StringIndex> copies_;
    MixedMap<int64_t, StringIndex> graphs_;
    StringIndex waiting_ = 0;
};

struct GpuLanes {
    std::vector<std::vector<Lane>> ofStream;
    std::vector<uint32_t> droppedOfStream;  ///< Slices that found no lane.
    std::vector<Lane> busyOfGpu;            ///< Times at which any stream of the GPU worked.
};

/// Distributes GPU work over the lanes of its streams. Separates the waiting of a collective from
/// its transfer if the trace contains both (`buildNcclWaits`). `busy` names the slices of
/// `busyOfGpu`. Does not change the trace. O(n). If stopped, the result is incomplete.
GpuLanes collectGpuLanes(const Trace& trace, const WorkNames& names, StringIndex busy, const std::stop_token& stop);

/// Returns the projected NVTX ranges as lanes of streams. Incomplete if stopped. O(n).
std::vector<std::vector<Lane>> collectProjections(const Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
