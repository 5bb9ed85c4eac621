// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "model/trace/Column.h"

namespace lanescope {

/// Reads rows of a column that are mostly near the ones before, such as all rows in order: a block of 256 at a time,
/// several times as fast as row by row. The column must outlive it and not change. One thread.
template <class T>
class ColumnReader {
  public:
    explicit ColumnReader(const Column<T>& column) : column_(column) {}

    /// Returns the value of a row, as `Column` does.
    T operator[](size_t row) {
        if (row - first_ < count_) return values_[row - first_];
        if (!isWorthReading(row / blockSize)) return column_[row];
        read(row);
        return values_[row - first_];
    }

  private:
    static constexpr size_t blockSize = Column<T>::blockSize;
    /// Rows outside of the block in memory, all in one other block, after which that is read.
    static constexpr size_t maxMisses = 16;

    /// Reading a block takes as long as some dozen rows.
    bool isWorthReading(size_t block) {
        if (block * blockSize >= column_.size()) return false;  // in a corrupt file
        if (block * blockSize == first_ + count_) return true;
        misses_ = block == missed_ ? misses_ + 1 : 1;
        missed_ = block;
        return misses_ > maxMisses;
    }
    void read(size_t row) {
        misses_ = 0;
        first_ = row / blockSize * blockSize;
        count_ = std::min(blockSize, column_.size() - first_);
        column_.copyTo(std::span(values_).first(count_), first_);
    }

    const Column<T>& column_;
    size_t first_ = 0, count_ = 0;  ///< The rows in memory.
    size_t missed_ = 0, misses_ = 0;
    std::array<T, blockSize> values_;
};

}  // namespace lanescope
