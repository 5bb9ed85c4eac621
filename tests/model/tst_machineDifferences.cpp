// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

/// A run with steps of that time, all in one kernel.
RunSummary runOf(int64_t stepNs) {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    for (int step = 0; step < 20; ++step) {
        const int64_t at = step * stepNs;
        builder.addNvtx(thread, "step " + std::to_string(step), at, at + stepNs - 1'000);
        builder.launch(thread, stream, "gemm", at + 1'000, at + 10'000, at + stepNs - 20'000 - step % 5 * 1'000);
    }
    const Result<RunSummary> summary = summarizeRun(*builder.finish());
    if (!summary) qFatal("%s", summary.error().sentence.c_str());
    return *summary;
}

QString sentenceOf(const RunSummary& before, const RunSummary& after) {
    return QString::fromStdString(compareRuns({before}, {after}).answer.sentence);
}

}  // namespace

class TestMachineDifferences : public QObject {
    Q_OBJECT

    static bool hasCaution(const RunComparison& comparison, const std::string& text) {
        return std::ranges::any_of(comparison.answer.cautions,
                                   [&](const std::string& each) { return each.find(text) != std::string::npos; });
    }

  private slots:
    void clocksAndOtherProcessesAreReadFromATrace() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.launch(thread, stream, "gemm", 0, 1'000'000, 2'000'000);
        builder.launch(thread, stream, "gemm", 10'000, 2'000'000, 5'000'000);
        CounterSeries clock;
        clock.key = "clock.sm";
        clock.gpu = 0;
        LargeVector<int64_t> times;
        LargeVector<double> values;
        // Half of the time each; time before the first kernel and after the last does not count.
        for (const auto& [ns, hertz] :
             {std::pair(0, 345e6), std::pair(1'000'000, 2e9), std::pair(3'000'000, 1e9), std::pair(5'000'000, 345e6)}) {
            times.push_back(ns);
            values.push_back(hertz);
        }
        clock.set(times, values, 9'000'000);
        builder.counter(std::move(clock));
        std::vector<GpuProcessUse>& uses = builder.description().interconnect.gpuProcesses;
        const auto use = [&](int64_t gpu, int64_t pid, const char* name) {
            uses.push_back({1'000'000, gpu, pid, name, 1 << 20, -1});
        };
        use(0, 4242, "the run's own");
        use(0, 77, "inference");
        use(0, 77, "inference");
        use(0, 78, "");  // Invisible process: possibly the run's own under another number.
        use(5, 79, "on another GPU");
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->processes.front().pid, 4242u);
        const Result<RunSummary> summary = summarizeRun(*trace);
        QVERIFY(summary);
        QCOMPARE(summary->facts.smClockHz, 1'500'000'000);
        QCOMPARE(summary->facts.otherGpuProcesses, std::vector<std::string>{"inference"});
    }

    void machineDifferencesPrecedeTheVerdict() {
        RunSummary before = runOf(50'000'000), after = runOf(60'000'000);
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        before.facts.driver = "550.1";
        after.facts.driver = "560.2";
        before.facts.smClockHz = 1'980'000'000;
        after.facts.smClockHz = 1'410'000'000;
        after.facts.otherGpuProcesses = {"inference"};
        const QString sentence = sentenceOf(before, after);
        QVERIFY2(sentence.startsWith("The machines differ (driver, SM clock, other processes on "
                                     "the GPUs). In these two runs"),
                 qPrintable(sentence));
        const RunComparison comparison = compareRuns({before}, {after});
        QVERIFY(hasCaution(comparison,
                           "Mean SM clock of the GPUs: 1,980 MHz in the baseline, "
                           "1,410 MHz in the candidate."));
        QVERIFY(hasCaution(comparison,
                           "Other processes held memory of the candidate's GPUs while it ran: "
                           "inference."));
    }

    void equalOrUnknownFactsAreNotReported() {
        RunSummary before = runOf(50'000'000), after = runOf(60'000'000);
        before.facts.smClockHz = 1'980'000'000;
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        after.facts.smClockHz = 1'970'000'000;
        before.facts.host = "gpu1";
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        after.facts.host = "gpu2";
        QVERIFY(sentenceOf(before, after).startsWith("The machines differ (host). "));
    }

    /// The clock of an idle GPU rises with its first kernel, and the next reading comes later.
    void clockUsesReadingsAmongTheKernels() {
        SimulatedTrace builder;
        constexpr int64_t ms = 1'000'000;
        builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'300 * ms, 1'310 * ms, 1'900 * ms);
        CounterSeries clock;
        clock.key = "clock.sm";
        clock.gpu = 0;
        clock.intervalNs = 500 * ms;
        LargeVector<int64_t> times;
        LargeVector<double> values;
        // Read every 500 ms; unchanged readings were not stored.
        for (const auto& [atMs, hertz] : {std::pair(0, 345e6), std::pair(1'500, 2e9)}) {
            times.push_back(atMs * ms);
            values.push_back(hertz);
        }
        clock.set(times, values, 2'000 * ms);
        builder.counter(std::move(clock));
        const Result<RunSummary> summary = summarizeRun(*builder.finish());
        QVERIFY(summary);
        QCOMPARE(summary->facts.smClockHz, 2'000'000'000);
    }

    void clockOfSeveralRunsIsTheirMean() {
        std::vector<RunSummary> before{runOf(50'000'000), runOf(50'100'000)};
        std::vector<RunSummary> after{runOf(50'200'000), runOf(50'300'000)};
        uint64_t hash = 0;
        for (std::vector<RunSummary>* runs : {&before, &after})
            for (RunSummary& run : *runs) run.facts.contentHash = ++hash;
        before[0].facts.smClockHz = 1'000'000'000;
        before[1].facts.smClockHz = 2'000'000'000;
        const auto compared = comparePrograms(before, after);
        QVERIFY(compared);
        QCOMPARE(compared->baseline.facts.smClockHz, 1'500'000'000);
        QCOMPARE(compared->candidate.facts.smClockHz, 0);
    }

    void ratiosReferToTheStepTime_data() {
        QTest::addColumn<int>("before");
        QTest::addColumn<int>("after");
        QTest::addColumn<QString>("said");
        QTest::newRow("longer") << 50 << 60 << "20.0 % longer";
        QTest::newRow("shorter") << 50 << 40 << "20.0 % shorter";
        QTest::newRow("twice") << 40 << 110 << "2.75 times as long";
        QTest::newRow("half") << 110 << 40 << "2.75 times as fast";
    }
    void ratiosReferToTheStepTime() {
        QFETCH(int, before);
        QFETCH(int, after);
        QFETCH(QString, said);
        const QString sentence = sentenceOf(runOf(before * 1'000'000LL), runOf(after * 1'000'000LL));
        QVERIFY2(sentence.contains(said), qPrintable(sentence));
    }
};

LANESCOPE_TEST(TestMachineDifferences, NoApplication)
#include "tst_machineDifferences.moc"
