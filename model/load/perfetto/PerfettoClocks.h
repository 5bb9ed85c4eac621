// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/load/perfetto/PacketSequence.h"

namespace lanescope {

/// Brings the times of packets, each of which may be of another clock, to the clock of the file.
class PerfettoClocks {
  public:
    /// Takes a ClockSnapshot of that writer.
    void takeSnapshot(std::string_view message, PacketSequence& sequence);
    /// A time of the clock of that number, or of what the writer uses without one.
    int64_t timeOf(uint64_t time, std::optional<uint64_t> clock, PacketSequence& sequence) const;
    /// What is to be added to a time for the time of day; nothing if no snapshot says.
    std::optional<int64_t> toTimeOfDay() const { return toTimeOfDay_; }

  private:
    MixedMap<uint64_t, int64_t> offsets_;
    std::optional<int64_t> toTimeOfDay_;
};

}  // namespace lanescope
