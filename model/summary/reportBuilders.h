#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/format/TimeRange.h"
#include "model/values/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What a report is asked about.
struct ReportQuery {
    const Trace& trace;
    std::optional<TimeRange> range;
    /// Of the NVTX ranges that a report by range is about ('#' stands for any number); empty for
    /// those that look like steps.
    std::string rangeName = {};

    /// Whether an event counts: it overlaps the range. An event of no duration does if it lies in it.
    bool includes(int64_t startNs, int64_t endNs) const {
        if (!range) return true;
        return startNs < range->endNs &&
               (endNs > range->startNs || (startNs == endNs && startNs >= range->startNs));
    }
};

// One function per report, named after it; the columns are Nsight Systems' where it has that report.
// Each fills columns and rows; `makeReport` adds name and title. Linear in the events, but for the
// sorting of the rows.

ReportTable kernelSummary(const ReportQuery& query);
ReportTable kernelBaseNameSummary(const ReportQuery& query);

ReportTable memoryTimeSummary(const ReportQuery& query);
ReportTable memorySizeSummary(const ReportQuery& query);
ReportTable memcpyBandwidth(const ReportQuery& query);
ReportTable memcpyBandwidthBySize(const ReportQuery& query);
ReportTable memcpyBandwidthByDevice(const ReportQuery& query);
ReportTable memcpyBandwidthByRange(const ReportQuery& query);
ReportTable memcpyBandwidthByInstance(const ReportQuery& query);
ReportTable memcpyAdvice(const ReportQuery& query);

ReportTable nvlinkSummary(const ReportQuery& query);
ReportTable nvlinkByRange(const ReportQuery& query);
ReportTable nvlinkByRangeAndLink(const ReportQuery& query);
ReportTable energyByRange(const ReportQuery& query);
ReportTable gpuActivity(const ReportQuery& query);

/// As nvprof prints them: the one without options, and the one with --print-gpu-trace.
ReportTable nvprofSummary(const ReportQuery& query);
ReportTable nvprofGpuTrace(const ReportQuery& query);
void nvprofGpuTraceInParts(const ReportQuery& query,
                           const std::function<bool(ReportTable&)>& sink);

ReportTable memoryUseSummary(const ReportQuery& query);
ReportTable unifiedMemorySummary(const ReportQuery& query);
ReportTable unifiedMemoryTotals(const ReportQuery& query);
ReportTable cpuPageFaultSummary(const ReportQuery& query);

ReportTable apiSummary(const ReportQuery& query);

ReportTable nvtxSummary(const ReportQuery& query);
ReportTable nvtxPushPopSummary(const ReportQuery& query);
ReportTable nvtxStartEndSummary(const ReportQuery& query);
ReportTable nvtxGpuProjectionSummary(const ReportQuery& query);

ReportTable ncclSummary(const ReportQuery& query);
ReportTable ncclTrace(const ReportQuery& query);
ReportTable ncclLateness(const ReportQuery& query);
ReportTable ncclLatenessByCollective(const ReportQuery& query);

ReportTable gpuTrace(const ReportQuery& query);
/// The same in parts of some thousand rows, until `sink` returns false; at least one part.
void gpuTraceInParts(const ReportQuery& query, const std::function<bool(ReportTable&)>& sink);

}  // namespace lanescope
