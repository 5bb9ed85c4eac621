// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// One bit for each slice of a lane, made to be asked whether any of a run is set.
class SliceMarks {
  public:
    SliceMarks() = default;
    explicit SliceMarks(uint32_t sliceCount);

    void set(uint32_t slice);
    bool contains(uint32_t slice) const;
    /// Whether a slice of `[first, end)` is set. About a word for 4096 slices of the run.
    bool any(uint32_t first, uint32_t end) const;
    bool isEmpty() const { return words_.empty(); }

  private:
    static constexpr uint32_t wordBits = 64;

    std::vector<uint64_t> words_;    ///< A bit a slice.
    std::vector<uint64_t> summary_;  ///< A bit a word that is not 0.
};

class SearchHits;
using SearchHitsPtr = std::shared_ptr<const SearchHits>;

/// The events that a search found, in a form that painting and stepping can ask quickly: four bytes
/// a hit and a bit a slice of the lanes that could hold one. Immutable; any thread.
class SearchHits {
  public:
    /// Positions kept for a strip that shows the whole trace.
    static constexpr uint32_t placeCount = 8192;

    /// `events` in order of start. O(hits + slices of lanes that hold events of their kinds).
    static SearchHitsPtr of(const Trace& trace, std::vector<EventRef> events);

    const std::vector<EventRef>& events() const { return events_; }
    bool isEmpty() const { return events_.empty(); }
    /// Whether one of `count` slices of a lane is a hit.
    bool touches(uint32_t track, uint32_t lane, uint32_t firstSlice, uint32_t count) const;
    /// Where hits start, ascending: every one of them, or at most one for each of `placeCount`
    /// equal parts of the trace.
    const std::vector<int64_t>& places() const { return places_; }

  private:
    SearchHits() = default;

    std::vector<EventRef> events_;
    std::vector<std::vector<SliceMarks>> marks_;  ///< By track and lane; empty without hits.
    std::vector<int64_t> places_;
};

}  // namespace lanescope
