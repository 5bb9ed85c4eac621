#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/LanePacker.h"
#include "model/trace/Track.h"

namespace lanescope {

/// Collects slices in any order, overlapping or not, and makes lanes of them.
class LaneBuilder {
  public:
    explicit LaneBuilder(Packing packing = Packing::Compact) : packing_(packing) {}

    void reserve(size_t sliceCount) { slices_.reserve(sliceCount); }
    /// A slice that ends before it starts is taken as ending where it starts.
    void add(int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
             SliceCategory category);
    bool isEmpty() const { return slices_.empty(); }

    /// Sorts by start and deals out to lanes; see `LanePacker`. Leaves the builder empty.
    /// O(n log n), O(n) if the slices came sorted.
    std::vector<Lane> build();
    /// One lane of slices without events, each a stretch that the slices cover without a gap.
    /// Leaves the builder empty.
    Lane buildUnion(StringIndex name, SliceCategory category = SliceCategory::Busy);
    /// Slices that `build` found no lane for: too many overlap.
    uint32_t droppedCount() const { return droppedCount_; }

  private:
    struct Slice {
        int64_t startNs;
        int64_t endNs;
        StringIndex name;
        EventRef event;
        SliceCategory category;
    };
    void sort();

    Packing packing_;
    std::vector<Slice> slices_;
    uint32_t droppedCount_ = 0;
};

/// Appends a slice; it must not start before the end of the last one.
void appendSlice(Lane& lane, int64_t startNs, int64_t endNs, StringIndex name, EventRef event,
                 SliceCategory category);

}  // namespace lanescope
