// SPDX-License-Identifier: Apache-2.0
#include "capture/options/AgentOptions.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;

namespace {

AgentOptions read(const char* text) {
    AgentOptions options;
    readOptionText(text, options);
    return options;
}

}  // namespace

Q_DECLARE_METATYPE(lanescope::agent::AgentOptions)

class tst_AgentOptions : public QObject {
    Q_OBJECT

  private slots:
    void readsRecordingOptions() {
        const AgentOptions plain = read("");
        QVERIFY(plain.recordCuda && plain.recordNvtx && !plain.recordMemory && !plain.yieldCupti);
        QCOMPARE(plain.apiCalls, ApiCalls::Filtered);
        QCOMPARE(plain.windows.trigger, WindowTrigger::None);
        const AgentOptions full =
            read("cuda=0,nvtx=0,yield=1,memory=1,um=1,api=launch,graphs=whole,max-log-mb=7,part-mb=3");
        QVERIFY(!full.recordCuda && !full.recordNvtx && full.yieldCupti);
        QVERIFY(full.recordMemory && full.recordUnifiedMemory);
        QCOMPARE(full.apiCalls, ApiCalls::Launch);
        QCOMPARE(full.graphs, GraphDetail::Whole);
        QCOMPARE(full.maxLogBytes, uint64_t{7} << 20);
        QCOMPARE(full.maxPartBytes, uint64_t{3} << 20);
        QCOMPARE(read("api=none").apiCalls, ApiCalls::None);
    }

    void ignoresUnknownOptions() {
        const AgentOptions o = read(
            ",,=,api,=x,fancy=1,api=quick,part-mb=0,max-log-mb=-1,max-log-mb=9999999999999999999,"
            "steps=5-3,steps=-2,steps=a,delay-ms=,duration-ms=1x,range=else,range=nvtx:,%");
        QCOMPARE(o.apiCalls, ApiCalls::Filtered);
        QCOMPARE(o.windows.trigger, WindowTrigger::None);
        QCOMPARE(o.maxLogBytes, uint64_t{0});
        QCOMPARE(o.maxPartBytes, uint64_t{1} << 30);
    }

    void readsWindows() {
        const WindowOptions time = read("delay-ms=1500,duration-ms=20,base-ns=1700000000000000000,repeat=3").windows;
        QCOMPARE(time.trigger, WindowTrigger::Time);
        QCOMPARE(time.delayNs, 1'500'000'000);
        QCOMPARE(time.durationNs, 20'000'000);
        QCOMPARE(time.baseNs, 1'700'000'000'000'000'000);
        QCOMPARE(time.repeat, 3);
        QCOMPARE(read("range=cudaProfilerApi").windows.trigger, WindowTrigger::CudaProfilerCalls);
        const WindowOptions range = read("delay-ms=5,range=nvtx:my%2Crange%40x@dom%25ain").windows;
        QCOMPARE(range.trigger, WindowTrigger::NvtxRange);
        QCOMPARE(range.rangeName, std::string("my,range@x"));
        QCOMPARE(range.rangeDomain, std::string("dom%ain"));
        QVERIFY(!range.anyDomain);
        QVERIFY(read("range=nvtx:a").windows.anyDomain);
        const WindowOptions steps = read("steps=10-12,step-range=Iter*@,duration-ms=9").windows;
        QCOMPARE(steps.trigger, WindowTrigger::Steps);
        QCOMPARE(steps.steps, (StepRange{10, 12}));
        QCOMPARE(steps.rangeName, std::string("Iter*"));
        QVERIFY(!steps.anyDomain && steps.rangeDomain.empty());
        QCOMPARE(read("steps=4").windows.steps.last, 4);
    }

    /// Every option round trips, alone and with all compatible ones.
    void optionsRoundTrip_data() {
        QTest::addColumn<AgentOptions>("options");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* text, const auto& change) {
            AgentOptions options;
            change(options);
            const QByteArray all = QByteArray("cuda=1,nvtx=1,") + text;
            QTest::newRow(text) << options << QString(all);
        };
        QTest::newRow("nothing") << AgentOptions() << "cuda=1,nvtx=1";
        AgentOptions none;
        none.recordCuda = none.recordNvtx = false;
        QTest::newRow("neither") << none << "cuda=0,nvtx=0";
        row("api=all", [](auto& o) { o.apiCalls = ApiCalls::All; });
        row("api=launch", [](auto& o) { o.apiCalls = ApiCalls::Launch; });
        row("api=none", [](auto& o) { o.apiCalls = ApiCalls::None; });
        row("graphs=whole", [](auto& o) { o.graphs = GraphDetail::Whole; });
        row("python=0", [](auto& o) { o.recordPython = false; });
        row("memset=0", [](auto& o) { o.recordMemsets = false; });
        row("memory=1", [](auto& o) { o.recordMemory = true; });
        row("um=1", [](auto& o) { o.recordUnifiedMemory = true; });
        row("yield=1", [](auto& o) { o.yieldCupti = true; });
        row("only=a%3Ab%2C:python*:50%25%20%C3%A4", [](auto& o) { o.only = {"a:b,", "python*", "50% \u00e4"}; });
        row("max-log-mb=7", [](auto& o) { o.maxLogBytes = uint64_t{7} << 20; });
        row("part-mb=3", [](auto& o) { o.maxPartBytes = uint64_t{3} << 20; });
        row("reserve-mb=0", [](auto& o) { o.diskReserveBytes = 0; });
        row("reserve-mb=5", [](auto& o) { o.diskReserveBytes = uint64_t{5} << 20; });
        row("keep-command-line=1", [](auto& o) { o.keepsCommandLine = true; });
        row("sample-at=epoch*%40%3D", [](auto& o) { o.sampleAt = "epoch*@="; });
        row("delay-ms=1500,base-ns=1700000000000000000", [](auto& o) {
            o.windows.trigger = WindowTrigger::Time;
            o.windows.delayNs = 1'500'000'000;
            o.windows.baseNs = 1'700'000'000'000'000'000;
        });
        row("duration-ms=20,repeat=0", [](auto& o) {
            o.windows.trigger = WindowTrigger::Time;
            o.windows.durationNs = 20'000'000;
            o.windows.repeat = 0;
        });
        row("range=cudaProfilerApi,repeat=3", [](auto& o) {
            o.windows.trigger = WindowTrigger::CudaProfilerCalls;
            o.windows.repeat = 3;
        });
        row("delay-ms=5,range=nvtx:a%40b%2C@c%40d", [](auto& o) {
            o.windows.trigger = WindowTrigger::NvtxRange;
            o.windows.delayNs = 5'000'000;
            o.windows.rangeName = "a@b,";
            o.windows.rangeDomain = "c@d";
            o.windows.anyDomain = false;
        });
        row("range=nvtx:a@", [](auto& o) {
            o.windows.trigger = WindowTrigger::NvtxRange;
            o.windows.rangeName = "a";
            o.windows.anyDomain = false;
        });
        row("steps=0-12", [](auto& o) {
            o.windows.trigger = WindowTrigger::Steps;
            o.windows.steps = {0, 12};
        });
        row("duration-ms=9,steps=7-7,step-range=Iter*@ml", [](auto& o) {
            o.windows.trigger = WindowTrigger::Steps;
            o.windows.steps = {7, 7};
            o.windows.durationNs = 9'000'000;
            o.windows.rangeName = "Iter*";
            o.windows.rangeDomain = "ml";
            o.windows.anyDomain = false;
        });
    }
    void optionsRoundTrip() {
        QFETCH(AgentOptions, options);
        QFETCH(QString, text);
        const std::string written = optionText(options);
        QCOMPARE(QString::fromStdString(written), text);
        AgentOptions back;
        readOptionText(written, back);
        QVERIFY(back == options);
    }

