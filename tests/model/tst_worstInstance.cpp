// SPDX-License-Identifier: Apache-2.0
#include "model/compare/counterDifferences.h"
#include "model/compare/worstInstance.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

/// A step for each inner list; in it, a "gemm" of each duration, and an HtoD copy.
TracePtr steps(const std::vector<std::vector<int64_t>>& gemms, bool hasCopy = true) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    const uint32_t thread = builder.addThread(0, 4242, "python3");
    const uint32_t stream = builder.addStream(0, gpu, 7, true);
    int64_t stepNs = 0;
    uint32_t correlation = 1;
    for (size_t step = 0; step < gemms.size(); ++step) {
        builder.addNvtx(thread, "step " + std::to_string(step), stepNs, stepNs + 1'000'000);
        int64_t nowNs = stepNs + 1'000;
        if (hasCopy) {
            builder.addApi(thread, "cudaMemcpyAsync", nowNs, nowNs + 500, correlation);
            builder.addMemcpy(stream, MemcpyKind::HtoD, 4096, nowNs + 1'000, nowNs + 9'000, correlation++);
        }
        nowNs += 20'000;
        for (const int64_t durationNs : gemms[step]) {
            builder.addApi(thread, "cudaLaunchKernel", nowNs, nowNs + 500, correlation);
            builder.addKernel(stream, "gemm", nowNs + 1'000, nowNs + 1'000 + durationNs, correlation++);
            nowNs += durationNs + 2'000;
        }
        stepNs += 1'000'000;
    }
    return builder.finish();
}

/// A step for each number; in it, a CUDA graph of that duration, recorded as a whole.
TracePtr stepsOfGraphs(const std::vector<int64_t>& graphs) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    const uint32_t thread = builder.addThread(0, 4242, "python3");
    const uint32_t stream = builder.addStream(0, gpu, 7, true);
    uint32_t correlation = 1;
    int64_t stepNs = 0;
    for (size_t step = 0; step < graphs.size(); ++step) {
        builder.addNvtx(thread, "step " + std::to_string(step), stepNs, stepNs + 1'000'000);
        builder.addApi(thread, "cudaGraphLaunch", stepNs + 1'000, stepNs + 2'000, correlation);
        builder.addGraph(stream, 1, stepNs + 3'000, stepNs + 3'000 + graphs[step], correlation++);
        stepNs += 1'000'000;
    }
    return builder.finish();
}

struct Runs {
    Runs(TracePtr a, TracePtr b)
        : baselineTrace(std::move(a)),
          candidateTrace(std::move(b)),
          baseline(*summarizeRun(*baselineTrace)),
          candidate(*summarizeRun(*candidateTrace)) {}
    WorstInstance find(const InstanceQuery& query) const {
        return worstInstance({*baselineTrace, {}, baseline.workers.front()},
                             {*candidateTrace, {}, candidate.workers.front()}, query);
    }
    /// Query for the only kernel, named as in the comparison.
    InstanceQuery kernelQuery() const {
        InstanceQuery query;
        for (const Contributor& each : baseline.workers.front().contributors) {
            if (each.kind != ContributorKind::Kernel) continue;
            query.baselineName = query.candidateName = each.name;
            query.baselinePath = query.candidatePath = each.path;
        }
        return query;
    }
    TracePtr baselineTrace, candidateTrace;
    RunSummary baseline, candidate;
};

}  // namespace

