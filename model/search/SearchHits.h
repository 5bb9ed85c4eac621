// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// One bit for each slice of a lane, with fast tests of ranges.
class SliceMarks {
  public:
    SliceMarks() = default;
    explicit SliceMarks(uint32_t sliceCount);

    void set(uint32_t slice);
    bool contains(uint32_t slice) const;
    /// Returns true if a slice of `[first, end)` is set. Reads about a word per 4,096 slices.
    bool any(uint32_t first, uint32_t end) const;
    bool isEmpty() const { return words_.empty(); }

  private:
    static constexpr uint32_t wordBits = 64;

    std::vector<uint64_t> words_;    ///< A bit per slice.
    std::vector<uint64_t> summary_;  ///< A bit per nonzero word.
};

class SearchHits;
using SearchHitsPtr = std::shared_ptr<const SearchHits>;

/// The events found by a search, prepared for fast painting and navigation. Needs four bytes per
/// hit and one bit per slice of the lanes that could contain one. Immutable. Any thread.
class SearchHits {
  public:
    /// Number of positions in the strip for the whole trace.
    static constexpr uint32_t placeCount = 8192;

    /// `events` must be sorted by start. O(hits + slices of lanes that contain events of their kinds).
    static SearchHitsPtr of(const Trace& trace, std::vector<EventRef> events);

    const std::vector<EventRef>& events() const { return events_; }
    bool isEmpty() const { return events_.empty(); }
    /// Returns true if one of `count` slices of a lane is a hit.
    bool touches(uint32_t track, uint32_t lane, uint32_t firstSlice, uint32_t count) const;
    /// Returns the starts of hits, ascending: all of them, or at most one for each of `placeCount`
    /// equal parts of the trace.
    const std::vector<int64_t>& places() const { return places_; }

  private:
    SearchHits() = default;

    std::vector<EventRef> events_;
    std::vector<std::vector<SliceMarks>> marks_;  ///< By track and lane. Empty without hits.
    std::vector<int64_t> places_;
};

}  // namespace lanescope
