// SPDX-License-Identifier: Apache-2.0
#include "model/summary/GroupedValues.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"

namespace lanescope {

namespace {

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

const Report apiSummaryReport{
    .info = {.name = "cuda_api_sum",
             .title = "CUDA API Summary",
             .description = "Time inside each CUDA runtime and driver call"},
    .build = apiSummary,
    .tab = {"CUDA API", 4, [](const Trace& trace) { return trace.apiCalls.size() > 0; }}};

}  // namespace lanescope
