// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <utility>
#include <vector>

#include "model/trace/LaneSums.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Sums by key while they grow: a hash table that is quick for some hundred keys and works for
/// millions.
class SumTable {
  public:
    /// O(1). Sums of nothing are left out.
    void add(SumKey key, const Sums& sums) {
        if (sums.count > 0) at(key).add(sums);
    }
    size_t size() const { return count_; }
    void clear();
    /// Every key with its sums, by key. O(n log n).
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
    int shift_ = 0;  ///< Of a hash, to get a slot.
};

/// What a slice is summed up by. O(1).
SumKey sumKeyOf(const Trace& trace, const Lane& lane, uint32_t slice);

/// What one slice comes to within `range`, which it overlaps: the time in the range, and the bytes
/// that would be copied in it at an even pace, rounded to the nearest. O(1).
Sums sumsOfSlice(const Trace& trace, const Lane& lane, uint32_t slice, TimeRange range);

/// Adds the whole slices `[first, end)` one by one. O(slices).
void sumSlices(const Trace& trace, const Lane& lane, uint32_t first, uint32_t end, SumTable& table);

/// Whether a lane has so many slices that sums spare looking at them. O(1).
bool needsSums(const Lane& lane);

/// Sums up a whole lane, of one that needs none nothing; only a part if stopped. O(n).
LaneSums buildLaneSums(const Trace& trace, const Lane& lane, const std::stop_token& stop = {});

/// Adds the whole slices `[first, end)` with the help of `sums`, which are those of the lane:
/// O(log n) lists and two leaves, where lists are kept.
void sumSlices(const Trace& trace, const Lane& lane, const LaneSums& sums, uint32_t first,
               uint32_t end, SumTable& table);

}  // namespace lanescope
