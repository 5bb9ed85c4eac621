// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/values/ReportTable.h"
#include "model/values/Statistics.h"

namespace lanescope {

/// A row of a summary before it is a row of cells: the figures, and what they are of.
struct SummaryRow {
    Statistics statistics;
    std::vector<std::string> labels;
    std::string search;  ///< As `ReportTable::searches`.
};

/// What sets one summary apart from another.
struct SummaryLayout {
    Unit unit = Unit::Nanoseconds;
    bool hasShare = true;  ///< Starts with "Time (%)", the share of all rows' total.
    std::string_view totalColumn = "Total Time";
    std::string_view countColumn = "Instances";
    std::vector<std::string_view> labelColumns;  ///< As many as each row has labels.
};

/// The table every `_sum` report is: share, total, count, Avg, Med, Min, Max, StdDev, labels.
/// Greatest total first; equal totals by label, so that the order never depends on the file's.
ReportTable summaryTable(const SummaryLayout& layout, std::vector<SummaryRow> rows);

}  // namespace lanescope
