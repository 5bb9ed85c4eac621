// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "model/text/nearestNames.h"

namespace lanescope {

namespace {

constexpr std::array reports{
    &nvtxSummaryReport,
    &nvtxGpuProjectionSummaryReport,
    &nvtxGpuProjectionFamilySummaryReport,
    &apiSummaryReport,
    &kernelSummaryReport,
    &memoryTimeSummaryReport,
    &memorySizeSummaryReport,
    &memcpyBandwidthReport,
    &memcpyAdviceReport,
    &nvlinkSummaryReport,
    &gpuActivityReport,
    &tensorUseReport,
    &memoryUseSummaryReport,
    &unifiedMemoryTotalsReport,
    &ncclSummaryReport,
    &kernelBaseNameSummaryReport,
    &kernelFamilySummaryReport,
    &gpuFamiliesReport,
    &criticalPathReport,
    &nvtxFamilySummaryReport,
    &gpuTimeTreeReport,
    &backwardByOperatorReport,
    &rooflineReport,
    &kernelsByLineReport,
    &kernelsByModuleReport,
    &idleByLineReport,
    &launchesByLineReport,
    &threadStatesReport,
    &cpuFunctionsReport,
    &cpuFunctionsByThreadReport,
    &memcpyBandwidthBySizeReport,
    &memcpyBandwidthByDeviceReport,
    &memcpyBandwidthByRangeReport,
    &memcpyBandwidthByInstanceReport,
    &nvlinkByRangeReport,
    &nvlinkByRangeAndLinkReport,
    &energyByRangeReport,
    &nvtxPushPopSummaryReport,
    &nvtxStartEndSummaryReport,
    &ncclTraceReport,
    &ncclLatenessReport,
    &ncclLatenessByCollectiveReport,
    &unifiedMemorySummaryReport,
    &cpuFaultSummaryReport,
    &gpuTraceReport,
    &nvprofSummaryReport,
    &nvprofGpuTraceReport,
};

/// Returns "cuda_gpu_kern_sum" for "cuda_gpu_kern_sum:base".
std::string_view baseOf(std::string_view name) { return name.substr(0, name.find(':')); }

std::string_view byOf(const ReportInfo& info) {
    const size_t colon = info.name.find(':');
    return colon == std::string_view::npos ? info.by : info.name.substr(colon + 1);
}

void nameIt(const Report& report, ReportTable& table) {
    table.name = report.info.name;
    table.title = report.info.title;
}

}  // namespace

std::span<const Report* const> allReports() { return reports; }

Result<const Report*> findReport(std::string_view name) {
    for (const Report* report : reports)
        if (report->info.name == name) return report;
    std::vector<std::string_view> names;
    for (const Report* report : reports) names.push_back(report->info.name);
    return fail("Unknown report \"{}\". The nearest names are {}.", name, nearestNames(name, names));
}

std::vector<ReportVariants> reportVariants() {
    std::vector<ReportVariants> all;
    for (const Report* report : reports) {
        const std::string_view base = baseOf(report->info.name);
        const std::string_view by = byOf(report->info);
        if (by.empty()) continue;
        const auto known = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.report == base; });
        if (known == all.end())
            all.push_back({base, {by}});
        else
            known->by.push_back(by);
    }
    return all;
}

ReportTable makeReport(const Report& report, const ReportQuery& query) {
    ReportTable table;
    if (report.build != nullptr) {
        table = report.build(query);
    } else {
        report.list(query, [&table](ReportTable& part) {
            table.columns = part.columns;
            table.style = part.style;
            std::move(part.rows.begin(), part.rows.end(), std::back_inserter(table.rows));
            return true;
        });
    }
    nameIt(report, table);
    return table;
}

void makeReportInParts(const Report& report, const ReportQuery& query, const ReportSink& sink) {
    if (report.list == nullptr) {
        sink(makeReport(report, query));
        return;
    }
    report.list(query, [&](ReportTable& part) {
        nameIt(report, part);
        return sink(part);
    });
}

Result<ReportTable> makeReport(const Trace& trace, std::string_view name, std::optional<TimeRange> range,
                               std::string_view rangeName) {
    const Result<const Report*> report = findReport(name);
    if (!report) return fail(report.error());
    return makeReport(**report, {trace, range, std::string(rangeName)});
}

Result<void> makeReportInParts(const Trace& trace, std::string_view name, std::optional<TimeRange> range,
                               const ReportSink& sink, std::string_view rangeName) {
    const Result<const Report*> report = findReport(name);
    if (!report) return fail(report.error());
    makeReportInParts(**report, {trace, range, std::string(rangeName)}, sink);
    return {};
}

}  // namespace lanescope
