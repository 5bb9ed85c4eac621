// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/index/IndexFile.h"
#include "model/index/checkTrace.h"
#include "model/query/TraceQuery.h"
#include "tests/support/files.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/traceDump.h"

using namespace lanescope;

namespace {

constexpr SourceKey source{1, 2, 3};

/// Number of flipped bits, one at a time; LANESCOPE_FLIPS overrides it.
int rounds() {
    const char* given = std::getenv("LANESCOPE_FLIPS");
    return given != nullptr ? std::atoi(given) : 40;
}

bool isReported(const Trace& trace) {
    return std::any_of(trace.health.begin(), trace.health.end(), [](const HealthNote& note) {
        return note.code == HealthCode::PagesDamaged || note.code == HealthCode::TraceChanged ||
               note.code == HealthCode::ChecksumsDamaged || note.code == HealthCode::TableDamaged;
    });
}

/// Results by kind.
struct Tally {
    int said = 0, refused = 0, harmless = 0, silent = 0;

    void print(const char* what) const {
        qInfo("%s: %d reported, %d refused, %d harmless, %d silent", what, said, refused, harmless, silent);
    }
};

}  // namespace

/// Tests that no flipped bit changes a number silently.
class tst_BitFlips : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 6, .layers = 6, .ncclPlugin = true}), path_).has_value());
        const Result<TracePtr> loaded = loadTrace(path_);
        QVERIFY(loaded.has_value());
        const auto summary = analysis::summarizeRun(**loaded);
        QVERIFY(summary.has_value());
        {
            Result<Database> database = openForWriting(path_);
            QVERIFY(database && announceSeal(*database) && analysis::writeRunSummary(*database, *summary));
        }
        QVERIFY(sealPages(path_).has_value());
        bytes_ = contentOf(path_);
        const Result<TracePtr> again = loadTrace(path_);
        QVERIFY(again.has_value() && !isReported(**again));
        good_ = dumpOf(**again);
        answer_ = ask();
        QVERIFY(!answer_.empty());
        summary_ = analysis::readRunSummary(path_);
        QVERIFY(summary_.has_value());
        for (const Finding& finding : checkTrace(path_)) QVERIFY2(finding.isGood, finding.sentence.c_str());
    }
    void cleanup() { put(path_, bytes_); }

    void flippedTraceBitsAreReported() {
        Tally loads, summaries, queries, checks;
        std::mt19937_64 random(15);
        for (int round = 0; round < rounds(); ++round) {
            const size_t bit = random() % (bytes_.size() * 8);
            std::string broken = bytes_;
            broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
            put(path_, broken);
            const Result<TracePtr> trace = loadTrace(path_);
            if (!trace)
                ++loads.refused;
            else if (isReported(**trace))
                ++loads.said;
            else if (dumpOf(**trace) == good_)
                ++loads.harmless;
            else
                count(loads.silent, "load", bit);
            const auto stored = analysis::readRunSummary(path_);
            if (!stored)
                ++summaries.refused;
            else if (*stored == *summary_)
                ++summaries.harmless;
            else
                count(summaries.silent, "summary", bit);
            bool isDoubted = false;
            const std::string answer = ask(&isDoubted);
            if (answer.empty())
                ++queries.refused;
            else if (isDoubted)
                ++queries.said;
            else if (answer == answer_)
                ++queries.harmless;
            else
                count(queries.silent, "query", bit);
            // This reads everything, and every bit matters.
            const std::vector<Finding> findings = checkTrace(path_);
            if (std::all_of(findings.begin(), findings.end(), [](const Finding& each) { return each.isGood; }))
                count(checks.silent, "check", bit);
            else
                ++checks.said;
        }
        loads.print("loads");
        summaries.print("stored summaries");
        queries.print("queries");
        checks.print("checks");
        QCOMPARE(loads.silent + summaries.silent + queries.silent + checks.silent, 0);
        QVERIFY(loads.said > 0);
    }

    void flippedIndexBitsAreReported() {
        const std::filesystem::path index = folder_ / "index";
        QVERIFY(writeIndex(*simulatedTraining({.steps = 20}), source, index).has_value());
        const std::string bytes = contentOf(index);
        const TracePtr whole = readIndex(index, source, path_);
        QVERIFY(whole != nullptr);
        const std::string good = dumpOf(*whole);
        QVERIFY(!whole->isCorrupt());
        QCOMPARE(countCorruptBlocks(*whole), 0u);
        Tally tally;
        std::mt19937_64 random(16);
        for (int round = 0; round < rounds(); ++round) {
            const size_t bit = random() % (bytes.size() * 8);
            std::string broken = bytes;
            broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
            put(index, broken);
            const TracePtr trace = readIndex(index, source, path_);
            if (trace == nullptr) {
                ++tally.refused;
                continue;
            }
            const bool isSame = dumpOf(*trace) == good;
            if (trace->isCorrupt())
                ++tally.said;
            else
                isSame ? ++tally.harmless : ++tally.silent;
        }
        tally.print("index");
        QCOMPARE(tally.silent, 0);
        QVERIFY(tally.said > 0);
    }

    /// Changes by another program are no corruption, and invalidate all stored values.
    void changesByOtherProgramsAreReported_data() {
        QTest::addColumn<QString>("sql");
        const QString slower = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = start + 4 * (\"end\" - start)";
        QTest::newRow("rows") << slower;
        QTest::newRow("rows, with a log") << "PRAGMA journal_mode = WAL; " + slower;
        QTest::newRow("rows, with a log and back")
            << "PRAGMA journal_mode = WAL; " + slower + "; PRAGMA journal_mode = DELETE";
        QTest::newRow("deleted") << "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid < 100";
        QTest::newRow("grown") << "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT"
                                  " INTO StringIds (id, value) SELECT 1000000 + i, hex(zeroblob(20)) FROM n";
        // The other program may have changed more.
        QTest::newRow("what was stored is dropped") << "DROP TABLE LANESCOPE_STORED; CREATE TABLE mine (a)";
    }
    void changesByOtherProgramsAreReported() {
        QFETCH(QString, sql);
        {
            Result<Database> database = openForWriting(path_);
            const Result<void> done =
                database->execute(("PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema;" + sql).toUtf8());
            QVERIFY2(done.has_value(), done ? "" : done.error().sentence.c_str());
        }
        QVERIFY(!analysis::readRunSummary(path_));
        const Result<TracePtr> trace = loadTrace(path_);
        QVERIFY(trace.has_value());
        for (const HealthNote& note : (*trace)->health) {
            QVERIFY(note.code != HealthCode::PagesDamaged && note.code != HealthCode::TableDamaged);
        }
        QVERIFY(isReported(**trace));
        for (const char* beside : {"-wal", "-shm"}) std::filesystem::remove(path_.string() + beside);
    }

    /// The writer may still run or have been killed: its rows are next to the file.
    void rowsInAWriteAheadLogAreReported() {
        Result<Database> writer = openForWriting(path_);
        QVERIFY(writer && writer
                              ->execute("PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema;"
                                        "PRAGMA journal_mode = WAL; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = "
                                        "start + 4 * (\"end\" - start)")
                              .has_value());
        QVERIFY(std::filesystem::file_size(path_.string() + "-wal") > 0);
        QVERIFY(!analysis::readRunSummary(path_));
        const Result<TracePtr> trace = loadTrace(path_);
        QVERIFY(trace.has_value() && isReported(**trace));
        const std::vector<Finding> findings = checkTrace(path_);
        QVERIFY(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.isGood; }));
    }

    void pipeNextToATraceDoesNotBlock() {
        const std::string journal = path_.string() + "-journal";
        QCOMPARE(::mkfifo(journal.c_str(), 0600), 0);
        QVERIFY(loadTrace(path_).has_value());
        std::filesystem::remove(journal);
    }

  private:
    static void count(int& silent, const char* what, size_t bit) {
        ++silent;
        qWarning("%s: bit %zu of byte %zu", what, bit % 8, bit / 8);
    }

    /// Sums that depend on every kernel and every text; empty if the query fails.
    std::string ask(bool* isDoubted = nullptr) const {
        const Result<TraceQuery> query = TraceQuery::open(path_);
        if (!query) return {};
        const auto result = query->run(
            "SELECT sum(\"end\" - start), sum(k.gridX * 7 + k.streamId), "
            "(SELECT sum(length(value) + unicode(value)) FROM StringIds) FROM CUPTI_ACTIVITY_KIND_KERNEL k");
        if (!result || result->table.rows.size() != 1) return {};
        std::string text = "x";
        for (const Cell& cell : result->table.rows[0])
            text += fmt::format(" {}", std::get_if<int64_t>(&cell) ? std::get<int64_t>(cell) : -1);
        if (isDoubted != nullptr) *isDoubted = query->doubt().has_value();
        return text;
    }

    TemporaryFolder folder_;
    std::filesystem::path path_;
    std::string bytes_, good_, answer_;
    std::optional<analysis::RunSummary> summary_;
};

LANESCOPE_TEST(tst_BitFlips, NoApplication)
#include "tst_BitFlips.moc"
