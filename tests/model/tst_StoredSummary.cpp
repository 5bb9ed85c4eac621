// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/analysis/storedSummary.h"
#include "model/explain/Explanation.h"
#include "model/export/traceFile.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/TraceSource.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/pages/makeComparison.h"
#include "tests/support/files.h"
#include "tests/support/idleCauses.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using analysis::RunSummary;

namespace {

RunSummary summaryOfSimulation() {
    const TracePtr trace = simulatedTraining({.steps = 12});
    const Result<RunSummary> summary = summarizeRun(*trace);
    return summary ? *summary : RunSummary{};
}

/// Path of a new trace file without events that contains the summary.
std::filesystem::path fileWith(const TemporaryFolder& folder, const RunSummary& summary, const char* changeSql = "") {
    const std::filesystem::path path = folder / "run.sqlite";
    std::filesystem::remove(path);
    Result<Database> database = Database::create(path);
    const bool isGood =
        database && createTraceTables(*database) && writeRunSummary(*database, summary) && database->execute(changeSql);
    return isGood ? path : std::filesystem::path();
}

std::optional<RunSummary> readBack(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readRunSummary(*database) : std::nullopt;
}

// Values stored by version 4, all cells of a row separated by bars. Version 4 had no waiting for
// ranks, and these traces have one rank each.

constexpr const char* factsBefore =
    "SELECT value FROM LANESCOPE_SUMMARY WHERE name IN ('contentHash', 'stepPattern', 'producer',"
    " 'driver', 'cuda', 'commandLine', 'worldSize', 'kernelCount', 'isNvlinkPresent',"
    " 'hasApiCalls', 'isTruncated', 'gpuName') ORDER BY rowid";
QStringList cellsIn(const std::filesystem::path& path, const char* sql) {
    QStringList rows;
    const Result<Database> database = Database::openReadOnly(path);
    auto statement = database ? database->prepare(sql) : fail("not there");
    if (!statement) return {"not there"};
    for (auto row = statement->step(); row && *row; row = statement->step()) {
        QStringList cells;
        for (int column = 0; column < statement->columnCount(); ++column)
            cells +=
                QString::fromUtf8(statement->text(column).data(), static_cast<int>(statement->text(column).size()));
        rows += cells.join('|');
    }
    return rows;
}

QString text(std::string_view words) { return QString::fromUtf8(words.data(), static_cast<int>(words.size())); }

QStringList factsOf(const RunSummary& run) {
    const SummaryFacts& f = run.facts;
    QStringList rows{QString::number(static_cast<int64_t>(f.contentHash)),
                     text(run.pattern),
                     text(f.producer),
                     text(f.driver),
                     text(f.cuda),
                     text(f.commandLine),
                     QString::number(f.worldSize),
                     QString::number(f.kernelCount),
                     QString::number(f.isNvlinkPresent),
                     QString::number(f.hasApiCalls),
                     QString::number(f.isTruncated)};
    for (const std::string& gpu : f.gpuNames) rows += text(gpu);
    return rows;
}

}  // namespace

class TestStoredSummary : public QObject {
    Q_OBJECT

