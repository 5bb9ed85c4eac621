// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/AgentRun.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using lanescope::test::AgentRun;
using lanescope::test::ProcessLog;

namespace {

constexpr int64_t nsPerMs = 1'000'000;

bool isIn(const ProcessLog& log, int64_t ns) {
    int64_t beginNs = INT64_MAX;
    for (const log::WindowRecord& window : log.windows) {
        if (window.isBegin) beginNs = window.timestampNs;
        if (!window.isBegin && ns >= beginNs && ns < window.timestampNs) return true;
        if (!window.isBegin) beginNs = INT64_MAX;
    }
    return ns >= beginNs;
}

/// Checks an invariant of every window: it contains all of its events, and no others.
void verifyGated(const ProcessLog& log) {
    QCOMPARE(log.unknownStrings, 0);
    QCOMPARE(log.progress.lostBlocks, 0u);
    QVERIFY(log.drops.empty());
    std::multiset<uint32_t> launched, ran;
    for (const log::ApiRecord& call : log.calls) {
        QVERIFY(isIn(log, call.startNs));
        ProcessLog& strings = const_cast<ProcessLog&>(log);
        if (strings.text(call.name) == "cuLaunchKernel") launched.insert(call.correlationId);
    }
    for (const log::KernelRecord& kernel : log.kernels) ran.insert(kernel.correlationId);
    QCOMPARE(ran.size(), launched.size());
    QVERIFY(ran == launched);
    for (const auto& event : log.nvtx) {
        if (event.record.event == log::NvtxEvent::Pop) continue;
        if (event.record.event == log::NvtxEvent::End) continue;
        QVERIFY(isIn(log, event.record.timestampNs));
    }
    // Records needed to read the rest are never omitted.
    QCOMPARE(log.devices.size(), size_t{1});
    QCOMPARE(log.contexts.size(), size_t{1});
    QVERIFY(log.streams.size() >= 1);
    QCOMPARE(log.ends.size(), size_t{1});
}

/// Number of kept kernels that each step of a thread launched; steps from 1.
std::map<int, int> kernelsByStep(const ProcessLog& log, uint32_t thread = 1) {
    std::map<int, int> kernels;
    for (const log::KernelRecord& kernel : log.kernels)
        if (kernel.grid[2] == thread) ++kernels[int(kernel.grid[1])];
    return kernels;
}

std::vector<std::string> pushes(const ProcessLog& log) {
    std::vector<std::string> names;
    for (const auto& event : log.nvtx)
        if (event.record.event == log::NvtxEvent::Push) names.push_back(event.text);
    return names;
}

using Steps = std::map<int, int>;

}  // namespace

class tst_AgentWindows : public QObject {
    Q_OBJECT

