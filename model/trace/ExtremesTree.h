#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace lanescope {

/// Least and greatest of any run of a fixed row of numbers, in O(log n) after O(n) to build.
class ExtremesTree {
  public:
    template <class Iterator, class Projection>
    ExtremesTree(Iterator first, Iterator last, Projection projection)
        : count_(static_cast<size_t>(last - first)), least_(2 * count_), greatest_(2 * count_) {
        for (size_t i = 0; i < count_; ++i, ++first)
            least_[count_ + i] = greatest_[count_ + i] = projection(*first);
        for (size_t node = count_; node-- > 1;) {
            least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
            greatest_[node] = std::max(greatest_[2 * node], greatest_[2 * node + 1]);
        }
    }

    /// Of the numbers `[low, high)`; the run must not be empty.
    int64_t minimum(size_t low, size_t high) const {
        int64_t result = std::numeric_limits<int64_t>::max();
        visit(low, high, [&](size_t node) { result = std::min(result, least_[node]); });
        return result;
    }
    int64_t maximum(size_t low, size_t high) const {
        int64_t result = std::numeric_limits<int64_t>::min();
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
    std::vector<int64_t> least_;  // node i has the children 2i and 2i+1; leaves start at count_
    std::vector<int64_t> greatest_;
};

}  // namespace lanescope
