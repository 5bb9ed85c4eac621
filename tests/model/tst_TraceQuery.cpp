// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>
#include <zlib.h>

#include "model/export/traceFile.h"
#include "model/query/TraceQuery.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Creates a file with SQLite itself, with content that `Database` would not write.
void makeFile(const std::filesystem::path& path, const char* sql) {
    sqlite3* database = nullptr;
    QCOMPARE(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    const int code = sqlite3_exec(database, sql, nullptr, nullptr, &message);
    const QByteArray said = message;
    sqlite3_free(message);
    sqlite3_close(database);
    QVERIFY2(code == SQLITE_OK, said.constData());
}

QByteArray bytesOf(const std::filesystem::path& path) {
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

const Cell& onlyCell(const QueryResult& result) { return result.table.rows.at(0).at(0); }

}  // namespace

class tst_TraceQuery : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), folder_ / "trace.sqlite").has_value());
        makeFile(folder_ / "plain.sqlite",
                 "CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB);"
                 "INSERT INTO t VALUES (1, 2.5, 'x', x'00ff'), (2, NULL, 'y', NULL);");
    }

    void answersHaveTypedCells() {
        const auto result = open("plain.sqlite").run("SELECT a, b, c, d FROM t ORDER BY a");
        QVERIFY(result.has_value());
        QCOMPARE(result->table.rows.size(), size_t(2));
        const auto& row = result->table.rows[0];
        QCOMPARE(std::get<int64_t>(row[0]), int64_t(1));
        QCOMPARE(std::get<double>(row[1]), 2.5);
        QCOMPARE(std::get<std::string>(row[2]), std::string("x"));
        QCOMPARE(std::get<std::string>(row[3]), std::string("x'00ff'"));
        QVERIFY(std::holds_alternative<std::monostate>(result->table.rows[1][1]));
        QVERIFY(!result->isCut);
    }

    void timeColumnsAreDetected() {
        const auto result =
            open("plain.sqlite").run("SELECT a AS start, a AS endNs, a AS bytes, c AS timestamp FROM t");
        QVERIFY(result.has_value());
        QCOMPARE(result->table.columns[0].unit, Unit::Timestamp);
        QCOMPARE(result->table.columns[1].unit, Unit::Timestamp);
        QCOMPARE(result->table.columns[2].unit, Unit::Identifier);
        QCOMPARE(result->table.columns[3].unit, Unit::Text);
    }

    void syntaxErrorIsLocated() {
        const std::string_view sql = "SELECT a,\n  nonsense FROM t";
        const auto result = open("plain.sqlite").run(sql);
        QVERIFY(!result.has_value());
        QCOMPARE(sentenceOf(result.error(), sql), std::string("Line 2, column 3: No such column: nonsense."));
    }

    void everySampleQueryRuns() {
        const TraceQuery query = open("trace.sqlite");
        for (const SampleQuery& sample : sampleQueries()) {
            const auto result = query.run(sample.sql);
            QVERIFY2(result.has_value(), result ? "" : result.error().sentence.c_str());
            const bool isAboutTrouble = std::string_view(sample.sql).find("HEALTH") != std::string::npos;
            QVERIFY2(isAboutTrouble || !result->table.rows.empty(), sample.title);
        }
    }

    void omittedTableHasNoRows() {
        QVERIFY(writeTraceFile(*SimulatedTrace().finish(), folder_ / "empty.sqlite"));
        const auto query = TraceQuery::open(folder_ / "empty.sqlite");
        QVERIFY(query);
        const auto rows = query->run("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL");
        QVERIFY2(rows, rows ? "" : rows.error().sentence.c_str());
        QVERIFY(rows->table.rows.empty());
        QVERIFY(!query->run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1)"));
        // In third-party files, missing tables stay missing.
        makeFile(folder_ / "other.sqlite",
                 "CREATE TABLE StringIds (id INTEGER, value TEXT);"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER)");
        const auto other = TraceQuery::open(folder_ / "other.sqlite");
        QVERIFY(other);
        QVERIFY(!other->run("SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    }

    void tablesAreListedWithTheirColumns() {
        const auto tables = open("plain.sqlite").tables();
        QVERIFY(tables.has_value());
        QCOMPARE(tables->size(), size_t(1));
        QCOMPARE(tables->front().name, std::string("t"));
        QCOMPARE(tables->front().columns.size(), size_t(4));
        QCOMPARE(tables->front().columns[1].type, std::string("REAL"));
    }

    void compressedTraceIsQueried() {
        const QByteArray bytes = bytesOf(folder_ / "trace.sqlite");
        const std::filesystem::path path = folder_ / "trace.sqlite.gz";
        gzFile file = gzopen(path.c_str(), "wb1");
        QCOMPARE(gzwrite(file, bytes.constData(), unsigned(bytes.size())), int(bytes.size()));
        gzclose(file);
        const auto query = TraceQuery::open(path);
        QVERIFY(query.has_value());
        const auto packed = query->run("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
        const auto plain = open("trace.sqlite").run("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
        QVERIFY(packed.has_value() && plain.has_value());
        QCOMPARE(std::get<int64_t>(onlyCell(*packed)), std::get<int64_t>(onlyCell(*plain)));
    }

    void rowLimitIsAppliedAndReported() {
        const char* sql =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10) SELECT i "
            "FROM n";
        const TraceQuery query = open("plain.sqlite");
        const auto cut = query.run(sql, {.rows = 9});
        QVERIFY(cut.has_value());
        QCOMPARE(cut->table.rows.size(), size_t(9));
        QVERIFY(cut->isCut);
        const auto whole = query.run(sql, {.rows = 10});
        QVERIFY(whole.has_value());
        QVERIFY(!whole->isCut);
        const auto small = query.run(sql, {.resultBytes = 64});
        QVERIFY(small.has_value());
        QVERIFY(small->isCut);
    }

    void writingStatementsAreRefused_data() {
        QTest::addColumn<QString>("sql");
        for (const char* sql : {"INSERT INTO t VALUES (1, 2, 3, 4)",
                                "UPDATE t SET a = 2",
                                "DELETE FROM t",
                                "DROP TABLE t",
                                "CREATE TABLE u (a)",
                                "CREATE TEMP TABLE u (a)",
                                "CREATE VIEW v AS SELECT 1",
                                "CREATE VIRTUAL TABLE f USING fts5(a)",
                                "ATTACH '/tmp/other.sqlite' AS other",
                                "ATTACH ':memory:' AS other",
                                "DETACH main",
                                "VACUUM",
                                "VACUUM INTO '/tmp/out.sqlite'",
                                "BEGIN",
                                "COMMIT",
                                "SAVEPOINT a",
                                "REINDEX",
                                "ANALYZE",
                                "ALTER TABLE t RENAME TO u",
                                "PRAGMA writable_schema = ON",
                                "PRAGMA writable_schema",
                                "PRAGMA query_only = OFF",
                                "PRAGMA trusted_schema = ON",
                                "PRAGMA journal_mode = DELETE",
                                "PRAGMA user_version = 3",
                                "PRAGMA temp_store_directory = '/tmp'",
                                "SELECT load_extension('/tmp/evil.so')",
                                "SELECT readfile('/etc/passwd')",
                                "SELECT writefile('/tmp/x', 'y')",
                                "SELECT fts3_tokenizer('simple')",
                                "SELECT randomblob(10)",
                                "SELECT * FROM pragma_database_list",
                                "SELECT * FROM dbstat",
                                "SELECT * FROM sqlite_dbpage",
                                "EXPLAIN INSERT INTO t VALUES (1, 2, 3, 4)",
                                "REPLACE INTO t (a) VALUES (1)"})
            QTest::newRow(sql) << QString::fromUtf8(sql);
    }

    void writingStatementsAreRefused() {
        QFETCH(QString, sql);
        const auto result = open("plain.sqlite").run(sql.toStdString());
        QVERIFY(!result.has_value());
        QVERIFY(!result.error().sentence.empty());
    }

    void secondStatementIsRefused() {
        const auto result = open("plain.sqlite").run("SELECT 1; SELECT 2");
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().offset.value_or(0), size_t(9));
    }

    void trailingCommentIsAccepted() {
        const TraceQuery query = open("plain.sqlite");
        QVERIFY(query.run("SELECT 1; -- what else\n /* nothing */ ").has_value());
        QVERIFY(!query.run(" -- nothing at all").has_value());
        QVERIFY(!query.run("").has_value());
        QVERIFY(!query.run("SELECT ?1").has_value());
        QVERIFY(!query.run(std::string_view("SELECT 1\0", 9)).has_value());
    }

    void endlessQueryIsStopped() {
        const auto result = open("plain.sqlite")
                                .run(
                                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                    "SELECT count(*) FROM n",
                                    {.time = std::chrono::milliseconds(200)});
        QVERIFY(!result.has_value());
        QVERIFY(result.error().sentence.find("0.2 s") != std::string::npos);
    }

    void sortBeyondTheMemoryLimitIsStopped_data() {
        QTest::addColumn<QString>("select");
        QTest::newRow("long rows") << "SELECT i, hex(zeroblob(1000)) AS x FROM n ORDER BY x, i";
        QTest::newRow("many rows") << "SELECT row_number() OVER (ORDER BY i * 7919 % 80000009) FROM n";
        QTest::newRow("groups") << "SELECT i * 7919 % 80000009 AS x, count(DISTINCT i) FROM n GROUP BY x";
        QTest::newRow("a set") << "SELECT DISTINCT i, hex(zeroblob(100)) FROM n";
    }

    void sortBeyondTheMemoryLimitIsStopped() {
        QFETCH(QString, select);
        constexpr int64_t workingBytes = 32 << 20, spare = 8 << 20;
        const TraceQuery query = open("plain.sqlite");
        const int64_t bytesBefore = sqlite3_memory_used();
        sqlite3_memory_highwater(1);
        const auto result =
            query.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) " + select.toStdString(),
                      {.rows = 10'000'000, .workingBytes = workingBytes});
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().sentence.find("32.00 MiB") != std::string::npos, result.error().sentence.c_str());
        QVERIFY(sqlite3_memory_highwater(0) - bytesBefore < workingBytes + spare);
    }

    void giganticCellsAreRefused_data() {
        QTest::addColumn<QString>("sql");
        for (const char* sql :
             {"SELECT zeroblob(2000000000)", "SELECT hex(zeroblob(600000)) || 'x'", "SELECT hex(zeroblob(900000))",
              "SELECT replace(hex(zeroblob(400000)), '0', '0123456789')",
              "WITH RECURSIVE n(i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t || t FROM n) "
              "SELECT max(length(t)) FROM n"})
            QTest::newRow(sql) << QString::fromUtf8(sql);
    }

    void giganticCellsAreRefused() {
        QFETCH(QString, sql);
        const auto result = open("plain.sqlite").run(sql.toStdString());
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().sentence, std::string("A text or blob of this query is longer than 1 MiB."));
    }

    void deepNestingIsHarmless() {
        const TraceQuery query = open("plain.sqlite");
        std::string nested = "SELECT ";
        nested.append(20'000, '(');
        nested += '1';
        nested.append(20'000, ')');
        QVERIFY(!query.run(nested).has_value());
        std::string sum = "SELECT 1";
        for (int i = 0; i < 20'000; ++i) sum += "+1";
        QVERIFY(!query.run(sum).has_value());
        std::string compound = "SELECT 1";
        for (int i = 0; i < 1000; ++i) compound += " UNION SELECT 1";
        QVERIFY(!query.run(compound).has_value());
        std::string like = "SELECT hex(zeroblob(200000)) LIKE '";
        for (int i = 0; i < 400; ++i) like += "%0";
        QVERIFY(query.run(like + "x'").has_value());
    }

    void viewsOfAHostileFileAreNotRun() {
        makeFile(folder_ / "views.sqlite",
                 "CREATE TABLE t (a); INSERT INTO t VALUES (1);"
                 "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                 "SELECT count(*) FROM n; CREATE VIEW plain AS SELECT a FROM t;");
        const TraceQuery query = open("views.sqlite");
        const auto result = query.run("SELECT * FROM v", {.time = std::chrono::milliseconds(5000)});
        QVERIFY(!result.has_value());
        const auto plain = query.run("SELECT * FROM plain");
        QVERIFY(!plain.has_value());
        QVERIFY(plain.error().sentence.find("views and virtual tables of a trace are not allowed") !=
                std::string::npos);
        const auto missing = query.run("SELECT * FROM reviews");
        QVERIFY(!missing.has_value());
        QCOMPARE(missing.error().sentence, std::string("No such table: reviews."));
        QVERIFY(query.run("SELECT * FROM t").has_value());
        QCOMPARE(query.tables()->size(), size_t(1));
    }

    void triggersAndVirtualTablesOfAHostileFileAreNotRun() {
        makeFile(folder_ / "virtual.sqlite",
                 "CREATE TABLE t (a);"
                 "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;"
                 "CREATE VIRTUAL TABLE f USING fts5(body);"
                 "INSERT INTO f VALUES ('some words');"
                 "CREATE VIRTUAL TABLE r USING rtree(id, a, b);");
        const TraceQuery query = open("virtual.sqlite");
        for (const char* sql : {"SELECT * FROM f", "SELECT * FROM f WHERE f MATCH 'words'", "SELECT * FROM r",
                                "SELECT highlight(f, 0, 'a', 'b') FROM f"}) {
            const auto result = query.run(sql);
            QVERIFY2(!result.has_value(), sql);
        }
        QVERIFY(query.run("SELECT * FROM t").has_value());
        QVERIFY(query.run("SELECT value FROM json_each('[1, 2]')").has_value());
        QVERIFY(query.tables().has_value());
    }

    void generatedColumnsWithSideEffectsAreNotRead() {
        makeFile(folder_ / "generated.sqlite",
                 "CREATE TABLE t (a, b AS (hex(zeroblob(a))) VIRTUAL); INSERT INTO t (a) VALUES (1);"
                 "INSERT INTO t (a) VALUES (100000000);");
        const auto result = open("generated.sqlite").run("SELECT b FROM t");
        QVERIFY(!result.has_value());
    }

    void corruptFileIsHarmless() {
        const QByteArray whole = bytesOf(folder_ / "trace.sqlite");
        for (int round = 0; round < 60; ++round) {
            QByteArray broken = whole;
            for (int hit = 0; hit < 200; ++hit) {
                const quint32 place = (quint32(round) * 2654435761u + quint32(hit) * 40503u) * 7919u;
                broken[qsizetype(100 + place % quint32(broken.size() - 100))] = char(place >> 11);
            }
            const std::filesystem::path path = folder_ / "broken.sqlite";
            std::ofstream(path, std::ios::binary) << broken.toStdString();
            const auto query = TraceQuery::open(path);
            if (!query) continue;
            const auto tables = query->tables();
            QVERIFY(tables || !tables.error().sentence.empty());
            for (const SampleQuery& sample : sampleQueries()) {
                const auto rows = query->run(sample.sql, {.time = std::chrono::milliseconds(2000)});
                QVERIFY(rows || !rows.error().sentence.empty());
            }
        }
    }

    void fileIsNotChanged() {
        const QByteArray before = bytesOf(folder_ / "trace.sqlite");
        const TraceQuery query = open("trace.sqlite");
        QVERIFY(!query.run("DELETE FROM NVTX_EVENTS"));
        QVERIFY(query.run("SELECT count(*) FROM NVTX_EVENTS"));
        QCOMPARE(bytesOf(folder_ / "trace.sqlite"), before);
        size_t files = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            if (entry.path().filename().string().starts_with("trace.sqlite-")) ++files;
        QCOMPARE(files, size_t(0));
    }

  private:
    TraceQuery open(const char* name) {
        auto query = TraceQuery::open(folder_ / name);
        if (!query) qFatal("%s", query.error().sentence.c_str());
        return std::move(*query);
    }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_TraceQuery, QCoreApplication)
#include "tst_TraceQuery.moc"
