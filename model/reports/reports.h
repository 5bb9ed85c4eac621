// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

namespace analysis {
struct Roofline;
}

struct ReportQuery {
    const Trace& trace;
    std::optional<TimeRange> range = {};
    /// NVTX ranges of a report by range ('#' matches any number); empty for those similar to steps.
    std::string rangeName = {};

    /// Returns true if an event overlaps the range, or is inside it if it has no duration.
    bool includes(int64_t startNs, int64_t endNs) const {
        if (!range) return true;
        return startNs < range->endNs && (endNs > range->startNs || (startNs == endNs && startNs >= range->startNs));
    }
    /// Returns the part of an included event in the range.
    int64_t timeWithin(int64_t startNs, int64_t endNs) const {
        if (!range) return endNs - startNs;
        return std::min(endNs, range->endNs) - std::max(startNs, range->startNs);
    }
};

/// Receives some rows of a listing; the columns are always the same. May change the part. Returns false to stop.
using PartSink = std::function<bool(ReportTable& part)>;

struct ReportInfo {
    /// "cuda_gpu_kern_sum", Nsight Systems' name if it has the report. A variant is called "name:something".
    std::string_view name;
    std::string_view title;        ///< "CUDA GPU Kernel Summary".
    std::string_view description;  ///< One line for `--help` and tool tips.
    bool isDefault = false;        ///< One of the reports that `stats` prints by default.
    bool isByRange = false;        ///< The report is about the NVTX ranges of the query.
    bool isSampled = false;        ///< The report is about counters, which may begin before the first event.
    /// Key by which the rows are grouped, for example "memory"; empty if the report has only one grouping.
    std::string_view by = {};
};

/// The viewer's tab for a report, and its position, from 1; 0 for a report without one.
struct ReportTab {
    std::string_view title = {};
    int place = 0;
    /// Returns true if the report can have rows; constant. Null if it always can.
    bool (*mayHaveRows)(const Trace& trace) = nullptr;
};

/// A report and its functions, in the report's own file. Columns are Nsight Systems' if it has it; `makeReport` adds
/// name and title. Making one is linear in the events, except for the sorting of the rows; any thread.
struct Report {
    ReportInfo info;
    /// Returns columns and rows; null for a listing.
    ReportTable (*build)(const ReportQuery& query) = nullptr;
    /// For a listing of events: passes parts of some thousand rows, at least one, until the sink returns false.
    void (*list)(const ReportQuery& query, const PartSink& sink) = nullptr;
    ReportTab tab = {};
};

// All reports, each defined in its own file. `reports.cpp` has their order.

extern const Report apiSummaryReport;
extern const Report backwardByOperatorReport;
extern const Report rooflineReport;
extern const Report cpuFaultSummaryReport;
extern const Report energyByRangeReport;
extern const Report gpuActivityReport;
extern const Report tensorUseReport;
extern const Report criticalPathReport;
extern const Report slopesReport;
extern const Report gpuFamiliesReport;
extern const Report gpuTimeTreeReport;
extern const Report gpuTraceReport;
extern const Report idleByLineReport;
extern const Report kernelBaseNameSummaryReport;
extern const Report kernelFamilySummaryReport;
extern const Report kernelSummaryReport;
extern const Report kernelsByLineReport;
extern const Report kernelsByModuleReport;
extern const Report launchesByLineReport;
extern const Report memcpyAdviceReport;
extern const Report memcpyBandwidthByDeviceReport;
extern const Report memcpyBandwidthByInstanceReport;
extern const Report memcpyBandwidthByRangeReport;
extern const Report memcpyBandwidthBySizeReport;
extern const Report memcpyBandwidthReport;
extern const Report memorySizeSummaryReport;
extern const Report memoryTimeSummaryReport;
extern const Report memoryUseSummaryReport;
extern const Report ncclLatenessByCollectiveReport;
extern const Report ncclLatenessReport;
extern const Report ncclSummaryReport;
extern const Report ncclTraceReport;
extern const Report nvlinkByRangeAndLinkReport;
extern const Report nvlinkByRangeReport;
extern const Report nvlinkSummaryReport;
extern const Report nvprofGpuTraceReport;
extern const Report nvprofSummaryReport;
extern const Report nvtxFamilySummaryReport;
extern const Report nvtxGpuProjectionSummaryReport;
extern const Report nvtxGpuProjectionFamilySummaryReport;
extern const Report nvtxPushPopSummaryReport;
extern const Report nvtxStartEndSummaryReport;
extern const Report nvtxSummaryReport;
extern const Report threadStatesReport;
extern const Report cpuFunctionsReport;
extern const Report cpuFunctionsByThreadReport;
extern const Report unifiedMemorySummaryReport;
extern const Report unifiedMemoryTotalsReport;

/// Returns all reports in the order in which `stats` prints them.
std::span<const Report* const> allReports();

/// Returns the report called `name`; the error has the list of names.
Result<const Report*> findReport(std::string_view name);

/// A report with several groupings of its rows.
struct ReportVariants {
    std::string_view report;
    std::vector<std::string_view> by;
};
/// Returns all of them, in the order of the reports. The name of each is "report:by".
std::vector<ReportVariants> reportVariants();

/// Makes a report over the events that overlap the range of the query (each counted in full; the
/// whole trace by default). A report without events has no rows. Linear in the events; any thread.
ReportTable makeReport(const Report& report, const ReportQuery& query);
/// Makes a report by name; the error has the list of names.
Result<ReportTable> makeReport(const Trace& trace, std::string_view name, std::optional<TimeRange> range = std::nullopt,
                               std::string_view rangeName = {});

/// Receives some rows of a report; name, title and columns are always the same. Returns false to stop.
using ReportSink = std::function<bool(const ReportTable& part)>;

/// Makes a report in parts of some thousand rows, so that a listing of every event is never in
/// memory as a whole. Calls `sink` at least once, with no rows if there are none.
void makeReportInParts(const Report& report, const ReportQuery& query, const ReportSink& sink);
/// Does the same for a report by name.
Result<void> makeReportInParts(const Trace& trace, std::string_view name, std::optional<TimeRange> range,
                               const ReportSink& sink, std::string_view rangeName = {});

/// Returns a roofline as the table of the report "roofline", with a row per row. O(rows).
ReportTable rooflineTable(const Trace& trace, const analysis::Roofline& roofline);

/// Parses "START:END" from the start of the session, as in the timeline: in seconds, or with the
/// unit s, ms, us or ns ("10ms:25ms"). Either may be omitted ("2.5:", ":10").
Result<TimeRange> parseRange(std::string_view text);

/// Returns "memcpy_bandwidth by memory, size; ...": the grouping variants of reports.
std::string variantsSentence();
/// Returns all variants of any report.
std::vector<std::string> variantNames();

/// Returns the names of the reports that `stats` prints, grouped by `by` if a report supports it;
/// the default reports if none is named. Fails if no report supports `by`.
Result<std::vector<std::string>> reportsAsked(const std::vector<std::string>& names, const std::string& by);

/// Fails if `rangeName` is set and no report is about NVTX ranges.
Result<void> checkRangeNameIsUsed(const std::vector<std::string>& reports, const std::string& rangeName);

/// Fails, listing the content, if reports would be empty: a range outside the trace, or a name of no NVTX range.
Result<void> checkSelection(const Trace& trace, const std::vector<std::string>& reports, std::optional<TimeRange> range,
                            const std::string& rangeName);

}  // namespace lanescope
