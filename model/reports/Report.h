// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Query of a report.
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

/// Name and description of a report.
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

}  // namespace lanescope
