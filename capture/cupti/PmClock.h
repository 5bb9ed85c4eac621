// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lanescope::capture {

/// Leads from the time at which a GPU stamps its samples to CLOCK_REALTIME.
///
/// A sample cannot have ended after it was decoded, nor the first one have begun before sampling
/// was started; so what is to be added lies between two bounds, a few ms apart. Current drivers
/// keep the GPU's clock at CLOCK_REALTIME: where adding nothing lies between the bounds, nothing is
/// added.
class PmClock {
  public:
    /// Sampling was started at `startedNs`, and the first sample began at `firstBeginNs` of the
    /// GPU. After the first `observe`, before the first conversion; what comes later is ignored.
    void begin(int64_t startedNs, int64_t firstBeginNs);
    /// At `nowNs` a sample was decoded that had ended at `endNs` of the GPU. Call it for the latest
    /// sample of each decoding.
    void observe(int64_t nowNs, int64_t endNs);

    /// CLOCK_REALTIME of a time of the GPU. The offset follows the observations, slowly.
    int64_t realtimeNs(int64_t gpuNs) const { return gpuNs + offsetNs_; }
    /// How well the two clocks are known to agree, for people.
    std::string describe() const;

  private:
    std::optional<int64_t> lowestNs_;   ///< The offset is at least this,
    std::optional<int64_t> highestNs_;  ///< and at most this.
    int64_t offsetNs_ = 0;
    // Of clocks that run apart: the smallest bound of the window under way, and of the first one.
    std::optional<int64_t> windowHighestNs_, firstWindowNs_;
    int64_t windowBegunNs_ = 0;
};

}  // namespace lanescope::capture
