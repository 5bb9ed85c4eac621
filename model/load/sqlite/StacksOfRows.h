// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

/// Which row of a table has which Python stack, where the table itself has no column for it.
class StacksOfRows {
  public:
    explicit StacksOfRows(LargeMemory* memory) : stacks_(memory) {}

    /// Reads the table that says it: `row` is the column with the rowid of the other table.
    template <class Table, class RowColumn>
    void read(LoadContext& context, const FileDirectory& directory, const Table& table,
              const RowColumn& rowColumn, const char* what) {
        TableReader reader(context, table, {rowColumn, table.callchainId}, what);
        while (reader.next()) {
            const std::optional<int64_t> row = reader.integer(rowColumn);
            const uint32_t stack = directory.stackOf(reader.integer(table.callchainId));
            if (row && stack != noIndex)
                stacks_.push_back({*row, stack});
            else
                reader.skipRow();
        }
        if (!std::is_sorted(stacks_.begin(), stacks_.end()))
            std::sort(stacks_.begin(), stacks_.end());
    }
    bool isEmpty() const { return stacks_.empty(); }
    /// `noIndex` if it has none. O(log n).
    uint32_t of(int64_t row) const {
        const auto found = std::lower_bound(stacks_.begin(), stacks_.end(), std::pair(row, 0u));
        return found != stacks_.end() && found->first == row ? found->second : noIndex;
    }

  private:
    LargeVector<std::pair<int64_t, uint32_t>> stacks_;
};

}  // namespace lanescope
