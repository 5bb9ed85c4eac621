// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/Memory.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/TableWriter.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"

using namespace lanescope;

namespace {

constexpr const auto& windows = tables::windows;
constexpr const auto& properties = tables::properties;
constexpr const auto& samples = tables::counterSamples;

// Compile-time result for rows and values.

template <class Column, class Value>
concept Takes = requires(const Column& column, const Value& value) {
    column = value;
};

using Required = decltype(windows.startNs);
static_assert(Takes<Required, int> && Takes<Required, uint64_t> && Takes<Required, bool>);
static_assert(Takes<Required, tables::Type>, "an enum is a number");
static_assert(!Takes<Required, double>, "a fraction is no whole number");
static_assert(!Takes<Required, std::string_view> && !Takes<Required, const char*>);
static_assert(!Takes<Required, std::nullptr_t> && !Takes<Required, std::optional<int64_t>>,
              "what may be nothing goes into no column that is NOT NULL");

using Optional = decltype(windows.endNs);
static_assert(Takes<Optional, std::nullptr_t> && Takes<Optional, std::nullopt_t> &&
              Takes<Optional, std::optional<uint32_t>>);
static_assert(!Takes<Optional, std::optional<double>>);

using Text = decltype(properties.value);
static_assert(Takes<Text, std::string> && Takes<Text, char[5]> && Takes<Text, std::optional<std::string_view>> &&
              Takes<Text, std::nullptr_t>);
static_assert(!Takes<Text, int> && !Takes<Text, double>);

using Any = decltype(samples.value);
static_assert(Takes<Any, int> && Takes<Any, double> && Takes<Any, std::optional<double>>);

template <class Table, class... Cells>
concept TakesRow = requires(Inserter<Table> rows, const Cells&... cells) {
    rows.insert(cells...);
};

template <class Column>
using CellOf = tables::Cell<std::remove_cvref_t<Column>, int>;
using Process = CellOf<decltype(windows.globalPid)>;
using Index = CellOf<decltype(windows.index)>;
using Start = CellOf<decltype(windows.startNs)>;
using End = CellOf<decltype(windows.endNs)>;

static_assert(TakesRow<tables::Windows, Process, Index, Start>);
static_assert(TakesRow<tables::Windows, End, Start, Index, Process>, "in any order");
static_assert(!TakesRow<tables::Windows>, "nothing is no row");
static_assert(!TakesRow<tables::Windows, Process, Index, End>, "startNs is missing");
static_assert(!TakesRow<tables::Windows, Process, Index, Start, Start>, "startNs twice");
static_assert(!TakesRow<tables::Windows, Process, Index, Start, End, End>, "endNs twice");
static_assert(!TakesRow<tables::Windows, Process, Index, CellOf<decltype(tables::gaps.startNs)>>,
              "of another table, though it is called the same");

}  // namespace

class tst_Sqlite : public QObject {
    Q_OBJECT

    Database create(const char* name, const char* sql) {
        Database database = test::orFail(Database::create(*folder_ / name));
        if (!database.execute(sql)) qFatal("cannot run %s", sql);
        return database;
    }

    std::unique_ptr<TemporaryFolder> folder_;

    Database open() { return std::move(*Database::openReadOnly(sharedFolder_ / "trace")); }

    TemporaryFolder sharedFolder_;

