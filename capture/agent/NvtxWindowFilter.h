// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "capture/agent/Windows.h"
#include "capture/log/Records.h"

namespace lanescope::agent {

/// Decides which NVTX calls are kept: those in a window, and the end of a range whose beginning was
/// kept, however late. A range that was open before its window is not kept. Writer thread only.
class NvtxWindowFilter {
  public:
    /// The pushed ranges of a thread, by domain and level: whether they are kept.
    using OpenRanges = std::vector<std::vector<bool>>;

    explicit NvtxWindowFilter(const Windows& windows) : windows_(windows) {}

    /// Whether to keep the call; `ofThread` is the state of the thread that made it. Calls of a
    /// thread come in their order.
    bool keeps(const log::NvtxRecord& call, OpenRanges& ofThread);

  private:
    const Windows& windows_;
    std::unordered_map<uint64_t, bool> started_;  // open start/end ranges by id: whether kept
};

}  // namespace lanescope::agent
