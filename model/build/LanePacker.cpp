// SPDX-License-Identifier: Apache-2.0
#include "model/build/LanePacker.h"

namespace lanescope {

uint32_t LanePacker::place(int64_t startNs, int64_t endNs) {
    const uint32_t count = laneCount();
    uint32_t first = 0;
    if (packing_ == Packing::Nested) {
        for (uint32_t lane = count; lane > 0; --lane) {
            const int64_t laneEndNs = laneEndNs_[lane - 1];
            if (laneEndNs > startNs && laneEndNs >= endNs) {
                first = lane;
                break;
            }
        }
    }
    for (uint32_t lane = first; lane < count; ++lane) {
        if (laneEndNs_[lane] > startNs) continue;
        laneEndNs_[lane] = endNs;
        return lane;
    }
    if (count == maximumLanes) return noLane;
    laneEndNs_.push_back(endNs);
    return count;
}

}  // namespace lanescope
