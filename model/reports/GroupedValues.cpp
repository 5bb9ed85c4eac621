// SPDX-License-Identifier: Apache-2.0
#include "model/reports/GroupedValues.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/text/formatValue.h"

namespace lanescope {

void GroupedValues::addTime(uint64_t key, const ReportQuery& query, int64_t startNs, int64_t endNs) {
    if (query.includes(startNs, endNs)) add(key, endNs - startNs, query.timeWithin(startNs, endNs));
}

GroupedValues::Group& GroupedValues::groupOf(uint64_t key) {
    if (groups_.empty() || groups_[last_].key != key) {
        const auto [place, isNew] = places_.try_emplace(key, groups_.size());
        if (isNew) groups_.push_back({key});
        last_ = place->second;
    }
    return groups_[last_];
}

void GroupedValues::add(uint64_t key, int64_t value, int64_t counted) {
    Group& group = groupOf(key);
    group.values.push_back(value);
    group.total = saturatingSum(group.total, counted);
    if (counted != value) ++group.cut;
}

namespace {

std::vector<ReportColumn> columnsOf(const SummaryLayout& layout) {
    std::vector<ReportColumn> columns;
    if (layout.hasShare) columns.push_back({"Time", Unit::Percent});
    columns.push_back({std::string(layout.totalColumn), layout.unit});
    columns.push_back({std::string(layout.countColumn), Unit::Count});
    for (const char* figure : {"Avg", "Med", "Min", "Max", "StdDev"}) columns.push_back({figure, layout.unit});
    for (const std::string_view label : layout.labelColumns) columns.push_back({std::string(label), Unit::Text});
    return columns;
}

}  // namespace

SummaryRow::SummaryRow(GroupedValues::Group& group, std::vector<std::string> names, std::string found)
    : statistics(statisticsOf(group.values)),
      cut(group.cut),
      unknown(group.unknown),
      labels(std::move(names)),
      search(std::move(found)) {
    statistics.total = group.total;
}

std::vector<std::string> clippedNotes(int64_t cut, std::string_view total, std::string_view figures) {
    if (cut == 0) return {};
    return {fmt::format("{} {} beyond the range: {} counts the part inside, {} count whole events.", formatCount(cut),
                        cut == 1 ? "event reaches" : "events reach", total, figures)};
}

std::vector<std::string> sizeNotes(int64_t unknown) {
    if (unknown == 0) return {};
    return {fmt::format("{} without bytes {} counted but {} no size.", formatCount(unknown),
                        unknown == 1 ? "is" : "are", unknown == 1 ? "has" : "have")};
}

ReportTable summaryTable(const SummaryLayout& layout, std::vector<SummaryRow> rows) {
    std::ranges::sort(rows, [](const SummaryRow& a, const SummaryRow& b) {
        if (a.statistics.total != b.statistics.total) return a.statistics.total > b.statistics.total;
        return a.labels < b.labels;
    });
    double total = 0;
    int64_t cut = 0;
    for (const SummaryRow& row : rows) {
        total += static_cast<double>(row.statistics.total);
        cut += row.cut;
    }

    ReportTable table{.columns = columnsOf(layout), .notes = clippedNotes(cut, layout.totalColumn, "Avg to StdDev")};
    table.rows.reserve(rows.size());
    table.searches.reserve(rows.size());
    for (SummaryRow& row : rows) {
        const Statistics& figures = row.statistics;
        std::vector<Cell> cells;
        cells.reserve(table.columns.size());
        if (layout.hasShare) cells.emplace_back(total > 0 ? 100.0 * static_cast<double>(figures.total) / total : 0.0);
        const bool isKnown = figures.count > 0;
        const auto known = [isKnown](auto figure) { return isKnown ? Cell(figure) : Cell(); };
        cells.push_back(known(figures.total));
        cells.emplace_back(figures.count + row.unknown);
        cells.push_back(known(figures.average));
        cells.push_back(known(figures.median));
        cells.push_back(known(figures.minimum));
        cells.push_back(known(figures.maximum));
        cells.push_back(known(figures.standardDeviation));
        for (std::string& label : row.labels) cells.emplace_back(std::move(label));
        table.rows.push_back(std::move(cells));
        table.searches.push_back(std::move(row.search));
    }
    return table;
}

}  // namespace lanescope
