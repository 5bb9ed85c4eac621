// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/importers/loadTrace.h"
#include "model/reports/describeTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Data that a trace reports as not shown, in order.
std::vector<std::string> notShown(const Trace& trace) {
    std::vector<std::string> sentences;
    for (const HealthNote& note : describeTrace(trace).health)
        if (note.code == HealthCode::NotShown) sentences.push_back(note.sentence);
    return sentences;
}

int64_t callsOfTheSystem(const Trace& trace) { return std::ranges::count(trace.cpuStates.source, StateSource::Calls); }

}  // namespace

/// Tests that the content of an Nsight Systems export is shown or reported as not shown. The
/// exports are simulated; `tst_NsightExports` tests real ones.
class tst_NotShown : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        path_ = *folder_ / "export.sqlite";
    }

    void shownTablesAreNotReported() {
        make(
            "CREATE TABLE OSRT_API (start, end, globalTid, nameId, callchainId);"
            "INSERT INTO OSRT_API VALUES (100, 200, 16777217, 1, 1), (300, 400, 16777217, 1, 1);"
            "CREATE TABLE OSRT_CALLCHAINS (id, symbol, module, stackDepth);"
            "INSERT INTO OSRT_CALLCHAINS VALUES (1, 2, 1, 0), (1, 1, 1, 1);"
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value);"
            "INSERT INTO StringIds VALUES (1, 'poll'), (2, 'wait_for_data')");
        const TracePtr trace = load();
        QCOMPARE(callsOfTheSystem(*trace), int64_t{2});
        QCOMPARE(trace->stacks.size(), size_t{2});
        QCOMPARE(notShown(*trace), std::vector<std::string>());
        QVERIFY(std::ranges::any_of(describeTrace(*trace).counts, [](const Property& each) {
            return each.name == "thread states" && each.value == "2";
        }));
    }

    void unshownTablesAreReportedWithRowCounts() {
        make("CREATE TABLE CUDA_CALLCHAINS (id, symbol, module, stackDepth);" +
             rows("CUDA_CALLCHAINS", "1, 2, 3, 4", 2736) +
             "CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid, nameId);" +
             rows("PROFILER_OVERHEAD", "1, 2, 3, 4", 32));
        QCOMPARE(notShown(*load()),
                 (std::vector<std::string>{"Not shown here: 2,736 rows of CUDA_CALLCHAINS (entries "
                                           "of the call stacks of CUDA calls).",
                                           "Not shown here: 32 rows of PROFILER_OVERHEAD (profiler overhead times)."}));
    }

    void unknownTablesAreReported() {
        make("CREATE TABLE QUANTUM_EVENTS (start, end, what);" + rows("QUANTUM_EVENTS", "1, 2, 'x'", 7) +
             "CREATE TABLE Later_Samples (\"timestamp\", value);" + rows("Later_Samples", "1, 2", 1000) +
             // No events: the tables have no times or are empty.
             "CREATE TABLE SOME_SETTINGS (name, value);" + rows("SOME_SETTINGS", "1, 2", 3) +
             "CREATE TABLE EMPTY_EVENTS (start, end);"
             // Read in any letter case.
             "CREATE TABLE nvtx_events (start, end, eventType, text, globalTid);"
             "INSERT INTO nvtx_events VALUES (1, 2, 59, 'step', 16777217)");
        const TracePtr trace = load();
        QCOMPARE(trace->nvtx.size(), 1u);
        QCOMPARE(notShown(*trace),
                 (std::vector<std::string>{"Not shown here: 1,000 rows of Later_Samples (events of an unknown kind).",
                                           "Not shown here: 7 rows of QUANTUM_EVENTS (events of an unknown kind)."}));
    }

    void manyTablesMakeFewSentences() {
        std::string sql;
        for (int table = 0; table < 300; ++table)
            sql += "CREATE TABLE T" + std::to_string(table) + " (start);" + rows("T" + std::to_string(table), "1", 2);
        make(sql);
        const std::vector<std::string> sentences = notShown(*load());
        QCOMPARE(sentences.size(), size_t{17});
        QCOMPARE(sentences.back(),
                 std::string("Not shown here: 568 rows of 284 more tables that this program does not support."));
    }

    void lanescopeTracesReportNothingMissing() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        QCOMPARE(notShown(*load()), std::vector<std::string>());
    }

  private:
    static std::string rows(const std::string& table, const std::string& values, int count) {
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " + std::to_string(count) +
               ") INSERT INTO " + table + " SELECT " + values + " FROM n;";
    }
    /// Writes an export with one kernel and these tables.
    void make(const std::string& sql) {
        auto database = Database::create(path_);
        QVERIFY(database.has_value());
        const auto done = database->execute(("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId);"
                                             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 900, 0);" +
                                             sql)
                                                .c_str());
        QVERIFY2(done.has_value(), done ? "" : done.error().sentence.c_str());
    }
    TracePtr load() const {
        const Result<TracePtr> trace = loadTrace(path_);
        if (!trace) qFatal("%s", trace.error().sentence.c_str());
        return *trace;
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_;
};

LANESCOPE_TEST(tst_NotShown, NoApplication)
#include "tst_NotShown.moc"
