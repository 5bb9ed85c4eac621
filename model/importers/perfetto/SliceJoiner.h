// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/importers/events/ImportedEvents.h"
#include "model/numbers/LargeMemory.h"

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

}  // namespace lanescope
