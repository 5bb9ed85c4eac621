// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>
#include <zlib.h>
#include <bit>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/query/TraceQuery.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/slowQuery.h"

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

using std::chrono::milliseconds;

/// Sorts what takes most of a minute and some 10^9 bytes.
constexpr const char* longSort =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 80000000) "
    "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY i * 7919 % 80000009) AS r FROM n)";
constexpr const char* endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

/// A cell as written or read.
struct Cell {
    CellType type = CellType::Null;
    int64_t bits = 0;
    std::string text;
    bool operator==(const Cell&) const = default;
};
using Row = std::vector<Cell>;

constexpr const char* table = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Declaration of the table and properties of its rows.
struct Kind {
    const char* columns = "number INTEGER, word TEXT, share REAL";
    int64_t rows = 40'000, firstNumber = 1;
    int maxRowIdGap = 0;  ///< Between the row numbers.
    size_t longText = 0;  ///< Letters of every third text.
    bool hasNumbers = true;
};

std::vector<Row> write(const std::filesystem::path& path, const Kind& kind) {
    auto database = Database::create(path);
    if (!database) return {};
    const std::string create = fmt::format("CREATE TABLE {} ({})", table, kind.columns);
    if (!database->execute(create.c_str()) || !database->execute("BEGIN")) return {};
    auto insert = database->prepare(
        kind.hasNumbers ? fmt::format("INSERT INTO {} (rowid, number, word, share) VALUES (?4, ?1, ?2, ?3)", table)
                        : fmt::format("INSERT INTO {} (number, word, share) VALUES (?1, ?2, ?3)", table));
    if (!insert) return {};
    std::mt19937 random(1);
    std::vector<Row> rows;
    int64_t number = kind.firstNumber;
    for (int64_t row = 0; row < kind.rows; ++row) {
        const std::string word(row % 3 == 0 ? kind.longText : random() % 5, static_cast<char>('a' + row % 26));
        insert->bind(1, row);
        insert->bind(2, std::string_view(word));
        if (row % 5 == 0)
            insert->bindNull(3);
        else
            insert->bind(3, static_cast<double>(row) / 7);
        if (kind.hasNumbers) insert->bind(4, number);
        number +=
            1 + (kind.maxRowIdGap > 0 ? static_cast<int64_t>(random() % static_cast<uint32_t>(kind.maxRowIdGap)) : 0);
        if (!insert->run()) return {};
        rows.push_back(
            {{CellType::Integer, row, {}},
             {CellType::Text, 0, word},
             row % 5 == 0 ? Cell{} : Cell{CellType::Real, std::bit_cast<int64_t>(static_cast<double>(row) / 7), {}}});
    }
    return database->execute("COMMIT") ? rows : std::vector<Row>();
}

struct Reading {
    std::vector<Row> rows;
    bool isCorrupt = false;
};

Reading read(const std::filesystem::path& path, unsigned threads) {
    const auto database = Database::openReadOnly(path);
    Reading reading;
    if (!database) return reading;
    TraceBuilder trace;
    const LoadProgress progress;
    LoadContext context(*database, trace, threads, progress);
    TableRows rows(context, table, "number, word, share");
    while (const RowBatch* batch = rows.next())
        for (size_t index = 0; index < batch->rowCount(); ++index) {
            Row& row = reading.rows.emplace_back();
            for (int column = 0; column < 3; ++column) {
                const RowBatch::Cell& cell = batch->row(index)[column];
                if (cell.type == CellType::Text)
                    row.push_back({cell.type, 0, std::string(batch->text(cell))});
                else
                    row.push_back({cell.type, cell.bits, {}});
            }
        }
    reading.isCorrupt = rows.isCorrupt();
    return reading;
}

}  // namespace

/// Queries with a thread each: answers are those of `TraceQuery`, and no caller waits too long.
class tst_TraceQuery : public QObject {
    Q_OBJECT

    TraceQuery open(const char* name) { return test::orFail(TraceQuery::open(folder_ / name)); }

    TemporaryFolder folder_;
    std::filesystem::path path_;

