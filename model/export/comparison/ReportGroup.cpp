// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/ReportGroup.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::report {

std::vector<ReportGroup> reportGroups(const ComparisonReport& report, size_t most) {
    std::vector<ReportGroup> groups;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const compare::WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair) continue;
        auto group = std::find_if(groups.begin(), groups.end(), [&](const ReportGroup& each) {
            return each.baselineWorker == pair->baselineWorker && each.candidates.size() < most;
        });
        if (group == groups.end())
            group = groups.insert(groups.end(), {pair->baselineWorker, {}, {}});
        group->candidates.push_back(index);
        group->view.candidates.push_back({candidateColumn(report, index), pair});
    }
    return groups;
}

compare::ComparisonView viewOf(const compare::WorkerComparison& pair) {
    return {{{"Candidate", &pair}}};
}

std::string candidateMark(const ComparisonReport& report, size_t candidate) {
    return report.candidates.size() == 1 ? std::string() : fmt::format("[{}] ", candidate + 1);
}

std::string candidateColumn(const ComparisonReport& report, size_t candidate) {
    return report.candidates.size() == 1 ? "Candidate" : fmt::format("[{}]", candidate + 1);
}

}  // namespace lanescope::report
