// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// A stretch of time that something fills; `label` says what, to whoever made it.
struct Stretch {
    int64_t startNs = 0;
    int64_t endNs = 0;
    uint32_t label = 0;
    bool operator==(const Stretch&) const = default;
};

/// Sorted by start, none empty, none overlapping.
using Stretches = LargeVector<Stretch>;

/// Makes `stretches` into such a list: where several overlap, the one that started first keeps the
/// time (of those that started together the first in the list). What comes out lies where what went
/// in does. O(n log n), O(n) if sorted.
Stretches withoutOverlaps(Stretches stretches);

/// Puts the stretches of `more` behind those of `all`.
inline void append(Stretches& all, const Stretches& more) {
    all.insert(all.end(), more.begin(), more.end());
}

/// What of `from` no stretch of `holes` covers; where `from` lies. Labels are those of `from`.
/// O(n + m).
Stretches without(const Stretches& from, const Stretches& holes);

/// Calls `sink(startNs, endNs, labelOfA, labelOfB)` for every overlap of a stretch of `a` with one
/// of `b`, by start. O(n + m).
template <class Sink>
void forEachOverlap(const Stretches& a, const Stretches& b, Sink sink) {
    size_t next = 0;
    for (const Stretch& first : a) {
        while (next < b.size() && b[next].endNs <= first.startNs) ++next;
        for (size_t index = next; index < b.size() && b[index].startNs < first.endNs; ++index)
            sink(std::max(first.startNs, b[index].startNs), std::min(first.endNs, b[index].endNs),
                 first.label, b[index].label);
    }
}

/// Time that is not yet given to anything, in numbered windows. Taking all of it piece by piece is
/// what makes the parts of a step sum to the step.
class FreeTime {
  public:
    /// `windows` must be sorted and must not overlap; they are numbered in their order.
    explicit FreeTime(const std::vector<TimeRange>& windows, LargeMemory* memory = nullptr);

    /// Takes the free time that `stretches` cover, and hands out each piece as
    /// `sink(window, startNs, endNs, label)`, by start. O(n + m).
    template <class Sink>
    void take(const Stretches& stretches, Sink sink) {
        forEachOverlap(free_, stretches,
                       [&](int64_t startNs, int64_t endNs, uint32_t window, uint32_t label) {
                           sink(window, startNs, endNs, label);
                       });
        free_ = without(free_, stretches);
    }

    /// What is free; labels are numbers of windows.
    const Stretches& left() const { return free_; }

  private:
    Stretches free_;
};

}  // namespace lanescope
