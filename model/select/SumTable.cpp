// SPDX-License-Identifier: Apache-2.0
#include "model/select/SumTable.h"

#include <algorithm>
#include <bit>

#include "model/values/Statistics.h"

namespace lanescope {

void Sums::add(const Sums& other) {
    if (other.count == 0) return;
    minimumNs = count == 0 ? other.minimumNs : std::min(minimumNs, other.minimumNs);
    maximumNs = count == 0 ? other.maximumNs : std::max(maximumNs, other.maximumNs);
    count = saturatingSum(count, other.count);
    totalNs = saturatingSum(totalNs, other.totalNs);
    bytes = saturatingSum(bytes, other.bytes);
    untimedBytes = saturatingSum(untimedBytes, other.untimedBytes);
}

size_t SumTable::slotOf(SumKey key) const {
    const size_t mask = slots_.size() - 1;
    // Fibonacci hashing: the keys of one kind are neighbours, and stay so.
    size_t slot = static_cast<size_t>(uint64_t{key.bits()} * 0x9e3779b97f4a7c15u >> shift_);
    while (slots_[slot].sums.count != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
}

Sums& SumTable::at(SumKey key) {
    if (slots_.empty() || count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[slotOf(key)];
    if (slot.sums.count == 0) {
        slot.key = key;
        ++count_;
    }
    return slot.sums;
}

void SumTable::grow() {
    std::vector<Slot> old(std::max(initialSlots, slots_.size() * 2));
    old.swap(slots_);
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& slot : old)
        if (slot.sums.count != 0) slots_[slotOf(slot.key)] = slot;
}

void SumTable::clear() {
    if (count_ == 0) return;
    // A table that was large once is not swept for a few keys.
    if (slots_.size() > 64 * count_) slots_ = std::vector<Slot>();
    std::fill(slots_.begin(), slots_.end(), Slot());
    count_ = 0;
}

std::vector<std::pair<SumKey, Sums>> SumTable::sorted() const {
    std::vector<std::pair<SumKey, Sums>> all;
    all.reserve(count_);
    forEach([&all](SumKey key, const Sums& sums) { all.emplace_back(key, sums); });
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
}

}  // namespace lanescope
