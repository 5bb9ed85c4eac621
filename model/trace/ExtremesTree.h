// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Least and greatest of any run of a fixed row of numbers, in O(log n) after O(n) to build. What
/// is not a number counts as neither.
template <class Value = int64_t>
class ExtremesTree {
  public:
    /// What `minimum` and `maximum` give where there is no number.
    static constexpr Value greatest = std::numeric_limits<Value>::max();
    static constexpr Value least = std::numeric_limits<Value>::lowest();

    template <class Iterator, class Projection>
    ExtremesTree(Iterator first, Iterator last, Projection projection,
                 LargeMemory* memory = nullptr)
        : count_(static_cast<size_t>(last - first)),
          least_(2 * count_, greatest, memory),
          greatest_(2 * count_, least, memory) {
        for (size_t i = 0; i < count_; ++i, ++first) {
            const Value value = projection(*first);
            if (value != value) continue;
            least_[count_ + i] = greatest_[count_ + i] = value;
        }
        for (size_t node = count_; node-- > 1;) {
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
            greatest_[node] = std::max(greatest_[2 * node], greatest_[2 * node + 1]);
        }
    }

    /// Of the numbers `[low, high)`; the run must not be empty.
    Value minimum(size_t low, size_t high) const {
        Value result = greatest;
        visit(low, high, [&](size_t node) { result = std::min(result, least_[node]); });
        return result;
    }
    Value maximum(size_t low, size_t high) const {
        Value result = least;
        visit(low, high, [&](size_t node) { result = std::max(result, greatest_[node]); });
        return result;
    }

  private:
    template <class Visitor>
    void visit(size_t low, size_t high, Visitor visitor) const {
        for (low += count_, high += count_; low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) visitor(low++);
            if (high % 2 == 1) visitor(--high);
        }
    }

    size_t count_;
    LargeVector<Value> least_;  // node i has the children 2i and 2i+1; leaves start at count_
    LargeVector<Value> greatest_;
};

}  // namespace lanescope
