// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

#include "model/values/LargeMemory.h"

namespace lanescope {

/// A list that grows without ever holding its items twice, and gives them back piece by piece. Lies
/// in `memory`, if there is one, which must outlive it.
template <class T>
class BlockList {
  public:
    explicit BlockList(LargeMemory* memory = nullptr) : memory_(memory) {}

    size_t size() const { return size_; }
    void push_back(const T& item) {
        if (size_ % blockItems == 0) blocks_.emplace_back(memory_).reserve(blockItems);
        blocks_.back().push_back(item);
        ++size_;
    }
    const T& operator[](size_t index) const {
        return blocks_[index / blockItems][index % blockItems];
    }
    T& operator[](size_t index) { return blocks_[index / blockItems][index % blockItems]; }
    /// `visit(item)` for each, in order; each block is given back when all of it was visited.
    template <class Visitor>
    void consume(Visitor visit) {
        for (; !blocks_.empty(); blocks_.pop_front())
            for (const T& item : blocks_.front()) visit(item);
        size_ = 0;
    }
    template <class Visitor>
    void forEach(Visitor visit) const {
        for (const auto& block : blocks_)
            for (const T& item : block) visit(item);
    }

  private:
    static constexpr size_t blockItems = size_t{1} << 13;

    LargeMemory* memory_;
    std::deque<LargeVector<T>> blocks_;
    size_t size_ = 0;
};

}  // namespace lanescope
