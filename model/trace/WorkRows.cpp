// SPDX-License-Identifier: Apache-2.0
#include "model/trace/WorkRows.h"

#include <ranges>

namespace lanescope {

WorkRows::WorkRows(const Trace& trace) {
    std::vector<uint32_t> numberOf;
    for (const Stream& stream : trace.streams)
        numberOf.push_back(
            numbers_.try_emplace({stream.process, stream.gpu}, static_cast<uint32_t>(numbers_.size())).first->second);
    const auto rowsOf = [&](const auto& table) {
        const auto owners =
            std::views::transform(table.stream, [&numberOf](uint32_t stream) { return numberOf[stream]; });
        return RowsByOwner(owners, numbers_.size(), trace.memory.get(), {}, [](uint32_t) { return true; });
    };
    kernels_ = rowsOf(trace.kernels);
    memcpys_ = rowsOf(trace.memcpys);
    memsets_ = rowsOf(trace.memsets);
    graphs_ = rowsOf(trace.graphs);
}

WorkRows::WorkerRows WorkRows::of(uint32_t process, uint32_t gpu) const {
    const auto found = numbers_.find({process, gpu});
    if (found == numbers_.end()) return {};
    const uint32_t number = found->second;
    return {kernels_.of(number), memcpys_.of(number), memsets_.of(number), graphs_.of(number)};
}

}  // namespace lanescope