  private slots:
    void summaryRoundTrips() {
        const TemporaryFolder folder;
        RunSummary summary = summaryOfSimulation();
        QCOMPARE(summary.workers.size(), size_t{2});
        summary.nvlink = {NvlinkVerdict::Use::Used, LinkEvidence::Counters, 77, LinkEvidence::Copies, 400};
        summary.facts.healthWarnings = {
            {Severity::Error, HealthCode::EventsDropped, "12 events were dropped.", 77, {}, 12, {}},
            {Severity::Warning, HealthCode::Unknown, "Odd.", {}, {}, {}, "brand-new"}};
        summary.workers[0].outliers.push_back(
            {7, "step 7", 5, 900, 400, StepPart::LaunchBound, 300, idleIn("cudaMalloc"), "forward"});
        summary.workers[0].coreWaits = CoreWaits{3, 70};
        summary.workers[1].coreWaits = CoreWaits{};
        IdleCause rest = onMain(idle(CauseKind::None, ThreadState::Gil), {"serve.py", 10, "take"});
        rest.activity.work = ThreadWork::Triton;
        rest.activity.holder = {ThreadRole::Named, "logger"};
        rest.activity.holderFrame = {"log.py", 9, "write"};
        summary.workers[1].rest.most = rest;
        summary.workers[1].launches = {7, 2'900};
        summary.workers[1].drains = 3;
        summary.workers[1].recompiled = "jit_step";
        summary.workers[1].compilations = 2;
        summary.workers[1].launches.place = {"launched at a.py:1 in f", "a.py:1 in f"};
        summary.workers[1].allocations = {3, 2, {"b.py:2 in g, called at a.py:1 in f", "b.py:2 in g", "a.py:1 in f"}};
        summary.workers[1].contributors.front().launched = {"called at a.py:1 in f", {}, "a.py:1 in f"};
        summary.workers[1].contributors.front().isOfCaller = true;
        summary.workers[1].hostCopies = {7,       13, "cuStreamWaitEvent at data.py:92 in issue", 900, "a.py:2 in f",
                                         "a.py:3"};
        summary.workers[1].distinctions = {{DistinctionOf::Pattern, DistinctionKind::Range, "hiccup", 2, 90, 7, 1}};
        summary.workers[1].path = {{PathPart::Kernel, 3, 4242, "attention", "train.py:88", 900, 2.5},
                                   {PathPart::LaunchDelay, {}, 4243, "", "", 0, 1}};
        summary.units = {{StepSource::PythonLoop, "train.py:3 in epoch", 4}};
        // Every cause has a row.
        for (size_t kind = 1; kind <= static_cast<size_t>(lastCauseKind); ++kind) {
            Contributor each{
                .part = StepPart::OtherIdle, .kind = ContributorKind::Idle, .name = idle(static_cast<CauseKind>(kind))};
            summary.workers[1].contributors.push_back(each);
        }
        const std::optional<RunSummary> stored = readBack(fileWith(folder, summary));
        QVERIFY(stored.has_value());
        summary.facts.title = "run.sqlite";
        QVERIFY(stored->facts == summary.facts && *stored == summary);
    }

    void useAndShapesRoundTrip() {
        const TemporaryFolder folder;
        RunSummary summary = summaryOfSimulation();
        WorkerSummary& worker = summary.workers.front();
        worker.use = {.precision = "bf16",
                      .sheetPerSecond = 989,
                      .measuredPerSecond = 790,
                      .sampler = "gpm",
                      .activePerSecond = 400,
                      .readings = 12,
                      .readingNs = 400'000'000,
                      .knownNs = 4'000'000'000,
                      .readSteps = 10,
                      .isShared = true,
                      .countedSteps = 3,
                      .countedNs = 5,
                      .modelPerStep = 7,
                      .repeatedPerStep = 2,
                      .kernelNs = 9,
                      .knownKernelNs = 8};
        worker.shaped.push_back({OperatorKind::Attention, "attention", "2 x 3 x 4", "fp16", "model.py:88 in forward",
                                 "flash_fwd", true, 5, 600, 700, 80, 90, true, true});
        worker.steps.front().activePerSecond = 123;
        const std::optional<RunSummary> stored = readBack(fileWith(folder, summary));
        QVERIFY(stored.has_value() && stored->workers == summary.workers);
    }

    void emptySummaryRoundTrips() {
        const TemporaryFolder folder;
        const std::optional<RunSummary> stored = readBack(fileWith(folder, RunSummary{}));
        QVERIFY(stored.has_value() && stored->isEmpty());
    }

    void rewritingReplacesTheSummary() {
        const TemporaryFolder folder;
        const RunSummary summary = summaryOfSimulation();
        const std::filesystem::path path = folder / "run.sqlite";
        {
            Result<Database> database = Database::create(path);
            QVERIFY(database && createTraceTables(*database));
            QVERIFY(writeRunSummary(*database, RunSummary{}).has_value());
            QVERIFY(writeRunSummary(*database, summary).has_value());
        }
        const std::optional<RunSummary> stored = readBack(path);
        QVERIFY(stored.has_value() && stored->workers == summary.workers);
    }

    void traceWithoutSummaryHasNone() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining(), path).has_value());
        QVERIFY(!readBack(path).has_value());
    }

    void inconsistentSummaryIsIgnored_data() {
        QTest::addColumn<QString>("sql");
        const auto add = [](const char* name, const char* sql) { QTest::newRow(name) << sql; };
        add("use of NVLink", "UPDATE LANESCOPE_STORED SET value = 'x' WHERE name = 'nvlinkUse'");
        add("negative NVLink bytes", "INSERT INTO LANESCOPE_STORED VALUES ('nvlinkBytesPerStep', -1)");
        add("other version", "UPDATE LANESCOPE_STORED SET value = 99 WHERE name = 'version'");
        add("version is text", "UPDATE LANESCOPE_STORED SET value = '1' WHERE name = 'version'");
        add("no fingerprint", "DELETE FROM LANESCOPE_STORED WHERE name = 'fingerprint'");
        add("events were added", "INSERT INTO StringIds (id, value) VALUES (1, 'new')");
        add("parts do not sum", "UPDATE LANESCOPE_STORED_PARTS SET ns = ns + 1");
        add("negative part", "UPDATE LANESCOPE_STORED_PARTS SET ns = -5 WHERE part = 'compute'");
        add("endless step",
            "UPDATE LANESCOPE_STORED_STEPS SET wallNs = 9223372036854775807;"
            "UPDATE LANESCOPE_STORED_PARTS SET ns = 9223372036854775807 WHERE part = 'compute'");
        add("part of no step", "UPDATE LANESCOPE_STORED_PARTS SET step = 77");
        add("part of no worker", "UPDATE LANESCOPE_STORED_PARTS SET worker = -1");
        add("unknown part", "UPDATE LANESCOPE_STORED_PARTS SET part = 'coffee'");
        add("part is missing", "DELETE FROM LANESCOPE_STORED_PARTS WHERE part = 'compute'");
        add("step is text", "UPDATE LANESCOPE_STORED_STEPS SET wallNs = 'long'");
        add("step of no worker", "UPDATE LANESCOPE_STORED_STEPS SET worker = 77");
        add("steps out of order", "UPDATE LANESCOPE_STORED_STEPS SET startNs = -startNs");
        add("contributors do not sum", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET exposedNs = exposedNs + 1");
        add("unknown part", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET part = 'coffee'");
        add("unknown kind", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET kind = 'tea'");
        add("negative count", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET count = -1");
        add("workers misnumbered", "UPDATE LANESCOPE_STORED_WORKERS SET worker = worker + 1");
        add("more warm-up than steps", "UPDATE LANESCOPE_STORED_WORKERS SET warmUpSteps = 500");
        add("half of what threads lacked", "UPDATE LANESCOPE_STORED_WORKERS SET noCoreThreads = 4, noCoreNs = NULL");
        add("time of a path", "INSERT INTO LANESCOPE_STORED_PATHS VALUES (0, 'host', 1, 2, '', '', -1, 1)");
        add("count of a path", "INSERT INTO LANESCOPE_STORED_PATHS VALUES (0, 'host', 1, 2, '', '', 1, 9e999)");
        add("part of a path", "INSERT INTO LANESCOPE_STORED_PATHS VALUES (0, 'tea', 1, 2, '', '', 1, 1)");
        add("negative drains", "UPDATE LANESCOPE_STORED_WORKERS SET drains = -1");
        add("unit without count", "INSERT INTO LANESCOPE_STORED VALUES ('stepUnit', 'nvtx_range layer #')");
        add("unit of a negative count", "INSERT INTO LANESCOPE_STORED VALUES ('stepUnit', 'nvtx_range -4 layer #')");
        add("unit of too many", "INSERT INTO LANESCOPE_STORED VALUES ('stepUnit', 'nvtx_range 99999999999 layer #')");
        add("distinction of no step",
            "INSERT INTO LANESCOPE_STORED_DISTINCTIONS VALUES (0, 'pattern', 'range', 'hiccup', 0, 5, 0, 0)");
        add("distinction of more steps than there are",
            "INSERT INTO LANESCOPE_STORED_DISTINCTIONS VALUES (0, 'pattern', 'range', 'hiccup', 500, 5, 0, 0)");
        add("distinction of a negative number",
            "INSERT INTO LANESCOPE_STORED_DISTINCTIONS VALUES (0, 'pattern', 'loader', 'python', 1, 0, -1, 0)");
        add("distinction twice",
            "INSERT INTO LANESCOPE_STORED_DISTINCTIONS VALUES (0, 'rank', 'range', 'a', 1, 5, 0, 0), "
            "(0, 'rank', 'line', 'b', 1, 5, 0, 0)");
        add("unknown cause", "UPDATE LANESCOPE_STORED_CAUSES SET kind = 'luck'");
        add("causes misnumbered", "UPDATE LANESCOPE_STORED_CAUSES SET cause = cause + 1");
        add("line that no file has", "UPDATE LANESCOPE_STORED_CAUSES SET line = -1");
        add("state without observation", "UPDATE LANESCOPE_STORED_CAUSES SET state = 5");
        add("cause that is not there", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET cause = 999");
        add("work with a cause", "UPDATE LANESCOPE_STORED_CONTRIBUTORS SET cause = 0");
        add("negative rate",
            "INSERT INTO LANESCOPE_STORED_USES SELECT 0, 'bf16', -1, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL");
        add("negative rate of a step", "UPDATE LANESCOPE_STORED_STEPS SET activePerSecond = -1");
        add("shape of no worker",
            "INSERT INTO LANESCOPE_STORED_SHAPES SELECT 77, 'product', 'mm', '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0");
        add("shape of an unknown kind",
            "INSERT INTO LANESCOPE_STORED_SHAPES SELECT 0, 'magic', 'mm', '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0");
        add("kernels longer than the steps", "UPDATE LANESCOPE_STORED_KERNEL_GROUPS SET exposedNs = 1000000000000000");
        add("unknown family", "UPDATE LANESCOPE_STORED_KERNEL_GROUPS SET family = 'tea'");
        add("kernels of no worker", "UPDATE LANESCOPE_STORED_KERNEL_GROUPS SET worker = 77");
        add("a table is missing", "DROP TABLE LANESCOPE_STORED_OUTLIERS");
        add("a column is missing", "ALTER TABLE LANESCOPE_STORED_STEPS DROP COLUMN name");
        add("a table is a view",
            "DROP TABLE LANESCOPE_STORED_OUTLIERS; CREATE VIEW LANESCOPE_STORED_OUTLIERS AS SELECT 1");
        add("rows without end",
            "INSERT INTO LANESCOPE_STORED (name, value) WITH RECURSIVE n(i) AS (SELECT 1 UNION"
            " ALL SELECT i + 1 FROM n LIMIT 20000) SELECT 'gpuName', 'x' FROM n");
    }
    void inconsistentSummaryIsIgnored() {
        QFETCH(QString, sql);
        const TemporaryFolder folder;
        const std::filesystem::path path = fileWith(folder, summaryOfSimulation(), sql.toUtf8().constData());
        QVERIFY(!path.empty());
        QVERIFY(!readBack(path).has_value());
    }

    void summaryOfAnEarlierVersionIsRebuilt_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("recorded") << "every-kind";
        QTest::newRow("simulated") << "simulated";
    }
    void summaryOfAnEarlierVersionIsRebuilt() {
        QFETCH(QString, name);
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "run.sqlite";
        const auto packed = std::filesystem::path(LANESCOPE_SOURCE_DIR) / "tests" / "golden" / "stored-summaries" /
                            (name.toStdString() + ".sqlite.gz");
        {
            const Result<UnpackedFile> unpacked = unpackGzip(packed, {}, {});
            QVERIFY2(unpacked.has_value(), unpacked ? "" : unpacked.error().sentence.c_str());
            std::filesystem::copy_file(fmt::format("/proc/self/fd/{}", unpacked->file.descriptor()), path);
        }
        QVERIFY(!readRunSummary(path));
        const Result<TracePtr> trace = loadTrace(path);
        QVERIFY(trace.has_value());
        const Result<RunSummary> made = summarizeRun(**trace);
        QVERIFY(made.has_value() && !made->isEmpty());
        QCOMPARE(cellsIn(path, factsBefore), factsOf(*made));
        {
            Result<Database> database = openForWriting(path);
            QVERIFY(database && writeRunSummary(*database, *made));
            QVERIFY(!database->hasTable("LANESCOPE_SUMMARY_STEPS"));
        }
        const std::optional<RunSummary> stored = readBack(path);
        QVERIFY(stored.has_value() && *stored == *made);
    }

    void acceptedSummariesPassEveryCheck() {
        // Any number in any column: either it is rejected, or the sums still match.
        const RunSummary good = summaryOfSimulation();
        QVERIFY(isConsistent(good));
        std::mt19937_64 random(4);
        for (int round = 0; round < 2000; ++round) {
            RunSummary bad = good;
            WorkerSummary& worker = bad.workers[random() % bad.workers.size()];
            StepSummary& step = worker.steps[random() % worker.steps.size()];
            Contributor& contributor = worker.contributors[random() % worker.contributors.size()];
            const auto any = static_cast<int64_t>(random() >> (random() % 64));
            int64_t* const places[] = {
                &step.startNs,          &step.wallNs,       &step.parts.ns[random() % stepPartCount],
                &contributor.exposedNs, &contributor.count, &worker.foundSteps,
                &worker.warmUpSteps};
            *places[random() % std::size(places)] = any;
            if (!isConsistent(bad)) continue;
            for (const WorkerSummary& each : bad.workers) QCOMPARE(each.totalParts().sum(), each.totalWallNs());
        }
    }

    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((*folder_ / "cache").string()));
        path_ = *folder_ / "trace.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 8}), path_).has_value());
        stored_ = summaryPathOf(indexPaths(path_).front());
        const auto made = analysis::summarizeRun(**loadTrace(path_));
        QVERIFY(made.has_value() && made->workers.front().steps.size() > 3);
        made_ = *made;
        opened_ = 0;
    }

    void secondSummaryReadsNoEvents() {
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
        QVERIFY(std::filesystem::exists(stored_));
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
        // Not even the index is needed.
        std::filesystem::remove(indexPaths(path_).front());
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
    }

    void everySampleIsExplainedAsWithoutIndex() {
        int stored = 0, all = 0;
        std::vector<std::filesystem::path> samples = sampleExports();
        const std::filesystem::path source = LANESCOPE_SOURCE_DIR;
        for (const char* name :
             {"resources/samples/resnet152-nvlink.sqlite.gz", "tests/golden/compare-pairs/stall.sqlite.gz",
              "tests/golden/compare-pairs/workers0.sqlite.gz"})
            samples.push_back(source / name);
        for (const std::filesystem::path& sample : samples) {
            path_ = folder_->path() / sample.filename();
            std::filesystem::copy_file(sample, path_);
            const auto trace = loadTrace(path_);
            const auto made = trace ? analysis::summarizeRun(**trace) : fail(trace.error());
            if (!made) continue;
            for (int time = 0; time < 2; ++time) {
                QVERIFY2(explain::explain(summary()) == explain::explain(*made), sample.c_str());
                QVERIFY2(summary() == *made, sample.c_str());
            }
            ++all;
            stored += std::filesystem::exists(summaryPathOf(indexPaths(path_).front())) ? 1 : 0;
        }
        QVERIFY(all >= 3);
        QCOMPARE(stored, all);
    }

    void otherSelectionsAreNeitherStoredNorAnswered() {
        CompareSelection selection;
        selection.numbers = parseStepNumbers("3-4").value();
        const auto few = summarizeFile(path_.string(), selection, opener());
        QVERIFY(few.has_value() && few->workers.front().steps.size() == 2);
        QVERIFY(!std::filesystem::exists(stored_));
        QVERIFY(summary() == made_);
        const auto again = summarizeFile(path_.string(), selection, opener());
        QVERIFY(again.has_value() && *again == *few);
        QCOMPARE(opened_, 3);
    }

    void changedTraceIsSummarizedAgain() {
        QVERIFY(summary() == made_);
        std::filesystem::remove(path_);
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 6}), path_).has_value());
        const RunSummary other = summary();
        QCOMPARE(opened_, 2);
        QVERIFY(other == *analysis::summarizeRun(**loadTrace(path_)) && other != made_);
        QVERIFY(summary() == other);
        QCOMPARE(opened_, 2);
    }

    void corruptFileIsReplaced() {
        QVERIFY(summary() == made_);
        const std::string whole = contentOf(stored_);
        std::vector<std::string> wrong{"", whole.substr(0, 10), whole.substr(0, whole.size() / 2),
                                       whole.substr(0, whole.size() - 1), whole + "x"};
        // The header, and places in the tables.
        for (size_t byte = 0; byte < whole.size(); byte += byte < 64 ? 1 : whole.size() / 16) {
            wrong.push_back(whole);
            wrong.back()[byte] = static_cast<char>(wrong.back()[byte] ^ 4);
        }
        for (const std::string& content : wrong) {
            put(stored_, content);
            QVERIFY(!readIndexedSummary(path_));
        }
        const int before = opened_;
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, before + 1);
        QVERIFY(contentOf(stored_) == whole);
    }

    void corruptIndexIsReadAgain() {
        QVERIFY(ensureIndex(path_).has_value());
        const std::filesystem::path index = indexPaths(path_).front();
        const std::string whole = contentOf(index);
        int twice = 0;
        for (int flip = 0; flip < 12; ++flip) {
            std::string damaged = whole;
            const size_t at = whole.size() / 8 + static_cast<size_t>(flip) * (whole.size() / 20);
            damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
            put(index, damaged);
            std::filesystem::remove(stored_);
            const int before = opened_;
            QVERIFY(summary() == made_);
            twice += opened_ - before == 2 ? 1 : 0;
        }
        QVERIFY(twice > 0);
    }

    void fileOfAnotherKeyIsNotUsed() {
        QVERIFY(summary() == made_);
        std::filesystem::remove(*cacheFolder("index") / "key");
        QVERIFY(!readIndexedSummary(path_));
        QVERIFY(summary() == made_);
        QVERIFY(readIndexedSummary(path_));
    }

    void fileThatOthersCanWriteIsNotUsed() {
        QVERIFY(summary() == made_);
        QCOMPARE(::chmod(stored_.c_str(), 0666), 0);
        QVERIFY(!readIndexedSummary(path_));
    }

    void summaryIsCachedIfTheFolderIsReadOnly() {
        // A folder with that name blocks even root.
        std::filesystem::create_directories(stored_ / "x");
        QVERIFY(summary() == made_);
        QVERIFY(std::filesystem::exists(summaryPathOf(indexPaths(path_).back())));
        QVERIFY(summary() == made_);
        QCOMPARE(opened_, 1);
    }

    void traceIsSummarizedIfNothingCanBeWritten() {
        std::filesystem::create_directories(stored_ / "x");
        std::filesystem::create_directories(indexPaths(path_).front() / "x");
        std::ofstream(*folder_ / "cache") << "no folder";
        for (int time = 1; time <= 2; ++time) {
            QVERIFY(summary() == made_);
            QCOMPARE(opened_, time);
        }
    }

    void traceWithoutIndexGetsNoSummary() {
        const auto open = [](const std::filesystem::path& path) {
            return openTrace(path, {.minBytes = uint64_t{1} << 40});
        };
        QVERIFY(summarizeFile(path_.string(), {}, open).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void traceChangedWhileReadIsNotStored() {
        const auto source = sourceKeyOf(path_);
        QVERIFY(source.has_value());
        QVERIFY(writeIndexedSummary(made_, path_, *source).has_value());
        std::filesystem::remove(stored_);
        SourceKey other = *source;
        ++other.modifiedNs;
        QVERIFY(!writeIndexedSummary(made_, path_, other).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void inconsistentSummaryIsNotStored() {
        RunSummary wrong = made_;
        wrong.workers.front().steps.front().wallNs += 1;
        QVERIFY(!writeIndexedSummary(wrong, path_, *sourceKeyOf(path_)).has_value());
        QVERIFY(!std::filesystem::exists(stored_));
    }

    void concurrentWritersProduceOneSummary() {
        std::vector<std::thread> threads;
        std::array<RunSummary, 4> runs;
        std::atomic<int> opened = 0;
        const auto open = [&opened](const std::filesystem::path& path) {
            ++opened;
            return openTrace(path, {.minBytes = 0});
        };
        for (RunSummary& each : runs)
            threads.emplace_back([&] {
                if (auto run = summarizeFile(path_.string(), {}, open)) each = std::move(*run);
            });
        for (std::thread& thread : threads) thread.join();
        for (const RunSummary& each : runs) QVERIFY(each == made_);
        QVERIFY(readIndexedSummary(path_) == made_);
        size_t files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_->path()))
            files += entry.is_regular_file() ? 1 : 0;
        QCOMPARE(files, size_t{3});
    }

    void summaryHasThePermissionsOfTheTrace() {
        for (const auto& [traces, expected] : {std::pair<mode_t, mode_t>{0600, 0600}, {0644, 0644}, {0664, 0644}}) {
            QCOMPARE(::chmod(path_.c_str(), traces), 0);
            std::filesystem::remove(stored_);
            QVERIFY(summary() == made_);
            struct stat status {};
            QCOMPARE(::stat(stored_.c_str(), &status), 0);
            QCOMPARE(status.st_mode & 0777, expected);
        }
    }

    void summaryIsRemovedWithTheIndex() {
        QVERIFY(summary() == made_);
        QCOMPARE(*removeIndexes(path_), 2);
        QVERIFY(!std::filesystem::exists(stored_));
    }

  private:
    TraceOpener opener() {
        return [this](const std::filesystem::path& path) {
            ++opened_;
            return openTrace(path, {.minBytes = 0});
        };
    }
    RunSummary summary() {
        const auto run = summarizeFile(path_.string(), {}, opener());
        return run ? *run : RunSummary{};
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_, stored_;
    RunSummary made_;
    int opened_ = 0;
};

LANESCOPE_TEST(TestStoredSummary, NoApplication)
#include "tst_StoredSummary.moc"
