// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reports.h"

#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <limits>

#include "model/analysis/CopyRangeTable.h"
#include "model/analysis/stepRanges.h"
#include "model/format/optionValues.h"
#include "model/reports/gpuListing.h"
#include "model/text/formatValue.h"
#include "model/text/nearestNames.h"

namespace lanescope {

namespace {

bool isAny(const std::vector<std::string>& reports, bool ReportInfo::*property) {
    return std::ranges::any_of(reports, [&](const std::string& name) {
        const Result<const Report*> report = findReport(name);
        return report && (*report)->info.*property;
    });
}

/// Returns the ranges of this name, including ranges at whose ends counters were read.
std::vector<TimeRange> rangesCalled(const Trace& trace, const std::string& name) {
    std::vector<TimeRange> ranges = mapped(rangeInstances(trace, name), &RangeInstance::range);
    for (const SampledRange& each : trace.interconnect.sampledRanges)
        if (each.name == name || rangePattern(each.name) == name) ranges.push_back(each.range);
    return ranges;
}

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
    &slopesReport,
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

Result<TimeRange> parseRange(std::string_view text) {
    const auto malformed = [&] {
        return fail(
            "\"{}\" is not a range; use START:END in seconds, for example 1.5:2.75, or with units, for example "
            "10ms:25ms",
            text);
    };
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.size() == 1) return malformed();
    TimeRange range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    for (auto& [bound, given] :
         {std::pair(&range.startNs, text.substr(0, colon)), {&range.endNs, text.substr(colon + 1)}}) {
        if (given.empty()) continue;
        const std::optional<int64_t> ns = parseDuration(given);
        if (!ns) return malformed();
        *bound = *ns;
    }
    if (range.isEmpty()) return fail("\"{}\" is an empty range: the end must be after the start", text);
    return range;
}

std::string variantsSentence() {
    std::string sentence;
    for (const ReportVariants& variants : reportVariants()) {
        if (!sentence.empty()) sentence += "; ";
        sentence += fmt::format("{} by {}", variants.report, fmt::join(variants.by, ", "));
    }
    return sentence;
}

std::vector<std::string> variantNames() {
    std::vector<std::string> names;
    for (const ReportVariants& variants : reportVariants())
        for (const std::string_view by : variants.by)
            if (std::ranges::find(names, by) == names.end()) names.emplace_back(by);
    return names;
}

Result<std::vector<std::string>> reportsAsked(const std::vector<std::string>& names, const std::string& by) {
    std::vector<std::string> reports = names;
    if (reports.empty())
        for (const Report* report : allReports())
            if (report->info.isDefault) reports.emplace_back(report->info.name);
    bool isShown = by.empty();
    for (std::string& name : reports) {
        const Result<const Report*> report = findReport(name);
        const bool isAsIs = report && !by.empty() && (*report)->info.by == by;
        const bool isOther = !isAsIs && !by.empty() && findReport(name + ":" + by).has_value();
        if (isOther) name += ":" + by;
        isShown |= isAsIs || isOther;
    }
    if (isShown) return reports;
    return fail("--by {}: no requested report supports it. Choose from: {}.", by, variantsSentence());
}

Result<void> checkRangeNameIsUsed(const std::vector<std::string>& reports, const std::string& rangeName) {
    if (rangeName.empty() || isAny(reports, &ReportInfo::isByRange)) return {};
    std::vector<std::string_view> byRange;
    for (const Report* report : allReports())
        if (report->info.isByRange) byRange.push_back(report->info.name);
    return fail("--range-name: no requested report is by NVTX range. Choose from: {}.", fmt::join(byRange, ", "));
}

Result<void> checkSelection(const Trace& trace, const std::vector<std::string>& reports, std::optional<TimeRange> range,
                            const std::string& rangeName) {
    const bool isSampled = isAny(reports, &ReportInfo::isSampled);
    const TimeRange extent = isSampled ? sampledRange(trace, std::nullopt) : trace.range;
    // A single event without duration is also a trace.
    const bool isOutside = range && (range->startNs > extent.endNs || range->endNs < extent.startNs);
    if (isOutside && (!extent.isEmpty() || !trace.isEmpty()))
        return fail("The range lies outside of {}, which covers {} to {}. Choose a range inside.",
                    printable(trace.title), formatTimestamp(extent.startNs), formatTimestamp(extent.endNs));
    if (rangeName.empty()) return {};
    const std::vector<TimeRange> named = rangesCalled(trace, rangeName);
    if (named.empty()) return fail("{}", printable(noSuchRange(trace, rangeName).value().sentence));
    const auto isInside = [&](const TimeRange& each) { return !range || each.overlaps(*range); };
    if (std::ranges::any_of(named, isInside)) return {};
    TimeRange all = named.front();
    for (const TimeRange& each : named) all = all.united(each);
    return fail("No NVTX range \"{}\" has GPU work in that time range; in {} such ranges are from {} to {}.",
                printable(rangeName), printable(trace.title), formatTimestamp(all.startNs), formatTimestamp(all.endNs));
}

std::span<const Report* const> allReports() { return reports; }

Result<const Report*> findReport(std::string_view name) {
    for (const Report* report : reports)
        if (report->info.name == name) return report;
    const std::vector<std::string_view> names = mapped(reports, [](const Report* report) { return report->info.name; });
    return fail("Unknown report \"{}\". The nearest names are {}.", name, nearestNames(name, names));
}

std::vector<ReportVariants> reportVariants() {
    std::vector<ReportVariants> all;
    for (const Report* report : reports) {
        const std::string_view base = baseOf(report->info.name);
        const std::string_view by = byOf(report->info);
        if (by.empty()) continue;
        const auto known = std::ranges::find_if(all, [&](const auto& each) { return each.report == base; });
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
