// SPDX-License-Identifier: Apache-2.0
#include "app/cli/valueLists.h"

#include "model/export/comparison/ComparisonReport.h"
#include "model/summary/reports.h"

namespace lanescope::cli {

std::vector<completion::Candidate> valueLists(std::string_view typeName) {
    std::vector<completion::Candidate> list;
    if (typeName == "REPORT")
        for (const Report* report : allReports())
            list.push_back({std::string(report->info.name), std::string(report->info.description)});
    if (typeName == "TABLE")
        for (const std::string_view name : report::comparisonTableNames())
            list.push_back({std::string(name), {}});
    return list;
}

}  // namespace lanescope::cli
