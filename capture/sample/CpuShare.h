// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace lanescope::capture {

/// Makes shares of a core of what the kernel counts in ticks of its clock.
class CpuShare {
  public:
    /// The percentage of a core that was used since the last reading, `elapsedNs` ago; nothing at
    /// the first reading, or if the count went backwards.
    std::optional<double> read(long long ticks, int64_t elapsedNs, double nsPerTick) {
        const long long before = std::exchange(ticks_, ticks);
        if (before < 0 || elapsedNs <= 0 || ticks < before) return std::nullopt;
        return 100.0 * static_cast<double>(ticks - before) * nsPerTick /
               static_cast<double>(elapsedNs);
    }

  private:
    long long ticks_ = -1;
};

}  // namespace lanescope::capture
