// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges that are open on each thread of a trace at some time. Any thread.
class OpenRanges {
  public:
    /// `trace` outlives this. O(tracks).
    explicit OpenRanges(const Trace& trace);

    /// Their names from outside inwards; of the thread that leads its process, by having most
    /// ranges, if the thread itself has none. O(lanes of the thread * log n).
    std::vector<StringIndex> at(uint32_t thread, int64_t timeNs) const;

  private:
    std::vector<StringIndex> on(uint32_t thread, int64_t timeNs) const;

    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;  ///< By process.
    const Trace& trace_;
};

}  // namespace lanescope
