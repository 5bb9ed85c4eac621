// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/compare/checkRunSummary.h"
#include "model/compare/storedFacts.h"
#include "model/compare/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/format/tableSql.h"
#include "model/format/tables/Stored.h"
#include "model/format/tables/allTables.h"
#include "model/format/tables/traceFingerprint.h"
#include "model/values/fromIdentifier.h"

namespace lanescope::compare {

namespace {

// More than any real run has; a hostile file could ask for any amount of memory.
constexpr size_t maxWorkers = 4096;
constexpr size_t maxSteps = 4'000'000;
constexpr size_t maxParts = maxSteps * stepPartCount;
constexpr size_t maxListed = 1'000'000;
constexpr size_t maxFacts = 10'000;

/// The rows of one table in their order; a cell that is not what it must be ends the reading.
template <class Table>
class StoredRows {
  public:
    using Column = tables::ColumnOf<Table>;

    StoredRows(const Database& database, const Table& table, size_t maxRows) : left_(maxRows) {
        auto statement = database.prepare(selectSql(table));
        isGood_ = statement.has_value();
        if (isGood_) statement_ = std::move(*statement);
    }
    bool next() {
        if (!isGood_) return false;
        const auto row = statement_.step();
        isGood_ = row && (!*row || left_-- > 0);
        return isGood_ && *row;
    }
    int64_t number(Column column) {
        isGood_ = isGood_ && statement_.isInteger(place(column));
        return isGood_ ? statement_.integer(place(column)) : 0;
    }
    std::optional<int64_t> numberOrNull(Column column) {
        return statement_.isNull(place(column)) ? std::nullopt : std::optional(number(column));
    }
    bool flag(Column column) { return number(column) != 0; }
    std::string text(Column column) { return std::string(view(column)); }
    std::string_view view(Column column) { return statement_.text(place(column)); }
    /// The one of an enumeration, up to `last`, that has this identifier.
    template <class Enumeration>
    Enumeration identified(Column column, Enumeration last) {
        const auto found = fromIdentifier(view(column), last);
        isGood_ = isGood_ && found.has_value();
        return found.value_or(last);
    }
    StepPart part(Column column) { return identified(column, StepPart::OtherIdle); }
    /// The one of a list that a row belongs to; null, and the end, for one that is not there.
    template <class Item>
    Item* itemOf(std::vector<Item>& items, Column column) {
        const int64_t index = number(column);
        isGood_ = isGood_ && index >= 0 && static_cast<size_t>(index) < items.size();
        return isGood_ ? &items[static_cast<size_t>(index)] : nullptr;
    }
    bool isGood() const { return isGood_; }

  private:
    static int place(Column column) { return static_cast<int>(column.number()); }

    Statement statement_;
    size_t left_;
    bool isGood_ = false;
};

/// What the facts say beside those of the run.
struct Header {
    int64_t version = 0;
    int64_t fingerprint = 0;
};

/// Takes the value of a row into a member of the summary.
class FactReader {
  public:
    explicit FactReader(StoredRows<tables::StoredFacts>& rows) : rows_(rows) {}

    void take(std::string& text) { text = rows_.text(value); }
    void take(int64_t& number) { number = rows_.number(value); }
    void take(uint64_t& number) { number = static_cast<uint64_t>(rows_.number(value)); }
    void take(bool& flag) { flag = rows_.flag(value); }
    void take(std::optional<int64_t>& number) { number = rows_.number(value); }
    void take(std::vector<std::string>& texts) { texts.push_back(rows_.text(value)); }
    void take(StepKind& kind) { kind = rows_.identified(value, StepKind::Request); }
    void take(StepSource& source) { source = rows_.identified(value, StepSource::Chosen); }
    void take(LinkEvidence& evidence) {
        evidence = rows_.identified(value, LinkEvidence::Collectives);
    }
    void take(NvlinkVerdict::Use& use) { use = rows_.identified(value, NvlinkVerdict::Use::Used); }

  private:
    static constexpr const auto& value = tables::storedFacts.value;

