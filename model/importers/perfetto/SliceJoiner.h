// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/importers/events/ForeignEvents.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Joins beginnings of slices with their ends, which are packets of their own: of one track the
/// last begun ends first. Writers put them down as they come, each slice with its end behind it, or
/// many beginnings before as many ends in the same order, as torch.profiler does.
class SliceJoiner {
  public:
    /// Where a slice lies that has begun.
    struct Place {
        bool isWork = false;
        JsonEventKind kind = JsonEventKind::Other;
        uint32_t index = 0;
        static constexpr uint32_t nowhere = 0xffffffff;  ///< Of one that is not kept.
    };

    explicit SliceJoiner(LargeMemory* memory) : edges_(memory) {}

    void begin(uint32_t track, int64_t timeNs, const Place& place) {
        edges_.push_back({timeNs, track, place, true});
    }
    void end(uint32_t track, int64_t timeNs) { edges_.push_back({timeNs, track, {}, false}); }

    /// What did not fit together.
    struct Unmatched {
        int64_t begins = 0, ends = 0;
    };
    /// Gives each slice its duration; one that never ends lasts until `lastNs`. O(n log n).
    Unmatched join(JsonEvents& events, int64_t lastNs);

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