    /// The rows above contain every option, and so does the page.
    void everyOptionIsTestedAndDescribed() {
        QFile source(LANESCOPE_SOURCE_DIR "/tests/capture/tst_AgentOptions.cpp");
        QFile page(LANESCOPE_SOURCE_DIR "/capture/options/README.md");
        QVERIFY(source.open(QIODevice::ReadOnly) && page.open(QIODevice::ReadOnly));
        const QByteArray rows = source.readAll(), table = page.readAll();
        for (const std::string_view name : optionNames()) {
            const QByteArray option = QByteArray(name.data(), int(name.size())) + "=";
            QVERIFY2(rows.contains("row(\"" + option) || rows.contains("," + option) || rows.contains("\"" + option),
                     option);
            QVERIFY2(table.contains("`" + option), option);
        }
    }

    void countsTheWindowsToCome() {
        WindowOptions windows;
        QVERIFY(windows.isEverything() && !windows.count());
        windows.trigger = WindowTrigger::Time;
        windows.delayNs = 5;
        QVERIFY(!windows.isEverything() && !windows.areInsideProgram() && !windows.count());
        windows.durationNs = 5;
        QCOMPARE(windows.count().value_or(0), 1);
        windows.trigger = WindowTrigger::CudaProfilerCalls;
        windows.repeat = 3;
        QCOMPARE(windows.count().value_or(0), 3);
        QVERIFY(windows.areInsideProgram());
        windows.repeat = 0;
        QVERIFY(!windows.count());
    }

    void selectsPrograms() {
        QVERIFY(matchesProgram({}, "/usr/bin/python3", "python"));
        QVERIFY(matchesProgram(read("only=bash:python*").only, "/usr/bin/python3.11", "x"));
        QVERIFY(matchesProgram({"trainer"}, "/usr/bin/python3.11", "./trainer"));
        QVERIFY(matchesProgram({"*/bin/*"}, "/usr/bin/python3.11", "x"));
        QVERIFY(!matchesProgram({"python"}, "/usr/bin/python3.11", "x"));
        QCOMPARE(read("only=a%3Ab:c%2C").only, (std::vector<std::string>{"a:b", "c,"}));
    }
};

LANESCOPE_TEST(tst_AgentOptions, QCoreApplication)
#include "tst_AgentOptions.moc"
