// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "model/trace/LaneSums.h"

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

}  // namespace lanescope
