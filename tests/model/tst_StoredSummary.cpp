#include <QtTest>
#include <random>

#include "model/compare/checkRunSummary.h"
#include "model/compare/storedSummary.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/writeTrace.h"

using namespace lanescope;

namespace {

RunSummary summaryOfSimulation() {
    const TracePtr trace = simulatedTraining({.steps = 12});
    const Result<RunSummary> summary = summarizeRun(*trace);
    return summary ? *summary : RunSummary{};
}

/// A new trace file without events, with that summary in it.
std::filesystem::path fileWith(const TemporaryFolder& folder, const RunSummary& summary,
                               const char* changeSql = "") {
    const std::filesystem::path path = folder / "run.sqlite";
    std::filesystem::remove(path);
    Result<Database> database = Database::create(path);
    const bool isGood = database && createTraceTables(*database) &&
                        writeRunSummary(*database, summary) && database->execute(changeSql);
    return isGood ? path : std::filesystem::path();
}

std::optional<RunSummary> readBack(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readRunSummary(*database) : std::nullopt;
}

}  // namespace

class TestStoredSummary : public QObject {
    Q_OBJECT

  private slots:
    void whatIsWrittenIsReadBack() {
        const TemporaryFolder folder;
        RunSummary summary = summaryOfSimulation();
        QCOMPARE(summary.workers.size(), size_t{2});
        summary.nvlink = {NvlinkVerdict::Use::Used, LinkEvidence::Copies, 77, 400};
        summary.facts.healthWarnings = {"12 events were dropped."};
        summary.workers[0].outliers.push_back(
            {7, "step 7", 5, 900, 400, StepPart::LaunchBound, 300, "in cudaMalloc", "forward"});
        const std::optional<RunSummary> stored = readBack(fileWith(folder, summary));
        QVERIFY(stored.has_value());
        summary.facts.title = "run.sqlite";
        QVERIFY(stored->facts == summary.facts);
        QVERIFY(*stored == summary);
    }

    void anEmptySummaryIsReadBackToo() {
        const TemporaryFolder folder;
        const std::optional<RunSummary> stored = readBack(fileWith(folder, RunSummary{}));
        QVERIFY(stored.has_value());
        QVERIFY(stored->isEmpty());
    }

    void writingAgainReplaces() {
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
        QVERIFY(stored.has_value());
        QVERIFY(stored->workers == summary.workers);
    }

    void aTraceWithoutASummaryHasNone() {
        const TemporaryFolder folder;
        const std::filesystem::path path = folder / "run.sqlite";
        QVERIFY(writeTrace(*simulatedTraining(), path).has_value());
        QVERIFY(!readBack(path).has_value());
    }

    void whatContradictsItselfIsIgnored_data() {
        QTest::addColumn<QString>("sql");
        const auto add = [](const char* name, const char* sql) { QTest::newRow(name) << sql; };
        add("use of NVLink", "UPDATE LANESCOPE_SUMMARY SET value = 'x' WHERE name = 'nvlinkUse'");
        add("negative NVLink bytes",
            "INSERT INTO LANESCOPE_SUMMARY VALUES ('nvlinkBytesPerStep', -1)");
        add("other version", "UPDATE LANESCOPE_SUMMARY SET value = 99 WHERE name = 'version'");
        add("version is text", "UPDATE LANESCOPE_SUMMARY SET value = '1' WHERE name = 'version'");
        add("no fingerprint", "DELETE FROM LANESCOPE_SUMMARY WHERE name = 'fingerprint'");
        add("events were added", "INSERT INTO StringIds (id, value) VALUES (1, 'new')");
        add("parts do not sum", "UPDATE LANESCOPE_SUMMARY_STEPS SET compute = compute + 1");
        add("negative part",
            "UPDATE LANESCOPE_SUMMARY_STEPS SET compute = -5, memset = memset + compute + 5");
        add("endless step",
            "UPDATE LANESCOPE_SUMMARY_STEPS SET wallNs = 9223372036854775807,"
            " compute = 9223372036854775807");
        add("step is text", "UPDATE LANESCOPE_SUMMARY_STEPS SET wallNs = 'long'");
        add("step of no worker", "UPDATE LANESCOPE_SUMMARY_STEPS SET worker = 77");
        add("steps out of order", "UPDATE LANESCOPE_SUMMARY_STEPS SET startNs = -startNs");
        add("contributors do not sum",
            "UPDATE LANESCOPE_SUMMARY_CONTRIBUTORS SET exposedNs = exposedNs + 1");
        add("unknown part", "UPDATE LANESCOPE_SUMMARY_CONTRIBUTORS SET part = 'coffee'");
        add("unknown kind", "UPDATE LANESCOPE_SUMMARY_CONTRIBUTORS SET kind = 'tea'");
        add("negative count", "UPDATE LANESCOPE_SUMMARY_CONTRIBUTORS SET count = -1");
        add("workers misnumbered", "UPDATE LANESCOPE_SUMMARY_WORKERS SET worker = worker + 1");
        add("more warm-up than steps", "UPDATE LANESCOPE_SUMMARY_WORKERS SET warmUpSteps = 500");
        add("a table is missing", "DROP TABLE LANESCOPE_SUMMARY_OUTLIERS");
        add("a column is missing", "ALTER TABLE LANESCOPE_SUMMARY_STEPS DROP COLUMN memset");
        add("a table is a view",
            "DROP TABLE LANESCOPE_SUMMARY_OUTLIERS; CREATE VIEW"
            " LANESCOPE_SUMMARY_OUTLIERS AS SELECT 1");
        add("rows without end",
            "INSERT INTO LANESCOPE_SUMMARY (name, value) WITH RECURSIVE n(i) AS (SELECT 1 UNION"
            " ALL SELECT i + 1 FROM n LIMIT 20000) SELECT 'gpuName', 'x' FROM n");
    }
    void whatContradictsItselfIsIgnored() {
        QFETCH(QString, sql);
        const TemporaryFolder folder;
        const std::filesystem::path path =
            fileWith(folder, summaryOfSimulation(), sql.toUtf8().constData());
        QVERIFY(!path.empty());
        QVERIFY(!readBack(path).has_value());
    }

    void nothingThatIsReadCanBreakACheck() {
        // Any number in any column: either it is rejected, or the sums still hold.
        const RunSummary good = summaryOfSimulation();
        QVERIFY(isConsistent(good));
        std::mt19937_64 random(4);
        for (int round = 0; round < 2000; ++round) {
            RunSummary bad = good;
            WorkerSummary& worker = bad.workers[random() % bad.workers.size()];
            StepSummary& step = worker.steps[random() % worker.steps.size()];
            Contributor& contributor = worker.contributors[random() % worker.contributors.size()];
            const auto any = static_cast<int64_t>(random() >> (random() % 64));
            int64_t* const places[] = {&step.startNs,
                                       &step.wallNs,
                                       &step.parts.ns[random() % stepPartCount],
                                       &contributor.exposedNs,
                                       &contributor.count,
                                       &worker.foundSteps,
                                       &worker.warmUpSteps};
            *places[random() % std::size(places)] = any;
            if (!isConsistent(bad)) continue;
            for (const WorkerSummary& each : bad.workers)
                QCOMPARE(each.totalParts().sum(), each.totalWallNs());
        }
    }
};

LANESCOPE_TEST(TestStoredSummary, NoApplication)
#include "tst_StoredSummary.moc"
