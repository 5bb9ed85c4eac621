// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/summary/Report.h"

namespace lanescope {

// Every report there is; each is defined in its own file. `reports.cpp` says in which order.

extern const Report apiSummaryReport;
extern const Report backwardByOperatorReport;
extern const Report cpuFaultSummaryReport;
extern const Report energyByRangeReport;
extern const Report gpuActivityReport;
extern const Report gpuTimeTreeReport;
extern const Report gpuTraceReport;
extern const Report idleByLineReport;
extern const Report kernelBaseNameSummaryReport;
extern const Report kernelFamilySummaryReport;
extern const Report kernelSummaryReport;
extern const Report kernelsByLineReport;
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
extern const Report nvtxPushPopSummaryReport;
extern const Report nvtxStartEndSummaryReport;
extern const Report nvtxSummaryReport;
extern const Report threadStatesReport;
extern const Report cpuFunctionsReport;
extern const Report cpuFunctionsByThreadReport;
extern const Report unifiedMemorySummaryReport;
extern const Report unifiedMemoryTotalsReport;

}  // namespace lanescope
