#include "model/compare/storedSummary.h"
#include "model/compare/summaryTables.h"
#include "model/format/traceFingerprint.h"
#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

/// Runs one prepared INSERT for row after row; the first error stays.
class Insert {
  public:
    Insert(Database& database, const char* sql) {
        auto statement = database.prepare(sql);
        if (statement)
            statement_ = std::move(*statement);
        else
            result_ = fail(statement.error());
    }

    template <class... Values>
    void row(const Values&... values) {
        if (!result_) return;
        int column = 0;
        (bind(++column, values), ...);
        result_ = statement_.run();
    }
    Result<void> result() const { return result_; }

  private:
    void bind(int column, const std::string& text) { bind(column, std::string_view(text)); }
    void bind(int column, std::string_view text) { statement_.bind(column, text); }
    void bind(int column, const char* text) { statement_.bind(column, std::string_view(text)); }
    void bind(int column, int64_t number) { statement_.bind(column, number); }
    void bind(int column, const std::optional<int64_t>& number) { statement_.bind(column, number); }

    Statement statement_;
    Result<void> result_;
};

int64_t number(bool value) {
    return value ? 1 : 0;
}

Result<void> writeFacts(Database& database, const RunSummary& summary) {
    Insert insert(database, "INSERT INTO LANESCOPE_SUMMARY (name, value) VALUES (?1, ?2)");
    const SummaryFacts& facts = summary.facts;
    insert.row("version", int64_t{storedSummaryVersion});
    insert.row("fingerprint", traceFingerprint(database));
    insert.row("contentHash", static_cast<int64_t>(facts.contentHash));
    insert.row("stepSource", static_cast<int64_t>(summary.source));
    insert.row("stepPattern", summary.pattern);
    insert.row("producer", facts.producer);
    insert.row("driver", facts.driver);
    insert.row("cuda", facts.cuda);
    insert.row("commandLine", facts.commandLine);
    insert.row("recordOptions", facts.recordOptions);
    insert.row("worldSize", facts.worldSize);
    insert.row("kernelCount", facts.kernelCount);
    insert.row("isNvlinkPresent", number(facts.isNvlinkPresent));
    insert.row("hasApiCalls", number(facts.hasApiCalls));
    insert.row("hasNvtx", number(facts.hasNvtx));
    insert.row("isTruncated", number(facts.isTruncated));
    insert.row("nvlinkUse", name(summary.nvlink.use));
    insert.row("nvlinkEvidence", name(summary.nvlink.evidence));
    if (summary.nvlink.bytesPerStep) insert.row("nvlinkBytesPerStep", *summary.nvlink.bytesPerStep);
    insert.row("nvlinkBestBytesPerSecond", summary.nvlink.bestBytesPerSecond);
    for (const std::string& gpu : facts.gpuNames) insert.row("gpuName", gpu);
    for (const std::string& warning : facts.healthWarnings) insert.row("healthWarning", warning);
    return insert.result();
}

Result<void> writeWorkers(Database& database, const RunSummary& summary) {
    Insert insert(database,
                  "INSERT INTO LANESCOPE_SUMMARY_WORKERS (worker, pid, rank, processName, gpuId,"
                  " gpuName, endedAbnormally, foundSteps, warmUpSteps,"
                  " isLastLeftOut) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers)
        insert.row(index++, int64_t{worker.pid}, std::optional<int64_t>(worker.rank),
                   worker.processName, worker.gpuId, worker.gpuName, number(worker.endedAbnormally),
                   worker.foundSteps, worker.warmUpSteps, number(worker.isLastLeftOut));
    return insert.result();
}

Result<void> writeSteps(Database& database, const RunSummary& summary) {
    Insert insert(database,
                  "INSERT INTO LANESCOPE_SUMMARY_STEPS (worker, number, name, startNs, wallNs,"
                  " compute, exposed_communication, exposed_ptop, exposed_htod, exposed_dtoh,"
                  " exposed_dtod, exposed_other_copy, memset, data_loading_idle,"
                  " synchronization_idle, launch_bound_idle, other_idle) VALUES"
                  " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)");
    static_assert(stepPartCount == 12);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const StepSummary& step : worker.steps)
            std::apply(
                [&](const auto&... ns) {
                    insert.row(index, step.number, step.name, step.startNs, step.wallNs, ns...);
                },
                step.parts.ns);
        ++index;
    }
    return insert.result();
}

Result<void> writeContributors(Database& database, const RunSummary& summary) {
    Insert insert(database,
                  "INSERT INTO LANESCOPE_SUMMARY_CONTRIBUTORS (worker, part, kind, name, path,"
                  " count, exposedNs, totalNs, bytes, busBytes, firstPlace)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const Contributor& each : worker.contributors)
            insert.row(index, identifier(each.part), name(each.kind), each.name, each.path,
                       each.count, each.exposedNs, each.totalNs, each.bytes, each.busBytes,
                       each.order);
        ++index;
    }
    return insert.result();
}

Result<void> writeOutliers(Database& database, const RunSummary& summary) {
    Insert insert(database,
                  "INSERT INTO LANESCOPE_SUMMARY_OUTLIERS (worker, number, name, startNs, wallNs,"
                  " excessNs, part, partExcessNs, contributor, path)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const OutlierStep& step : worker.outliers)
            insert.row(index, step.number, step.name, step.startNs, step.wallNs, step.excessNs,
                       identifier(step.part), step.partExcessNs, step.contributor, step.path);
        ++index;
    }
    return insert.result();
}

Result<void> writeTables(Database& database, const RunSummary& summary) {
    if (auto done = database.execute(createSummaryTablesSql); !done) return done;
    for (const auto write :
         {&writeFacts, &writeWorkers, &writeSteps, &writeContributors, &writeOutliers})
        if (auto done = write(database, summary); !done) return done;
    return {};
}

}  // namespace

Result<void> writeRunSummary(Database& database, const RunSummary& summary) {
    if (auto done = database.execute("BEGIN"); !done) return done;
    if (auto done = writeTables(database, summary); !done) {
        (void)database.execute("ROLLBACK");
        return done;
    }
    return database.execute("COMMIT");
}

}  // namespace lanescope
