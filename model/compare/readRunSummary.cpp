#include <array>
#include <filesystem>
#include <limits>

#include "model/compare/checkRunSummary.h"
#include "model/compare/storedSummary.h"
#include "model/compare/summaryTables.h"
#include "model/format/traceFingerprint.h"
#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

// More than any real run has; a hostile file could ask for any amount of memory.
constexpr size_t mostWorkers = 4096;
constexpr size_t mostSteps = 4'000'000;
constexpr size_t mostListed = 1'000'000;
constexpr size_t mostFacts = 10'000;

constexpr std::array<const char*, 5> tables{
    "LANESCOPE_SUMMARY", "LANESCOPE_SUMMARY_WORKERS", "LANESCOPE_SUMMARY_STEPS",
    "LANESCOPE_SUMMARY_CONTRIBUTORS", "LANESCOPE_SUMMARY_OUTLIERS"};

/// The rows of one table; a cell that is not what it must be ends the reading.
class Rows {
  public:
    Rows(const Database& database, const char* sql, size_t mostRows) : left_(mostRows) {
        auto statement = database.prepare(sql);
        isGood_ = statement.has_value();
        if (isGood_) statement_ = std::move(*statement);
    }
    bool next() {
        if (!isGood_) return false;
        const auto row = statement_.step();
        isGood_ = row && (!*row || left_-- > 0);
        return isGood_ && *row;
    }
    int64_t number(int column) {
        isGood_ = isGood_ && statement_.isInteger(column);
        return isGood_ ? statement_.integer(column) : 0;
    }
    std::optional<int64_t> numberOrNull(int column) {
        return statement_.isNull(column) ? std::nullopt : std::optional(number(column));
    }
    bool flag(int column) { return number(column) != 0; }
    std::string text(int column) { return std::string(statement_.text(column)); }
    std::string_view view(int column) { return statement_.text(column); }
    StepPart part(int column) {
        for (size_t index = 0; index < stepPartCount; ++index)
            if (identifier(static_cast<StepPart>(index)) == view(column))
                return static_cast<StepPart>(index);
        isGood_ = false;
        return StepPart::OtherIdle;
    }
    /// The one of an enumeration, up to `last`, that is called so.
    template <class Enumeration>
    Enumeration named(int column, Enumeration last) {
        for (uint8_t index = 0; index <= static_cast<uint8_t>(last); ++index)
            if (name(static_cast<Enumeration>(index)) == view(column))
                return static_cast<Enumeration>(index);
        isGood_ = false;
        return last;
    }
    ContributorKind kind(int column) { return named(column, ContributorKind::Others); }
    /// The worker that a row belongs to; null, and the end, for one that is not there.
    WorkerSummary* worker(int column, RunSummary& summary) {
        const int64_t index = number(column);
        isGood_ = isGood_ && index >= 0 && static_cast<size_t>(index) < summary.workers.size();
        return isGood_ ? &summary.workers[static_cast<size_t>(index)] : nullptr;
    }
    bool isGood() const { return isGood_; }

  private:
    Statement statement_;
    size_t left_;
    bool isGood_ = false;
};

/// What `LANESCOPE_SUMMARY` says beside the facts.
struct Header {
    int64_t version = 0;
    int64_t fingerprint = 0;
};

void takeFact(Rows& rows, std::string_view name, Header& header, RunSummary& summary) {
    SummaryFacts& facts = summary.facts;
    if (name == "version")
        header.version = rows.number(1);
    else if (name == "fingerprint")
        header.fingerprint = rows.number(1);
    else if (name == "contentHash")
        facts.contentHash = static_cast<uint64_t>(rows.number(1));
    else if (name == "stepSource")
        summary.source = stepSourceFrom(rows.number(1));
    else if (name == "stepPattern")
        summary.pattern = rows.text(1);
    else if (name == "producer")
        facts.producer = rows.text(1);
    else if (name == "driver")
        facts.driver = rows.text(1);
    else if (name == "cuda")
        facts.cuda = rows.text(1);
    else if (name == "commandLine")
        facts.commandLine = rows.text(1);
    else if (name == "recordOptions")
        facts.recordOptions = rows.text(1);
    else if (name == "worldSize")
        facts.worldSize = rows.number(1);
    else if (name == "kernelCount")
        facts.kernelCount = rows.number(1);
    else if (name == "isNvlinkPresent")
        facts.isNvlinkPresent = rows.flag(1);
    else if (name == "nvlinkUse")
        summary.nvlink.use = rows.named(1, NvlinkVerdict::Use::Used);
    else if (name == "nvlinkEvidence")
        summary.nvlink.evidence = rows.named(1, LinkEvidence::Collectives);
    else if (name == "nvlinkBytesPerStep")
        summary.nvlink.bytesPerStep = rows.number(1);
    else if (name == "nvlinkBestBytesPerSecond")
        summary.nvlink.bestBytesPerSecond = rows.number(1);
    else if (name == "hasApiCalls")
        facts.hasApiCalls = rows.flag(1);
    else if (name == "hasNvtx")
        facts.hasNvtx = rows.flag(1);
    else if (name == "isTruncated")
        facts.isTruncated = rows.flag(1);
    else if (name == "gpuName")
        facts.gpuNames.push_back(rows.text(1));
    else if (name == "healthWarning")
        facts.healthWarnings.push_back(rows.text(1));
}

