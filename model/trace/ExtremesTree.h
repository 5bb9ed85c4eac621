// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// Minimum and maximum of any range of an immutable sequence, in O(log n) after O(n) to build. NaN is ignored.
template <class Value = int64_t>
class ExtremesTree {
  public:
    /// Results of `minimum` and `maximum` if there is no number.
    static constexpr Value noMinimum = std::numeric_limits<Value>::max();
    static constexpr Value noMaximum = std::numeric_limits<Value>::lowest();

    template <class Iterator, class Projection>
    ExtremesTree(Iterator first, Iterator last, Projection projection, LargeMemory* memory = nullptr)
        : count_(static_cast<size_t>(last - first)),
          minima_(2 * count_, noMinimum, memory),
          maxima_(2 * count_, noMaximum, memory) {
        for (size_t i = 0; i < count_; ++i, ++first) {
            const Value value = projection(*first);
            if (value != value) continue;
            minima_[count_ + i] = maxima_[count_ + i] = value;
        }
        for (size_t node = count_; node-- > 1;) {
            minima_[node] = std::min(minima_[2 * node], minima_[2 * node + 1]);
            maxima_[node] = std::max(maxima_[2 * node], maxima_[2 * node + 1]);
        }
    }

    /// Returns the minimum of the numbers `[low, high)`; the range must not be empty.
    Value minimum(size_t low, size_t high) const {
        Value result = noMinimum;
        visit(low, high, [&](size_t node) { result = std::min(result, minima_[node]); });
        return result;
    }
    Value maximum(size_t low, size_t high) const {
        Value result = noMaximum;
        visit(low, high, [&](size_t node) { result = std::max(result, maxima_[node]); });
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
    LargeVector<Value> minima_;  // Node i has the children 2i and 2i+1; leaves start at count_.
    LargeVector<Value> maxima_;
};

}  // namespace lanescope
