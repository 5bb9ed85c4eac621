// SPDX-License-Identifier: Apache-2.0
#include "model/summary/GroupedValues.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"

namespace lanescope {

namespace {

ReportTable summaryByName(const ReportQuery& query, StringIndex LaunchConfig::*nameOf) {
    const KernelTable& kernels = query.trace.kernels;
    GroupedValues durations;
    for (uint32_t row = 0; row < kernels.size(); ++row)
        durations.addTime(query.trace.launchConfigs[kernels.config[row]].*nameOf, query,
                          kernels.startNs[row], kernels.endNs[row]);
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        const std::string name(query.trace.strings.at(static_cast<StringIndex>(group.key)));
        rows.push_back({group, {name}, name});
    }
    return summaryTable({.labelColumns = {"Name"}}, std::move(rows));
}

ReportTable kernelSummary(const ReportQuery& query) {
    return summaryByName(query, &LaunchConfig::demangledName);
}

ReportTable kernelBaseNameSummary(const ReportQuery& query) {
    return summaryByName(query, &LaunchConfig::shortName);
}

}  // namespace

const Report kernelSummaryReport{.info = {.name = "cuda_gpu_kern_sum",
                                          .title = "CUDA GPU Kernel Summary",
                                          .description = "Time of each kernel, by full name"},
                                 .build = kernelSummary,
                                 .tab = {"Kernels", 1}};

const Report kernelBaseNameSummaryReport{
    .info = {.name = "cuda_gpu_kern_sum:base",
             .title = "CUDA GPU Kernel Summary (base names)",
             .description = "Time of each kernel, template and function arguments left out",
             .isDefault = false},
    .build = kernelBaseNameSummary};

}  // namespace lanescope
