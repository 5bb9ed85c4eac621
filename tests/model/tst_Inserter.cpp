// SPDX-License-Identifier: Apache-2.0
#include <concepts>

#include "model/format/Inserter.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/TableWriter.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

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

class tst_Inserter : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        auto database = Database::create(*folder_ / "trace");
        QVERIFY(database);
        database_ = std::make_unique<Database>(std::move(*database));
        QVERIFY(createTraceTables(*database_));
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
        QCOMPARE(row.integer(0), int64_t{7});
        QCOMPARE(row.text(1), std::string_view("nvml"));
        QCOMPARE(row.text(2), std::string_view("power"));
        QCOMPARE(row.text(3), std::string_view("W"));
        QCOMPARE(row.integer(4), int64_t{2});
        QCOMPARE(row.integer(5), int64_t{3});
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
        QVERIFY(error_);
        QVERIFY(error_->sentence.find("trace") != std::string::npos);
        const std::string first = error_->sentence;
        insert(2);
        QCOMPARE(error_->sentence, first);
        QCOMPARE(database_->rowCount("StringIds"), int64_t{1});
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
        const Statement stack = firstRow(
            "SELECT parentId IS NULL, functionId, fileId IS NULL, line IS NULL"
            " FROM LANESCOPE_STACKS");
        for (const int column : {0, 2, 3}) QCOMPARE(stack.integer(column), int64_t{1});
        QCOMPARE(stack.integer(1), int64_t{5});
        const Statement nodes = firstRow(
            "SELECT sum(originalGraphNodeId), max(\"end\"), (SELECT group_concat(nodeRow || "
            "callchainId)"
            " FROM LANESCOPE_GRAPH_NODE_STACKS) FROM CUDA_GRAPH_NODE_EVENTS");
        QCOMPARE(nodes.integer(0), int64_t{9});
        QCOMPARE(nodes.integer(1), int64_t{8});
        QCOMPARE(nodes.text(2), std::string_view("11"));
        const Statement work = firstRow(
            "SELECT start, \"end\", globalPid, deviceId, contextId, streamId, correlationId"
            " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
        const int64_t expected[] = {10, 20, 4242, 1, 2, 3, 4};
        for (int column = 0; column < 7; ++column) QCOMPARE(work.integer(column), expected[column]);
        QCOMPARE(firstRow("SELECT text FROM NVTX_EVENTS WHERE category IS NULL").text(0), std::string_view("loader"));
    }

  private:
    Statement firstRow(const char* sql) {
        auto statement = database_->prepare(sql);
        if (!statement || !*statement->step()) qFatal("%s has no row", sql);
        return std::move(*statement);
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::unique_ptr<Database> database_;
    FirstError error_;
};

LANESCOPE_TEST(tst_Inserter, NoApplication)
#include "tst_Inserter.moc"
