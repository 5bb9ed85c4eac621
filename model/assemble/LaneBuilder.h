// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope {

/// How intervals that overlap are spread over lanes.
enum class Packing : uint8_t {
    Compact,  ///< Into the first lane with room.
    Nested,   ///< Below every interval that contains it, as a stack of calls is drawn.
};

/// Deals intervals out to lanes so that none overlap within a lane. Feed them sorted by start,
/// longer ones first. O(lanes) an interval; lanes are limited, so a hostile file cannot make it
/// quadratic.
class LanePacker {
  public:
    static constexpr uint32_t maximumLanes = 64;
    static constexpr uint32_t noLane = 0xffffffff;

    explicit LanePacker(Packing packing) : packing_(packing) {}

    /// The lane for the interval, or `noLane` if `maximumLanes` others overlap it.
    uint32_t place(int64_t startNs, int64_t endNs);
    uint32_t laneCount() const { return static_cast<uint32_t>(laneEndNs_.size()); }

  private:
    Packing packing_;
    std::vector<int64_t> laneEndNs_;
};

/// Makes lanes of slices that may overlap. Slices that come in order of their start go straight to
/// their lane; from the first that does not on, all are kept and sorted at the end.
class LaneBuilder {
  public:
    /// The lanes grow in `memory`, which must outlive them.
    explicit LaneBuilder(Packing packing = Packing::Compact, LargeMemory* memory = nullptr)
        : packing_(packing), packer_(packing), waiting_(memory) {}

    /// The beginning of a slice that is something else than the rest of it.
    struct Head {
        int64_t untilNs = 0;
        StringIndex name = 0;
        SliceCategory category = SliceCategory::Busy;
    };
    /// A slice that ends before it starts is taken as ending where it starts. With a head it
    /// becomes two that follow each other on one lane, or one if nothing is left of the rest.
    void add(int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
             SliceCategory category, const std::optional<Head>& head = {});
    bool isEmpty() const { return isEmpty_; }

    /// The lanes; see `LanePacker`. Leaves the builder empty. O(n) if the slices came in order,
    /// else O(n log n).
    std::vector<Lane> build();
    /// Slices that found no lane: too many overlap. Counted by `build`.
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
    LargeVector<Slice> waiting_;  ///< Those that start last, together; all once out of order.
    bool isInOrder_ = true;
    bool isEmpty_ = true;
    uint32_t droppedCount_ = 0;
};

/// Appends a slice; it must not start before the end of the last one.
void appendSlice(Lane& lane, int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
                 SliceCategory category);

/// One lane of slices without events, each a stretch that the slices of `lanes` cover without a
/// gap, but for waiting (`SliceCategory::NcclWait`); only the first if stopped. Lies where they
/// lie. O(n log lanes).
Lane unionOf(std::span<const Lane* const> lanes, StringIndex name,
             SliceCategory category = SliceCategory::Busy, const std::stop_token& stop = {});

}  // namespace lanescope
