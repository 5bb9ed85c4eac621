// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "model/build/LanePacker.h"
#include "model/trace/Track.h"

namespace lanescope {

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
