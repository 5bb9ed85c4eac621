// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <type_traits>

#include "model/compare/storedFacts.h"
#include "model/compare/storedSummary.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tableSql.h"
#include "model/format/tables/Stored.h"
#include "model/format/tables/allTables.h"
#include "model/format/tables/traceFingerprint.h"

namespace lanescope::compare {

namespace {

/// What was stored before the family had one version.
constexpr std::array<const char*, 5> formerTables{
    "LANESCOPE_SUMMARY", "LANESCOPE_SUMMARY_WORKERS", "LANESCOPE_SUMMARY_STEPS",
    "LANESCOPE_SUMMARY_CONTRIBUTORS", "LANESCOPE_SUMMARY_OUTLIERS"};

Result<void> makeTablesAnew(Database& database) {
    std::string sql;
    for (const char* table : formerTables) sql += fmt::format("DROP TABLE IF EXISTS {};", table);
    for (const tables::Table* table : tables::storedTables())
        sql += fmt::format("DROP TABLE IF EXISTS {};\n{}\n", table->tableName(), createSql(*table));
    return database.execute(sql.c_str());
}

class FactWriter {
  public:
    FactWriter(const Database& database, FirstError& error)
        : rows_(database, tables::storedFacts, error) {}

    template <class T>
    void operator()(std::string_view name, const T& value) {
        if constexpr (std::is_enum_v<T>)
            insert(name, identifier(value));
        else if constexpr (std::is_same_v<T, uint64_t>)
            insert(name, static_cast<int64_t>(value));
        else
            insert(name, value);
    }
    void operator()(std::string_view name, const std::optional<int64_t>& value) {
        if (value) insert(name, *value);
    }
    void operator()(std::string_view name, const std::vector<std::string>& texts) {
        for (const std::string& text : texts) insert(name, text);
    }

  private:
    template <class T>
    void insert(std::string_view name, const T& value) {
        rows_.insert(tables::storedFacts.name = name, tables::storedFacts.value = value);
    }

    Inserter<tables::StoredFacts> rows_;
};

void writeFacts(const Database& database, const RunSummary& summary, FirstError& error) {
    FactWriter write(database, error);
    write("version", storedVersion);
    write("fingerprint", traceFingerprint(database));
    forEachStoredFact(summary, write);
}

void writeHealth(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedHealth;
    Inserter rows(database, t, error);
    for (const HealthNote& note : summary.facts.healthWarnings)
        rows.insert(t.severity = static_cast<int64_t>(note.severity), t.code = codeOf(note),
                    t.globalPid = note.globalPid, t.count = note.count, t.sentence = note.sentence);
}

void writeWorkers(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedWorkers;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers)
        rows.insert(
            t.worker = index++, t.pid = worker.pid, t.rank = worker.rank,
            t.processName = worker.processName, t.gpuId = worker.gpuId, t.gpuName = worker.gpuName,
            t.endedAbnormally = worker.endedAbnormally, t.foundSteps = worker.foundSteps,
            t.warmUpSteps = worker.warmUpSteps, t.isLastLeftOut = worker.isLastLeftOut,
            t.workNs = worker.workNs, t.pauses = worker.pauses.count, t.pauseNs = worker.pauses.ns,
            t.pauseIdleNs = worker.pauses.idleNs,
            t.longestPauseStartNs = worker.pauses.longestStartNs,
            t.longestPauseNs = worker.pauses.longestNs,
            t.highestSmClockHz = worker.highestSmClockHz, t.heldBackNs = worker.heldBackNs,
            t.loaderThreads = worker.loaders.threads, t.loaderKnownNs = worker.loaders.knownNs,
            t.loaderRanNs = worker.loaders.ranNs, t.loaderNoCoreNs = worker.loaders.noCoreNs,
            t.loaderInputNs = worker.loaders.inputNs,
            t.noCoreThreads =
                worker.coreWaits ? std::optional(worker.coreWaits->threads) : std::nullopt,
            t.noCoreNs = worker.coreWaits ? std::optional(worker.coreWaits->ns) : std::nullopt,
            t.launches = worker.launches.count, t.launchNs = worker.launches.medianNs,
            t.launchPlace = worker.launches.place, t.launchesThere = worker.launches.placeCount,
            t.restNs = worker.rest.ns, t.rest = worker.rest.name);
}

void writeClocks(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedGpuClocks;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const ClockState& each : worker.clocks)
            rows.insert(t.worker = index, t.reasons = static_cast<int64_t>(each.reasons),
                        t.ns = each.ns, t.smClockHz = each.smClockHz,
                        t.longestStartNs = each.longestStartNs, t.longestNs = each.longestNs);
        ++index;
    }
}

void writeSteps(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedSteps;
    constexpr const auto& p = tables::storedParts;
    Inserter rows(database, t, error);
    Inserter parts(database, p, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        int64_t place = 0;
        for (const StepSummary& step : worker.steps) {
            rows.insert(t.worker = index, t.number = step.number, t.name = step.name,
                        t.startNs = step.startNs, t.wallNs = step.wallNs, t.onCpuNs = step.onCpuNs);
            for (size_t part = 0; part < stepPartCount; ++part)
                if (const int64_t ns = step.parts.ns[part]; ns != 0)
                    parts.insert(p.worker = index, p.step = place,
                                 p.part = identifier(static_cast<StepPart>(part)), p.ns = ns);
            ++place;
        }
        ++index;
    }
}

void writeContributors(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedContributors;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const Contributor& each : worker.contributors)
            rows.insert(
                t.worker = index, t.part = identifier(each.part), t.kind = identifier(each.kind),
                t.trait = identifier(each.trait), t.name = each.name, t.path = each.path,
                t.count = each.count, t.exposedNs = each.exposedNs, t.totalNs = each.totalNs,
                t.bytes = each.bytes, t.busBytes = each.busBytes, t.firstPlace = each.order,
                t.waitedNs = each.waitedNs, t.workedNs = each.workedNs, t.launched = each.launched);
        ++index;
    }
}

void writeOutliers(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedOutliers;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const OutlierStep& step : worker.outliers)
            rows.insert(t.worker = index, t.number = step.number, t.name = step.name,
                        t.startNs = step.startNs, t.wallNs = step.wallNs,
                        t.excessNs = step.excessNs, t.part = identifier(step.part),
                        t.partExcessNs = step.partExcessNs, t.contributor = step.contributor,
                        t.path = step.path);
        ++index;
    }
}

Result<void> writeTables(Database& database, const RunSummary& summary) {
    if (auto done = makeTablesAnew(database); !done) return done;
    FirstError error;
    for (const auto write : {&writeFacts, &writeHealth, &writeWorkers, &writeClocks, &writeSteps,
                             &writeContributors, &writeOutliers})
        write(database, summary, error);
    if (error) return fail(*error);
    return {};
}

}  // namespace

Result<void> writeRunSummary(Database& database, const RunSummary& summary) {
    if (auto done = database.execute("BEGIN"); !done) return done;
    if (auto done = writeTables(database, summary); !done) {
        // Why it could not be written is the better answer than that this fails too.
        static_cast<void>(database.execute("ROLLBACK"));
        return done;
    }
    return database.execute("COMMIT");
}

}  // namespace lanescope::compare
