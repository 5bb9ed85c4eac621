// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Sqlite.h"

namespace lanescope {

/// The cells of some rows of a query, kept so that one thread can read them from the file and
/// another make a table of them.
class RowBatch {
  public:
    static constexpr size_t mostRows = 2048;
    /// Rows are taken until their texts together are as long; a single row may be longer.
    static constexpr size_t enoughTextBytes = size_t{1} << 20;

    struct Cell {
        int64_t bits = 0;  ///< Of a text where it begins.
        uint32_t length = 0;
        CellType type = CellType::Null;
    };

    /// Why no more rows were taken.
    enum class End : uint8_t { Full, NoMoreRows, Damaged };

    /// Takes the next rows of a statement in place of those that it had. Its last column is their
    /// number in the table and no cell, if it `isNumbered`.
    End fill(Statement& statement, bool isNumbered);

    size_t rowCount() const { return rowCount_; }
    /// Of all texts together.
    size_t textBytes() const { return text_.size(); }
    const Cell* row(size_t index) const { return cells_.data() + index * columnCount_; }
    std::string_view text(const Cell& cell) const {
        return std::string_view(text_).substr(static_cast<size_t>(cell.bits), cell.length);
    }
    /// Of the last row.
    int64_t lastNumber() const { return lastNumber_; }

  private:
    size_t columnCount_ = 0;
    size_t rowCount_ = 0;
    std::vector<Cell> cells_;  ///< Row by row.
    std::string text_;
    int64_t lastNumber_ = 0;
};

}  // namespace lanescope
