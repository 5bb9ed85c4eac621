// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>

#include <QtTest>
#include <cerrno>

#include "model/export/traceFile.h"
#include "model/query/QueryProcess.h"
#include "model/text/formatTable.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/slowQuery.h"

using namespace lanescope;

namespace {

using std::chrono::milliseconds;

/// A sort that takes most of a minute and some 10^9 bytes.
constexpr const char* longSort =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 80000000) "
    "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY i * 7919 % 80000009) AS r FROM n)";
constexpr const char* endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

QueryLimits limitsOf(int64_t ms) {
    QueryLimits limits;
    limits.time = milliseconds(ms);
    return limits;
}

}  // namespace

/// Tests of queries in a separate process: answers equal those of `TraceQuery`, and no process
/// stays.
class tst_QueryProcess : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), path_).has_value());
    }

    /// First, because the system reports the maximum over all children.
    void memoryLimitIsEnforced() {
        auto query = QueryProcess::open(path_);
        QVERIFY(query.has_value());
        QueryLimits limits;
        limits.workingBytes = 64 << 20;
        const auto result = query->run(longSort, limits);
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().sentence.find("took more than") != std::string::npos ||
                     result.error().sentence.find("not enough memory") != std::string::npos,
                 result.error().sentence.c_str());
        // The maximum of the process after it was waited for.
        query = QueryProcess::open(path_);
        rusage children{};
        QCOMPARE(::getrusage(RUSAGE_CHILDREN, &children), 0);
        const long maxKiB = 64 * 1024 + 100 * 1024;
        if (!test::hasAddressSanitizer && !test::hasThreadSanitizer)
            QVERIFY2(children.ru_maxrss < maxKiB, qPrintable(QString::number(children.ru_maxrss)));
    }

    void answersEqualThoseOfTraceQuery_data() {
        QTest::addColumn<QString>("sql");
        QTest::newRow("cells") << "SELECT 1 AS a, 2.5 AS b, NULL AS c, 'text' AS d, x'00ff' AS e";
        QTest::newRow("extremes") << "SELECT -9223372036854775808, 1e308 * 10, '' AS empty";
        QTest::newRow("rows") << "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start";
        QTest::newRow("no rows") << "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE 0";
        QTest::newRow("mistake") << "SELECT nope";
        QTest::newRow("writing") << "DELETE FROM NVTX_EVENTS";
        QTest::newRow("zero byte") << QString("SELECT 1") + QChar(0);
    }
    void answersEqualThoseOfTraceQuery() {
        QFETCH(QString, sql);
        const auto here = TraceQuery::open(path_);
        auto apart = QueryProcess::open(path_);
        QVERIFY(here.has_value() && apart.has_value());
        QueryLimits limits;
        limits.rows = 50;
        for (int round = 0; round < 2; ++round) {
            const auto expected = here->run(sql.toStdString(), limits);
            const auto found = apart->run(sql.toStdString(), limits);
            QCOMPARE(found.has_value(), expected.has_value());
            if (!found) {
                QCOMPARE(found.error().sentence, expected.error().sentence);
                QCOMPARE(found.error().offset, expected.error().offset);
                continue;
            }
            QCOMPARE(found->isCut, expected->isCut);
            QCOMPARE(found->table.rows, expected->table.rows);
            QCOMPARE(formatTable(found->table, TableFormat::Json),
                     formatTable(expected->table, TableFormat::Json));
        }
    }

    void listedTablesEqualThoseOfTraceQuery() {
        const auto here = TraceQuery::open(path_);
        auto apart = QueryProcess::open(path_);
        QVERIFY(here.has_value() && apart.has_value());
        const auto expected = here->tables();
        const auto found = apart->tables();
        QVERIFY(expected.has_value() && found.has_value());
        QCOMPARE(found->size(), expected->size());
        for (size_t table = 0; table < found->size(); ++table) {
            QCOMPARE((*found)[table].name, (*expected)[table].name);
            QCOMPARE((*found)[table].columns.size(), (*expected)[table].columns.size());
            QCOMPARE((*found)[table].columns.back().type, (*expected)[table].columns.back().type);
        }
    }

    void refusalEqualsThatOfTraceQuery() {
        const auto expected = TraceQuery::open(folder_ / "none.sqlite");
        const auto found = QueryProcess::open(folder_ / "none.sqlite");
        QVERIFY(!expected.has_value() && !found.has_value());
        QCOMPARE(found.error().sentence, expected.error().sentence);
        const auto unstarted = QueryProcess::open(path_, {}, folder_ / "no-program");
        QVERIFY(!unstarted.has_value());
        QVERIFY(unstarted.error().sentence.starts_with("No process could be started"));
    }

    void timeLimitEndsTheQuery_data() {
        QTest::addColumn<QString>("sql");
        QTest::newRow("a function") << slowQuery;
        QTest::newRow("a sort") << longSort;
        QTest::newRow("steps") << endless;
    }
    void timeLimitEndsTheQuery() {
        QFETCH(QString, sql);
        auto query = QueryProcess::open(path_);
        QVERIFY(query.has_value());
        constexpr int64_t timeMs = 2000;
        QElapsedTimer timer;
        timer.start();
        const auto result = query->run(sql.toStdString(), limitsOf(timeMs));
        const qint64 tookMs = timer.elapsed();
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().sentence.starts_with("The query was stopped after 2 s"),
                 result.error().sentence.c_str());
        QVERIFY2(tookMs >= timeMs && tookMs <= timeMs * 11 / 10,
                 qPrintable(QString::number(tookMs)));
        // The next query is answered.
        QVERIFY(query->run("SELECT 1").has_value());
    }

    void cancelledQueryStopsAtOnce() {
        auto query = QueryProcess::open(path_);
        QVERIFY(query.has_value());
        QElapsedTimer timer;
        timer.start();
        const auto result = query->run(slowQuery, limitsOf(30'000), [](milliseconds elapsed) {
            return elapsed < milliseconds(200);
        });
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().sentence, std::string("The query was stopped."));
    }

    void noProcessStays() {
        {
            auto query = QueryProcess::open(path_);
            QVERIFY(query.has_value());
            QVERIFY(!query->run(slowQuery, limitsOf(50)).has_value());
            QVERIFY(query->run("SELECT 1").has_value());
        }
        QCOMPARE(::waitpid(-1, nullptr, WNOHANG), -1);
        QCOMPARE(errno, ECHILD);
    }

  private:
    TemporaryFolder folder_;
    std::filesystem::path path_;
};

LANESCOPE_TEST(tst_QueryProcess, NoApplication)
#include "tst_QueryProcess.moc"
