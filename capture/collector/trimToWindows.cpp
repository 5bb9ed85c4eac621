#include "capture/collector/trimToWindows.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "model/format/GlobalId.h"

namespace lanescope {

namespace {

struct WorkTable {
    const char* selectSql;
    const char* deleteSql;
};

// Statements are spelled out, so that no SQL is put together at run time.
constexpr std::array<WorkTable, 4> workTables{{
    {"SELECT rowid, globalPid, start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL",
     "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = ?1"},
    {"SELECT rowid, globalPid, start, correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY",
     "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE rowid = ?1"},
    {"SELECT rowid, globalPid, start, correlationId FROM CUPTI_ACTIVITY_KIND_MEMSET",
     "DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE rowid = ?1"},
    {"SELECT rowid, globalPid, start, correlationId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE WHERE rowid = ?1"},
}};

using Call = std::pair<int64_t, int64_t>;  ///< Process and correlation id.

struct Candidate {
    size_t table;
    int64_t row;
    Call call;
};

bool isInside(const std::vector<TimeRange>& windows, int64_t timeNs) {
    const auto after = std::partition_point(
        windows.begin(), windows.end(),
        [timeNs](const TimeRange& window) { return window.startNs <= timeNs; });
    return after != windows.begin() && timeNs < std::prev(after)->endNs;
}

/// GPU work that starts outside the windows of its process. Migrations have no call and stay.
Result<std::vector<Candidate>> findOutside(const Database& database,
                                           const RecordedWindows& windows) {
    std::vector<Candidate> found;
    for (size_t table = 0; table < workTables.size(); ++table) {
        auto statement = database.prepare(workTables[table].selectSql);
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

Result<int64_t> trimToWindows(Database& database, const RecordedWindows& windows) {
    if (windows.empty()) return 0;
    auto candidates = findOutside(database, windows);
    if (!candidates) return fail(candidates.error());
    if (candidates->empty()) return 0;

    std::set<Call> wanted;
    for (const Candidate& candidate : *candidates) wanted.insert(candidate.call);
    std::set<Call> recorded;
    std::set<int64_t> callers;
    auto calls =
        database.prepare("SELECT globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    if (!calls) return fail(calls.error());
    for (;;) {
        const auto row = calls->step();
        if (!row) return fail(row.error());
        if (!*row) break;
        const Call call{processOf(calls->integer(0)), calls->integer(1)};
        callers.insert(call.first);
        if (wanted.contains(call)) recorded.insert(call);
    }
    calls->reset();

    int64_t count = 0;
    for (size_t table = 0; table < workTables.size(); ++table) {
        auto remove = database.prepare(workTables[table].deleteSql);
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

}  // namespace lanescope
