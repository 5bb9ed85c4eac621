// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace lanescope
