// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/numbers/Statistics.h"
#include "model/reports/reports.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

namespace {

struct Sum {
    int64_t count = 0, ns = 0, longestNs = -1;
    StringIndex longest = 0;  ///< Name of its longest kernel.
};

/// Returns a row per key of kernels in the query, those with most time first. `keyOf` returns the first cells of the
/// row.
template <class KeyOf>
void addRows(const ReportQuery& query, KeyOf keyOf, ReportTable& table) {
    std::map<decltype(keyOf(LaunchedWork())), Sum> sums;
    const Trace& trace = query.trace;
    double allNs = 0;
    forEachLaunchedWork(trace, [&](const LaunchedWork& work) {
        if (work.work.kind() != EventKind::Kernel || !query.includes(work.times.startNs, work.times.endNs)) return;
        const int64_t ns = query.timeWithin(work.times.startNs, work.times.endNs);
        allNs += static_cast<double>(ns);
        Sum& sum = sums[keyOf(work)];
        ++sum.count;
        sum.ns = saturatingSum(sum.ns, ns);
        if (ns <= sum.longestNs) return;
        sum.longestNs = ns;
        sum.longest = trace.launchConfigs[trace.kernels.config[work.work.row()]].demangledName;
    });
    std::vector<std::pair<decltype(keyOf(LaunchedWork())), Sum>> sorted(sums.begin(), sums.end());
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
    for (const auto& [key, sum] : sorted) {
        std::string longest(trace.strings.at(sum.longest));
        std::vector<Cell> row(key.begin(), key.end());
        row.insert(row.end(), {sum.ns, 100 * static_cast<double>(sum.ns) / std::max(allNs, 1.0), sum.count, longest});
        table.rows.push_back(std::move(row));
        table.searches.push_back(std::move(longest));
    }
}

ReportTable kernelsByModule(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Module", Unit::Text},   {"Class", Unit::Text},  {"Total Time", Unit::Nanoseconds},
                     {"Share", Unit::Percent}, {"Count", Unit::Count}, {"Longest Kernel", Unit::Text}};
    WorkModules modules(query.trace);
    if (modules.isEmpty()) return table;
    addRows(
        query,
        [&](const LaunchedWork& work) {
            const uint32_t index = modules.of(work);
            if (index == noIndex) return std::vector<std::string>{"(no module)", {}};
            const Module& module = modules.modules()[index];
            return std::vector<std::string>{module.path, module.type};
        },
        table);
    return table;
}

}  // namespace

const Report kernelsByModuleReport{
    .info = {.name = "kernels_by_module",
             .title = "Kernels by Module",
             .description = "Kernel time by module of a PyTorch model, also in CUDA graphs",
             .isDefault = false},
    .build = kernelsByModule};

}  // namespace lanescope
