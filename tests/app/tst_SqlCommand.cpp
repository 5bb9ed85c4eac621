// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include "model/explain/Rule.h"
#include "model/export/traceFile.h"
#include "tests/app/sampleTrace.h"
#include "tests/support/SampleCopies.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::explain;

using lanescope::test::Ended;

/// Tests of `lanescope explain` from the command line, on the two shipped recordings.
class tst_SqlCommand : public QObject {
    Q_OBJECT

    Ended sql(const QStringList& arguments, const QByteArray& input = {}) const {
        return test::runLanescope(QStringList{"sql", trace_} + arguments, {}, input);
    }

    QTemporaryDir folder_;
    QString trace_;
    const SampleCopies sample_;
    const QString used_ = sample_("nvlink"), unused_ = sample_("no-p2p");

    Ended run(const QStringList& arguments) const { return test::runLanescope(arguments, folder_.path()); }
    Ended explained(const QStringList& arguments) const { return run(QStringList{"explain"} + arguments); }
    QJsonObject document(const QStringList& arguments) const {
        return QJsonDocument::fromJson(explained(arguments + QStringList{"-f", "json"}).out).object();
    }
    static QStringList rulesIn(const QJsonObject& document) {
        QStringList rules;
        for (const QJsonValue& each : document["findings"].toArray()) rules += each.toObject()["rule"].toString();
        return rules;
    }

