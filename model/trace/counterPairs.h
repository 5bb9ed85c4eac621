// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/CounterSeries.h"

namespace lanescope {

/// Counters of the two directions of one link or device, which share a track: the upper one (sent,
/// read) grows upwards, the lower one (received, written) downwards below it.
struct CounterPairs {
    std::vector<uint32_t> lowerOf;  ///< By counter; `noIndex` for all but upper ones.
    std::vector<uint32_t> upperOf;  ///< By counter; `noIndex` for all but lower ones.
};

/// O(n log n).
CounterPairs counterPairs(const std::vector<CounterSeries>& counters);
/// The same for one counter, of which it says `upperOf`. O(n).
uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter);

}  // namespace lanescope
