// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// A reading of a clock, as a snapshot has several at one time.
struct PerfettoClock {
    uint64_t id = 0;
    int64_t time = 0;
    int64_t unitNs = 1;
    bool isIncremental = false;
};

/// What packets of one writer share until it begins anew: texts by number, what holds where a
/// packet says nothing, clocks of its own.
class PacketSequence {
  public:
    enum class Texts { Categories, Names, ArgumentNames, ArgumentValues, Kernels, Stages };

    /// What was said before holds no more.
    void clear();
    /// Takes an InternedData. False once there are more texts than any file needs.
    bool takeTexts(std::string_view message);
    void takeDefaults(std::string_view message);
    /// The text of that number; empty if the file has none.
    std::string_view text(Texts which, uint64_t number) const;

    std::optional<uint64_t> defaultTrack, defaultClock;
    std::vector<uint64_t> extraCounters, extraRealCounters;
    std::optional<int64_t> process, thread;  ///< Of the writer.
    int64_t oldTimeNs = 0;                   ///< Of packets that count from the one before.
    MixedMap<uint64_t, PerfettoClock> clocks;
    MixedMap<uint64_t, int64_t> clockOffsets;  ///< From a clock of its own to that of the file.

  private:
    using Table = MixedMap<uint64_t, std::string>;
    bool takeText(Texts which, std::string_view message, uint32_t nameField);

    std::array<Table, 6> texts_;
    size_t textBytes_ = 0;
};

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