  private slots:
    void initTestCase() {
        trace_ = folder_.filePath("run.sqlite");
        QVERIFY(writeSampleTrace(trace_.toStdString(), 10, 400'000));
    }

    void printsAnAlignedTable() {
        const Ended outcome = sql({"SELECT count(*) AS n FROM NVTX_EVENTS"});
        QCOMPARE(outcome.status, 0);
        // Numbers and their headings are right-aligned.
        QVERIFY2(outcome.out.startsWith(" n\n"), outcome.out.constData());
        QVERIFY(outcome.out.contains("10") && outcome.err.isEmpty());
    }

    void csvHasPlainNumbers() {
        const Ended outcome = sql({"SELECT text, \"end\" - start AS ns FROM NVTX_EVENTS LIMIT 1", "--format", "csv"});
        QCOMPARE(outcome.out, QByteArray("text,ns\r\nstep,1000000\r\n"));
    }

    void jsonIsValid() {
        const Ended outcome = sql({"SELECT start, text FROM NVTX_EVENTS ORDER BY start LIMIT 2", "-f", "json"});
        const QJsonArray rows = QJsonDocument::fromJson(outcome.out).array();
        QCOMPARE(rows.size(), 2);
        QCOMPARE(rows[1].toObject()["text"].toString(), QString("step"));
    }

    void columnsOfOneNameAreAllKept() {
        const QString query = "SELECT 1 a, 2 a, 3 a_2, 4 start, 5 start";
        const Ended json = sql({query, "-f", "json"});
        QCOMPARE(json.out.simplified(), QByteArray("[ {\"a\":1,\"a_2\":2,\"a_2_2\":3,\"start (ns)\":4,"
                                                   "\"start_2 (ns)\":5} ]"));
        QVERIFY(sql({query, "-f", "csv"}).out.startsWith("a,a_2,a_2_2,start (ns),"));
    }

    void lineBreaksAreKeptWhereTheFormatHasThem() {
        const QString query = "SELECT 'a' || char(10) || 'b' AS t";
        QCOMPARE(sql({query, "-f", "csv"}).out, QByteArray("t\r\n\"a\nb\"\r\n"));
        QVERIFY(sql({query, "-f", "json"}).out.contains("\"a\\nb\"") && sql({query}).out.endsWith("a b\n"));
    }

    void readsTheQueryFromStdin() {
        const Ended outcome = sql({"-", "-f", "csv"}, "SELECT 6 * 7 AS answer\n");
        QCOMPARE(outcome.out, QByteArray("answer\r\n42\r\n"));
    }

    void reportsOmittedRows() {
        const Ended outcome = sql({"SELECT start FROM NVTX_EVENTS", "--rows", "3", "-f", "csv"});
        QCOMPARE(test::listed(outcome.status, outcome.out.count('\n')), "0 | 4");
        QVERIFY2(outcome.err.contains("first 3 rows"), qPrintable(outcome.err));
    }

    void failsWithOneSentence_data() {
        const test::Rows<QStringList, QString> row;
        row("mistake", {"SELECT nope"}, "Line 1, column 8");
        row("writing", {"DELETE FROM NVTX_EVENTS"}, "only be read");
        row("attaching", {"ATTACH '/tmp/x' AS x"}, "ATTACH");
        row("dropping", {"drop table NVTX_EVENTS"}, "DROP is not allowed");
        row("after a comment", {"/* first */ -- then\nDROP TABLE NVTX_EVENTS"}, "DROP is not allowed");
        row("explained", {"EXPLAIN QUERY PLAN DROP TABLE NVTX_EVENTS"}, "DROP is not allowed");
        row("creating", {"create view v AS SELECT 1"}, "CREATE is not allowed");
        row("with", {"WITH x AS (SELECT 1) DELETE FROM NVTX_EVENTS"}, "DELETE is not allowed");
        row("begin", {"BEGIN"}, "BEGIN is not allowed");
        row("table of functions", {"SELECT * FROM pragma_function_list"}, "PRAGMA function_list is not allowed");
        row("table of databases", {"SELECT * FROM pragma_database_list()"}, "PRAGMA database_list is not allowed");
        row("no end",
            {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", "--time", "0.2"},
            "0.2 s");
    }
    void failsWithOneSentence() {
        const auto [arguments, mentions] = test::row<QStringList, QString>();
        const Ended outcome = sql(arguments);
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.out.isEmpty());
        QCOMPARE(outcome.err.count('\n'), 1);
        QVERIFY2(outcome.err.contains(mentions.toUtf8()), qPrintable(outcome.err));
    }

    void timeLimitEndsEveryFunction() {
        // Each call compares some 10^10 bytes without checking a clock.
        const QString query =
            "WITH t(x) AS (SELECT replace(hex(zeroblob(250000)), '0', 'a')) SELECT instr(x, substr(x, 1, 250000) ||"
            " 'b'), instr(x, substr(x, 1, 250001) || 'b'), instr(x, substr(x, 1, 250002) || 'b') FROM t";
        // Time on a core, which others do not lengthen.
        const auto usedMs = [] {
            rusage used{};
            ::getrusage(RUSAGE_CHILDREN, &used);
            const auto ms = [](const timeval& time) { return time.tv_sec * 1'000 + time.tv_usec / 1'000; };
            return ms(used.ru_utime) + ms(used.ru_stime);
        };
        const auto beforeMs = usedMs();
        const Ended outcome = sql({query, "--time", "1"});
        const auto tookMs = usedMs() - beforeMs;
        QCOMPARE(outcome.status, 1);
        QVERIFY2(outcome.err.contains("stopped after 1 s"), qPrintable(outcome.err));
        // The start of the program does not count for the query.
        sql({"SELECT 1"});
        const auto startMs = usedMs() - beforeMs - tookMs;
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
            QCOMPARE(sql({"SELECT 1", "-o", output}).status, 0);
            QCOMPARE(QFile::permissions(output), QFile::Permissions(owners));
            QVERIFY(!QFileInfo(output).isSymLink());
        }
        QVERIFY(victim.open(QIODevice::ReadOnly));
        QCOMPARE(victim.readAll(), QByteArray("theirs"));
        QVERIFY(QFile::setPermissions(file, owners | QFile::ReadOther));
        QCOMPARE(sql({"SELECT 1", "-o", file}).status, 0);
        QVERIFY(QFile::permissions(file) & QFile::ReadOther);
    }

    void neverWritesOverTheTrace() {
        QCOMPARE(sql({"SELECT 1", "-o", trace_}).status, 1);
        QCOMPARE(sql({"SELECT count(*) AS n FROM NVTX_EVENTS"}).status, 0);
    }

    void unusedNvlinkComesFirst() {
        const QJsonObject unused = document({unused_});
        QCOMPARE(rulesIn(unused).value(0), QString("nvlink_unused"));
        QVERIFY(!rulesIn(document({used_})).contains("nvlink_unused"));
        for (const QJsonValue& worker : unused["workers"].toArray()) {
            qint64 sum = 0;
            for (const QJsonValue& part : worker.toObject()["partsNs"].toObject()) sum += part.toInteger();
            QCOMPARE(sum, worker.toObject()["meanStepNs"].toInteger());
        }
        const Ended text = explained({unused_});
        QVERIFY(text.out.startsWith("GPUs compute ") && text.out.contains("1. nvlink_unused, costs "));
    }

    void conditionsDecideTheStatus() {
        const Ended met = explained({unused_, "--fail-if", "nvlink_unused"});
        QCOMPARE(met.status, 1);
        QVERIFY2(met.err.contains("nvlink_unused holds: NVLink connects"), qPrintable(met.err));
        QCOMPARE(explained({used_, "--fail-if", "nvlink_unused"}).status, 0);
        QCOMPARE(explained({unused_, "--fail-if", "any > 50%"}).status, 0);
        QCOMPARE(explained({unused_, "--fail-if", "nonsense"}).status, 2);
        QCOMPARE(explained({unused_, "--mute", "nvlink_unused", "--fail-if", "nvlink_unused"}).status, 0);
    }

    void unexplainableTraceIsOneSentence() {
        const Ended missing = explained({"missing.sqlite"});
        QCOMPARE(missing.status, 1);
        QCOMPARE(explained({"nowhere.sqlite", "--fail-if", "any"}).status, 3);
        QCOMPARE(missing.err.count('\n'), 1);
        QVERIFY(missing.err.contains("missing.sqlite"));
        const Ended nothing = explained({});
        QCOMPARE(test::listed(nothing.status, nothing.err.count('\n')), "2 | 1");
        QCOMPARE(explained({used_, "--steps", "900-901"}).status, 1);
    }

    /// A file of another tool, truncated before its first GPU work.
    void missingDataIsReportedAndDecidesNothing() {
        const QString path = folder_.filePath("truncated.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            "{\"schemaVersion\": 1, \"traceEvents\": [\n"
            "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, "
            "\"tid\": 1, \"ts\": 10, \"dur\": 5},\n"
            "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"na");
        file.close();
        const Ended judged = explained({path, "--fail-if", "any > 10%"});
        QCOMPARE(judged.status, 3);
        QVERIFY2(judged.err.contains("no GPU work to explain"), qPrintable(judged.err));
        QCOMPARE(judged.err.count('\n'), 1);
        QVERIFY2(judged.out.startsWith("Caution: "), judged.out.constData());
        QVERIFY(judged.out.contains("is truncated"));
        QCOMPARE(explained({path}).status, 3);
        const Ended checked = run({"check", path});
        QCOMPARE(checked.status, 1);
        QVERIFY2(checked.out.contains("BAD  The file is truncated"), checked.out.constData());
        QVERIFY(!checked.out.contains("Every event can be read"));
    }

    void requestedStepsAndFilesAreExplained() {
        QCOMPARE(document({used_, "--steps", "3-5"})["workers"].toArray()[0].toObject()["steps"].toInt(), 3);
        const Ended written = explained({used_, "-f", "html", "-o", "page.html"});
        QVERIFY2(written.status == 0 && written.out.isEmpty(), qPrintable(written.err));
        QVERIFY(test::fileBytes(folder_.filePath("page.html")).contains("What to change first"));
    }

    void rulesAreListedAndTheirQueriesRun() {
        const Ended rules = explained({"--rules"});
        QCOMPARE(rules.status, 0);
        for (const Rule* rule : allRules()) {
            QVERIFY(rules.out.contains(std::string(rule->id).c_str()));
            if (rule->sql.empty()) continue;
            const Ended asked =
                run({"sql", used_, QString::fromUtf8(rule->sql.data(), static_cast<int>(rule->sql.size()))});
            QVERIFY2(asked.status == 0, qPrintable(asked.err));
        }
    }

    /// From the counters of a file to the exit status. Simulated: at half of its clock from the
    /// second of twenty steps on.
    void hotGpuDecidesTheStatus() {
        SimulatedTrace builder;
        constexpr int64_t stepNs = 10'000'000, steps = 20;
        builder.addSteps(builder.defaultThread(), steps, stepNs, stepNs, [&](int64_t at) {
            builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", at, at + 5'000, at + stepNs);
        });
        const auto addCounter = [&](const char* key, CounterUnit unit, double first, double then) {
            CounterSeries series;
            series.name = series.key = key;
            series.source = "nvml";
            series.unit = unit;
            series.gpu = 0;
            series.intervalNs = stepNs;
            LargeVector<int64_t> timesNs;
            LargeVector<double> values;
            for (const double value : {first, then}) {
                timesNs.push_back(static_cast<int64_t>(values.size()) * stepNs);
                values.push_back(value);
            }
            series.set(timesNs, values, steps * stepNs);
            builder.counter(std::move(series));
        };
        addCounter("clock.sm", CounterUnit::Hertz, 1980e6, 990e6);
        addCounter("throttle.reasons", CounterUnit::Flags, 0, 0x40);
        const QString path = folder_.filePath("hot.sqlite");
        QVERIFY(writeTraceFile(*builder.finish(), path.toStdString()));

        const QJsonObject explanation = document({path});
        QCOMPARE(rulesIn(explanation), QStringList{"gpu_throttled"});
        const QJsonObject finding = explanation["findings"].toArray()[0].toObject();
        QVERIFY2(std::abs(finding["share"].toDouble() - 0.475) < 0.01, qPrintable(finding["sentence"].toString()));
        QCOMPARE(finding["atNs"].toInteger(), qint64(stepNs));
        const Ended met = explained({path, "--fail-if", "gpu_throttled > 10%"});
        QCOMPARE(met.status, 1);
        QVERIFY2(met.err.contains("hardware thermal: it is too hot"), qPrintable(met.err));
        QCOMPARE(explained({path, "--fail-if", "gpu_throttled > 50%"}).status, 0);
        QCOMPARE(explained({path, "--mute", "gpu_throttled", "--fail-if", "any"}).status, 0);
        const Ended asked = run({"sql", path, finding["sql"].toString(), "--format", "csv"});
        QVERIFY2(asked.status == 0 && asked.out.count('\n') > 4, qPrintable(asked.err));
    }

    /// Also with unusual step names.
    void queriesOfFindingsReturnTheirRows() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        constexpr int64_t us = 1'000;
        int64_t at = 0;
        for (int number = 0; number < 60; ++number) {
            const int64_t lengthUs = number % 3 == 0 ? 9'000 : 5'000;
            builder.addNvtx(thread, "iter's " + std::to_string(number), at, at + lengthUs * us);
            // The batch takes longer: longer compute alone may be caused by another size.
            const int64_t readyUs = lengthUs - 3'000;
            builder.addNvtx(thread, "next_batch", at, at + readyUs * us);
            builder.launch(thread, stream, "gemm", at + (readyUs + 10) * us, at + (readyUs + 20) * us,
                           at + (lengthUs - 1'000) * us);
            at += lengthUs * us;
        }
        const QString path = folder_.filePath("named.sqlite");
        QVERIFY(writeTraceFile(*builder.finish(), path.toStdString()));
        const QJsonObject explanation = document({path});
        const QStringList rules = rulesIn(explanation);
        QVERIFY2(rules.contains("step_pattern") && rules.contains("input_data"), qPrintable(rules.join(' ')));
        for (const QJsonValue& each : explanation["findings"].toArray()) {
            const QString sql = each["sql"].toString();
            if (sql.isEmpty()) continue;
            const Ended asked = run({"sql", path, sql, "--format", "csv"});
            QVERIFY2(asked.status == 0, qPrintable(asked.err));
            QVERIFY2(asked.out.count('\n') > 1, qPrintable(sql));
        }
    }
};

LANESCOPE_TEST(tst_SqlCommand, QCoreApplication)
#include "tst_SqlCommand.moc"
