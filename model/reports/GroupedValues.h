// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"
#include "model/reports/reports.h"
#include "model/text/ReportTable.h"

namespace lanescope {

/// Numbers by key, for a summary with a row per key. A key identifies a group: a string index, a kind, a packed pair.
class GroupedValues {
  public:
    struct Group {
        uint64_t key = 0;
        std::vector<int64_t> values = {};
        int64_t total = 0;    ///< Sum of the values; for times the sum of their parts in the requested range.
        int64_t cut = 0;      ///< Number of times that extend beyond that range.
        int64_t unknown = 0;  ///< Number of events without a value.
    };

    /// O(1).
    void add(uint64_t key, int64_t value) { add(key, value, value); }
    /// Counts an event with an unknown value. O(1).
    void addUnknown(uint64_t key) { ++groupOf(key).unknown; }
    /// Adds the time from `startNs` to `endNs`, if the query includes it. O(1).
    void addTime(uint64_t key, const ReportQuery& query, int64_t startNs, int64_t endNs);
    /// Returns groups in the order of first occurrence. The statistics may reorder their values.
    std::span<Group> groups() { return groups_; }

    static uint64_t pairKey(uint32_t high, uint32_t low) { return (static_cast<uint64_t>(high) << 32) | low; }
    static uint32_t high(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
    static uint32_t low(uint64_t key) { return static_cast<uint32_t>(key); }

  private:
    /// `counted` is the part of the value that is added to the total.
    void add(uint64_t key, int64_t value, int64_t counted);
    Group& groupOf(uint64_t key);

    MixedMap<uint64_t, uint32_t> places_;
    std::vector<Group> groups_;
    uint32_t last_ = 0;  // avoids a lookup in the common runs of one key
};

/// A row of a summary before it is formatted: figures and labels.
struct SummaryRow {
    SummaryRow() = default;
    /// Reorders the values.
    SummaryRow(GroupedValues::Group& group, std::vector<std::string> names, std::string found);

    /// For whole events, except the total, which is their part in the range.
    Statistics statistics;
    int64_t cut = 0;      ///< Number of events that extend beyond the range.
    int64_t unknown = 0;  ///< Number of further events, which are not in the figures.
    std::vector<std::string> labels;
    std::string search;  ///< As `ReportTable::searches`.
};

/// Returns a note if `cut` events extend beyond the range: `total` is the part in it, `figures` are for whole events.
std::vector<std::string> clippedNotes(int64_t cut, std::string_view total, std::string_view figures);

/// Returns a note that `unknown` copies or memsets count without a size, if there are any.
std::vector<std::string> sizeNotes(int64_t unknown);

struct SummaryLayout {
    Unit unit = Unit::Nanoseconds;
    bool hasShare = true;  ///< Starts with "Time (%)", the share of all rows' total.
    std::string_view totalColumn = "Total Time";
    std::string_view countColumn = "Instances";
    std::vector<std::string_view> labelColumns;  ///< As many as each row has labels.
};

/// Returns the table of every `_sum` report: share, total, count, Avg, Med, Min, Max, StdDev, labels. Largest total
/// first; equal totals by label, so that the order never depends on the file's. In a range, share and total count the
/// part in it, and a note has the number of such events. Without known values only the count is filled.
ReportTable summaryTable(const SummaryLayout& layout, std::vector<SummaryRow> rows);

}  // namespace lanescope
