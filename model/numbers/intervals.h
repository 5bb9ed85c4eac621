// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Labelled interval of time; the caller defines the meaning of `label`.
struct LabelledInterval {
    int64_t startNs = 0;
    int64_t endNs = 0;
    uint32_t label = 0;
    bool operator==(const LabelledInterval&) const = default;
};

/// Intervals sorted by start, not empty, not overlapping.
using Intervals = LargeVector<LabelledInterval>;

/// Sorts the intervals and removes overlaps: the interval that started first (in case of a tie the
/// first in the list) keeps the time. The result is in the same memory. O(n log n), O(n) if sorted.
Intervals withoutOverlaps(Intervals intervals);

inline void append(Intervals& all, const Intervals& more) { all.insert(all.end(), more.begin(), more.end()); }

/// Returns the parts of `from` that no interval of `holes` covers, in the memory and with the
/// labels of `from`. O(n + m).
Intervals without(const Intervals& from, const Intervals& holes);

/// Calls `sink(startNs, endNs, labelOfA, labelOfB)` for every overlap of an interval of `a` with
/// one of `b`, by start. O(n + m).
template <class Sink>
void forEachOverlap(const Intervals& a, const Intervals& b, Sink sink) {
    size_t next = 0;
    for (const LabelledInterval& first : a) {
        while (next < b.size() && b[next].endNs <= first.startNs) ++next;
        for (size_t index = next; index < b.size() && b[index].startNs < first.endNs; ++index)
            sink(std::max(first.startNs, b[index].startNs), std::min(first.endNs, b[index].endNs), first.label,
                 b[index].label);
    }
}

/// Unassigned time in numbered windows. Each part of a step removes its time from here, so that the
/// parts add up to the step.
class UnassignedTime {
  public:
    /// `windows` must be sorted and must not overlap; they are numbered in order.
    explicit UnassignedTime(const std::vector<TimeRange>& windows, LargeMemory* memory = nullptr);

    /// Removes the free time that `intervals` cover, and passes each piece to `sink(window,
    /// startNs, endNs, label)`, by start. O(n + m).
    template <class Sink>
    void take(const Intervals& intervals, Sink sink) {
        forEachOverlap(free_, intervals, [&](int64_t startNs, int64_t endNs, uint32_t window, uint32_t label) {
            sink(window, startNs, endNs, label);
        });
        free_ = without(free_, intervals);
    }

    /// Returns the remaining time; labels are window numbers.
    const Intervals& left() const { return free_; }

  private:
    Intervals free_;
};

}  // namespace lanescope
