// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildBackwards.h"

#include <functional>

#include "model/build/permute.h"
#include "model/trace/isStopped.h"
#include "model/values/sortLarge.h"

namespace lanescope {

void buildBackwards(Trace& trace, const std::stop_token& stop) {
    BackwardTable& table = trace.backwards;
    if (table.size() == 0) return;
    LargeMemory* const memory = trace.memory.get();
    LargeVector<uint64_t> pairs(memory);
    pairs.reserve(table.size());
    for (uint32_t row = 0; row < table.size() && !isStopped(stop, row); ++row)
        if (table.forward[row] != table.backward[row])
            pairs.push_back(uint64_t{table.forward[row]} << 32 | table.backward[row]);
    sortLarge(pairs, std::less<uint64_t>(), stop);
    auto sorted = tableIn<BackwardTable>(memory);
    for (size_t at = 0; at < pairs.size(); ++at) {
        if (at > 0 && pairs[at] == pairs[at - 1]) continue;
        sorted.forward.push_back(static_cast<uint32_t>(pairs[at] >> 32));
        sorted.backward.push_back(static_cast<uint32_t>(pairs[at]));
    }
    const RowOrder order = sortedOrder(
        sorted.size(),
        [&sorted](uint32_t a, uint32_t b) { return sorted.backward[a] < sorted.backward[b]; },
        memory, stop);
    // An order that is empty is the one that they have.
    for (uint32_t row = 0; row < sorted.size(); ++row)
        sorted.byBackward.push_back(order.empty() ? row : order[row]);
    table = std::move(sorted);
}

}  // namespace lanescope
