#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope {

/// The events that a search found, in a form that painting can ask: which slices of this lane are
/// hits?
class SearchHits {
  public:
    /// O(hits).
    void set(const std::vector<EventRef>& hits);
    bool isEmpty() const { return count_ == 0; }
    bool contains(EventRef event) const;
    /// The hit slices of `lane`, ascending. The first question about a lane walks it once; the
    /// answer is kept until the hits change, so `lane` must stay where it is until then.
    const std::vector<uint32_t>& slicesOf(const Lane& lane) const;

  private:
    static constexpr size_t kindCount = static_cast<size_t>(EventKind::CounterSample) + 1;
    size_t count_ = 0;
    std::array<std::vector<bool>, kindCount> isHit_;  // by row of the kind's table
    mutable std::unordered_map<const Lane*, std::vector<uint32_t>> slices_;
};

}  // namespace lanescope
