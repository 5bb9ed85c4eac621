// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/summary/Report.h"
#include "model/trace/Trace.h"
#include "model/values/ReportTable.h"

namespace lanescope {

/// Every report there is, in the order in which `stats` prints them.
std::span<const Report* const> allReports();

/// The report called `name`; fails with the list of names if there is none.
Result<const Report*> findReport(std::string_view name);

/// A report that can tell its rows apart by several things, and which those are.
struct ReportVariants {
    std::string_view report;
    std::vector<std::string_view> by;
};
/// All of those, in the order of the reports. "report:by" is the name of each.
std::vector<ReportVariants> reportVariants();

/// Makes a report over the events that overlap the range of the query (each counted in full; the
/// whole trace if not given). A report without events has no rows. Linear in the events; any
/// thread.
ReportTable makeReport(const Report& report, const ReportQuery& query);
/// The same of a report by name; fails with the list of names for an unknown one.
Result<ReportTable> makeReport(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range = std::nullopt,
                               std::string_view rangeName = {});

/// Takes some rows of a report; name, title and columns are the same each time. Returns false to
/// have no more.
using ReportSink = std::function<bool(const ReportTable& part)>;

/// `makeReport`, but handed out in parts of some thousand rows, so that a listing of every event
/// never stands in memory as a whole. Calls `sink` at least once, with no rows if there are none.
void makeReportInParts(const Report& report, const ReportQuery& query, const ReportSink& sink);
/// The same of a report by name.
Result<void> makeReportInParts(const Trace& trace, std::string_view name,
                               std::optional<TimeRange> range, const ReportSink& sink,
                               std::string_view rangeName = {});

}  // namespace lanescope
