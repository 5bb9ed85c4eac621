// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// NVTX ranges that are open on each thread of a trace at a given time. Any thread.
class OpenRanges {
  public:
    /// `trace` must outlive this. Omits Python functions, which PyTorch's profilers write as
    /// ranges, unless `hasPythonFunctions`. O(tracks).
    OpenRanges(const Trace& trace, bool hasPythonFunctions);

    /// Returns rows of `Trace::nvtx`, from outside inwards. O(lanes of the thread * log n).
    std::vector<uint32_t> at(uint32_t thread, int64_t timeNs) const;
    /// Returns the thread with the most ranges of the process; `noIndex` if none has any.
    uint32_t leaderOf(uint32_t process) const { return leaderOf_[process]; }

  private:
    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;
};

}  // namespace lanescope
