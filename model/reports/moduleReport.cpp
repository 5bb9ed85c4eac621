// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

namespace {

ReportTable kernelsByModule(const ReportQuery& query) {
    WorkModules modules(query.trace);
    GroupedValues durations;
    if (!modules.isEmpty())
        forEachLaunchedWork(query.trace, [&](const LaunchedWork& work) {
            if (work.work.kind() == EventKind::Kernel)
                durations.addTime(modules.of(work), query, work.times.startNs, work.times.endNs);
        });
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        if (group.key == noIndex) {
            rows.push_back({group, {"(no module)", {}}, {}});
            continue;
        }
        const Module& module = modules.modules()[group.key];
        rows.push_back({group, {module.path, module.type}, "module:\"" + module.path + '"'});
    }
    return summaryTable({.labelColumns = {"Module", "Class"}}, std::move(rows));
}

}  // namespace

const Report kernelsByModuleReport{
    .info = {.name = "kernels_by_module",
             .title = "Kernels by Module",
             .description = "Kernel time by module of a PyTorch model, also in CUDA graphs"},
    .build = kernelsByModule};

}  // namespace lanescope
