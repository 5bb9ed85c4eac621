// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// What a file says of one of its tracks.
struct PerfettoTrack {
    uint64_t uuid = 0, parent = 0;
    std::string name;
    std::optional<int64_t> process;  ///< The number of its process.
    std::optional<int64_t> thread;   ///< That of its thread, which is one of `process`.
    std::string processName, threadName;
    bool isCounter = false, isIncremental = false;
    int64_t multiplier = 1;
    std::string unit;
    double sum = 0;  ///< Of a counter of which the file has differences.
};

/// Whose the events of a track are.
struct PerfettoPlace {
    std::string process, thread;  ///< Numbers as text, or any name.
    std::string processName, threadName;
};

/// The tracks of a file. Those that it uses and does not describe have a name of their own.
class PerfettoTracks {
  public:
    /// Takes a TrackDescriptor; what it leaves out stays as it was.
    void describe(std::string_view message);
    /// The number of the track, which is known or new; `noTrack` once they are too many.
    uint32_t numberOf(uint64_t uuid);
    /// The same of a thread that no track stands for.
    uint32_t numberOfThread(int64_t process, int64_t thread);
    void nameThread(int64_t process, int64_t thread, std::string_view name);
    PerfettoTrack& at(uint32_t number) { return tracks_[number]; }

    /// Whose its events are: of the thread or process that is nearest above it.
    PerfettoPlace placeOf(uint32_t number) const;
    /// Whether a thread stands for it, or one of those above it.
    bool isOfThread(uint32_t number) const;

    static constexpr uint32_t noTrack = 0xffffffff;

  private:
    const PerfettoTrack* above(const PerfettoTrack& track) const;

    std::vector<PerfettoTrack> tracks_;
    MixedMap<uint64_t, uint32_t> numbers_;
    MixedMap<int64_t, std::string> processNames_;  ///< By the number of the process.
};

}  // namespace lanescope
