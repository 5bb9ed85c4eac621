// SPDX-License-Identifier: Apache-2.0
#include "model/summary/GroupedValues.h"
#include "model/summary/nvtxLabels.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"

namespace lanescope {

namespace {

/// Appends a row for each name of the ranges of one style; marks have no duration to sum up.
void appendRows(const ReportQuery& query, NvtxStyle style, bool withStyle,
                std::vector<SummaryRow>& rows) {
    const NvtxTable& nvtx = query.trace.nvtx;
    GroupedValues durations;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] != style) continue;
        if (!query.includes(nvtx.startNs[row], nvtx.endNs[row])) continue;
        durations.add(GroupedValues::pairKey(nvtx.domain[row], nvtx.text[row]),
                      nvtx.endNs[row] - nvtx.startNs[row]);
    }
    for (GroupedValues::Group& group : durations.groups()) {
        std::vector<std::string> labels;
        if (withStyle) labels.emplace_back(styleName(style));
        const StringIndex text = GroupedValues::low(group.key);
        labels.push_back(rangeLabel(query.trace, GroupedValues::high(group.key), text));
        rows.push_back({statisticsOf(group.values), std::move(labels),
                        std::string(query.trace.strings.at(text))});
    }
}

ReportTable summaryOfStyle(const ReportQuery& query, NvtxStyle style) {
    std::vector<SummaryRow> rows;
    appendRows(query, style, false, rows);
    return summaryTable({.labelColumns = {"Range"}}, std::move(rows));
}

ReportTable nvtxSummary(const ReportQuery& query) {
    std::vector<SummaryRow> rows;
    appendRows(query, NvtxStyle::PushPop, true, rows);
    appendRows(query, NvtxStyle::StartEnd, true, rows);
    return summaryTable({.labelColumns = {"Style", "Range"}}, std::move(rows));
}

ReportTable nvtxPushPopSummary(const ReportQuery& query) {
    return summaryOfStyle(query, NvtxStyle::PushPop);
}

ReportTable nvtxStartEndSummary(const ReportQuery& query) {
    return summaryOfStyle(query, NvtxStyle::StartEnd);
}

}  // namespace

const Report nvtxSummaryReport{.info = {.name = "nvtx_sum",
                                        .title = "NVTX Range Summary",
                                        .description = "Time inside each NVTX range, on the CPU"},
                               .build = nvtxSummary,
                               .tab = {"NVTX ranges", 2}};

const Report nvtxPushPopSummaryReport{
    .info = {.name = "nvtx_pushpop_sum",
             .title = "NVTX Push/Pop Range Summary",
             .description = "Time inside each pushed and popped NVTX range",
             .isDefault = false},
    .build = nvtxPushPopSummary};

const Report nvtxStartEndSummaryReport{
    .info = {.name = "nvtx_startend_sum",
             .title = "NVTX Start/End Range Summary",
             .description = "Time inside each started and ended NVTX range",
             .isDefault = false},
    .build = nvtxStartEndSummary};

}  // namespace lanescope
