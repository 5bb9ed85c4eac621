#include <QtTest>

#include "capture/agent/AgentOptions.h"
#include "capture/agent/matchesPattern.h"
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

class tst_AgentOptions : public QObject {
    Q_OBJECT

  private slots:
    void matchesPatterns_data() {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("matches");
        QTest::newRow("same") << "python"
                              << "python" << true;
        QTest::newRow("longer") << "python"
                                << "python3" << false;
        QTest::newRow("star") << "python*"
                              << "python3.11" << true;
        QTest::newRow("star for nothing") << "python*"
                                          << "python" << true;
        QTest::newRow("stars") << "*a*b*"
                               << "xxabab" << true;
        QTest::newRow("stars in vain") << "*a*b*c"
                                       << "xxabab" << false;
        QTest::newRow("question") << "t?ain"
                                  << "train" << true;
        QTest::newRow("question for nothing") << "train?"
                                              << "train" << false;
        QTest::newRow("empty") << ""
                               << "" << true;
        QTest::newRow("all") << "*"
                             << "" << true;
        QTest::newRow("backtracks") << "*aab"
                                    << "aaaab" << true;
    }
    void matchesPatterns() {
        QFETCH(QString, pattern);
        QFETCH(QString, text);
        QFETCH(bool, matches);
        QCOMPARE(matchesPattern(pattern.toStdString(), text.toStdString()), matches);
    }

    void isNotSlowWithManyStars() {
        std::string pattern, text(5000, 'a');
        for (int i = 0; i < 50; ++i) pattern += "*a";
        QVERIFY(!matchesPattern(pattern + "b", text));
    }

    void readsWhatIsRecorded() {
        const AgentOptions plain = read("");
        QVERIFY(plain.recordCuda && plain.recordNvtx && !plain.recordMemory && !plain.yieldCupti);
        QCOMPARE(plain.apiCalls, ApiCalls::Filtered);
        QCOMPARE(plain.windows.trigger, WindowTrigger::None);
        const AgentOptions full = read(
            "cuda=0,nvtx=0,yield=1,memory=1,um=1,api=launch,graphs=whole,max-log-mb=7,part-mb=3");
        QVERIFY(!full.recordCuda && !full.recordNvtx && full.yieldCupti);
        QVERIFY(full.recordMemory && full.recordUnifiedMemory);
        QCOMPARE(full.apiCalls, ApiCalls::Launch);
        QCOMPARE(full.graphs, GraphDetail::Whole);
        QCOMPARE(full.maximumLogBytes, uint64_t{7} << 20);
        QCOMPARE(full.maximumPartBytes, uint64_t{3} << 20);
        QCOMPARE(read("api=none").apiCalls, ApiCalls::None);
    }

    void ignoresWhatItDoesNotKnow() {
        const AgentOptions o = read(
            ",,=,api,=x,fancy=1,api=quick,part-mb=0,max-log-mb=-1,max-log-mb=9999999999999999999,"
            "steps=5-3,steps=0-2,steps=a,delay-ms=,duration-ms=1x,range=else,range=nvtx:,%");
        QCOMPARE(o.apiCalls, ApiCalls::Filtered);
        QCOMPARE(o.windows.trigger, WindowTrigger::None);
        QCOMPARE(o.maximumLogBytes, uint64_t{0});
        QCOMPARE(o.maximumPartBytes, uint64_t{1} << 30);
    }

    void readsWindows() {
        const WindowOptions time =
            read("delay-ms=1500,duration-ms=20,base-ns=1700000000000000000,repeat=3").windows;
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
        QCOMPARE(steps.firstStep, 10);
        QCOMPARE(steps.lastStep, 12);
        QCOMPARE(steps.rangeName, std::string("Iter*"));
        QVERIFY(!steps.anyDomain && steps.rangeDomain.empty());
        QCOMPARE(read("steps=4").windows.lastStep, 4);
    }

    void choosesPrograms() {
        QVERIFY(suitsProgram({}, "/usr/bin/python3", "python"));
        QVERIFY(suitsProgram(read("only=bash:python*").only, "/usr/bin/python3.11", "x"));
        QVERIFY(suitsProgram({"trainer"}, "/usr/bin/python3.11", "./trainer"));
        QVERIFY(suitsProgram({"*/bin/*"}, "/usr/bin/python3.11", "x"));
        QVERIFY(!suitsProgram({"python"}, "/usr/bin/python3.11", "x"));
        QCOMPARE(read("only=a%3Ab:c%2C").only, (std::vector<std::string>{"a:b", "c,"}));
    }
};

LANESCOPE_TEST(tst_AgentOptions, QCoreApplication)
#include "tst_AgentOptions.moc"
