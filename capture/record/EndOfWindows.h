// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "capture/collector/Collector.h"
#include "capture/options/WindowOptions.h"

namespace lanescope::capture {

/// Tells when the last window of a recording is over: by the clock for a span of time, else by
/// what the processes say in their logs.
class EndOfWindows {
  public:
    /// `startRealtimeNs` is the moment from which delays count.
    EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs);

    /// True once every process that recorded has closed its last window, and none has begun one
    /// for a second, in which ranks that are a little behind show up. Call it now and then.
    bool isReached(const Collector& collector, int64_t nowRealtimeNs);

  private:
    bool haveAllEnded(const Collector& collector) const;

    std::optional<int64_t> count_;
    std::optional<int64_t> endRealtimeNs_;
    std::optional<int64_t> allEndedSinceNs_;
};

}  // namespace lanescope::capture
