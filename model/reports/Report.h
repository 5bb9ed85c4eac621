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

/// What a report is asked about.
struct ReportQuery {
    const Trace& trace;
    std::optional<TimeRange> range = {};
    /// Of the NVTX ranges that a report by range is about ('#' stands for any number); empty for
    /// those that look like steps.
    std::string rangeName = {};

    /// Whether an event counts: it overlaps the range. An event of no duration does if it lies in
    /// it.
    bool includes(int64_t startNs, int64_t endNs) const {
        if (!range) return true;
        return startNs < range->endNs &&
               (endNs > range->startNs || (startNs == endNs && startNs >= range->startNs));
    }
    /// What of an event that counts lies in the range.
    int64_t timeWithin(int64_t startNs, int64_t endNs) const {
        if (!range) return endNs - startNs;
        return std::min(endNs, range->endNs) - std::max(startNs, range->startNs);
    }
};

/// Takes some rows of a listing; the columns are the same each time. May change the part. Returns
/// false to have no more.
using PartSink = std::function<bool(ReportTable& part)>;

/// What a report is called and what it is about.
struct ReportInfo {
    /// "cuda_gpu_kern_sum", as Nsight Systems calls it where it has one. One that is another report
    /// told apart by something else is called "name:something".
    std::string_view name;
    std::string_view title;        ///< "CUDA GPU Kernel Summary".
    std::string_view description;  ///< One line for `--help` and tool tips.
    bool isDefault = true;         ///< Among those that `stats` prints when none is named.
    bool isByRange = false;        ///< About the NVTX ranges that are named when it is made.
    bool isSampled = false;        ///< About counters, which may begin before the first event.
    /// What it tells its rows apart by, where others tell them apart by something else: "memory".
    std::string_view by = {};
};

/// The viewer's tab for a report, and its place among those, from 1 on; 0 for a report without one.
struct ReportTab {
    std::string_view title = {};
    int place = 0;
    /// Whether the report can have rows; constant. Null: it always can.
    bool (*mayHaveRows)(const Trace& trace) = nullptr;
};

/// A report and who makes it, in the report's own file. Columns are Nsight Systems' where it has
/// that report; `makeReport` adds name and title. Making one is linear in the events, but for the
/// sorting of the rows; any thread.
struct Report {
    ReportInfo info;
    /// Columns and rows; null for a listing.
    ReportTable (*build)(const ReportQuery& query) = nullptr;
    /// For a listing with a row for each event: hands them out in parts of some thousand, at least
    /// one, until the sink returns false.
    void (*list)(const ReportQuery& query, const PartSink& sink) = nullptr;
    ReportTab tab = {};
};

}  // namespace lanescope
