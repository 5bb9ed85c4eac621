// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/LargeMemory.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Matches starts of slices with their ends, which are separate packets. On one track the last begun slice ends first.
/// Exception: a group of starts before as many ends in the same order, as torch.profiler writes them.
class SliceJoiner {
  public:
    struct Place {
        bool isWork = false;
        ImportedEventKind kind = ImportedEventKind::Other;
        uint32_t index = 0;
        static constexpr uint32_t nowhere = 0xffffffff;  ///< For a slice that is not kept.
    };

    explicit SliceJoiner(LargeMemory* memory) : edges_(memory) {}

    void begin(uint32_t track, int64_t timeNs, const Place& place) { edges_.push_back({timeNs, track, place, true}); }
    void end(uint32_t track, int64_t timeNs) { edges_.push_back({timeNs, track, {}, false}); }

    struct Unmatched {
        int64_t begins = 0, ends = 0;
    };
    /// Sets the duration of each slice. A slice without an end lasts until `lastNs`. O(n log n).
    Unmatched join(ImportedEvents& events, int64_t lastNs);

  private:
    struct Edge {
        int64_t timeNs;
        uint32_t track;
        Place place;
        bool isBegin;
    };
    using Edges = LargeVector<Edge>;

    static bool isNested(const Edges& edges, size_t first, size_t last);
    template <class Visitor>
    static bool forEachOfRuns(const Edges& edges, size_t first, size_t last, Visitor visit);
    static void sortByTime(Edges& edges, size_t first, size_t last);

    Edges edges_;
};

struct PerfettoTrack {
    uint64_t uuid = 0, parent = 0;
    std::string name;
    std::optional<int64_t> process;  ///< Number of the process.
    std::optional<int64_t> thread;   ///< Number of the thread, which belongs to `process`.
    std::string processName, threadName;
    bool isCounter = false, isIncremental = false;
    int64_t multiplier = 1;
    std::string unit;
    double sum = 0;  ///< For a counter that is stored as differences.
};

struct PerfettoPlace {
    std::string process, thread;  ///< Numbers as text, or any name.
    std::string processName, threadName;
};

/// The tracks of a file. Tracks without a description get a name.
class PerfettoTracks {
  public:
    /// Reads a TrackDescriptor. Missing members keep their value.
    void describe(std::string_view message);
    /// Returns the index of the track, adding it if new. Returns `noTrack` if the limit is reached.
    uint32_t numberOf(uint64_t uuid);
    /// Returns the index for a thread without a track.
    uint32_t numberOfThread(int64_t process, int64_t thread);
    void nameThread(int64_t process, int64_t thread, std::string_view name);
    PerfettoTrack& at(uint32_t number) { return tracks_[number]; }

    /// Returns the owner of the events: the nearest thread or process above the track.
    PerfettoPlace placeOf(uint32_t number) const;
    /// Returns true if the track, or one above it, belongs to a thread.
    bool isOfThread(uint32_t number) const;

    static constexpr uint32_t noTrack = 0xffffffff;

  private:
    const PerfettoTrack* above(const PerfettoTrack& track) const;

    std::vector<PerfettoTrack> tracks_;
    MixedMap<uint64_t, uint32_t> numbers_;
    MixedMap<int64_t, std::string> processNames_;  ///< By process number.
};

}  // namespace lanescope
