// SPDX-License-Identifier: Apache-2.0
#include "model/values/indentedRows.h"

#include <algorithm>
#include <iterator>

namespace lanescope {

namespace {

/// The row's own number, that of the row around it, and its depth.
constexpr size_t placeColumns = 3;
constexpr size_t blanksPerLevel = 2;
/// Names that stand in any further are not read any better.
constexpr int64_t mostLevels = 32;

}  // namespace

ReportTable indentedRows(ReportTable table) {
    if (table.style != ReportStyle::Tree || table.columns.size() <= placeColumns) return table;
    const auto removePlace = [](auto& cells) {
        cells.erase(cells.begin(), std::next(cells.begin(), placeColumns));
    };
    for (std::vector<Cell>& row : table.rows) {
        if (row.size() <= placeColumns) continue;
        const auto* depth = std::get_if<int64_t>(&row[placeColumns - 1]);
        auto* name = std::get_if<std::string>(&row.back());
        if (depth != nullptr && name != nullptr)
            name->insert(
                0, blanksPerLevel * static_cast<size_t>(std::clamp<int64_t>(*depth, 0, mostLevels)),
                ' ');
        removePlace(row);
    }
    removePlace(table.columns);
    table.style = ReportStyle::Plain;
    return table;
}

}  // namespace lanescope
