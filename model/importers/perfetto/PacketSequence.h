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

/// A reading of a clock. A snapshot has several of one time.
struct PerfettoClock {
    uint64_t id = 0;
    int64_t time = 0;
    int64_t unitNs = 1;
    bool isIncremental = false;
};

/// The shared state of the packets of one writer until it is reset: interned texts, defaults and own clocks.
class PacketSequence {
  public:
    enum class Texts { Categories, Names, ArgumentNames, ArgumentValues, Kernels, Stages };

    /// Resets the state.
    void clear();
    /// Reads an InternedData. Returns false if more texts are interned than any real file needs.
    bool takeTexts(std::string_view message);
    void takeDefaults(std::string_view message);
    /// Returns the text of that number. Empty if missing.
    std::string_view text(Texts which, uint64_t number) const;

    std::optional<uint64_t> defaultTrack, defaultClock;
    std::vector<uint64_t> extraCounters, extraRealCounters;
    std::optional<int64_t> process, thread;  ///< Default owner.
    int64_t oldTimeNs = 0;                   ///< For packets with time differences.
    MixedMap<uint64_t, PerfettoClock> clocks;
    MixedMap<uint64_t, int64_t> clockOffsets;  ///< From an own clock to the clock of the file.

  private:
    using Table = MixedMap<uint64_t, std::string>;
    bool takeText(Texts which, std::string_view message, uint32_t nameField);

    std::array<Table, 6> texts_;
    size_t textBytes_ = 0;
};

/// Converts the times of packets, which may use different clocks, to the clock of the file.
class PerfettoClocks {
  public:
    /// Reads a ClockSnapshot of that writer.
    void takeSnapshot(std::string_view message, PacketSequence& sequence);
    /// Converts a time of that clock, or of the default clock of the writer.
    int64_t timeOf(uint64_t time, std::optional<uint64_t> clock, PacketSequence& sequence) const;
    /// Returns the offset to the time of day. Returns nullopt without a snapshot of it.
    std::optional<int64_t> toTimeOfDay() const { return toTimeOfDay_; }

  private:
    MixedMap<uint64_t, int64_t> offsets_;
    std::optional<int64_t> toTimeOfDay_;
};

}  // namespace lanescope
