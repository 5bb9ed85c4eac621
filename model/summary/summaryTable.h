// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/summary/GroupedValues.h"
#include "model/values/ReportTable.h"
#include "model/values/Statistics.h"

namespace lanescope {

/// A row of a summary before it is a row of cells: the figures, and what they are of.
struct SummaryRow {
    SummaryRow() = default;
    /// Leaves the values in another order.
    SummaryRow(GroupedValues::Group& group, std::vector<std::string> names, std::string found);

    /// Of whole events, but for the total, which is of what of them lies in the range.
    Statistics statistics;
    int64_t cut = 0;      ///< How many of them reach beyond that.
    int64_t unknown = 0;  ///< How many more count, of which the figures know nothing.
    std::vector<std::string> labels;
    std::string search;  ///< As `ReportTable::searches`.
};

/// Says of a table in a range, in which `cut` events reach beyond it, what its columns are of:
/// `total` of what lies in the range, `figures` of whole events. None if no event does.
std::vector<std::string> cutNotes(int64_t cut, std::string_view total, std::string_view figures);

/// Says that `unknown` copies or memsets count without a size. None if there are none.
std::vector<std::string> sizeNotes(int64_t unknown);

/// What sets one summary apart from another.
struct SummaryLayout {
    Unit unit = Unit::Nanoseconds;
    bool hasShare = true;  ///< Starts with "Time (%)", the share of all rows' total.
    std::string_view totalColumn = "Total Time";
    std::string_view countColumn = "Instances";
    std::vector<std::string_view> labelColumns;  ///< As many as each row has labels.
};

/// The table every `_sum` report is: share, total, count, Avg, Med, Min, Max, StdDev, labels.
/// Greatest total first; equal totals by label, so that the order never depends on the file's. In a
/// range share and total count what lies in it, and a note says of how many events that is a part.
/// Where no value is known there is a count alone.
ReportTable summaryTable(const SummaryLayout& layout, std::vector<SummaryRow> rows);

}  // namespace lanescope