class TestWorstInstance : public QObject {
    Q_OBJECT
  private slots:
    void instanceWithTheLargestLossIsFound() {
        const Runs runs(steps({{90'000, 10'000}, {90'000, 10'000}, {90'000, 10'000}}),
                        steps({{91'000, 10'000}, {90'000, 40'000}, {90'000, 10'000}}));
        const WorstInstance worst = runs.find(runs.kernelQuery());
        QVERIFY(worst.isFound);
        QCOMPARE(worst.step, size_t{1});
        QCOMPARE(worst.lostNs, 30'000);
        QCOMPARE(worst.baseline, EventRef(EventKind::Kernel, 3));
        QCOMPARE(worst.candidate, EventRef(EventKind::Kernel, 3));
    }

    void unpairedInstanceHasNoCounterpart() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000, 20'000}}));
        const WorstInstance worst = runs.find(runs.kernelQuery());
        QCOMPARE(worst.step, size_t{2});
        QCOMPARE(worst.lostNs, 20'000);
        QVERIFY(!worst.baseline.isValid());
        QCOMPARE(worst.candidate, EventRef(EventKind::Kernel, 3));
    }

    void wholeGraphIsFound() {
        const Runs runs(stepsOfGraphs({50'000, 50'000, 50'000}), stepsOfGraphs({50'000, 70'000, 50'000}));
        const auto& contributors = runs.baseline.workers.front().contributors;
        const auto graphs = std::find_if(contributors.begin(), contributors.end(),
                                         [](const Contributor& each) { return each.kind == ContributorKind::Graph; });
        QVERIFY(graphs != contributors.end());
        InstanceQuery query;
        query.kind = ContributorKind::Graph;
        query.part = graphs->part;
        query.baselineName = query.candidateName = graphs->name;
        query.baselinePath = query.candidatePath = graphs->path;
        const WorstInstance worst = runs.find(query);
        QVERIFY(worst.isFound);
        QCOMPARE(worst.lostNs, 20'000);
        QCOMPARE(worst.baseline, EventRef(EventKind::Graph, 1));
        QCOMPARE(worst.candidate, EventRef(EventKind::Graph, 1));
    }

    void instanceOfTheBaselineOnlyIsFoundThere() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000}}, false));
        const auto& contributors = runs.baseline.workers.front().contributors;
        const auto copy = std::find_if(contributors.begin(), contributors.end(),
                                       [](const Contributor& each) { return each.kind == ContributorKind::Copy; });
        QVERIFY(copy != contributors.end());
        InstanceQuery query;
        query.kind = ContributorKind::Copy;
        query.part = copy->part;
        query.baselineName = copy->name;
        query.baselinePath = copy->path;
        const WorstInstance worst = runs.find(query);
        QVERIFY(worst.isFound);
        QCOMPARE(worst.baseline.kind(), EventKind::Memcpy);
        QVERIFY(!worst.candidate.isValid());
        QCOMPARE(worst.lostNs, -8'000);
    }

    void idleTimeLeadsToItsWorstStep() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000}}));
        for (size_t part = 0; part < stepPartCount; ++part) {
            InstanceQuery query;
            query.kind = ContributorKind::Idle;
            query.part = static_cast<StepPart>(part);
            const WorstInstance worst = runs.find(query);
            QVERIFY(worst.isFound);
            QVERIFY(!worst.baseline.isValid() && !worst.candidate.isValid());
            QCOMPARE(worst.lostNs, 0);
        }
    }

    /// The step whose idle time grew most, and in it the longest gap of that cause.
    void idleTimeIsFoundByTheWorkAfterIt() {
        const Runs runs(steps({{50'000}, {50'000, 10'000}, {50'000}}), steps({{50'000}, {20'000, 10'000}, {50'000}}));
        InstanceQuery query;
        for (const Contributor& each : runs.baseline.workers.front().contributors) {
            if (each.kind != ContributorKind::Idle || each.part != StepPart::LaunchBound) continue;
            query.kind = each.kind;
            query.part = each.part;
            query.baselineName = query.candidateName = each.name;
            query.baselinePath = query.candidatePath = each.path;
        }
        QVERIFY(!query.baselineName.empty());
        const WorstInstance worst = runs.find(query);
        QVERIFY(worst.isFound);
        QVERIFY(worst.baseline.isValid() && worst.candidate.isValid());
        QVERIFY(worst.candidateGap.durationNs() > 0);
        QCOMPARE(runs.candidateTrace->rangeOf(worst.candidate).startNs, worst.candidateGap.endNs);
        const Evidence evidence =
            evidenceOf({{}, ClauseKind::Cause, query}, {*runs.baselineTrace, {}, runs.baseline.workers.front()},
                       {*runs.candidateTrace, {}, runs.candidate.workers.front()});
        QCOMPARE(evidence.candidate.event, worst.candidate);
        QCOMPARE(evidence.candidate.range.startNs, worst.candidateGap.startNs);
    }

    void stepClauseLeadsToTheStepsNearestToTheMedians() {
        const Runs runs(steps({{50'000}, {90'000}, {60'000}}), steps({{50'000}, {50'000}, {70'000}}));
        const Evidence evidence =
            evidenceOf({"10 % longer", ClauseKind::Step}, {*runs.baselineTrace, {}, runs.baseline.workers.front()},
                       {*runs.candidateTrace, {}, runs.candidate.workers.front()});
        QVERIFY(evidence.isFound());
        for (const EvidenceSide* side : {&evidence.baseline, &evidence.candidate})
            QVERIFY(side->step && side->event.isValid() && side->range.durationNs() > 0);
        QVERIFY(!evidenceOf({"words"}, {*runs.baselineTrace, {}, runs.baseline.workers.front()},
                            {*runs.candidateTrace, {}, runs.candidate.workers.front()})
                     .isFound());
    }

    void nameIsFoundOnAnotherPathIfItRunsThere() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {60'000}, {50'000}}));
        InstanceQuery query = runs.kernelQuery();
        query.baselinePath = "no such path";
        const WorstInstance worst = runs.find(query);
        QCOMPARE(worst.baseline, EventRef(EventKind::Kernel, 1));
        QCOMPARE(worst.lostNs, 10'000);
    }

    void unknownNameIsNotFound() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000}}));
        InstanceQuery query;
        query.baselineName = query.candidateName = "no such kernel";
        QVERIFY(!runs.find(query).isFound);
    }

    void stepsArePairedInOrder() {
        WorkerSummary a, b;
        a.steps = {{4, "step 4", 100, 10, {}}, {5, "step 5", 110, 10, {}}};
        b.steps = {{2, "step 2", 900, 13, {}}, {3, "step 3", 913, 9, {}}, {4, "", 922, 9, {}}};
        const std::vector<StepDifference> steps = stepDifferences(a, b);
        QCOMPARE(steps.size(), size_t{2});
        QCOMPARE(steps[0].lostNs(), 3);
        QCOMPARE(steps[1].lostNs(), -1);
        QCOMPARE(steps[1].lostInAllNs, 2);
        QCOMPARE(steps[1].number, 3);
        QCOMPARE(steps[1].baselineStartNs, 110);
    }
};

LANESCOPE_TEST(TestWorstInstance, NoApplication)
#include "tst_worstInstance.moc"
