// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/RowBatch.h"

#include <algorithm>

namespace lanescope {

namespace {

/// For as many there is room at first: most tables of most files have few.
constexpr size_t fewRows = 32;

}  // namespace

RowBatch::End RowBatch::fill(Statement& statement, bool isNumbered) {
    const int columns = statement.columnCount() - (isNumbered ? 1 : 0);
    columnCount_ = static_cast<size_t>(columns);
    rowCount_ = 0;
    text_.clear();
    while (rowCount_ < mostRows && text_.size() < enoughTextBytes) {
        const Result<bool> row = statement.step();
        if (!row) return End::Damaged;
        if (!*row) return End::NoMoreRows;
        if ((rowCount_ + 1) * columnCount_ > cells_.size())
            cells_.resize(std::clamp(2 * rowCount_, fewRows, mostRows) * columnCount_);
        Cell* to = cells_.data() + rowCount_ * columnCount_;
        for (int column = 0; column < columns; ++column, ++to) {
            const CellView cell = statement.cell(column);
            *to = {cell.bits, static_cast<uint32_t>(cell.text.size()), cell.type};
            if (cell.type != CellType::Text) continue;
            to->bits = static_cast<int64_t>(text_.size());
            text_ += cell.text;
        }
        ++rowCount_;
        if (isNumbered) lastNumber_ = statement.integer(columns);
    }
    return End::Full;
}

}  // namespace lanescope
