// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/factNames.h"
#include "model/format/health.h"
#include "model/importers/TraceFormat.h"
#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/support/SimulatedTrace.h"
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
/// exports are simulated; `tst_LoadExports` tests real ones.
class tst_Health : public QObject {
    Q_OBJECT

    static QString formatPage() {
        QFile page(QStringLiteral(LANESCOPE_SOURCE_DIR "/model/format/FORMAT.md"));
        if (!page.open(QIODevice::ReadOnly)) qFatal("FORMAT.md is not there");
        return QString::fromUtf8(page.readAll());
    }
    static QString quoted(std::string_view identifier) {
        return QStringLiteral("`%1`").arg(
            QString::fromUtf8(identifier.data(), static_cast<qsizetype>(identifier.size())));
    }

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

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        path_ = *folder_ / "export.sqlite";
    }

    void everyWarningCodeHasAUniqueIdentifier() {
        std::set<std::string_view> identifiers;
        for (size_t number = 1; number < healthCodeCount; ++number) {
            const auto code = static_cast<HealthCode>(number);
            QVERIFY(!identifier(code).empty());
            QVERIFY(identifiers.insert(identifier(code)).second);
            QCOMPARE(healthCodeFrom(identifier(code)), code);
        }
        QCOMPARE(healthCodeFrom("brand-new"), HealthCode::Unknown);
        QCOMPARE(healthCodeFrom(""), HealthCode::Unknown);
        // An index from elsewhere may contain this number.
        QVERIFY(identifier(static_cast<HealthCode>(60'000)).empty());
        QCOMPARE(subjectOf(static_cast<HealthCode>(60'000)), NoteSubject::Other);
    }

    /// Files and agent logs store these numbers.
    void healthCodeNumbersAreStable() {
        QCOMPARE(static_cast<uint32_t>(Severity::Info), 0u);
        QCOMPARE(static_cast<uint32_t>(Severity::Warning), 1u);
        QCOMPARE(test::listed(static_cast<uint32_t>(Severity::Error), static_cast<uint32_t>(Loss::NvtxCalls)), "2 | 1");
        QCOMPARE(static_cast<uint32_t>(Loss::CudaActivity), 2u);
        QCOMPARE(static_cast<uint32_t>(Loss::LogBlocks), 3u);
        QCOMPARE(static_cast<uint32_t>(Loss::NcclEvents), 5u);
    }

    void formatPageListsEveryCodeAndLoss() {
        const QString page = formatPage();
        for (const HealthCodeName& each : healthCodeNames)
            QVERIFY2(page.contains(quoted(each.identifier)), each.identifier.data());
        for (const LossName& each : lossNames)
            QVERIFY2(
                page.contains(
                    QStringLiteral("| %1 | %2 |").arg(static_cast<uint32_t>(each.loss)).arg(quoted(each.identifier))),
                each.identifier.data());
    }

    void unknownLossShowsItsNumber() {
        QCOMPARE(lostText(Loss::NcclEvents, 1234), std::string("1,234 NCCL events"));
        QCOMPARE(lostText(Loss::NvtxCalls, 0), std::string("NVTX calls"));
        QVERIFY(lostText(static_cast<Loss>(77), 3).find("77") != std::string::npos);
    }

    void duplicateNotesAreMergedAndSortedBySeverity() {
        SimulatedTrace builder;
        builder.description().health = {{Severity::Info, HealthCode::Windows, "It had windows.", 1},
                                        {Severity::Info, HealthCode::Windows, "It had windows.", 2},
                                        {Severity::Error, HealthCode::LogDamaged, "It is corrupt."},
                                        {Severity::Info, HealthCode::NoCupti, "It had windows."}};
        const auto notes = healthNotesOf(builder.trace());
        QCOMPARE(notes.size(), size_t{3});
        QCOMPARE(notes[0].code, HealthCode::LogDamaged);
        QCOMPARE(test::listed(notes[1].code, notes[2].code), test::listed(HealthCode::Windows, HealthCode::NoCupti));
    }

    void noteOnAnotherProcessHasNoPlace() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100);
        builder.addGap(0, Loss::CudaActivity, 10, 20, 3);
        const TracePtr trace = builder.finish();
        const auto places = healthPlaces(*trace);
        HealthNote note{Severity::Warning, HealthCode::EventsDropped, ""};
        QVERIFY(placeOf(*trace, places, note));
        note.globalPid = trace->processes[0].globalPid;
        QVERIFY(placeOf(*trace, places, note));
        note.globalPid = 77;
        QVERIFY(!placeOf(*trace, places, note));
        // The text mentions a loss, but concerns none of the trace's losses.
        QVERIFY(!placeOf(*trace, places, {Severity::Warning, HealthCode::RanksMissing, "Much was lost."}));
    }

    void factNamesRoundTrip() {
        const std::string ofGpu = gpuFactName(12, "pcieWidth");
        const auto gpu = splitGpuFact(ofGpu);
        QVERIFY(gpu && gpu->subject == 12 && gpu->name == "pcieWidth");
        const std::string joined = hostFactName("node 7", "samplers");
        const auto host = splitHostFact(joined);
        QVERIFY(host && host->subject == "node 7" && host->name == "samplers");
        QCOMPARE(hostFactName("", "samplers"), std::string("samplers"));
        const auto numbered = splitNumberedFact("gpuMetricsLost3");
        QVERIFY(numbered && numbered->subject == 3 && numbered->name == "gpuMetricsLost");
        for (const char* text : {"", "gpu.x", "gpu-1.x", "gpu01.x", "gpu1", "gpu99999999999.x"})
            QVERIFY2(!splitGpuFact(text), text);
        QVERIFY(!splitHostFact(" samplers"));
        for (const char* part : {"123", "lost"}) QVERIFY2(!splitNumberedFact(part), part);
    }

    void factsHaveReadableNames() {
        SimulatedTrace builder;
        builder.addGpu();
        const TracePtr made = builder.finish();
        Trace& trace = forged(made);
        trace.facts.hostMemoryBytes = int64_t{64} << 30;
        trace.facts.logBytesUnreadAtExit = int64_t{3} << 20;
        trace.facts.samplers = {{"", "", "", "clocks every 100 ms", "GPM every 400 ms", "", "", "", "", "", {}}};
        trace.facts.others = {{"brandNew", "yes"}};
        trace.gpuFacts = {{0, 5, 16, 18, {{"tray", "left"}}}, {7, 4, 8, {}, {{"tray", "right"}}}};
        trace.processes[0].facts.edit().visibleDevices = "0,1";
        trace.processes[0].facts.edit().localWorldSize = 2;
        trace.processes[0].facts.edit().isNvtxOff = true;
        trace.processes[0].facts.edit().cuptiVersion = 130001;
        trace.processes[0].facts.edit().cuptiPath = "/usr/lib/libcupti.so";
        trace.processes[0].rank = 1;
        trace.processes[0].worldSize = 4;
        const DescribedTrace description = describeTrace(trace);
        const auto value = [](const std::vector<Property>& facts, const char* name) {
            for (const Property& fact : facts)
                if (fact.name == name) return fact.value;
            return std::string();
        };
        QCOMPARE(value(description.run, "Host memory"), std::string("64.00 GiB"));
        QCOMPARE(value(description.run, "Recorded data read after the program ended"), std::string("3.00 MiB"));
        QCOMPARE(value(description.run, "NVML readings"), std::string("clocks every 100 ms"));
        QCOMPARE(value(description.run, "GPM readings"), std::string("every 400 ms"));
        QCOMPARE(value(description.run, "brandNew"), std::string("yes"));
        QVERIFY(description.gpus[0].title.find("PCIe 5 x16, 18 NVLinks") != std::string::npos);
        QCOMPARE(value(description.gpus[0].facts, "tray"), std::string("left"));
        QVERIFY(description.processes[0].title.find("rank 1 of 4") != std::string::npos);
        // A GPU that the run did not use.
        QCOMPARE(value(description.run, "GPU 7: PCIe generation"), std::string("4"));
        QCOMPARE(value(description.run, "GPU 7: tray"), std::string("right"));
        const std::vector<Property>& facts = description.processes[0].facts;
        QCOMPARE(test::listed(value(facts, "CUPTI"), value(facts, "CUPTI library")), "13.0.1 | /usr/lib/libcupti.so");
        QCOMPARE(test::listed(value(facts, "Visible GPUs"), value(facts, "Ranks on the host")), "0,1 | 2");
        QCOMPARE(value(facts, "NVTX"), std::string("off"));
        QCOMPARE(value(propertiesOf(trace.processes[0]), "cuptiVersion"), std::string("130001"));
        QCOMPARE(value(propertiesOf(trace.facts), "samplerIntervals"), std::string("clocks every 100 ms"));
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
        QCOMPARE(test::listed(callsOfTheSystem(*trace), trace->stacks.size()), "2 | 2");
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
};

LANESCOPE_TEST(tst_Health, NoApplication)
#include "tst_Health.moc"