    Statement firstRow(const char* sql) {
        auto statement = database_->prepare(sql);
        if (!statement || !*statement->step()) qFatal("%s has no row", sql);
        return std::move(*statement);
    }
    std::unique_ptr<Database> database_;
    FirstError error_;

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        folder_ = std::make_unique<TemporaryFolder>();
        auto database = test::orFail(Database::create(*folder_ / "trace"));
        database_ = std::make_unique<Database>(std::move(database));
        QVERIFY(createTraceTables(*database_));
    }

    void initTestCase() {
        auto database = test::orFail(Database::create(sharedFolder_ / "trace"));
        test::orFail(createTraceTables(database));
    }

    void boundValuesAreStored() {
        Database database = create("a", "CREATE TABLE t (a INTEGER, b REAL, c TEXT, d INTEGER)");
        auto insert = test::orFail(database.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)"));
        insert.bind(1, int64_t{INT64_MIN});
        insert.bind(2, 0.25);
        insert.bind(3, std::string_view("a\0b", 3));
        insert.bind(4, std::optional<int64_t>());
        QVERIFY(insert.run());
        insert.bind(1, int64_t{2});
        insert.bind(3, std::string_view());
        QVERIFY(insert.run());

        auto select = test::orFail(database.prepare("SELECT a, b, c, d FROM t"));
        QCOMPARE(test::listed(select.columnCount(), select.columnName(2)), "4 | c");
        QVERIFY(*select.step());
        QCOMPARE(select.integer(0), int64_t{INT64_MIN});
        QCOMPARE(test::listed(select.real(1), select.text(2)), test::listed(0.25, std::string_view("a\0b", 3)));
        QVERIFY(select.isNull(3) && select.isInteger(0) && !select.isInteger(1) && !select.isInteger(2));
        QVERIFY(*select.step() && !select.isNull(2) && select.text(2).empty() && !*select.step());
        QCOMPARE(test::listed(database.rowCount("t"), database.rowCount("missing")), "2 | 0");
    }

    void createdFileIsPrivate() {
        create("private", "CREATE TABLE t (a)");
        struct stat status {};
        QCOMPARE(::stat((*folder_ / "private").c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777, 0600u);
    }

    void existingFileIsNotOverwritten() {
        put(*folder_ / "there", "precious");
        const auto database = Database::create(*folder_ / "there");
        QVERIFY(!database && database.error().sentence.find("exists") != std::string::npos);
        QCOMPARE(std::filesystem::file_size(*folder_ / "there"), uintmax_t{8});
    }

    void openErrorGivesTheReason_data() {
        const test::Rows<QString, QByteArray, QString> row;
        row("missing", "nowhere", QByteArray(), "no such file");
        row("empty", "empty", "", "is empty");
        row("folder", ".", QByteArray(), "this is a folder");
        row("text", "text", "hello, trace", "not an SQLite file");
        row("Nsight report", "run.nsys-rep", "QDSTRM", "nsys export");
        row("header only", "header", QByteArray("SQLite format 3\0", 16), "truncated inside its header");
        row("zeros", "zeros", QByteArray(4096, '\0'), "not an SQLite file");
    }
    void openErrorGivesTheReason() {
        const auto [name, bytes, fragment] = test::row<QString, QByteArray, QString>();
        const auto path = *folder_ / name.toUtf8().constData();
        if (!bytes.isNull()) put(path, bytes.toStdString());
        const auto database = Database::openReadOnly(path);
        QVERIFY(!database);
        const QString sentence = QString::fromStdString(database.error().sentence);
        QVERIFY2(sentence.contains(fragment), qPrintable(sentence));
        QVERIFY2(sentence.contains(QString::fromStdString(path.string())), qPrintable(sentence));
        QVERIFY2(sentence.endsWith('.'), qPrintable(sentence));
    }

    void strangeNamesAreFileNames() {
        // As relative paths, these would be an SQLite URI and an in-memory database.
        const auto previous = std::filesystem::current_path();
        std::filesystem::current_path(folder_->path());
        for (const char* name : {"file:x?mode=memory", ":memory:"}) {
            QVERIFY(Database::create(name)->execute("CREATE TABLE t (a)"));
            QVERIFY(std::filesystem::exists(*folder_ / name));
            QVERIFY(Database::openReadOnly(name)->hasTable("t"));
        }
        std::filesystem::current_path(previous);
    }

    void opensForReadingOnly() {
        create("a", "CREATE TABLE t (a)");
        auto database = test::orFail(Database::openReadOnly(*folder_ / "a"));
        for (const char* part : {"INSERT INTO t VALUES (1)", "DROP TABLE t", "ATTACH DATABASE 'b' AS b"})
            QVERIFY2(!database.execute(part), part);
        QVERIFY(database.execute("SELECT count(*) FROM t"));
    }

    void viewsAndVirtualTablesAreNotListed() {
        create("a",
               "CREATE TABLE t (a);"
               "CREATE VIEW v AS WITH RECURSIVE c(a) AS (SELECT 1 UNION ALL SELECT a FROM c) SELECT a FROM c;"
               "CREATE VIRTUAL TABLE f USING fts5(a)");
        const auto database = test::orFail(Database::openReadOnly(*folder_ / "a"));
        QVERIFY(database.hasTable("t") && database.hasTable("T"));
        QVERIFY(database.hasColumn("t", "a") && !database.hasColumn("t", "b"));
        QVERIFY(!database.hasTable("v") && !database.hasColumn("v", "a") && !database.hasTable("f"));
        QVERIFY(!database.prepare("SELECT a FROM v"));
        const auto tables = database.tables();
        QVERIFY(std::find(tables.begin(), tables.end(), "t") != tables.end());
        QVERIFY(std::find(tables.begin(), tables.end(), "v") == tables.end());
    }

    void functionsOfAFileAreNotRun() {
        create("a", "CREATE TABLE t (a, b AS (zeroblob(100000000)))");
        const auto database = test::orFail(Database::openReadOnly(*folder_ / "a"));
        QVERIFY(!database.prepare("SELECT load_extension('x')") && !database.prepare("SELECT zeroblob(1)"));
        QVERIFY(database.prepare("SELECT max(a), count(*) FROM t"));
    }

    void errorsNameTheFile() {
        create("a", "CREATE TABLE t (a)");
        const auto database = Database::openReadOnly(*folder_ / "a");
        const auto statement = database->prepare("SELECT nothing FROM t");
        QVERIFY(!statement && statement.error().sentence.find((*folder_ / "a").string()) != std::string::npos);
    }

    void fileIsMarkedAsLanescopeTrace() {
        const Database database = open();
        QCOMPARE(database.pragma("application_id"), int64_t{traceApplicationId});
        QCOMPARE(database.pragma("user_version"), int64_t{traceSchemaVersion});
        auto version = database.prepare("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
        QVERIFY(version && *version->step());
        QCOMPARE(version->text(0), std::string_view("3.25.0"));
    }

    void tablesMatchTheGoldenFile() {
        // Readers rely on names, order and types: a difference here affects all of them.
        std::string sql;
        for (const tables::Table* table : tables::traceTables()) sql += createSql(*table);
        for (const tables::Table* table : tables::storedTables()) sql += createSql(*table);
        const std::filesystem::path golden = LANESCOPE_SOURCE_DIR "/tests/golden/schema.sql";
        std::ostringstream expected;
        expected << std::ifstream(golden).rdbuf();
        if (expected.str() != sql && qEnvironmentVariableIntValue("LANESCOPE_UPDATE_GOLDEN") != 0)
            std::ofstream(golden) << sql;
        else
            QCOMPARE(QString::fromStdString(sql), QString::fromStdString(expected.str()));
    }

    void workTablesHaveTimes() {
        // Programs for Nsight Systems exports compute with these ids.
        TemporaryFolder folder;
        auto database = Database::create(folder / "trace");
        QVERIFY(createTraceTables(*database));
        QVERIFY(
            !database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                               " bytes, copyKind) VALUES (NULL, NULL, 0, 1, 7, 4, 1)"));
    }

    void emptyNsightTablesAreOmitted() {
        TemporaryFolder folder;
        auto database = Database::create(folder / "trace");
        QVERIFY(createTraceTables(*database));
        QVERIFY(
            database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                              " bytes, copyKind) VALUES (1, 2, 0, 1, 7, 4, 1)"));
        QVERIFY(dropEmptyTables(*database));
        QVERIFY(database->hasTable("CUPTI_ACTIVITY_KIND_MEMCPY"));
        for (const char* left : {"CUPTI_ACTIVITY_KIND_KERNEL", "ThreadNames", "PROCESSES"})
            QVERIFY2(!database->hasTable(left), left);
        for (const char* kept :
             {"StringIds", "ENUM_CUDA_MEM_KIND", "META_DATA_EXPORT", "META_DATA_CAPTURE", "LANESCOPE_HEALTH"})
            QVERIFY2(database->hasTable(kept), kept);
        QVERIFY(dropEmptyTables(*database));
    }

    void kindNamesMatchNsight() {
        const Database database = open();
        auto kinds = database.prepare("SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = 1");
        QVERIFY(kinds && *kinds->step());
        QCOMPARE(kinds->text(0), std::string_view("Host-to-Device"));
        auto memory = database.prepare("SELECT name, label FROM ENUM_CUDA_MEM_KIND WHERE id = 0");
        QVERIFY(memory && *memory->step());
        QCOMPARE(test::listed(memory->text(0), memory->text(1)), "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE | Pageable");
        QCOMPARE(database.rowCount("ENUM_CUDA_MEMCPY_OPER"), int64_t{memcpyKindCount});
        QCOMPARE(memcpyKindFrom(99), MemcpyKind::Unknown);
        QCOMPARE(memoryKindFrom(-1), MemoryKind::Unknown);
    }

    void kindNumbersMatchRealExports() {
        const auto files = sampleExports();
        if (files.empty()) QSKIP("LANESCOPE_TEST_DATA names no folder with exports.");
        const Database native = open();
        int compared = 0;
        for (const auto& file : files) {
            const auto theirs = test::orFail(Database::openReadOnly(file));
            for (const char* table :
                 {"ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND", "ENUM_CUPTI_SYNC_TYPE", "ENUM_CUPTI_STREAM_TYPE"}) {
                if (!theirs.hasTable(table)) continue;
                const std::string sql = std::string("SELECT id, name, label FROM ") + table;
                auto expected = theirs.prepare(sql + " ORDER BY id");
                auto found = native.prepare(sql + " ORDER BY id");
                while (*expected->step()) {
                    QVERIFY(*found->step());
                    for (int column = 0; column < 3; ++column) QCOMPARE(found->text(column), expected->text(column));
                    ++compared;
                }
            }
        }
        QVERIFY(compared > 0);
    }

    void idsPackAndUnpack() {
        const int64_t tid = globalTid(4242, 4243, 3);
        QCOMPARE(test::listed(processIdOf(tid), threadIdOf(tid)), "4242 | 4243");
        QCOMPARE(processOf(tid), globalPid(4242, 3));
        // The formula in programs for Nsight Systems exports.
        QCOMPARE(test::listed(tid / 0x1000000 % 0x1000000, tid % 0x1000000), "4242 | 4243");
    }

    void inserterWritesGivenValues() {
        constexpr const auto& t = tables::counters;
        Inserter rows(*database_, t, error_);
        rows.insert(t.granularity = 0.5F, t.counterId = uint8_t{7}, t.source = "nvml", t.name = std::string("power"),
                    t.unit = std::string_view("W"), t.meaning = 2, t.gpuId = std::optional<uint32_t>(3),
                    t.globalPid = std::optional<int64_t>(), t.title = "");
        QVERIFY2(!error_, error_ ? error_->sentence.c_str() : "");
        const Statement row = firstRow(
            "SELECT counterId, source, name, unit, meaning, gpuId, globalPid, granularity, title,"
            " core FROM LANESCOPE_COUNTERS");
        QCOMPARE(test::listed(row.integer(0), row.text(1), row.text(2), row.text(3)), "7 | nvml | power | W");
        QCOMPARE(test::listed(row.integer(4), row.integer(5)), "2 | 3");
        QVERIFY(row.isNull(6));
        QCOMPARE(row.real(7), 0.5);
        QVERIFY2(!row.isNull(8) && row.text(8).empty(), "an empty text is not nothing");
        QVERIFY(row.isNull(9));
    }

    void omittedColumnsAreNull() {
        Inserter rows(*database_, windows, error_);
        rows.insert(windows.globalPid = 1, windows.index = 0, windows.startNs = 5, windows.endNs = 9);
        rows.insert(windows.globalPid = 1, windows.index = 1, windows.startNs = 11);
        QVERIFY(!error_);
        const Statement row = firstRow("SELECT endNs FROM LANESCOPE_WINDOWS WHERE \"index\" = 1");
        QVERIFY2(row.isNull(0), "the end of the row before stands in it");
    }

    void keepsTheFirstErrorAndStops() {
        Inserter strings(*database_, tables::strings, error_);
        const auto insert = [&](int64_t id) { strings.insert(tables::strings.id = id, tables::strings.value = "a"); };
        insert(1);
        insert(1);  // The key is unique.
        QVERIFY(error_ && error_->sentence.find("trace") != std::string::npos);
        const std::string first = error_->sentence;
        insert(2);
        QCOMPARE(test::listed(error_->sentence, database_->rowCount("StringIds")), test::listed(first, 1));
    }

    void columnNamesMatchTheFile() {
        static_assert(std::string_view(tables::memcpys.dstKind.name) == "dstKind");
        QCOMPARE(tables::memcpys.columns()[tables::memcpys.dstKind.number()].name, tables::memcpys.dstKind.name);
    }

    void sharedRowsWriteZeroAsNull() {
        FirstError error;
        TableWriter rows(*database_, error);
        rows.add(StackRow{.id = 1, .parent = 0, .function = 5, .file = 0, .line = 0});
        rows.add(GraphNodeRow{.timeNs = 7, .globalTid = 3, .nameId = 2, .node = 9, .original = 0, .stack = 1});
        rows.add(GraphNodeRow{.timeNs = 8, .globalTid = 3, .nameId = 2, .node = 10, .original = 9, .stack = {}});
        rows.add(tables::graphs, GpuWorkRow{10, 20, 4242, 1, 2, 3, 4}, tables::graphs.graphId = 5,
                 tables::graphs.graphExecId = 5);
        rows.addRangeName(0, 3, 1, {}, "loader");
        QVERIFY2(!error, error ? error->sentence.c_str() : "");
        const Statement stack =
            firstRow("SELECT parentId IS NULL, functionId, fileId IS NULL, line IS NULL FROM LANESCOPE_STACKS");
        for (const int column : {0, 2, 3}) QCOMPARE(stack.integer(column), int64_t{1});
        QCOMPARE(stack.integer(1), int64_t{5});
        const Statement nodes = firstRow(
            "SELECT sum(originalGraphNodeId), max(\"end\"), (SELECT group_concat(nodeRow || "
            "callchainId)"
            " FROM LANESCOPE_GRAPH_NODE_STACKS) FROM CUDA_GRAPH_NODE_EVENTS");
        QCOMPARE(test::listed(nodes.integer(0), nodes.integer(1), nodes.text(2)), "9 | 8 | 11");
        const Statement work = firstRow(
            "SELECT start, \"end\", globalPid, deviceId, contextId, streamId, correlationId"
            " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
        const int64_t expected[] = {10, 20, 4242, 1, 2, 3, 4};
        for (int column = 0; column < 7; ++column) QCOMPARE(work.integer(column), expected[column]);
        QCOMPARE(firstRow("SELECT text FROM NVTX_EVENTS WHERE category IS NULL").text(0), std::string_view("loader"));
    }
};

LANESCOPE_TEST(tst_Sqlite, NoApplication)
#include "tst_Sqlite.moc"
