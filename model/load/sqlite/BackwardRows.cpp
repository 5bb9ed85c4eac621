// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/BackwardRows.h"

#include <algorithm>

#include "model/format/tables/Nvtx.h"
#include "model/load/sqlite/TableReader.h"
#include "model/values/sortLarge.h"

namespace lanescope {

void BackwardRows::read(LoadContext& context) {
    constexpr const auto& table = tables::backwards;
    TableReader reader(context, table, {table.forwardRow, table.backwardRow},
                       "operators and their backward");
    while (reader.next()) {
        const std::optional<int64_t> forward = reader.integer(table.forwardRow);
        const std::optional<int64_t> backward = reader.integer(table.backwardRow);
        if (!forward || !backward) {
            reader.skipRow();
            continue;
        }
        pairs_.push_back({*forward, *backward});
        ranges_.push_back({*forward, {}});
        ranges_.push_back({*backward, {}});
    }
    sortLarge(ranges_, [](const Range& a, const Range& b) { return a.fileRow < b.fileRow; });
    const auto end =
        std::unique(ranges_.begin(), ranges_.end(),
                    [](const Range& a, const Range& b) { return a.fileRow == b.fileRow; });
    ranges_.resize(static_cast<size_t>(end - ranges_.begin()));
}

void BackwardRows::see(int64_t fileRow, EventRef range) {
    const auto found =
        std::lower_bound(ranges_.begin(), ranges_.end(), fileRow,
                         [](const Range& each, int64_t row) { return each.fileRow < row; });
    if (found != ranges_.end() && found->fileRow == fileRow) found->range = range;
}

EventRef BackwardRows::rangeOf(int64_t fileRow) const {
    return std::lower_bound(ranges_.begin(), ranges_.end(), fileRow,
                            [](const Range& each, int64_t row) { return each.fileRow < row; })
        ->range;
}

void BackwardRows::give(TraceBuilder& builder) const {
    int64_t unknown = 0;
    for (const auto& [forward, backward] : pairs_) {
        const EventRef from = rangeOf(forward), to = rangeOf(backward);
        if (from.isValid() && to.isValid())
            builder.backward(from, to);
        else
            ++unknown;
    }
    builder.skip("operators and their backward", unknown);
}

}  // namespace lanescope
