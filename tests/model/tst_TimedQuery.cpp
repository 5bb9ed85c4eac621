// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/query/TimedQuery.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/slowQuery.h"

using namespace lanescope;

namespace {

using std::chrono::milliseconds;

/// Sorts what takes most of a minute and some 10^9 bytes.
constexpr const char* longSort =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 80000000) "
    "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY i * 7919 % 80000009) AS r FROM n)";
constexpr const char* endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

}  // namespace

/// Queries with a thread each: answers are those of `TraceQuery`, and no caller waits too long.
class tst_TimedQuery : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), path_).has_value());
    }

    void answersLikeTraceQuery() {
        const auto direct = TraceQuery::open(path_);
        auto timed = TimedQuery::open(path_);
        QVERIFY(direct.has_value() && timed.has_value());
        for (const char* sql : {"SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", "SELECT nope", "DELETE FROM NVTX_EVENTS"}) {
            const auto expected = direct->run(sql, {.rows = 50});
            const auto found = timed->run(sql, {.rows = 50});
            QCOMPARE(found.has_value(), expected.has_value());
            if (found) {
                QCOMPARE(found->isCut, expected->isCut);
                QCOMPARE(found->table.rows, expected->table.rows);
            } else {
                QCOMPARE(found.error().sentence, expected.error().sentence);
                QCOMPARE(found.error().offset, expected.error().offset);
            }
        }
        QCOMPARE(timed->tables()->size(), direct->tables()->size());
    }

    void nothingRunsOnBeyondTheTime_data() {
        QTest::addColumn<QString>("sql");
        QTest::newRow("a function") << slowQuery;
        QTest::newRow("a sort") << longSort;
        QTest::newRow("steps") << endless;
    }
    void nothingRunsOnBeyondTheTime() {
        QFETCH(QString, sql);
        auto query = TimedQuery::open(path_);
        QVERIFY(query.has_value());
        constexpr int64_t timeMs = 2000;
        QElapsedTimer timer;
        timer.start();
        const auto result = query->run(sql.toStdString(), {.time = milliseconds(timeMs)});
        const qint64 tookMs = timer.elapsed();
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().sentence.starts_with("The query was stopped after 2 s"),
                 result.error().sentence.c_str());
        QVERIFY2(tookMs >= timeMs && tookMs <= timeMs * 11 / 10, qPrintable(QString::number(tookMs)));
        // The next one is answered.
        QVERIFY(query->run("SELECT 1").has_value());
    }

    void stopsACancelledQuery_data() {
        QTest::addColumn<QString>("sql");
        QTest::newRow("a function") << slowQuery;
        QTest::newRow("steps") << endless;
    }
    void stopsACancelledQuery() {
        QFETCH(QString, sql);
        auto query = TimedQuery::open(path_);
        QVERIFY(query.has_value());
        QElapsedTimer timer;
        timer.start();
        const auto result =
            query->run(sql.toStdString(), {}, [](milliseconds elapsed) { return elapsed < milliseconds(200); });
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().sentence, std::string("The query was stopped."));
        QVERIFY(query->run("SELECT 1").has_value());
    }

  private:
    TemporaryFolder folder_;
    std::filesystem::path path_;
};

LANESCOPE_TEST(tst_TimedQuery, NoApplication)
#include "tst_TimedQuery.moc"
