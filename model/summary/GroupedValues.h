// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/summary/Report.h"
#include "model/values/MixedMap.h"

namespace lanescope {

/// Numbers collected by key, for a summary with a row per key. Keys are whatever whole number tells
/// the groups apart: a string index, a kind, a pair packed into 64 bits.
class GroupedValues {
  public:
    struct Group {
        uint64_t key = 0;
        std::vector<int64_t> values = {};
        int64_t total = 0;    ///< Of the values; of times what lies in the range that is asked for.
        int64_t cut = 0;      ///< How many times reach beyond that range.
        int64_t unknown = 0;  ///< How many count without a value.
    };

    /// O(1).
    void add(uint64_t key, int64_t value) { add(key, value, value); }
    /// Counts one whose value is not known. O(1).
    void addUnknown(uint64_t key) { ++groupOf(key).unknown; }
    /// The time from `startNs` to `endNs`, if it counts for the query. O(1).
    void addTime(uint64_t key, const ReportQuery& query, int64_t startNs, int64_t endNs);
    /// In the order in which the keys first came. Open to be reordered by the statistics.
    std::span<Group> groups() { return groups_; }

    static uint64_t pairKey(uint32_t high, uint32_t low) {
        return (static_cast<uint64_t>(high) << 32) | low;
    }
    static uint32_t high(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
    static uint32_t low(uint64_t key) { return static_cast<uint32_t>(key); }

  private:
    /// `counted` is what of the value counts for the total.
    void add(uint64_t key, int64_t value, int64_t counted);
    Group& groupOf(uint64_t key);

    MixedMap<uint64_t, uint32_t> places_;
    std::vector<Group> groups_;
    uint32_t last_ = 0;  // runs of one key are common, and then nothing is looked up
};

}  // namespace lanescope
