// SPDX-License-Identifier: Apache-2.0
#include "model/format/factNames.h"
#include "model/format/health.h"
#include "model/reports/describeTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

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

  private slots:
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
        QCOMPARE(static_cast<uint32_t>(Severity::Error), 2u);
        QCOMPARE(static_cast<uint32_t>(Loss::NvtxCalls), 1u);
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
        QCOMPARE(notes[1].code, HealthCode::Windows);
        QCOMPARE(notes[2].code, HealthCode::NoCupti);
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
        QVERIFY(!splitNumberedFact("123"));
        QVERIFY(!splitNumberedFact("lost"));
    }

    void factsHaveReadableNames() {
        SimulatedTrace builder;
        builder.addGpu();
        const TracePtr made = builder.finish();
        Trace& trace = forged(made);
        trace.facts.hostMemoryBytes = int64_t{64} << 30;
        trace.facts.logBytesUnreadAtExit = int64_t{3} << 20;
        trace.facts.samplers = {{"", "", "", "clocks every 100 ms", "", "", "", "", "", "", {}}};
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
        QCOMPARE(value(description.run, "Unread logs at exit"), std::string("3.00 MiB"));
        QCOMPARE(value(description.run, "NVML was read"), std::string("clocks every 100 ms"));
        QCOMPARE(value(description.run, "brandNew"), std::string("yes"));
        QVERIFY(description.gpus[0].title.find("PCIe 5 x16, 18 NVLinks") != std::string::npos);
        QCOMPARE(value(description.gpus[0].facts, "tray"), std::string("left"));
        QVERIFY(description.processes[0].title.find("rank 1 of 4") != std::string::npos);
        // A GPU that the run did not use.
        QCOMPARE(value(description.run, "GPU 7: PCIe generation"), std::string("4"));
        QCOMPARE(value(description.run, "GPU 7: tray"), std::string("right"));
        const std::vector<Property>& facts = description.processes[0].facts;
        QCOMPARE(value(facts, "CUPTI"), std::string("13.0.1"));
        QCOMPARE(value(facts, "CUPTI from"), std::string("/usr/lib/libcupti.so"));
        QCOMPARE(value(facts, "Visible GPUs"), std::string("0,1"));
        QCOMPARE(value(facts, "Ranks on its host"), std::string("2"));
        QCOMPARE(value(facts, "NVTX"), std::string("off"));
        QCOMPARE(value(propertiesOf(trace.processes[0]), "cuptiVersion"), std::string("130001"));
        QCOMPARE(value(propertiesOf(trace.facts), "samplerIntervals"), std::string("clocks every 100 ms"));
    }
};

LANESCOPE_TEST(tst_Health, NoApplication)
#include "tst_Health.moc"
