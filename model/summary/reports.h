#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/values/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

struct ReportInfo {
    std::string_view name;   ///< "cuda_gpu_kern_sum", as Nsight Systems calls it where it has one.
    std::string_view title;  ///< "CUDA GPU Kernel Summary".
    std::string_view description;  ///< One line for `--help` and tool tips.
    bool isDefault = true;         ///< Among those that `stats` prints when none is named.
    bool isByRange = false;        ///< About the NVTX ranges that are named when it is made.
    bool isSampled = false;        ///< About counters, which may begin before the first event.
};

/// Every report there is, in the order in which `stats` prints them.
std::span<const ReportInfo> allReports();

/// The report called `name`; fails with the list of names if there is none.
Result<ReportInfo> findReport(std::string_view name);

/// Builds a report over the events that overlap `range` (each counted in full; the whole trace if
/// not given). Fails with the list of names for an unknown one. A report without events has no
/// rows. Reports by NVTX range are about the ranges called `rangeName` ('#' stands for any number),
/// about the steps if it is empty. Linear in the events; any thread.
Result<ReportTable> makeReport(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range = std::nullopt,
                               std::string_view rangeName = {});

/// Takes some rows of a report; name, title and columns are the same each time. Returns false to
/// have no more.
using ReportSink = std::function<bool(const ReportTable& part)>;

/// `makeReport`, but handed out in parts of some thousand rows, so that a listing of every event
/// never stands in memory as a whole. Calls `sink` at least once, with no rows if there are none.
Result<void> makeReportInParts(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range, const ReportSink& sink,
                               std::string_view rangeName = {});

}  // namespace lanescope
