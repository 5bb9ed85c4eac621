// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/format/GlobalId.h"
#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Per process. Every track of the process has them, so a hostile file must not have any number.
constexpr size_t maxWindows = 4096;
/// Later than any time that a table reader accepts.
constexpr int64_t neverNs = int64_t{1} << 62;

bool startsBefore(const TimeRange& a, const TimeRange& b) { return a.startNs < b.startNs; }

template <class Table>
uint32_t processIn(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> id = reader.integer(table.globalPid);
    return id ? identities.process(*id) : noIndex;
}

/// Sorts windows and merges overlaps, which only odd files have.
void tidy(std::vector<TimeRange>& windows) {
    std::sort(windows.begin(), windows.end(), startsBefore);
    std::vector<TimeRange> all;
    for (const TimeRange& window : windows) {
        if (!all.empty() && window.startNs < all.back().endNs)
            all.back().endNs = std::max(all.back().endNs, window.endNs);
        else
            all.push_back(window);
    }
    windows = std::move(all);
}

void readWindows(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::windows;
    TableReader reader(context, k, {k.globalPid, k.startNs, k.endNs}, "windows");
    while (reader.next()) {
        const uint32_t index = processIn(reader, k, directory.identities);
        const std::optional<int64_t> startNs = reader.time(k.startNs);
        if (index == noIndex || !startNs) continue;
        Process& process = context.builder().processes()[index];
        // A window that was open at the end of the process extends to that end, which may be unknown.
        const std::optional<int64_t> endNs = reader.isNull(k.endNs) ? neverNs : reader.time(k.endNs);
        if (!endNs || process.windows.size() >= maxWindows) {
            reader.skipRow();
            continue;
        }
        process.hasWindows = true;
        process.windows.push_back({*startNs, std::max(*startNs, *endNs)});
    }
    for (Process& process : context.builder().processes()) tidy(process.windows);
}

void readGaps(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& k = tables::gaps;
    TableReader reader(context, k, {k.globalPid, k.what, k.startNs, k.endNs, k.count}, "gaps");
    while (reader.next()) {
        const uint32_t index = processIn(reader, k, directory.identities);
        const std::optional<int64_t> startNs = reader.time(k.startNs);
        const std::optional<int64_t> endNs = startNs ? reader.time(k.endNs) : std::nullopt;
        if (index == noIndex || !endNs) continue;
        // An unknown kind is a loss, too.
        const int64_t what = reader.integerOr(k.what, 0);
        const bool isNumber = what >= 0 && what <= UINT32_MAX;
        std::vector<Gap>& gaps = context.builder().processes()[index].gaps;
        if (gaps.size() >= maxWindows) {
            reader.skipRow();
            continue;
        }
        gaps.push_back({isNumber ? static_cast<Loss>(what) : Loss::Unknown,
                        {*startNs, std::max(*startNs, *endNs)},
                        std::max<int64_t>(0, reader.integerOr(k.count, 0))});
    }
    for (Process& process : context.builder().processes())
        std::stable_sort(process.gaps.begin(), process.gaps.end(),
                         [](const Gap& a, const Gap& b) { return startsBefore(a.range, b.range); });
}

}  // namespace

void readRecordedTime(LoadContext& context, FileDirectory& directory) {
    readWindows(context, directory);
    readGaps(context, directory);
}

void readUntimed(LoadContext& context) {
    constexpr const auto& t = tables::untimed;
    TableReader reader(context, t, {t.inTable, t.copyKind}, "untimed activities");
    while (reader.next()) {
        const std::string_view name = reader.text(t.inTable);
        const bool isKnown = std::ranges::any_of(
            tables::eventTables(), [name](const tables::Table* table) { return table->tableName() == name; });
        if (isMigration(memcpyKindFrom(reader.integerOr(t.copyKind, 0))))
            context.addUntimed(migrationsCounted);
        else if (isKnown)
            context.addUntimed(name);
        else
            reader.skipRow();
    }
}

namespace {

/// The entries of `ENUM_CUPTI_OVERHEAD_TYPE` that cost nothing without a profiler. Others, such as
/// the loading of modules, happen anyway.
struct Overhead {
    int64_t type;
    std::string_view name;
    int64_t totalNs = 0;
};

}  // namespace

void readOverhead(LoadContext& context) {
    std::array<Overhead, 3> overheads{
        {{3, "flushing CUPTI's buffers"}, {4, "CUPTI's instrumentation"}, {5, "setting up CUPTI's resources"}}};
    constexpr const auto& k = tables::overheads;
    TableReader reader(context, k, {k.start, k.end, k.overheadType, k.globalTid}, "overhead");
    while (reader.next()) {
        const std::optional<int64_t> thread = reader.integer(k.globalTid);
        const int64_t type = reader.integerOr(k.overheadType, 0);
        const auto found =
            std::find_if(overheads.begin(), overheads.end(), [&](const Overhead& each) { return each.type == type; });
        // Work on a thread of the profiler does not slow the program.
        if (found == overheads.end() || !thread || threadIdOf(*thread) == 0) continue;
        const std::optional<TimeRange> times = reader.times(k.start, k.end);
        if (!times) continue;
        const int64_t room = std::numeric_limits<int64_t>::max() / 4 - found->totalNs;
        found->totalNs += std::min(times->endNs - times->startNs, room);
    }
    std::sort(overheads.begin(), overheads.end(),
              [](const Overhead& a, const Overhead& b) { return a.totalNs > b.totalNs; });
    int64_t totalNs = 0;
    std::string parts;
    for (const Overhead& each : overheads) {
        if (each.totalNs == 0) continue;
        totalNs += each.totalNs;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", each.name, formatDuration(each.totalNs));
    }
    if (totalNs > 0)
        context.note(
            {Severity::Info, HealthCode::ProfilerOverhead,
             fmt::format("Profiler overhead on the program's threads: {} ({}).", formatDuration(totalNs), parts)});
}

}  // namespace lanescope
