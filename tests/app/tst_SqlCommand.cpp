// SPDX-License-Identifier: Apache-2.0
#include "tests/app/sampleTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Outcome {
    int exitCode = -1;
    QByteArray output;
    QString errors;
};

}  // namespace

class TestSqlCommand : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        trace_ = folder_.filePath("run.sqlite");
        QVERIFY(writeSampleTrace(trace_.toStdString(), 10, 400'000));
    }

    void printsAnAlignedTable() {
        const Outcome outcome = sql({"SELECT count(*) AS n FROM NVTX_EVENTS"});
        QCOMPARE(outcome.exitCode, 0);
        // Numbers and their headings are right-aligned.
        QVERIFY2(outcome.output.startsWith(" n\n"), outcome.output.constData());
        QVERIFY(outcome.output.contains("10"));
        QVERIFY(outcome.errors.isEmpty());
    }

    void csvHasPlainNumbers() {
        const Outcome outcome = sql({"SELECT text, \"end\" - start AS ns FROM NVTX_EVENTS LIMIT 1", "--format", "csv"});
        QCOMPARE(outcome.output, QByteArray("text,ns\r\nstep,1000000\r\n"));
    }

    void jsonIsValid() {
        const Outcome outcome = sql({"SELECT start, text FROM NVTX_EVENTS ORDER BY start LIMIT 2", "-f", "json"});
        const QJsonArray rows = QJsonDocument::fromJson(outcome.output).array();
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[1].toObject()["text"].toString(), QString("step"));
    }

    void columnsOfOneNameAreAllKept() {
        const QString query = "SELECT 1 a, 2 a, 3 a_2, 4 start, 5 start";
        const Outcome json = sql({query, "-f", "json"});
        QCOMPARE(json.output.simplified(), QByteArray("[ {\"a\":1,\"a_2\":2,\"a_2_2\":3,\"start (ns)\":4,"
                                                      "\"start_2 (ns)\":5} ]"));
        QVERIFY(sql({query, "-f", "csv"}).output.startsWith("a,a_2,a_2_2,start (ns),"));
    }

    void lineBreaksAreKeptWhereTheFormatHasThem() {
        const QString query = "SELECT 'a' || char(10) || 'b' AS t";
        QCOMPARE(sql({query, "-f", "csv"}).output, QByteArray("t\r\n\"a\nb\"\r\n"));
        QVERIFY(sql({query, "-f", "json"}).output.contains("\"a\\nb\""));
        QVERIFY(sql({query}).output.endsWith("a b\n"));
    }

    void readsTheQueryFromStdin() {
        const Outcome outcome = sql({"-", "-f", "csv"}, "SELECT 6 * 7 AS answer\n");
        QCOMPARE(outcome.output, QByteArray("answer\r\n42\r\n"));
    }

    void reportsOmittedRows() {
        const Outcome outcome = sql({"SELECT start FROM NVTX_EVENTS", "--rows", "3", "-f", "csv"});
        QCOMPARE(outcome.exitCode, 0);
        QCOMPARE(outcome.output.count('\n'), 4);
        QVERIFY2(outcome.errors.contains("first 3 rows"), qPrintable(outcome.errors));
    }

    void failsWithOneSentence_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("mentions");
        QTest::newRow("mistake") << QStringList{"SELECT nope"} << "Line 1, column 8";
        QTest::newRow("writing") << QStringList{"DELETE FROM NVTX_EVENTS"} << "only be read";
        QTest::newRow("attaching") << QStringList{"ATTACH '/tmp/x' AS x"} << "ATTACH";
        QTest::newRow("dropping") << QStringList{"drop table NVTX_EVENTS"} << "DROP is not allowed";
        QTest::newRow("after a comment") << QStringList{"/* first */ -- then\nDROP TABLE NVTX_EVENTS"}
                                         << "DROP is not allowed";
        QTest::newRow("explained") << QStringList{"EXPLAIN QUERY PLAN DROP TABLE NVTX_EVENTS"} << "DROP is not allowed";
        QTest::newRow("creating") << QStringList{"create view v AS SELECT 1"} << "CREATE is not allowed";
        QTest::newRow("with") << QStringList{"WITH x AS (SELECT 1) DELETE FROM NVTX_EVENTS"} << "DELETE is not allowed";
        QTest::newRow("begin") << QStringList{"BEGIN"} << "BEGIN is not allowed";
        QTest::newRow("table of functions")
            << QStringList{"SELECT * FROM pragma_function_list"} << "PRAGMA function_list is not allowed";
        QTest::newRow("table of databases")
            << QStringList{"SELECT * FROM pragma_database_list()"} << "PRAGMA database_list is not allowed";
        QTest::newRow("no end")
            << QStringList{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                           "SELECT count(*) FROM n",
                           "--time", "0.2"}
            << "0.2 s";
    }

    void failsWithOneSentence() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, mentions);
        const Outcome outcome = sql(arguments);
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY(outcome.output.isEmpty());
        QCOMPARE(outcome.errors.count('\n'), 1);
        QVERIFY2(outcome.errors.contains(mentions), qPrintable(outcome.errors));
    }

    void timeLimitEndsEveryFunction() {
        // Each call compares some 10^10 bytes without checking a clock.
        const QString query =
            "WITH t(x) AS (SELECT replace(hex(zeroblob(250000)), '0', 'a')) "
            "SELECT instr(x, substr(x, 1, 250000) || 'b'), instr(x, substr(x, 1, 250001) || 'b'),"
            " instr(x, substr(x, 1, 250002) || 'b') FROM t";
        QElapsedTimer timer;
        timer.start();
        const Outcome outcome = sql({query, "--time", "1"});
        const qint64 tookMs = timer.elapsed();
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY2(outcome.errors.contains("stopped after 1 s"), qPrintable(outcome.errors));
        // The start of the program does not count for the query.
        timer.restart();
        sql({"SELECT 1"});
        const qint64 startMs = timer.elapsed();
        QVERIFY2(tookMs - startMs < 1100, qPrintable(QString::number(tookMs - startMs)));
    }

    void outputIsPrivateAndFollowsNoLink() {
        const QString file = folder_.filePath("mine.csv"), link = folder_.filePath("link.csv");
        const auto owners = QFile::ReadOwner | QFile::WriteOwner | QFile::ReadUser | QFile::WriteUser;
        QFile victim(folder_.filePath("other.txt"));
        QVERIFY(victim.open(QIODevice::WriteOnly) && victim.write("theirs") == 6);
        victim.close();
        QVERIFY(QFile::link(victim.fileName(), link));
        for (const QString& output : {file, link}) {
            QCOMPARE(sql({"SELECT 1", "-o", output}).exitCode, 0);
            QCOMPARE(QFile::permissions(output), QFile::Permissions(owners));
            QVERIFY(!QFileInfo(output).isSymLink());
        }
        QVERIFY(victim.open(QIODevice::ReadOnly));
        QCOMPARE(victim.readAll(), QByteArray("theirs"));
        QVERIFY(QFile::setPermissions(file, owners | QFile::ReadOther));
        QCOMPARE(sql({"SELECT 1", "-o", file}).exitCode, 0);
        QVERIFY(QFile::permissions(file) & QFile::ReadOther);
    }

    void neverWritesOverTheTrace() {
        QCOMPARE(sql({"SELECT 1", "-o", trace_}).exitCode, 1);
        QCOMPARE(sql({"SELECT count(*) AS n FROM NVTX_EVENTS"}).exitCode, 0);
    }

  private:
    Outcome sql(const QStringList& arguments, const QByteArray& input = {}) const {
        QProcess process;
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope", QStringList{"sql", trace_} + arguments);
        process.write(input);
        process.closeWriteChannel();
        if (!process.waitForFinished(60'000)) return {};
        return {process.exitCode(), process.readAllStandardOutput(), QString::fromUtf8(process.readAllStandardError())};
    }

    QTemporaryDir folder_;
    QString trace_;
};

LANESCOPE_TEST(TestSqlCommand, QCoreApplication)
#include "tst_SqlCommand.moc"
