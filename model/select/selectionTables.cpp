// SPDX-License-Identifier: Apache-2.0
#include "model/select/selectionTables.h"

#include <fmt/format.h>

#include <array>

#include "model/trace/kinds/eventFacts.h"
#include "model/values/formatTable.h"

namespace lanescope {

namespace {

double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

ReportTable selectedNames(const Trace& trace, const SelectionStatistics& statistics, size_t most) {
    ReportTable table;
    table.name = "selection_names";
    table.title = "Selection";
    table.columns = {{"What", Unit::Text},       {"Total", Unit::Nanoseconds},
                     {"Count", Unit::Count},     {"Mean", Unit::Nanoseconds},
                     {"Min", Unit::Nanoseconds}, {"Max", Unit::Nanoseconds},
                     {"Name", Unit::Text}};
    std::array<size_t, EventRef::kindLimit> taken{};
    for (const NameStatistics& entry : statistics.names) {
        if (++taken[static_cast<size_t>(entry.key.kind())] > most) continue;
        table.searches.push_back(nameOf(trace, entry.key));
        table.rows.push_back({std::string(nameOfKind(entry.key.kind())), entry.sums.totalNs,
                              entry.sums.count, entry.meanNs(), entry.sums.minimumNs,
                              entry.sums.maximumNs, table.searches.back()});
    }
    return table;
}

ReportTable selectedCopies(const SelectionStatistics& statistics) {
    ReportTable table;
    table.name = "selection_copies";
    table.title = "Copies in the selection";
    table.columns = {
        {"Kind", Unit::Text},   {"Memory", Unit::Text}, {"Mean", Unit::GigabytesPerSecond},
        {"Total", Unit::Bytes}, {"Count", Unit::Count}, {"Total Time", Unit::Nanoseconds}};
    for (const CopyTotals& entry : statistics.copies) {
        const bool isMemset = entry.key.kind() == EventKind::Memset;
        const std::string kind = isMemset ? "memset" : std::string(name(entry.key.memcpyKind()));
        const std::string source =
            isMemset ? "" : fmt::format("{} \u2192 ", name(entry.key.source()));
        table.searches.push_back(isMemset ? kind : searchName(entry.key.memcpyKind()));
        table.rows.push_back({kind, source + std::string(name(entry.key.destination())),
                              entry.meanGBps(), entry.sums.bytes, entry.sums.count,
                              entry.sums.totalNs});
    }
    return table;
}

std::string selectionHeadline(const Trace& trace, const SelectionStatistics& statistics) {
    constexpr int mostShown = 16;
    std::string text = formatDuration(statistics.range.durationNs()) + " selected";
    int shown = 0;
    for (const BusyStatistics& busy : statistics.busy) {
        const Track& track = trace.tracks[busy.track];
        if (track.kind != TrackKind::Gpu || ++shown > mostShown) continue;
        text += fmt::format("{} {} busy {:.1f} %", shown == 1 ? ":" : ",", track.title,
                            percent(busy.busyNs, statistics.range.durationNs()));
    }
    return text;
}

}  // namespace lanescope
