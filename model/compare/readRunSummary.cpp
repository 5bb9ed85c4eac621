// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include "model/compare/checkRunSummary.h"
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

void takeFact(StoredRows<tables::StoredFacts>& rows, Header& header, RunSummary& summary) {
    constexpr const auto& value = tables::storedFacts.value;
    const std::string_view name = rows.view(tables::storedFacts.name);
    SummaryFacts& facts = summary.facts;
    if (name == "version")
        header.version = rows.number(value);
    else if (name == "fingerprint")
        header.fingerprint = rows.number(value);
    else if (name == "contentHash")
        facts.contentHash = static_cast<uint64_t>(rows.number(value));
    else if (name == "stepSource")
        summary.source = rows.identified(value, StepSource::Chosen);
    else if (name == "stepPattern")
        summary.pattern = rows.text(value);
    else if (name == "producer")
        facts.producer = rows.text(value);
    else if (name == "driver")
        facts.driver = rows.text(value);
    else if (name == "cuda")
        facts.cuda = rows.text(value);
    else if (name == "commandLine")
        facts.commandLine = rows.text(value);
    else if (name == "recordOptions")
        facts.recordOptions = rows.text(value);
    else if (name == "worldSize")
        facts.worldSize = rows.number(value);
    else if (name == "kernelCount")
        facts.kernelCount = rows.number(value);
    else if (name == "isNvlinkPresent")
        facts.isNvlinkPresent = rows.flag(value);
    else if (name == "nvlinkUse")
        summary.nvlink.use = rows.identified(value, NvlinkVerdict::Use::Used);
    else if (name == "nvlinkEvidence")
        summary.nvlink.evidence = rows.identified(value, LinkEvidence::Collectives);
    else if (name == "nvlinkBytesPerStep")
        summary.nvlink.bytesPerStep = rows.number(value);
    else if (name == "nvlinkStepEvidence")
        summary.nvlink.stepEvidence = rows.identified(value, LinkEvidence::Collectives);
    else if (name == "nvlinkBestBytesPerSecond")
        summary.nvlink.bestBytesPerSecond = rows.number(value);
    else if (name == "hasApiCalls")
        facts.hasApiCalls = rows.flag(value);
    else if (name == "hasNvtx")
        facts.hasNvtx = rows.flag(value);
    else if (name == "isTruncated")
        facts.isTruncated = rows.flag(value);
    else if (name == "gpuName")
        facts.gpuNames.push_back(rows.text(value));
    else if (name == "healthWarning")
        facts.healthWarnings.push_back(rows.text(value));
}

bool readFacts(const Database& database, RunSummary& summary) {
    Header header;
    StoredRows rows(database, tables::storedFacts, maxFacts);
    while (rows.next()) takeFact(rows, header, summary);
    summary.facts.title = std::filesystem::path(database.path()).filename().string();
    return rows.isGood() && header.version == storedVersion &&
           header.fingerprint == traceFingerprint(database);
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
        summary.workers.push_back(std::move(worker));
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
                                 {}});
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
        each.name = rows.text(t.name);
        each.path = rows.text(t.path);
        each.count = rows.number(t.count);
        each.exposedNs = rows.number(t.exposedNs);
        each.totalNs = rows.number(t.totalNs);
        each.bytes = rows.number(t.bytes);
        each.busBytes = rows.number(t.busBytes);
        each.order = rows.number(t.firstPlace);
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

}  // namespace

std::optional<RunSummary> readRunSummary(const Database& database) {
    // Views are not tables.
    for (const tables::Table* table : tables::storedTables())
        if (!database.hasTable(table->tableName())) return std::nullopt;
    RunSummary summary;
    for (const auto read :
         {&readFacts, &readWorkers, &readSteps, &readParts, &readContributors, &readOutliers})
        if (!read(database, summary)) return std::nullopt;
    if (!isConsistent(summary)) return std::nullopt;
    return summary;
}

std::optional<RunSummary> readRunSummary(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readRunSummary(*database) : std::nullopt;
}

}  // namespace lanescope::compare
