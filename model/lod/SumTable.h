// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

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
    template <class Visitor>
    void forEach(Visitor visit) const {
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

/// Returns the sums of one slice within `range`, which it overlaps: the time inside, and the bytes
/// of that time at a constant rate, rounded. O(1).
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
