// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/trimToWindows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Kernels.h"

namespace lanescope::capture {

namespace {

struct WorkTable {
    std::string selectSql;
    std::string deleteSql;
};

template <class Table>
WorkTable workTable(const Table& t) {
    return {fmt::format("SELECT rowid, {}, {}, {} FROM {}", t.globalPid.name, t.start.name,
                        t.correlationId.name, t.tableName()),
            fmt::format("DELETE FROM {} WHERE rowid = ?1", t.tableName())};
}

/// The tables of what a GPU does when it is told to.
std::array<WorkTable, 4> workTables() {
    return {workTable(tables::kernels), workTable(tables::memcpys), workTable(tables::memsets),
            workTable(tables::graphs)};
}

using Call = std::pair<int64_t, int64_t>;  ///< Process and correlation id.

struct Candidate {
    size_t table;
    int64_t row;
    Call call;
};

/// GPU work that starts outside the windows of its process. Migrations have no call and stay.
Result<std::vector<Candidate>> findOutside(const Database& database,
                                           const RecordedWindows& windows) {
    std::vector<Candidate> found;
    const auto work = workTables();
    for (size_t table = 0; table < work.size(); ++table) {
        auto statement = database.prepare(work[table].selectSql);
        if (!statement) return fail(statement.error());
        for (;;) {
            const auto row = statement->step();
            if (!row) return fail(row.error());
            if (!*row) break;
            const auto process = windows.find(statement->integer(1));
            if (process == windows.end() || statement->isNull(2) || statement->isNull(3)) continue;
            if (isInside(process->second, statement->integer(2))) continue;
            found.push_back(
                {table, statement->integer(0), {process->first, statement->integer(3)}});
        }
    }
    return found;
}

}  // namespace

bool isInside(const std::vector<TimeRange>& windows, int64_t timeNs) {
    const auto after = std::partition_point(
        windows.begin(), windows.end(),
        [timeNs](const TimeRange& window) { return window.startNs <= timeNs; });
    return after != windows.begin() && timeNs < std::prev(after)->endNs;
}

Result<int64_t> trimToWindows(Database& database, const RecordedWindows& windows) {
    if (windows.empty()) return 0;
    auto candidates = findOutside(database, windows);
    if (!candidates) return fail(candidates.error());
    if (candidates->empty()) return 0;

    std::set<Call> wanted;
    for (const Candidate& candidate : *candidates) wanted.insert(candidate.call);
    std::set<Call> recorded;
    std::set<int64_t> callers;
    constexpr const auto& call = tables::apiCalls;
    auto calls = database.prepare(fmt::format("SELECT {}, {} FROM {}", call.globalTid.name,
                                              call.correlationId.name, call.tableName()));
    if (!calls) return fail(calls.error());
    for (;;) {
        const auto row = calls->step();
        if (!row) return fail(row.error());
        if (!*row) break;
        const Call made{processOf(calls->integer(0)), calls->integer(1)};
        callers.insert(made.first);
        if (wanted.contains(made)) recorded.insert(made);
    }
    calls->reset();

    int64_t count = 0;
    const auto work = workTables();
    for (size_t table = 0; table < work.size(); ++table) {
        auto remove = database.prepare(work[table].deleteSql);
        if (!remove) return fail(remove.error());
        for (const Candidate& candidate : *candidates) {
            const bool isKept =
                recorded.contains(candidate.call) || !callers.contains(candidate.call.first);
            if (candidate.table != table || isKept) continue;
            remove->bind(1, candidate.row);
            if (auto done = remove->run(); !done) return fail(done.error());
            ++count;
        }
    }
    return count;
}

}  // namespace lanescope::capture
