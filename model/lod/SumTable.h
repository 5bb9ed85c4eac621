// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"

namespace lanescope {

struct SliceRun {
    uint32_t first = 0, end = 0;
    bool isEmpty() const { return first >= end; }
};

/// Returns the slices of `lane` that overlap `range`, also those without duration. Empty for an empty range. O(log n).
SliceRun slicesIn(const Lane& lane, TimeRange range);

/// Returns the busy time of the lane in `range`. O(log n).
int64_t busyTime(const Lane& lane, TimeRange range);

/// Returns empty sums for fewer than two lanes; incomplete if stopped. O(n lanes).
UnionSums buildUnionSums(std::span<const Lane> lanes, const std::stop_token& stop = {});

/// Returns the time in which any of `lanes` was busy; `sums` are theirs. O(lanes log n), some thousand slices.
int64_t busyTime(std::span<const Lane> lanes, const UnionSums& sums, TimeRange range);

/// Returns true if the slices of a track are events themselves, neither summaries nor values of a counter.
bool holdsEvents(TrackKind kind);

/// Builds `Trace::sums` on that many threads; incomplete if stopped. O(n).
TraceSums buildTraceSums(const Trace& trace, unsigned threads = 1, const std::stop_token& stop = {});

/// Growing sums by key: a hash table that is fast for some hundred keys and works for millions.
class SumTable {
  public:
    /// O(1). Sums with a count of 0 are ignored.
    void add(SumKey key, const Sums& sums) {
        if (sums.count > 0) at(key).add(sums);
    }
    size_t size() const { return count_; }
    void clear();
    /// Returns every key with its sums, sorted by key. O(n log n).
    std::vector<std::pair<SumKey, Sums>> sorted() const;
    void forEach(auto visit) const {
        for (const Slot& slot : slots_)
            if (slot.sums.count != 0) visit(slot.key, slot.sums);
    }

  private:
    struct Slot {
        SumKey key;
        Sums sums;  ///< A count of 0 marks an empty slot.
    };
    static constexpr size_t initialSlots = 64;

    Sums& at(SumKey key);
    size_t slotOf(SumKey key) const;
    void grow();

    std::vector<Slot> slots_;
    size_t count_ = 0;
    int shift_ = 0;  ///< Shift from a hash to a slot.
};

/// Returns the key of a slice. O(1).
SumKey sumKeyOf(const Trace& trace, const Lane& lane, uint32_t slice);

/// Returns the sums of a slice that overlaps `range`: the time inside, and its bytes at a constant rate, rounded. O(1).
Sums sumsOfSlice(const Trace& trace, const Lane& lane, uint32_t slice, TimeRange range);

/// Adds the whole slices `[first, end)` one by one. O(slices).
void sumSlices(const Trace& trace, const Lane& lane, uint32_t first, uint32_t end, SumTable& table);

/// Returns true if a lane is long enough to need sums. O(1).
bool needsSums(const Lane& lane);

/// Builds the sums of a lane, empty if it needs none; incomplete if stopped. O(n).
LaneSums buildLaneSums(const Trace& trace, const Lane& lane, const std::stop_token& stop = {});

/// Adds the whole slices `[first, end)` from the `sums` of the lane: O(log n) lists and two leaves, if lists are kept.
void sumSlices(const Trace& trace, const Lane& lane, const LaneSums& sums, uint32_t first, uint32_t end,
               SumTable& table);

}  // namespace lanescope