    StoredRows<tables::StoredFacts>& rows_;
};

bool readFacts(const Database& database, RunSummary& summary) {
    Header header;
    StoredRows rows(database, tables::storedFacts, maxFacts);
    FactReader reader(rows);
    while (rows.next()) {
        const std::string name = rows.text(tables::storedFacts.name);
        if (name == "version") reader.take(header.version);
        if (name == "fingerprint") reader.take(header.fingerprint);
        forEachStoredFact(summary, [&](std::string_view each, auto& member) {
            if (each == name) reader.take(member);
        });
    }
    summary.facts.title = std::filesystem::path(database.path()).filename().string();
    return rows.isGood() && header.version == storedVersion &&
           header.fingerprint == traceFingerprint(database);
}

bool readHealth(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedHealth;
    StoredRows rows(database, t, maxFacts);
    while (rows.next()) {
        HealthNote note{severityFrom(rows.number(t.severity)), healthCodeFrom(rows.text(t.code)),
                        rows.text(t.sentence)};
        note.globalPid = rows.numberOrNull(t.globalPid);
        note.count = rows.numberOrNull(t.count);
        if (note.code == HealthCode::Unknown) note.unknownCode = rows.text(t.code);
        summary.facts.healthWarnings.push_back(std::move(note));
    }
    return rows.isGood();
}

bool readWorkers(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedWorkers;
    StoredRows rows(database, t, maxWorkers);
    while (rows.next()) {
        if (rows.number(t.worker) != static_cast<int64_t>(summary.workers.size())) return false;
        WorkerSummary worker;
        worker.pid = static_cast<uint32_t>(rows.number(t.pid));
        if (const auto rank = rows.numberOrNull(t.rank)) worker.rank = static_cast<int>(*rank);
        worker.processName = rows.text(t.processName);
        worker.gpuId = rows.number(t.gpuId);
        worker.gpuName = rows.text(t.gpuName);
        worker.endedAbnormally = rows.flag(t.endedAbnormally);
        worker.foundSteps = rows.number(t.foundSteps);
        worker.warmUpSteps = rows.number(t.warmUpSteps);
        worker.isLastLeftOut = rows.flag(t.isLastLeftOut);
        worker.workNs = rows.number(t.workNs);
        worker.pauses = {rows.number(t.pauses), rows.number(t.pauseIdleNs),
                         rows.number(t.longestPauseStartNs), rows.number(t.longestPauseNs),
                         rows.number(t.pauseNs)};
        worker.highestSmClockHz = rows.number(t.highestSmClockHz);
        worker.heldBackNs = rows.numberOrNull(t.heldBackNs);
        worker.loaders = {rows.number(t.loaderThreads), rows.number(t.loaderKnownNs),
                          rows.number(t.loaderRanNs), rows.number(t.loaderNoCoreNs),
                          rows.number(t.loaderInputNs)};
        const auto noCoreThreads = rows.numberOrNull(t.noCoreThreads);
        const auto noCoreNs = rows.numberOrNull(t.noCoreNs);
        // One without the other is what no run has.
        if (noCoreNs || noCoreThreads)
            worker.coreWaits = CoreWaits{noCoreThreads.value_or(-1), noCoreNs.value_or(-1)};
        worker.launches = {rows.number(t.launches), rows.number(t.launchNs),
                           rows.text(t.launchPlace), rows.number(t.launchesThere)};
        worker.rest = {rows.number(t.restNs), rows.text(t.rest)};
        summary.workers.push_back(std::move(worker));
    }
    return rows.isGood();
}

bool readClocks(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedGpuClocks;
    StoredRows rows(database, t, maxListed);
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        if (!worker) return false;
        worker->clocks.push_back({static_cast<uint64_t>(rows.number(t.reasons)), rows.number(t.ns),
                                  rows.number(t.smClockHz), rows.number(t.longestStartNs),
                                  rows.number(t.longestNs)});
    }
    return rows.isGood();
}

bool readSteps(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedSteps;
    StoredRows rows(database, t, maxSteps);
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        if (!worker) return false;
        worker->steps.push_back({rows.number(t.number),
                                 rows.text(t.name),
                                 rows.number(t.startNs),
                                 rows.number(t.wallNs),
                                 {},
                                 rows.numberOrNull(t.onCpuNs)});
    }
    return rows.isGood();
}