bool readFacts(const Database& database, RunSummary& summary) {
    Header header;
    Rows rows(database, "SELECT name, value FROM LANESCOPE_SUMMARY ORDER BY rowid", mostFacts);
    while (rows.next()) takeFact(rows, rows.text(0), header, summary);
    summary.facts.title = std::filesystem::path(database.path()).filename().string();
    return rows.isGood() && header.version == storedSummaryVersion &&
           header.fingerprint == traceFingerprint(database);
}

bool readWorkers(const Database& database, RunSummary& summary) {
    Rows rows(database,
              "SELECT worker, pid, rank, processName, gpuId, gpuName, endedAbnormally, foundSteps,"
              " warmUpSteps, isLastLeftOut FROM LANESCOPE_SUMMARY_WORKERS ORDER BY worker",
              mostWorkers);
    while (rows.next()) {
        if (rows.number(0) != static_cast<int64_t>(summary.workers.size())) return false;
        WorkerSummary worker;
        worker.pid = static_cast<uint32_t>(rows.number(1));
        if (const auto rank = rows.numberOrNull(2)) worker.rank = static_cast<int>(*rank);
        worker.processName = rows.text(3);
        worker.gpuId = rows.number(4);
        worker.gpuName = rows.text(5);
        worker.endedAbnormally = rows.flag(6);
        worker.foundSteps = rows.number(7);
        worker.warmUpSteps = rows.number(8);
        worker.isLastLeftOut = rows.flag(9);
        summary.workers.push_back(std::move(worker));
    }
    return rows.isGood();
}

bool readSteps(const Database& database, RunSummary& summary) {
    Rows rows(database,
              "SELECT worker, number, name, startNs, wallNs, compute, exposed_communication,"
              " exposed_ptop, exposed_htod, exposed_dtoh, exposed_dtod, exposed_other_copy, memset,"
              " data_loading_idle, synchronization_idle, launch_bound_idle, other_idle"
              " FROM LANESCOPE_SUMMARY_STEPS ORDER BY rowid",
              mostSteps);
    constexpr int firstPart = 5;
    while (rows.next()) {
        WorkerSummary* worker = rows.worker(0, summary);
        if (!worker) return false;
        StepSummary step{rows.number(1), rows.text(2), rows.number(3), rows.number(4), {}};
        for (size_t part = 0; part < stepPartCount; ++part)
            step.parts.ns[part] = rows.number(firstPart + static_cast<int>(part));
        worker->steps.push_back(std::move(step));
    }
    return rows.isGood();
}

bool readContributors(const Database& database, RunSummary& summary) {
    Rows rows(database,
              "SELECT worker, part, kind, name, path, count, exposedNs, totalNs, bytes, busBytes,"
              " firstPlace FROM LANESCOPE_SUMMARY_CONTRIBUTORS ORDER BY rowid",
              mostListed);
    while (rows.next()) {
        WorkerSummary* worker = rows.worker(0, summary);
        if (!worker) return false;
        worker->contributors.push_back({rows.part(1), rows.kind(2), rows.text(3), rows.text(4),
                                        rows.number(5), rows.number(6), rows.number(7),
                                        rows.number(8), rows.number(9), rows.number(10)});
    }
    return rows.isGood();
}

bool readOutliers(const Database& database, RunSummary& summary) {
    Rows rows(database,
              "SELECT worker, number, name, startNs, wallNs, excessNs, part, partExcessNs,"
              " contributor, path FROM LANESCOPE_SUMMARY_OUTLIERS ORDER BY rowid",
              mostListed);
    while (rows.next()) {
        WorkerSummary* worker = rows.worker(0, summary);
        if (!worker) return false;
        worker->outliers.push_back({rows.number(1), rows.text(2), rows.number(3), rows.number(4),
                                    rows.number(5), rows.part(6), rows.number(7), rows.text(8),
                                    rows.text(9)});
    }
    return rows.isGood();
}

}  // namespace

std::optional<RunSummary> readRunSummary(const Database& database) {
    for (const char* table : tables)
        if (!database.hasTable(table)) return std::nullopt;
    RunSummary summary;
    for (const auto read : {&readFacts, &readWorkers, &readSteps, &readContributors, &readOutliers})
        if (!read(database, summary)) return std::nullopt;
    if (!isConsistent(summary)) return std::nullopt;
    return summary;
}

std::optional<RunSummary> readRunSummary(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readRunSummary(*database) : std::nullopt;
}

}  // namespace lanescope
