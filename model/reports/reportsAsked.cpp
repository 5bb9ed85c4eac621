// SPDX-License-Identifier: Apache-2.0
#include "model/reports/reportsAsked.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "model/analysis/CopyRangeTable.h"
#include "model/analysis/rangePattern.h"
#include "model/analysis/stepRanges.h"
#include "model/format/optionValues.h"
#include "model/text/formatValue.h"

namespace lanescope {

Result<TimeRange> parseRange(std::string_view text) {
    const auto malformed = [&] {
        return fail(
            "\"{}\" is not a range; use START:END in seconds, for example 1.5:2.75, or with units, "
            "for example 10ms:25ms",
            text);
    };
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.size() == 1) return malformed();
    TimeRange range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    const std::string_view start = text.substr(0, colon);
    const std::string_view end = text.substr(colon + 1);
    if (!start.empty()) {
        const std::optional<int64_t> ns = parseDuration(start);
        if (!ns) return malformed();
        range.startNs = *ns;
    }
    if (!end.empty()) {
        const std::optional<int64_t> ns = parseDuration(end);
        if (!ns) return malformed();
        range.endNs = *ns;
    }
    if (range.isEmpty()) return fail("\"{}\" is an empty range: it ends before it starts", text);
    return range;
}

namespace {

bool isAny(const std::vector<std::string>& reports, bool ReportInfo::*property) {
    return std::any_of(reports.begin(), reports.end(), [&](const std::string& name) {
        const Result<const Report*> report = findReport(name);
        return report && (*report)->info.*property;
    });
}

/// Returns the range from the first event to the last, with `isSampled` including values of GPU counters.
TimeRange extentOf(const Trace& trace, bool isSampled) {
    TimeRange extent = trace.range;
    for (const CounterSeries& series : trace.counters)
        if (isSampled && !series.isEmpty() && !series.source.empty())
            extent = extent.united({series.timeNs(0), series.endNs()});
    return extent;
}

/// Returns the ranges of this name, including ranges at whose ends counters were read.
std::vector<TimeRange> rangesCalled(const Trace& trace, const std::string& name) {
    std::vector<TimeRange> ranges;
    for (const RangeInstance& each : rangeInstances(trace, name)) ranges.push_back(each.range);
    for (const SampledRange& each : trace.interconnect.sampledRanges)
        if (each.name == name || rangePattern(each.name) == name) ranges.push_back(each.range);
    return ranges;
}

}  // namespace

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
            if (std::find(names.begin(), names.end(), by) == names.end()) names.emplace_back(by);
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
    const TimeRange extent = extentOf(trace, isAny(reports, &ReportInfo::isSampled));
    // A single event without duration is also a trace.
    const bool isOutside = range && (range->startNs > extent.endNs || range->endNs < extent.startNs);
    if (isOutside && (!extent.isEmpty() || !trace.isEmpty()))
        return fail("The range lies outside of {}, which covers {} to {}. Choose a range inside.",
                    printable(trace.title), formatTimestamp(extent.startNs), formatTimestamp(extent.endNs));
    if (rangeName.empty()) return {};
    const std::vector<TimeRange> named = rangesCalled(trace, rangeName);
    if (named.empty()) return fail("{}", printable(noSuchRange(trace, rangeName).value().sentence));
    const auto isInside = [&](const TimeRange& each) { return !range || each.overlaps(*range); };
    if (std::any_of(named.begin(), named.end(), isInside)) return {};
    TimeRange all = named.front();
    for (const TimeRange& each : named) all = all.united(each);
    return fail(
        "No NVTX range \"{}\" has GPU work in that time range; in {} such ranges are from {} to "
        "{}.",
        printable(rangeName), printable(trace.title), formatTimestamp(all.startNs), formatTimestamp(all.endNs));
}

}  // namespace lanescope
