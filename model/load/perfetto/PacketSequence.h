// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/load/protobuf/ProtoCursor.h"
#include "model/values/MixedMap.h"

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

}  // namespace lanescope
