// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/groupKernels.h"
#include "model/analysis/shownNumbers.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/Kernel.h"

namespace lanescope {

namespace {

/// Returns a row per family and worker. The chosen range of time replaces the steps.
ReportTable kernelFamilies(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Worker", Unit::Text},    {"Family", Unit::Text},
                     {"Precision", Unit::Text}, {"Time per Step", Unit::Nanoseconds},
                     {"Share", Unit::Percent},  {"Launches per Step", Unit::Count},
                     {"Line", Unit::Text},      {"Largest Kernel", Unit::Text}};
    StepSelection selection;
    selection.rangeName = query.rangeName;
    selection.stretch = query.range;
    const auto run = analysis::summarizeRun(query.trace, selection);
    if (!run) return table;
    for (const analysis::WorkerSummary& worker : run->workers) {
        const auto steps = static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
        const int64_t computeNs = worker.totalParts()[analysis::StepPart::Compute];
        for (const analysis::FamilySum& each : analysis::familySums(worker)) {
            const bool isKnown = each.precision != KernelPrecision::Unknown;
            table.rows.push_back(
                {worker.label(), std::string(name(each.family)),
                 isKnown ? Cell(std::string(identifier(each.precision))) : Cell(),
                 static_cast<double>(each.exposedNs) / steps,
                 100 * static_cast<double>(each.exposedNs) / static_cast<double>(std::max<int64_t>(computeNs, 1)),
                 static_cast<double>(each.count) / steps, each.launched, analysis::shortContributorName(each.name)});
            table.searches.push_back(each.name);
        }
    }
    return table;
}

/// Group keys of kernels, by launch configuration, and the name of each.
struct KernelNames {
    std::vector<uint32_t> numberOf;
    std::vector<std::string_view> names;
};

template <class NameOf>
KernelNames namesOf(const Trace& trace, NameOf nameOf) {
    KernelNames made;
    std::map<std::string_view, uint32_t> numbers;
    for (const LaunchConfig& config : trace.launchConfigs) {
        const auto [found, isNew] = numbers.try_emplace(nameOf(config), static_cast<uint32_t>(made.names.size()));
        if (isNew) made.names.push_back(found->first);
        made.numberOf.push_back(found->second);
    }
    return made;
}

template <class NameOf>
ReportTable summaryByName(const ReportQuery& query, NameOf nameOf) {
    const KernelTable& kernels = query.trace.kernels;
    const KernelNames names = namesOf(query.trace, nameOf);
    GroupedValues durations;
    for (uint32_t row = 0; row < kernels.size(); ++row)
        durations.addTime(names.numberOf[kernels.config[row]], query, kernels.startNs[row], kernels.endNs[row]);
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        const std::string name(names.names[group.key]);
        rows.push_back({group, {name}, name});
    }
    return summaryTable({.labelColumns = {"Name"}}, std::move(rows));
}

ReportTable kernelSummary(const ReportQuery& query) {
    return summaryByName(query,
                         [&](const LaunchConfig& config) { return query.trace.strings.at(config.demangledName); });
}

ReportTable kernelBaseNameSummary(const ReportQuery& query) {
    return summaryByName(query, [&](const LaunchConfig& config) { return sourceName(query.trace, config); });
}

ReportTable kernelFamilySummary(const ReportQuery& query) {
    return summaryByName(
        query, [&](const LaunchConfig& config) { return query.trace.strings.at(kinds::Kernel::nameIndex(config)); });
}

ReportTable apiSummary(const ReportQuery& query) {
    const ApiTable& calls = query.trace.apiCalls;
    GroupedValues durations;
    for (uint32_t row = 0; row < calls.size(); ++row)
        durations.addTime(calls.name[row], query, calls.startNs[row], calls.endNs[row]);
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        const std::string name(query.trace.strings.at(static_cast<StringIndex>(group.key)));
        rows.push_back({group, {name}, name});
    }
    return summaryTable({.countColumn = "Num Calls", .labelColumns = {"Name"}}, std::move(rows));
}

}  // namespace

const Report gpuFamiliesReport{.info = {.name = "gpu_families",
                                        .title = "Kernel Families",
                                        .description = "Compute time of steps by kind: matrix products, elementwise"},
                               .build = kernelFamilies};

const Report kernelSummaryReport{.info = {.name = "cuda_gpu_kern_sum",
                                          .title = "CUDA GPU Kernel Summary",
                                          .description = "Time of each kernel, by full name",
                                          .isDefault = true},
                                 .build = kernelSummary,
                                 .tab = {"Kernels", 1, [](const Trace& trace) { return trace.kernels.size() > 0; }}};

const Report kernelBaseNameSummaryReport{
    .info = {.name = "cuda_gpu_kern_sum:base",
             .title = "CUDA GPU Kernel Summary (base names)",
             .description = "Time of each kernel, without template and function arguments"},
    .build = kernelBaseNameSummary};

const Report kernelFamilySummaryReport{.info = {.name = "cuda_gpu_kern_sum:family",
                                                .title = "CUDA GPU Kernel Summary (families)",
                                                .description = "Time of kernels by family: add f32, sgemm 128x64 tn"},
                                       .build = kernelFamilySummary};

const Report apiSummaryReport{.info = {.name = "cuda_api_sum",
                                       .title = "CUDA API Summary",
                                       .description = "Time in each CUDA runtime and driver call",
                                       .isDefault = true},
                              .build = apiSummary,
                              .tab = {"CUDA API", 4, [](const Trace& trace) { return trace.apiCalls.size() > 0; }}};

}  // namespace lanescope