/// A part that is there twice cannot be told from one that is wrong; the sums then are.
bool readParts(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedParts;
    StoredRows rows(database, t, maxParts);
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        StepSummary* step = worker ? rows.itemOf(worker->steps, t.step) : nullptr;
        if (!step) return false;
        step->parts[rows.part(t.part)] = rows.number(t.ns);
    }
    return rows.isGood();
}

bool readContributors(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedContributors;
    StoredRows rows(database, t, maxListed);
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        if (!worker) return false;
        Contributor each;
        each.part = rows.part(t.part);
        each.kind = rows.identified(t.kind, ContributorKind::Others);
        each.trait = rows.identified(t.trait, ContributorTrait::Unknown);
        each.name = rows.text(t.name);
        each.path = rows.text(t.path);
        each.count = rows.number(t.count);
        each.exposedNs = rows.number(t.exposedNs);
        each.totalNs = rows.number(t.totalNs);
        each.bytes = rows.number(t.bytes);
        each.busBytes = rows.number(t.busBytes);
        each.order = rows.number(t.firstPlace);
        each.waitedNs = rows.number(t.waitedNs);
        each.workedNs = rows.number(t.workedNs);
        each.launched = rows.text(t.launched);
        worker->contributors.push_back(std::move(each));
    }
    return rows.isGood();
}

bool readOutliers(const Database& database, RunSummary& summary) {
    constexpr const auto& t = tables::storedOutliers;
    StoredRows rows(database, t, maxListed);
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        if (!worker) return false;
        OutlierStep step;
        step.number = rows.number(t.number);
        step.name = rows.text(t.name);
        step.startNs = rows.number(t.startNs);
        step.wallNs = rows.number(t.wallNs);
        step.excessNs = rows.number(t.excessNs);
        step.part = rows.part(t.part);
        step.partExcessNs = rows.number(t.partExcessNs);
        step.contributor = rows.text(t.contributor);
        step.path = rows.text(t.path);
        worker->outliers.push_back(std::move(step));
    }
    return rows.isGood();
}

/// `readRunSummary` of a file, which stays open.
std::optional<RunSummary> readTrusted(const Database& database) {
    if (database.sealState() != SealState::Whole) return std::nullopt;
    std::optional<RunSummary> summary = readRunSummary(database);
    if (database.trouble() || database.doubt()) return std::nullopt;
    return summary;
}

}  // namespace

std::optional<RunSummary> readRunSummary(const Database& database) {
    // Views are not tables.
    for (const tables::Table* table : tables::storedTables())
        if (!database.hasTable(table->tableName())) return std::nullopt;
    RunSummary summary;
    for (const auto read : {&readFacts, &readHealth, &readWorkers, &readClocks, &readSteps,
                            &readParts, &readContributors, &readOutliers})
        if (!read(database, summary)) return std::nullopt;
    if (!isConsistent(summary)) return std::nullopt;
    return summary;
}

std::optional<RunSummary> readRunSummary(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readTrusted(*database) : std::nullopt;
}

std::optional<RunSummary> readRunSummaryChecked(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    std::optional<RunSummary> summary = database ? readTrusted(*database) : std::nullopt;
    if (!summary) return std::nullopt;
    database->readEveryPage();
    if (database->trouble() || database->sealState() != SealState::Whole) return std::nullopt;
    if (std::optional<FileDoubt> doubt = database->doubt()) {
        auto& warnings = summary->facts.healthWarnings;
        const auto place =
            std::find_if(warnings.begin(), warnings.end(),
                         [&](const HealthNote& each) { return each.severity < doubt->severity; });
        warnings.insert(place, {doubt->severity, doubt->code, std::move(doubt->sentence)});
    }
    return summary;
}

}  // namespace lanescope::compare
