// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/PackedList.h"

namespace lanescope::analysis {

/// Labelled interval of time; the caller defines the meaning of `label`.
struct LabelledInterval {
    int64_t startNs = 0;
    int64_t endNs = 0;
    uint32_t label = 0;
    bool operator==(const LabelledInterval&) const = default;

    static constexpr size_t fieldCount = 3;
    /// Durations, as they need fewer bits. Times of a corrupt trace may be far apart: the sum wraps.
    std::array<int64_t, fieldCount> fields() const {
        const uint64_t durationNs = static_cast<uint64_t>(endNs) - static_cast<uint64_t>(startNs);
        return {startNs, static_cast<int64_t>(durationNs), label};
    }
    static LabelledInterval fromFields(const std::array<int64_t, fieldCount>& values) {
        const uint64_t endNs = static_cast<uint64_t>(values[0]) + static_cast<uint64_t>(values[1]);
        return {values[0], static_cast<int64_t>(endNs), static_cast<uint32_t>(values[2])};
    }
};

/// Intervals sorted by start, not empty, not overlapping.
using Intervals = PackedList<LabelledInterval>;

/// Returns the number of intervals that start at or before a time; `guess` is near it. O(log n) in the distance.
size_t countStarted(const Intervals& intervals, int64_t timeNs, size_t guess = 0);
/// Returns the number of intervals that end at or before a time, which are the first ones. O(log n).
size_t countUntil(const Intervals& intervals, int64_t timeNs);

/// Sorts the intervals and removes overlaps: the interval that started first (in case of a tie the
/// first in the list) keeps the time. The result is in the same memory. O(n log n), O(n) if sorted.
Intervals withoutOverlaps(Intervals intervals);

/// Returns the parts of `from` that no interval of `holes` covers, with its memory and labels. Passes the other parts
/// to `sink(labelOfFrom, startNs, endNs, labelOfHole)`, by start. O(n + m).
Intervals without(const Intervals& from, const Intervals& holes, auto sink) {
    if (from.empty() || holes.empty()) return from;
    Intervals left(from.memory());
    Intervals::Reader hole(holes, countUntil(holes, from.front().startNs));
    for (Intervals::Reader whole(from); !whole.isAtEnd(); whole.next()) {
        int64_t startNs = whole->startNs;
        while (!hole.isAtEnd() && hole->endNs <= startNs) hole.next();
        for (; !hole.isAtEnd() && hole->startNs < whole->endNs; hole.next()) {
            if (hole->startNs > startNs) left.push_back({startNs, hole->startNs, whole->label});
            const int64_t endNs = std::min(whole->endNs, hole->endNs);
            sink(whole->label, std::max(startNs, hole->startNs), endNs, hole->label);
            startNs = endNs;
            if (hole->endNs >= whole->endNs) break;  // It may go on in the next one.
        }
        if (startNs < whole->endNs) left.push_back({startNs, whole->endNs, whole->label});
    }
    return left;
}
/// Returns the same without a sink.
Intervals without(const Intervals& from, const Intervals& holes);

/// Calls `sink(startNs, endNs, labelOfA, labelOfB)` for every overlap of `a` with `b`, by start. O(n + m) there.
void forEachOverlap(const Intervals& a, const Intervals& b, auto sink) {
    if (a.empty() || b.empty()) return;
    Intervals::Reader first(a, countUntil(a, b.front().startNs));
    Intervals::Reader second(b, countUntil(b, a.front().startNs));
    while (!first.isAtEnd() && !second.isAtEnd()) {
        const int64_t startNs = std::max(first->startNs, second->startNs);
        const int64_t endNs = std::min(first->endNs, second->endNs);
        if (startNs < endNs) sink(startNs, endNs, first->label, second->label);
        (second->endNs <= first->endNs ? second : first).next();
    }
}

/// Unassigned time in numbered windows. Each part of a step takes its time from here, so that they add up to the step.
class UnassignedTime {
  public:
    /// `windows` must be sorted and must not overlap; they are numbered in order.
    explicit UnassignedTime(const std::vector<TimeRange>& windows, LargeMemory* memory = nullptr);

    /// Removes the time of `intervals`; passes pieces to `sink(window, startNs, endNs, label)`, by start. O(n + m).
    void take(const Intervals& intervals, auto sink) {
        if (!intervals.empty()) free_ = without(free_, intervals, sink);
    }

    /// Returns the remaining time; labels are window numbers.
    const Intervals& left() const { return free_; }

  private:
    Intervals free_;
};

}  // namespace lanescope::analysis
