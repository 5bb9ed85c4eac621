// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/RowBatch.h"

namespace lanescope {

RowBatch::End RowBatch::fill(Statement& statement, bool isNumbered) {
    const int columns = statement.columnCount() - (isNumbered ? 1 : 0);
    columnCount_ = static_cast<size_t>(columns);
    rowCount_ = 0;
    cells_.resize(mostRows * columnCount_);
    text_.clear();
    Cell* to = cells_.data();
    while (rowCount_ < mostRows && text_.size() < enoughTextBytes) {
        const Result<bool> row = statement.step();
        if (!row) return End::Damaged;
        if (!*row) return End::NoMoreRows;
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