  private slots:
    void keepsSteps_data() {
        QTest::addColumn<int>("delayUs");
        QTest::addColumn<QString>("api");
        QTest::addColumn<QString>("manner");
        for (const char* api : {"filtered", "launch", "all"}) {
            QTest::addRow("at once, %s", api) << 0 << api << "";
            QTest::addRow("two steps later, %s", api) << 25'000 << api << "";
            QTest::addRow("long after, %s", api) << 400'000 << api << "";
        }
        for (const char* manner : {"on a thread of CUPTI's", "kept back", "overtaking", "all of it"}) {
            QTest::addRow("two steps later, %s", manner) << 25'000 << "filtered" << manner;
            QTest::addRow("long after, %s", manner) << 400'000 << "filtered" << manner;
        }
    }
    void keepsSteps() {
        QFETCH(int, delayUs);
        QFETCH(QString, api);
        QFETCH(QString, manner);
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=3-5,api=" + api;
        run.arguments = {"--live",         "1",
                         "--steps",        "20",
                         "--kernels",      "30",
                         "--step-ms",      "10",
                         "--gpu-delay-us", QString::number(delayUs)};
        const bool isAll = manner == "all of it";
        if (isAll || manner == "on a thread of CUPTI's") run.environment["STANDIN_CUPTI_THREAD"] = "1";
        if (isAll || manner == "kept back") {
            run.environment["STANDIN_CUPTI_KEEPS"] = "1";
            run.arguments << "--tells-early"
                          << "1";
        }
        if (isAll || manner == "overtaking")
            run.arguments << "--overtakes"
                          << "1";
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{4, 30}, {5, 30}, {6, 30}}));
        QCOMPARE(pushes(run.log()),
                 (std::vector<std::string>{"step 3", "forward", "step 4", "forward", "step 5", "forward"}));
        QCOMPARE(run.log().windows.size(), size_t{2});
        // Each recorded range has its end, and the last ends the window.
        QCOMPARE(run.log().nvtx.size(), size_t{3 * 6});
        QCOMPARE(run.log().nvtx.front().record.timestampNs, run.log().windows[0].timestampNs);
        QCOMPARE(run.log().nvtx.back().record.timestampNs, run.log().windows[1].timestampNs);
    }

    void keepsStepsOfAllThreads_data() {
        QTest::addColumn<bool>("isRough");
        QTest::newRow("smooth") << false;
        QTest::newRow("rough") << true;
    }
    void keepsStepsOfAllThreads() {
        QFETCH(bool, isRough);
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=4-8";
        run.arguments = {"--live",    "1", "--steps",   "40", "--kernels",      "200",
                         "--threads", "6", "--step-ms", "3",  "--gpu-delay-us", "7000"};
        if (isRough) {
            run.environment["STANDIN_CUPTI_THREAD"] = run.environment["STANDIN_CUPTI_KEEPS"] = "1";
            run.arguments << "--tells-early"
                          << "1"
                          << "--overtakes"
                          << "1";
        }
        QVERIFY(run.run());
        verifyGated(run.log());
        QVERIFY(run.log().kernels.size() >= 5 * 200);
        std::set<uint32_t> threads;
        for (const log::KernelRecord& kernel : run.log().kernels) threads.insert(kernel.grid[2]);
        QVERIFY(threads.size() >= 3);
    }

    void repeatsSteps() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=2-3,repeat=2";
        run.arguments = {"--live", "1", "--steps", "16", "--kernels", "10", "--step-ms", "4"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{3, 10}, {4, 10}, {7, 10}, {8, 10}}));
        QCOMPARE(run.log().windows.size(), size_t{4});
    }

    void keepsRanges_data() {
        QTest::addColumn<QString>("range");
        QTest::addColumn<QString>("expected");
        QTest::newRow("domain") << "nvtx:forward@trainer,repeat=2"
                                << "1 2";
        QTest::newRow("any domain") << "nvtx:forw*"
                                    << "1";
        QTest::newRow("start and end") << "nvtx:optimizer%20*,repeat=0"
                                       << "1 2 3 4 5 6 7 8";
        QTest::newRow("default domain") << "nvtx:step%205@"
                                        << "6 6";
        QTest::newRow("another domain") << "nvtx:forward@other"
                                        << "";
    }
    void keepsRanges() {
        QFETCH(QString, range);
        QFETCH(QString, expected);
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "range=" + range;
        run.arguments = {"--live", "1", "--steps", "8", "--kernels", "10", "--step-ms", "5", "--gpu-delay-us", "3000"};
        QVERIFY(run.run());
        verifyGated(run.log());
        // Half of a step's kernels are launched in its forward pass, half in the optimizer.
        Steps steps;
        for (const QString& step : expected.split(' ', Qt::SkipEmptyParts)) steps[step.toInt()] += 5;
        QCOMPARE(kernelsByStep(run.log()), steps);
        QCOMPARE(run.log().notes.count("no-window"), size_t(expected.isEmpty()));
    }

    void keepsWindowsRequestedByTheProgram() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "range=cudaProfilerApi,repeat=0";
        run.arguments = {"--live",  "1",  "--profile-from", "3",  "--profile-to", "4", "--profile-every", "6",
                         "--steps", "12", "--kernels",      "10", "--step-ms",    "5", "--gpu-delay-us",  "8000"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(kernelsByStep(run.log()), (Steps{{3, 10}, {4, 10}, {9, 10}, {10, 10}}));
    }

    void keepsATime() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] =
            "delay-ms=600,duration-ms=200,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live",    "1", "--steps",        "200",  "--kernels", "10",
                         "--step-ms", "7", "--gpu-delay-us", "30000"};
        QVERIFY(run.run());
        verifyGated(run.log());
        const auto& windows = run.log().windows;
        QCOMPARE(windows.size(), size_t{2});
        QCOMPARE(windows[0].timestampNs, run.baseNs + 600 * nsPerMs);
        QCOMPARE(windows[1].timestampNs, run.baseNs + 800 * nsPerMs);
        QVERIFY(!run.log().kernels.empty() && !run.log().nvtx.empty());
        // Kernels of the last 30 ms ran after the window.
        int64_t lastNs = 0;
        for (const log::KernelRecord& kernel : run.log().kernels) lastNs = std::max(lastNs, kernel.startNs);
        QVERIFY(lastNs > windows[1].timestampNs);
    }

    void samplesRepeatedly() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] =
            "delay-ms=100,duration-ms=50,repeat=3,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live", "1", "--steps", "150", "--kernels", "10", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(run.log().windows.size(), size_t{6});
        QCOMPARE(run.log().windows[4].timestampNs, run.baseNs + (2 * 150 + 100) * nsPerMs);
        QVERIFY(run.log().kernels.size() < 150 * 10 / 2);
    }

    void beginsLateAndNeverEnds() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "delay-ms=300,base-ns=" + QString::number(run.baseNs);
        run.arguments = {"--live", "1", "--steps", "100", "--kernels", "5", "--step-ms", "7"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QCOMPARE(run.log().windows.size(), size_t{1});
        QVERIFY(kernelsByStep(run.log()).count(100) == 1 && kernelsByStep(run.log()).count(1) == 0);
    }

    void endsAWindowThatLastsTooLong() {
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = "steps=1-999,duration-ms=100";
        run.arguments = {"--live", "1", "--steps", "100", "--kernels", "5", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyGated(run.log());
        const auto& windows = run.log().windows;
        QCOMPARE(windows.size(), size_t{2});
        QCOMPARE(windows[1].timestampNs - windows[0].timestampNs, 100 * nsPerMs);
    }

    void reportsAMissingWindow_data() {
        QTest::addColumn<QString>("options");
        QTest::addColumn<QString>("word");
        QTest::newRow("time") << "delay-ms=600000"
                              << "before the recording window";
        QTest::newRow("range") << "range=nvtx:nowhere"
                               << "NVTX range";
        QTest::newRow("profiler") << "range=cudaProfilerApi"
                                  << "cudaProfilerStart";
        QTest::newRow("steps") << "steps=499-599"
                               << "steps";
        QTest::newRow("step range") << "steps=0-1,step-range=epoch"
                                    << "steps";
    }
    void reportsAMissingWindow() {
        QFETCH(QString, options);
        QFETCH(QString, word);
        AgentRun run;
        run.environment["LANESCOPE_AGENT_OPTIONS"] = options;
        run.arguments = {"--live", "1", "--step-ms", "5"};
        QVERIFY(run.run());
        verifyGated(run.log());
        QVERIFY(run.log().kernels.empty() && run.log().nvtx.empty() && run.log().calls.empty());
        QCOMPARE(run.log().notes.count("no-window"), size_t{1});
        QVERIFY(run.log().notes.at("no-window").find(word.toStdString()) != std::string::npos);
    }
};

LANESCOPE_TEST(tst_AgentWindows, QCoreApplication)
#include "tst_AgentWindows.moc"
