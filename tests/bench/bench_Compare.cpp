// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QTest>
#include <algorithm>
#include <array>

#include "model/analysis/storedSummary.h"
#include "model/compare/RunComparison.h"
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/pages/ComparisonReport.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

/// Compares two simulated traces by their stored summaries, and one of them is queried in plain SQL
/// for the time of each kernel. LANESCOPE_BENCH_EVENTS is the minimum number of events per trace;
/// without it there are few, so that the test is fast.
class bench_Compare : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void comparingCostsLessThanOneQuery();

  private:
    /// Maximum share of the query time. The summaries must not grow with the events, or the
    /// comparison would take as long as reading them.
    static constexpr double maxTimesQuery = 0.1;
    /// With fewer events, the query is too fast for a claim.
    static constexpr qint64 minEventsForClaim = 1'000'000, defaultEvents = 100'000;
    /// Layers that give a step about as many events as one of a ResNet-152.
    static constexpr int layers = 100;

    qint64 queryNs() const;
    qint64 compareNs() const;

    TemporaryFolder folder_;
    qint64 events_ = 0;  ///< In the smaller trace.
};

void bench_Compare::initTestCase() {
    qint64 wanted = qEnvironmentVariableIntValue("LANESCOPE_BENCH_EVENTS");
    const bool isAsserted = qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") != 0;
    if (wanted <= 0) wanted = isAsserted ? minEventsForClaim : defaultEvents;
    for (const auto& [name, scale] : {std::pair("baseline", 1.0), std::pair("candidate", 1.03)}) {
        SimulatedTraining training{.steps = 10, .layers = layers, .kernelScale = scale};
        const auto eventsIn = [](const Trace& trace) {
            return qint64{trace.kernels.size()} + trace.memcpys.size() + trace.memsets.size() + trace.apiCalls.size() +
                   trace.nvtx.size();
        };
        const qint64 eventsOfAStep = eventsIn(*simulatedTraining(training)) / training.steps;
        training.steps = static_cast<int>(std::max<qint64>(10, wanted / eventsOfAStep + 1));
        const TracePtr trace = simulatedTraining(training);
        QVERIFY(writeTraceFile(*trace, folder_ / name));
        const Result<RunSummary> summary = summarizeRun(*trace);
        QVERIFY(summary.has_value());
        {
            Result<Database> database = openForWriting(folder_ / name);
            QVERIFY(database.has_value());
            QVERIFY(writeRunSummary(*database, *summary).has_value());
        }
        QVERIFY(sealPages(folder_ / name).has_value());
        events_ = eventsIn(*trace);
        qInfo("%s: %lld events in %d steps, %u of them kernels", name, events_, training.steps, trace->kernels.size());
    }
}

/// From opening the file to the last row.
qint64 bench_Compare::queryNs() const {
    QElapsedTimer timer;
    timer.start();
    const auto database = Database::openReadOnly(folder_ / "baseline");
    auto statement = database->prepare(
        "SELECT demangledName, count(*), sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1");
    int64_t sum = 0;
    while (*statement->step()) sum += statement->integer(2);
    if (sum == 0) qInfo("unlikely");  // keeps the reading from being optimized away
    return timer.nsecsElapsed();
}

/// From opening both files to the text that `lanescope compare` prints.
qint64 bench_Compare::compareNs() const {
    QElapsedTimer timer;
    timer.start();
    ComparisonReport report;
    std::array<RunSummary, 2> summaries;
    for (size_t side = 0; side < 2; ++side) {
        const auto database = Database::openReadOnly(folder_ / (side == 0 ? "baseline" : "candidate"));
        std::optional<RunSummary> stored = readRunSummary(*database);
        if (!stored) return -1;
        summaries[side] = std::move(*stored);
    }
    report.baseline = std::move(summaries[0]);
    ComparedCandidate candidate{std::move(summaries[1]), {}, {}};
    candidate.comparison = compareRuns(BaselineRun{report.baseline}, CandidateRun{candidate.summary});
    const bool isFound = candidate.comparison.answer.outcome == Outcome::Longer;
    report.candidates.push_back(std::move(candidate));
    report.top = 10;
    return isFound && !comparisonAsText(report).empty() ? timer.nsecsElapsed() : -1;
}

void bench_Compare::comparingCostsLessThanOneQuery() {
    // The best of some rounds each, interleaved, so that a busy machine does not decide.
    qint64 bestQueryNs = INT64_MAX, bestCompareNs = INT64_MAX;
    for (int round = 0; round < 5; ++round) {
        bestQueryNs = std::min(bestQueryNs, queryNs());
        const qint64 ns = compareNs();
        QVERIFY(ns > 0);
        bestCompareNs = std::min(bestCompareNs, ns);
    }
    const double ratio = static_cast<double>(bestCompareNs) / static_cast<double>(bestQueryNs);
    qInfo("one query %.1f ms, comparing %.1f ms, ratio %.3f", static_cast<double>(bestQueryNs) / 1e6,
          static_cast<double>(bestCompareNs) / 1e6, ratio);
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    if (events_ < minEventsForClaim) return;
    QVERIFY(ratio < maxTimesQuery);
}

QTEST_APPLESS_MAIN(bench_Compare)
#include "bench_Compare.moc"
