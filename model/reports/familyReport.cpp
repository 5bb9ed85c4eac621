// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "model/analysis/familySums.h"
#include "model/analysis/shownNumbers.h"
#include "model/reports/reports.h"

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

}  // namespace

const Report gpuFamiliesReport{.info = {.name = "gpu_families",
                                        .title = "Kernel Families",
                                        .description = "Compute time of steps by kind: matrix products, elementwise",
                                        .isDefault = false},
                               .build = kernelFamilies};

}  // namespace lanescope
