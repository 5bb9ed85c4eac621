// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/steps/RangeFamilies.h"
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
        durations.addTime(GroupedValues::pairKey(nvtx.domain[row], nvtx.text[row]), query,
                          nvtx.startNs[row], nvtx.endNs[row]);
    }
    for (GroupedValues::Group& group : durations.groups()) {
        std::vector<std::string> labels;
        if (withStyle) labels.emplace_back(styleName(style));
        const StringIndex text = GroupedValues::low(group.key);
        labels.push_back(rangeLabel(query.trace, GroupedValues::high(group.key), text));
        rows.push_back({group, std::move(labels), std::string(query.trace.strings.at(text))});
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

void appendFamilies(const ReportQuery& query, NvtxStyle style, RangeFamilies& families,
                    std::vector<SummaryRow>& rows) {
    const NvtxTable& nvtx = query.trace.nvtx;
    GroupedValues durations;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] != style || !query.includes(nvtx.startNs[row], nvtx.endNs[row]))
            continue;
        durations.addTime(GroupedValues::pairKey(nvtx.domain[row], families.of(nvtx.text[row])),
                          query, nvtx.startNs[row], nvtx.endNs[row]);
    }
    for (GroupedValues::Group& group : durations.groups()) {
        const uint32_t family = GroupedValues::low(group.key);
        const std::string_view domain = query.trace.strings.at(GroupedValues::high(group.key));
        rows.push_back({group,
                        {std::to_string(families.sizeOf(family)), families.nameOf(family),
                         std::string(domain)},
                        families.searchFor(family)});
    }
}

ReportTable nvtxFamilySummary(const ReportQuery& query) {
    std::vector<SummaryRow> rows;
    RangeFamilies families(query.trace);
    for (const NvtxStyle style : {NvtxStyle::PushPop, NvtxStyle::StartEnd})
        appendFamilies(query, style, families, rows);
    return summaryTable({.labelColumns = {"Names", "Range", "Domain"}}, std::move(rows));
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
                               .build = nvtxSummary};

const Report nvtxFamilySummaryReport{
    .info = {.name = "nvtx_sum:family",
             .title = "NVTX Range Summary (By Family)",
             .description = "Time inside NVTX ranges, names that differ in numbers as one",
             .isDefault = false},
    .build = nvtxFamilySummary,
    .tab = {"NVTX ranges", 2, [](const Trace& trace) { return trace.nvtx.size() > 0; }}};

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
