// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lanescope::capture {

/// Conversion from the GPU's sample timestamps to CLOCK_REALTIME. A sample cannot have ended after it was decoded, and
/// the first one cannot have begun before sampling was started. The offset therefore lies between two bounds, a few ms
/// apart. Current drivers keep the GPU's clock at CLOCK_REALTIME: if 0 lies between the bounds, the offset is 0.
class PmClock {
  public:
    /// Sets the start of sampling, `startedNs`, and the begin of the first sample on the GPU's clock. Call it after the
    /// first `observe` and before the first conversion; later calls are ignored.
    void begin(int64_t startedNs, int64_t firstBeginNs);
    /// Adds an observation: at `nowNs` a sample was decoded that had ended at `endNs` on the GPU's
    /// clock. Call it for the latest sample of each decoding.
    void observe(int64_t nowNs, int64_t endNs);

    /// Returns the CLOCK_REALTIME of a GPU time. The offset follows the observations slowly.
    int64_t realtimeNs(int64_t gpuNs) const { return gpuNs + offsetNs_; }
    /// Describes for people how closely the two clocks agree.
    std::string describe() const;

  private:
    std::optional<int64_t> minOffsetNs_;  ///< Lower bound of the offset.
    std::optional<int64_t> maxOffsetNs_;  ///< Upper bound of the offset.
    int64_t offsetNs_ = 0;
    // For diverging clocks: the smallest bound of the current window and of the first one.
    std::optional<int64_t> windowMaxOffsetNs_, firstWindowNs_;
    int64_t windowBegunNs_ = 0;
};

}  // namespace lanescope::capture
