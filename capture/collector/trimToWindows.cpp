// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/trimToWindows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capture/collector/TraceWriter.h"
#include "model/format/GlobalId.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Threads.h"

namespace lanescope::capture {

namespace {

using Windows = std::vector<TimeRange>;
using Call = std::pair<int64_t, int64_t>;  ///< Process and correlation id.

struct Candidate {
    std::string_view table;
    int64_t row;
    Call call;
};

/// Finds GPU work of a table that starts outside the windows of its process. Migrations have no call and stay.
Result<void> findOutside(const Database& database, const RecordedWindows& windows, const auto& t,
                         std::vector<Candidate>& found) {
    return forEachRow(database,
                      fmt::format("SELECT rowid, {}, {}, {} FROM {}", t.globalPid.name, t.start.name,
                                  t.correlationId.name, t.tableName()),
                      [&](const Statement& row) {
                          const auto process = windows.find(row.integer(1));
                          if (process == windows.end() || row.isNull(2) || row.isNull(3)) return;
                          if (isInside(process->second, row.integer(2))) return;
                          found.push_back({t.tableName(), row.integer(0), {process->first, row.integer(3)}});
                      });
}

Result<void> deleteRows(const Database& database, std::string_view table, const std::vector<int64_t>& rows) {
    auto remove = database.prepare(fmt::format("DELETE FROM {} WHERE rowid = ?1", table));
    if (!remove) return fail(remove.error());
    for (const int64_t row : rows) {
        remove->bind(1, row);
        if (auto done = remove->run(); !done) return done;
    }
    return {};
}

/// Returns the length as a double: a log may contain times whose difference overflows.
double lengthOf(TimeRange range) {
    return static_cast<double>(static_cast<uint64_t>(range.endNs) - static_cast<uint64_t>(range.startNs));
}

/// Returns the share of `ns` for a part, at most all.
int64_t shareOf(int64_t ns, TimeRange part, TimeRange whole) {
    const double partNs = lengthOf(part), wholeNs = lengthOf(whole);
    if (partNs >= wholeNs) return ns;
    return static_cast<int64_t>(static_cast<double>(ns) * (partNs / wholeNs));
}

/// Returns the windows from the first one that does not end before `timeNs`. O(log n).
std::span<const TimeRange> from(const Windows& windows, int64_t timeNs) {
    return {std::ranges::lower_bound(windows, timeNs, {}, &TimeRange::endNs), windows.end()};
}

struct State {
    int64_t row = 0, cpuNs = 0, delayNs = 0;
    TimeRange times;
    const Windows* windows = nullptr;
};

Result<int64_t> trimStates(Database& database, const WindowsOfProcess& windowsOf) {
    constexpr const auto& t = tables::threadStates;
    std::vector<State> cut;
    if (auto read = forEachRow(database,
                               fmt::format("SELECT rowid, {}, {}, {}, {}, {} FROM {}", t.start.name, t.end.name,
                                           t.globalTid.name, t.cpuNs.name, t.delayNs.name, t.tableName()),
                               [&](const Statement& row) {
                                   const Windows* const windows = windowsOf(processOf(row.integer(3)));
                                   if (!windows) return;
                                   const TimeRange times{row.integer(1), row.integer(2)};
                                   const auto near = from(*windows, times.startNs);
                                   const bool isWhole = !near.empty() && near.front().startNs <= times.startNs &&
                                                        times.endNs <= near.front().endNs;
                                   if (!isWhole)
                                       cut.push_back({row.integer(0), row.integer(4), row.integer(5), times, windows});
                               });
        !read)
        return fail(read.error());
    auto remove = database.prepare(fmt::format("DELETE FROM {} WHERE rowid = ?1", t.tableName()));
    // A state that spans several windows becomes several states.
    const std::string others = fmt::format("{}, {}, {}, {}, {}, {}", t.globalTid.name, t.state.name, t.callchainId.name,
                                           t.callId.name, t.holderTid.name, t.holderCallchainId.name);
    auto insert = database.prepare(
        fmt::format("INSERT INTO {0} ({1}, {2}, {3}, {4}, {5}) SELECT ?2, ?3, ?4, ?5, {5} FROM {0} WHERE rowid = ?1",
                    t.tableName(), t.start.name, t.end.name, t.cpuNs.name, t.delayNs.name, others));
    if (!remove) return fail(remove.error());
    if (!insert) return fail(insert.error());
    int64_t skipped = 0;
    for (const State& state : cut) {
        int64_t pieces = 0;
        for (const TimeRange& window : from(*state.windows, state.times.startNs)) {
            if (window.startNs >= state.times.endNs) break;
            const TimeRange piece = window.intersected(state.times);
            if (piece.isEmpty()) continue;
            ++pieces;
            insert->bind(1, state.row);
            insert->bind(2, piece.startNs);
            insert->bind(3, piece.endNs);
            insert->bind(4, shareOf(state.cpuNs, piece, state.times));
            insert->bind(5, shareOf(state.delayNs, piece, state.times));
            if (auto done = insert->run(); !done) return fail(done.error());
        }
        if (pieces == 0) ++skipped;
        remove->bind(1, state.row);
        if (auto done = remove->run(); !done) return fail(done.error());
    }
    return skipped;
}

struct Switch {
    int64_t timeNs = 0, core = 0;
    bool isIn = false;
    std::optional<int64_t> isPreempted;
};

/// Returns the rest of one thread's sorted switches. From its last one on its state is unknown,
/// whatever window that lies in: most threads have ended.
std::vector<Switch> trimmed(const std::vector<Switch>& switches, const Windows& windows) {
    std::vector<Switch> kept;
    for (const TimeRange& window : windows) {
        auto at = std::ranges::lower_bound(switches, window.startNs, {}, &Switch::timeNs);
        if (at == switches.end()) break;
        const auto end = std::ranges::lower_bound(switches, window.endNs, {}, &Switch::timeNs);
        std::vector<Switch> inside(at, end);
        if (at != switches.begin()) {
            inside.insert(inside.begin(), *std::prev(at));
            inside.front().timeNs = window.startNs;
        }
        if (inside.empty()) continue;
        // The time since the previous window is unknown: two switches of one kind enclose it.
        if (!kept.empty() && kept.back().isIn != inside.front().isIn) {
            Switch same = inside.front();
            same.timeNs = kept.back().timeNs;
            kept.push_back(same);
        }
        kept.insert(kept.end(), inside.begin(), inside.end());
        if (end == switches.end()) break;
        Switch last = inside.back();
        last.timeNs = window.endNs;
        last.isIn = !last.isIn;
        last.isPreempted.reset();
        kept.push_back(last);
    }
    return kept;
}

Result<int64_t> trimSwitches(Database& database, const WindowsOfProcess& windowsOf) {
    constexpr const auto& t = tables::scheduleEvents;
    std::map<int64_t, std::vector<Switch>> switchesOf;
    std::vector<int64_t> rows;
    if (auto read = forEachRow(
            database,
            fmt::format("SELECT rowid, {}, {}, {}, {}, {} FROM {} ORDER BY {}, rowid", t.start.name, t.cpu.name,
                        t.isSchedIn.name, t.globalTid.name, t.isPreempted.name, t.tableName(), t.start.name),
            [&](const Statement& row) {
                if (!windowsOf(processOf(row.integer(4)))) return;
                rows.push_back(row.integer(0));
                Switch change{row.integer(1), row.integer(2), row.integer(3) != 0, {}};
                if (!row.isNull(5)) change.isPreempted = row.integer(5);
                switchesOf[row.integer(4)].push_back(change);
            });
        !read)
        return fail(read.error());
    auto insert =
        database.prepare(fmt::format("INSERT INTO {} ({}, {}, {}, {}, {}) VALUES (?1, ?2, ?3, ?4, ?5)", t.tableName(),
                                     t.start.name, t.cpu.name, t.isSchedIn.name, t.globalTid.name, t.isPreempted.name));
    if (!insert) return fail(insert.error());
    if (auto done = deleteRows(database, t.tableName(), rows); !done) return fail(done.error());
    int64_t kept = 0;
    for (const auto& [thread, switches] : switchesOf)
        for (const Switch& each : trimmed(switches, *windowsOf(processOf(thread)))) {
            insert->bind(1, each.timeNs);
            insert->bind(2, each.core);
            insert->bind(3, int64_t{each.isIn ? 1 : 0});
            insert->bind(4, thread);
            insert->bind(5, each.isPreempted);
            if (auto done = insert->run(); !done) return fail(done.error());
            ++kept;
        }
    return std::max<int64_t>(0, static_cast<int64_t>(rows.size()) - kept);
}

Result<int64_t> trimSamples(Database& database, const WindowsOfProcess& windowsOf) {
    constexpr const auto& t = tables::sampleEvents;
    constexpr const auto& chain = tables::samplingCallchains;
    std::vector<int64_t> rows;
    if (auto read = forEachRow(
            database, fmt::format("SELECT rowid, {}, {} FROM {}", t.start.name, t.globalTid.name, t.tableName()),
            [&](const Statement& row) {
                const Windows* windows = windowsOf(processOf(row.integer(2)));
                if (windows && !isInside(*windows, row.integer(1))) rows.push_back(row.integer(0));
            });
        !read)
        return fail(read.error());
    if (rows.empty()) return 0;
    if (auto done = deleteRows(database, t.tableName(), rows); !done) return fail(done.error());
    const std::string unused = fmt::format("DELETE FROM {} WHERE {} NOT IN (SELECT {} FROM {} WHERE {} IS NOT NULL)",
                                           chain.tableName(), chain.id.name, t.id.name, t.tableName(), t.id.name);
    if (auto done = database.execute(unused.c_str()); !done) return fail(done.error());
    return static_cast<int64_t>(rows.size());
}

}  // namespace

bool isInside(const std::vector<TimeRange>& windows, int64_t timeNs) {
    const auto after = std::ranges::upper_bound(windows, timeNs, {}, &TimeRange::startNs);
    return after != windows.begin() && timeNs < std::prev(after)->endNs;
}

Result<int64_t> trimToWindows(Database& database, const RecordedWindows& windows) {
    if (windows.empty()) return 0;
    std::vector<Candidate> candidates;
    Result<void> read;
    const auto find = [&](const auto& table) {
        if (read) read = findOutside(database, windows, table, candidates);
    };
    find(tables::kernels);
    find(tables::memcpys);
    find(tables::memsets);
    find(tables::graphs);
    if (!read) return fail(read.error());
    if (candidates.empty()) return 0;

    std::set<Call> wanted, recorded;
    for (const Candidate& candidate : candidates) wanted.insert(candidate.call);
    std::set<int64_t> callers;
    constexpr const auto& t = tables::apiCalls;
    read = forEachRow(database,
                      fmt::format("SELECT {}, {} FROM {}", t.globalTid.name, t.correlationId.name, t.tableName()),
                      [&](const Statement& row) {
                          const Call made{processOf(row.integer(0)), row.integer(1)};
                          callers.insert(made.first);
                          if (wanted.contains(made)) recorded.insert(made);
                      });
    if (!read) return fail(read.error());

    std::map<std::string_view, std::vector<int64_t>> rowsOf;
    for (const Candidate& candidate : candidates)
        if (!recorded.contains(candidate.call) && callers.contains(candidate.call.first))
            rowsOf[candidate.table].push_back(candidate.row);
    int64_t count = 0;
    for (const auto& [table, rows] : rowsOf) {
        if (auto done = deleteRows(database, table, rows); !done) return fail(done.error());
        count += static_cast<int64_t>(rows.size());
    }
    return count;
}

Result<int64_t> trimThreadsToWindows(Database& database, const WindowsOfProcess& windowsOf) {
    int64_t skipped = 0;
    for (const auto trim : {&trimStates, &trimSwitches, &trimSamples}) {
        const Result<int64_t> rows = trim(database, windowsOf);
        if (!rows) return rows;
        skipped += *rows;
    }
    return skipped;
}

std::vector<TimeRange> joined(std::vector<TimeRange> ranges) {
    std::ranges::sort(ranges, {}, &TimeRange::startNs);
    std::vector<TimeRange> all;
    for (const TimeRange& range : ranges) {
        if (range.endNs <= range.startNs) continue;
        if (!all.empty() && range.startNs <= all.back().endNs)
            all.back().endNs = std::max(all.back().endNs, range.endNs);
        else
            all.push_back(range);
    }
    return all;
}

}  // namespace lanescope::capture
