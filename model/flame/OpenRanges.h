// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges that are open on each thread of a trace at some time. Any thread.
class OpenRanges {
  public:
    /// `trace` outlives this. Without Python functions, which profilers of PyTorch write as ranges,
    /// if they are not asked for. O(tracks).
    OpenRanges(const Trace& trace, bool hasPythonFunctions);

    /// Rows of `Trace::nvtx`, from outside inwards. O(lanes of the thread * log n).
    std::vector<uint32_t> at(uint32_t thread, int64_t timeNs) const;
    /// The thread with most ranges of the process; `noIndex` if none has any.
    uint32_t leaderOf(uint32_t process) const { return leaderOf_[process]; }

  private:
    std::vector<std::vector<const Track*>> tracksOf_;
    std::vector<uint32_t> leaderOf_;  ///< By process.
};

}  // namespace lanescope
