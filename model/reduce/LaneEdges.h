// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope {

/// Answers what a picture asks of a lane, edge by edge from left to right: from its tiles where
/// these are fine enough, else from the slices.
class LaneEdges {
  public:
    /// The edges asked for will be multiples of 2^`gridShift` ns between the two times.
    LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs);

    /// What is known at `timeNs`, not less than asked for before. O(1) from tiles, else
    /// O(log(slices since)).
    LaneEdge at(int64_t timeNs);

    /// The longest of the slices that start between two edges, with what to draw it as.
    struct Widest {
        SliceCategory category = SliceCategory::Busy;
        StringIndex name = 0;
    };
    /// `from` and `to` are answers for the two times; at least one slice must start between.
    Widest widest(int64_t fromNs, int64_t toNs, const LaneEdge& from, const LaneEdge& to);
    Widest describe(uint32_t slice) const;

  private:
    void decodeSlices(int64_t firstNs, int64_t lastNs);
    bool isDecoded(uint32_t slice) const { return slice - firstDecoded_ < startNs_.size(); }
    int64_t startNs(uint32_t slice) const {
        return isDecoded(slice) ? startNs_[slice - firstDecoded_] : lane_.startNs[slice];
    }
    int64_t durationNs(uint32_t slice) const {
        return isDecoded(slice) ? durationNs_[slice - firstDecoded_] : lane_.durationNs[slice];
    }
    void moveTo(uint32_t slice);

    const Lane& lane_;
    const LaneTiles::Level* level_;  ///< Null: from the slices.
    uint32_t slice_ = 0;             ///< Where the last search ended,
    int64_t busyNs_ = 0;             ///< and the summed duration of the slices before.
    uint32_t firstDecoded_ = 0;      ///< Of the slices below, index in the lane.
    std::vector<int64_t> startNs_, durationNs_;
    size_t firstBucket_ = 0;  ///< Of the buckets below, index in the level.
    std::vector<int64_t> widestNs_;
};

}  // namespace lanescope