    /// Writes rows into a table without row numbers.
    static std::vector<Row> writeWithoutNumbers(const std::filesystem::path& path) {
        auto database = Database::create(path);
        if (!database) return {};
        const std::string create =
            fmt::format("CREATE TABLE {} (number INTEGER PRIMARY KEY, word TEXT, share REAL) WITHOUT ROWID", table);
        if (!database->execute(create.c_str()) || !database->execute("BEGIN")) return {};
        auto insert = database->prepare(fmt::format("INSERT INTO {} VALUES (?1, 'w', NULL)", table));
        std::vector<Row> rows;
        for (int64_t row = 0; row < 20'000; ++row) {
            insert->bind(1, row);
            if (!insert->run()) return {};
            rows.push_back({{CellType::Integer, row, {}}, {CellType::Text, 0, "w"}, {}});
        }
        insert->reset();
        return database->execute("COMMIT") ? rows : std::vector<Row>();
    }

  private slots:
    void initTestCase() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), folder_ / "trace.sqlite").has_value());
        makeFile(folder_ / "plain.sqlite",
                 "CREATE TABLE t (a INTEGER, b REAL, c TEXT, d BLOB);"
                 "INSERT INTO t VALUES (1, 2.5, 'x', x'00ff'), (2, NULL, 'y', NULL);");
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), path_).has_value());
    }

    void answersHaveTypedCells() {
        const auto result = test::orFail(open("plain.sqlite").run("SELECT a, b, c, d FROM t ORDER BY a"));
        QCOMPARE(result.table.rows.size(), size_t(2));
        const auto& row = result.table.rows[0];
        QCOMPARE(std::get<int64_t>(row[0]), int64_t(1));
        QCOMPARE(test::listed(std::get<double>(row[1]), std::get<std::string>(row[2])), "2.5 | x");
        QCOMPARE(std::get<std::string>(row[3]), std::string("x'00ff'"));
        QVERIFY(std::holds_alternative<std::monostate>(result.table.rows[1][1]));
        QVERIFY(!result.isCut);
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
            const auto result = test::orFail(query.run(sample.sql));
            const bool isAboutTrouble = std::string_view(sample.sql).find("HEALTH") != std::string::npos;
            QVERIFY2(isAboutTrouble || !result.table.rows.empty(), sample.title);
        }
    }

    void omittedTableHasNoRows() {
        QVERIFY(writeTraceFile(*SimulatedTrace().finish(), folder_ / "empty.sqlite"));
        const auto query = test::orFail(TraceQuery::open(folder_ / "empty.sqlite"));
        const auto rows = test::orFail(query.run("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL"));
        QVERIFY(rows.table.rows.empty());
        QVERIFY(!query.run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1)"));
        // In third-party files, missing tables stay missing.
        makeFile(folder_ / "other.sqlite",
                 "CREATE TABLE StringIds (id INTEGER, value TEXT);"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER)");
        const auto other = test::orFail(TraceQuery::open(folder_ / "other.sqlite"));
        QVERIFY(!other.run("SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    }

    void tablesAreListedWithTheirColumns() {
        const auto tables = test::orFail(open("plain.sqlite").tables());
        QCOMPARE(tables.size(), size_t(1));
        QCOMPARE(test::listed(tables.front().name, tables.front().columns.size()), test::listed("t", size_t(4)));
        QCOMPARE(tables.front().columns[1].type, std::string("REAL"));
    }

    void compressedTraceIsQueried() {
        const QByteArray bytes = bytesOf(folder_ / "trace.sqlite");
        const std::filesystem::path path = folder_ / "trace.sqlite.gz";
        gzFile file = gzopen(path.c_str(), "wb1");
        QCOMPARE(gzwrite(file, bytes.constData(), unsigned(bytes.size())), int(bytes.size()));
        gzclose(file);
        const auto query = test::orFail(TraceQuery::open(path));
        const auto packed = query.run("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
        const auto plain = open("trace.sqlite").run("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
        QVERIFY(packed.has_value() && plain.has_value());
        QCOMPARE(std::get<int64_t>(onlyCell(*packed)), std::get<int64_t>(onlyCell(*plain)));
    }

    void rowLimitIsAppliedAndReported() {
        const char* sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10) SELECT i FROM n";
        const TraceQuery query = open("plain.sqlite");
        const auto cut = test::orFail(query.run(sql, {.rows = 9}));
        QCOMPARE(cut.table.rows.size(), size_t(9));
        QVERIFY(cut.isCut);
        QVERIFY(!test::orFail(query.run(sql, {.rows = 10})).isCut);
        QVERIFY(test::orFail(query.run(sql, {.resultBytes = 64})).isCut);
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
        QVERIFY(!result.has_value() && !result.error().sentence.empty());
    }

    void secondStatementIsRefused() {
        const auto result = open("plain.sqlite").run("SELECT 1; SELECT 2");
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().offset.value_or(0), size_t(9));
    }

    void trailingCommentIsAccepted() {
        const TraceQuery query = open("plain.sqlite");
        QVERIFY(query.run("SELECT 1; -- what else\n /* nothing */ ").has_value());
        for (const char* part : {" -- nothing at all", "", "SELECT ?1"}) QVERIFY2(!query.run(part).has_value(), part);
        QVERIFY(!query.run(std::string_view("SELECT 1\0", 9)).has_value());
    }

    void endlessQueryIsStopped() {
        const auto result = open("plain.sqlite")
                                .run(
                                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                    "SELECT count(*) FROM n",
                                    {.time = std::chrono::milliseconds(200)});
        QVERIFY(!result.has_value() && result.error().sentence.find("0.2 s") != std::string::npos);
    }

    void sortBeyondTheMemoryLimitIsStopped_data() {
        test::rows<QString>("select",
                            {{"long rows", "SELECT i, hex(zeroblob(1000)) AS x FROM n ORDER BY x, i"},
                             {"many rows", "SELECT row_number() OVER (ORDER BY i * 7919 % 80000009) FROM n"},
                             {"groups", "SELECT i * 7919 % 80000009 AS x, count(DISTINCT i) FROM n GROUP BY x"},
                             {"a set", "SELECT DISTINCT i, hex(zeroblob(100)) FROM n"}});
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
        HAS(result.error().sentence, "32.00 MiB");
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
        QVERIFY(!query.run("SELECT * FROM v", {.time = std::chrono::milliseconds(5000)}).has_value());
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
            QVERIFY2(!query.run(sql).has_value(), sql);
        }
        QVERIFY(query.run("SELECT * FROM t").has_value());
        QVERIFY(query.run("SELECT value FROM json_each('[1, 2]')").has_value() && query.tables().has_value());
    }

    void generatedColumnsWithSideEffectsAreNotRead() {
        makeFile(folder_ / "generated.sqlite",
                 "CREATE TABLE t (a, b AS (hex(zeroblob(a))) VIRTUAL); INSERT INTO t (a) VALUES (1);"
                 "INSERT INTO t (a) VALUES (100000000);");
        QVERIFY(!open("generated.sqlite").run("SELECT b FROM t").has_value());
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
        QVERIFY(!query.run("DELETE FROM NVTX_EVENTS") && query.run("SELECT count(*) FROM NVTX_EVENTS"));
        QCOMPARE(bytesOf(folder_ / "trace.sqlite"), before);
        size_t files = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            if (entry.path().filename().string().starts_with("trace.sqlite-")) ++files;
        QCOMPARE(files, size_t(0));
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
        test::rows<QString>("sql", {{"a function", slowQuery}, {"a sort", longSort}, {"steps", endless}});
    }
    void nothingRunsOnBeyondTheTime() {
        QFETCH(QString, sql);
        auto query = test::orFail(TimedQuery::open(path_));
        constexpr int64_t timeMs = 2000;
        QElapsedTimer timer;
        timer.start();
        const auto result = query.run(sql.toStdString(), {.time = milliseconds(timeMs)});
        const qint64 tookMs = timer.elapsed();
        QVERIFY(!result.has_value());
        QVERIFY2(result.error().sentence.starts_with("The query was stopped after 2 s"),
                 result.error().sentence.c_str());
        QVERIFY2(tookMs >= timeMs && tookMs <= timeMs * 11 / 10, qPrintable(QString::number(tookMs)));
        // The next one is answered.
        QVERIFY(query.run("SELECT 1").has_value());
    }

    void stopsACancelledQuery_data() { test::rows<QString>("sql", {{"a function", slowQuery}, {"steps", endless}}); }
    void stopsACancelledQuery() {
        QFETCH(QString, sql);
        auto query = test::orFail(TimedQuery::open(path_));
        QElapsedTimer timer;
        timer.start();
        const auto result =
            query.run(sql.toStdString(), {}, [](milliseconds elapsed) { return elapsed < milliseconds(200); });
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!result.has_value());
        QCOMPARE(result.error().sentence, std::string("The query was stopped."));
        QVERIFY(query.run("SELECT 1").has_value());
    }

    void rowsAreReturnedInOrder_data() {
        test::rows<int>("shape", {{"few", 0},
                                  {"many", 1},
                                  {"with gaps", 2},
                                  {"long texts", 3},
                                  {"distant", 4},
                                  {"negative numbers", 5},
                                  {"without numbers", 6},
                                  {"a column named rowid", 7},
                                  {"empty", 8}});
    }
    void rowsAreReturnedInOrder() {
        QFETCH(int, shape);
        Kind kind;
        if (shape == 0) kind.rows = 100;
        if (shape == 2) kind.maxRowIdGap = 9;
        if (shape == 3) kind = {.rows = 20'000, .longText = 4000};
        if (shape == 4) kind.maxRowIdGap = 100'000;
        if (shape == 5) kind.firstNumber = -20'000;
        if (shape == 7) kind = {.columns = "number INTEGER, word TEXT, share REAL, ROWID TEXT", .hasNumbers = false};
        if (shape == 8) kind.rows = 0;
        const TemporaryFolder folder;
        const std::vector<Row> rows =
            shape == 6 ? writeWithoutNumbers(folder / "trace") : write(folder / "trace", kind);
        QCOMPARE(rows.empty(), shape == 8);
        for (const unsigned threads : {1u, 2u, 5u}) {
            const Reading reading = read(folder / "trace", threads);
            QVERIFY(!reading.isCorrupt && reading.rows == rows);
        }
    }

    void corruptPageEndsAtTheSameRowForAnyThreadCount() {
        const TemporaryFolder folder;
        QVERIFY(!write(folder / "trace", {}).empty());
        const auto size = std::filesystem::file_size(folder / "trace");
        {
            std::fstream file(folder / "trace", std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(size / 2 / 4096 * 4096));
            file << std::string(4096, '\x77');
        }
        const Reading alone = read(folder / "trace", 1);
        QVERIFY(alone.isCorrupt && !alone.rows.empty() && alone.rows.size() < 40'000);
        for (const unsigned threads : {2u, 4u}) {
            const Reading together = read(folder / "trace", threads);
            QVERIFY(together.isCorrupt && together.rows == alone.rows);
        }
    }

    /// A reader may begin before another has ended.
    void tablesAreReadAlternately() {
        const TemporaryFolder folder;
        const std::vector<Row> rows = write(folder / "trace", {});
        const auto database = Database::openReadOnly(folder / "trace");
        QVERIFY(database.has_value() && !rows.empty());
        TraceBuilder trace;
        const LoadProgress progress;
        LoadContext context(*database, trace, 4, progress);
        for (int round = 0; round < 5; ++round) {
            TableRows first(context, table, "number");
            TableRows second(context, table, "number, share");
            std::array<TableRows*, 2> both{&first, &second};
            std::array<int64_t, 2> counts{};
            for (bool isAny = true; isAny;) {
                isAny = false;
                for (size_t which = 0; which < both.size(); ++which) {
                    const RowBatch* batch = both[which]->next();
                    if (batch == nullptr) continue;
                    isAny = true;
                    for (size_t row = 0; row < batch->rowCount(); ++row)
                        QCOMPARE(batch->row(row)->bits, counts[which]++);
                }
            }
            QCOMPARE(counts[0], static_cast<int64_t>(rows.size()));
            QCOMPARE(counts[1], static_cast<int64_t>(rows.size()));
        }
    }

    void readingMayStopAtAnyTime() {
        const TemporaryFolder folder;
        QVERIFY(!write(folder / "trace", {}).empty());
        const auto database = test::orFail(Database::openReadOnly(folder / "trace"));
        TraceBuilder trace;
        const LoadProgress progress;
        LoadContext context(database, trace, 3, progress);
        for (int batches = 0; batches < 6; ++batches) {
            TableRows rows(context, table, "number");
            for (int batch = 0; batch < batches; ++batch) QVERIFY(rows.next() != nullptr);
        }
    }
};

LANESCOPE_TEST(tst_TraceQuery, QCoreApplication)
#include "tst_TraceQuery.moc"
