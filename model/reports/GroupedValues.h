// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"
#include "model/reports/Report.h"
#include "model/text/ReportTable.h"

namespace lanescope {

/// Numbers collected by key, for a summary with a row per key. Keys are whatever whole number tells
/// the groups apart: a string index, a kind, a pair packed into 64 bits.
class GroupedValues {
  public:
    struct Group {
        uint64_t key = 0;
        std::vector<int64_t> values = {};
        int64_t total = 0;    ///< Of the values; of times what lies in the range that is asked for.
        int64_t cut = 0;      ///< How many times reach beyond that range.
        int64_t unknown = 0;  ///< How many count without a value.
    };

    /// O(1).
    void add(uint64_t key, int64_t value) { add(key, value, value); }
    /// Counts one whose value is not known. O(1).
    void addUnknown(uint64_t key) { ++groupOf(key).unknown; }
    /// The time from `startNs` to `endNs`, if it counts for the query. O(1).
    void addTime(uint64_t key, const ReportQuery& query, int64_t startNs, int64_t endNs);
    /// In the order in which the keys first came. Open to be reordered by the statistics.
    std::span<Group> groups() { return groups_; }

    static uint64_t pairKey(uint32_t high, uint32_t low) {
        return (static_cast<uint64_t>(high) << 32) | low;
    }
    static uint32_t high(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
    static uint32_t low(uint64_t key) { return static_cast<uint32_t>(key); }

  private:
    /// `counted` is what of the value counts for the total.
    void add(uint64_t key, int64_t value, int64_t counted);
    Group& groupOf(uint64_t key);

    MixedMap<uint64_t, uint32_t> places_;
    std::vector<Group> groups_;
    uint32_t last_ = 0;  // runs of one key are common, and then nothing is looked up
};

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
