// SPDX-License-Identifier: Apache-2.0
#include "tests/extend/toyReport.h"

#include <vector>

namespace lanescope {

namespace {

ReportTable kernelsByStream(const ReportQuery& query) {
    const KernelTable& kernels = query.trace.kernels;
    std::vector<int64_t> counts(query.trace.streams.size());
    for (uint32_t row = 0; row < kernels.size(); ++row)
        if (query.includes(kernels.startNs[row], kernels.endNs[row])) ++counts[kernels.stream[row]];
    ReportTable table;
    table.columns = {{"Stream", Unit::Identifier}, {"Kernels", Unit::Count}};
    for (size_t stream = 0; stream < counts.size(); ++stream)
        if (counts[stream] > 0) table.rows.push_back({query.trace.streams[stream].streamId, counts[stream]});
    return table;
}

}  // namespace

const Report toyReport{.info = {.name = "toy_kernels",
                                .title = "Kernels by Stream",
                                .description = "How many kernels each stream ran",
                                .isDefault = true},
                       .build = kernelsByStream};

}  // namespace lanescope
