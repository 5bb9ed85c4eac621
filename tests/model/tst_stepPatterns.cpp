// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/stepPatterns.h"
#include "model/compare/ComparisonView.h"
#include "model/compare/RunComparison.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/idleCauses.h"
#include "tests/support/runTest.h"

using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope;

namespace {

using Random = std::mt19937;
/// A generator of simulated step times, about 1.
using Series = std::function<std::vector<double>(Random&, size_t)>;

Series normal(double spread) {
    return [spread](Random& random, size_t count) {
        std::normal_distribution<double> noise(1, spread);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(noise(random));
        return steps;
    };
}

/// Each step correlates with the previous.
Series likeTheLast(double correlation, double spread) {
    return [=](Random& random, size_t count) {
        std::normal_distribution<double> noise(0, spread);
        double last = noise(random);
        std::vector<double> steps;
        while (steps.size() < count) {
            last = correlation * last + std::sqrt(1 - correlation * correlation) * noise(random);
            steps.push_back(1 + last);
        }
        return steps;
    };
}

Series skewed(double spread) {
    return [spread](Random& random, size_t count) {
        std::exponential_distribution<double> noise(1);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(1 + spread * noise(random));
        return steps;
    };
}

Series heavyTails(double spread) {
    return [spread](Random& random, size_t count) {
        std::student_t_distribution<double> noise(3);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(std::max(0.1, 1 + spread * noise(random)));
        return steps;
    };
}

std::vector<StepSummary> stepsOf(const std::vector<double>& series, StepPart part = StepPart::LaunchBound) {
    std::vector<StepSummary> steps;
    for (const double each : series) {
        StepSummary step{.number = static_cast<int64_t>(steps.size()) + 3, .wallNs = std::llround(each * 40e6)};
        step.parts[StepPart::Compute] = 30'000'000;
        step.parts[part] += step.wallNs - 30'000'000;
        steps.push_back(step);
    }
    return steps;
}

using Change = std::function<void(std::vector<double>&)>;

Change everyThird(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = 1; step < series.size(); step += 3) series[step] += excess;
    };
}

Change someOf(double share, double excess) {
    return [=](std::vector<double>& series) {
        Random random(17);
        std::bernoulli_distribution isOther(share);
        for (double& step : series) step += isOther(random) ? excess : 0;
    };
}

Change halfWay(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = series.size() / 2; step < series.size(); ++step) series[step] += excess;
    };
}

Change allTheWay(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += excess * static_cast<double>(step) / static_cast<double>(series.size());
    };
}

/// A step for each inner list; in it, a "gemm" of each duration, and an HtoD copy.
TracePtr steps(const std::vector<std::vector<int64_t>>& gemms, bool hasCopy = true) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
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
    const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
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

class tst_stepPatterns : public QObject {
    Q_OBJECT

    static RunSummary runOf(const std::vector<std::vector<StepSummary>>& workers) {
        RunSummary run;
        run.facts.title = "run";
        run.facts.kernelCount = 1;
        run.source = lanescope::StepSource::NvtxRange;
        for (const std::vector<StepSummary>& steps : workers) {
            WorkerSummary worker;
            worker.rank = static_cast<int>(run.workers.size());
            worker.gpuId = static_cast<int64_t>(run.workers.size());
            worker.steps = steps;
            worker.foundSteps = static_cast<int64_t>(steps.size());
            for (const StepPart part : {StepPart::Compute, StepPart::LaunchBound, StepPart::ExposedCommunication}) {
                Contributor contributor{
                    .part = part,
                    .kind = part == StepPart::LaunchBound ? ContributorKind::Idle : ContributorKind::Kernel,
                    .name = part == StepPart::LaunchBound ? ContributorName(idle(CauseKind::OutsideCalls))
                                                          : ContributorName("gemm"),
                    .path = part == StepPart::LaunchBound ? "tokenize" : "",
                    .count = worker.foundSteps};
                for (const StepSummary& step : steps) contributor.exposedNs += step.parts[part];
                worker.contributors.push_back(contributor);
            }
            run.workers.push_back(std::move(worker));
        }
        return run;
    }

  private slots:
    void varyingStepsHaveNoPattern_data() {
        const test::Rows<Series, int, double> row;
        for (const int count : {20, 40, 100}) {
            row(QString::asprintf("normal, 2 %%, %d", count), normal(0.02), count, 0.01);
            row(QString::asprintf("normal, 15 %%, %d", count), normal(0.15), count, 0.015);
            row(QString::asprintf("alike, 0.5, %d", count), likeTheLast(0.5, 0.05), count, 0.015);
            row(QString::asprintf("alike, 0.8, %d", count), likeTheLast(0.8, 0.05), count, 0.02);
            row(QString::asprintf("skewed, %d", count), skewed(0.05), count, 0.02);
            row(QString::asprintf("heavy tails, %d", count), heavyTails(0.02), count, 0.01);
        }
    }
    void varyingStepsHaveNoPattern() {
        const auto [series, count, most] = test::row<Series, int, double>();
        Random random(5);
        constexpr int times = 2000;
        std::array<int, 4> found{};
        for (int time = 0; time < times; ++time)
            if (const auto pattern = patternOf(stepsOf(series(random, size_t(count))))) ++found[size_t(pattern->kind)];
        const double all = double(found[0] + found[1] + found[2] + found[3]) / times;
        qInfo("%s steps: a pattern in %.4f of 2,000 without (period %d, level %d, modes %d, drift %d)",
              QTest::currentDataTag(), all, found[0], found[1], found[2], found[3]);
        QVERIFY(all <= most);
    }

    void existingPatternsAreFound_data() {
        const test::Rows<Change, PatternKind, double> add;
        add("every third, 10 %", everyThird(0.1), PatternKind::Period, 0.99);
        add("every third, 6 %", everyThird(0.06), PatternKind::Period, 0.8);
        add("two modes, 20 %", someOf(0.3, 0.2), PatternKind::TwoModes, 0.95);
        add("a level, 20 %", halfWay(0.2), PatternKind::Level, 0.95);
        add("a drift, 10 %", allTheWay(0.1), PatternKind::Drift, 0.65);
        add("a drift, 15 %", allTheWay(0.15), PatternKind::Drift, 0.9);
    }

    /// Steps with a spread of 2 %, 60 of them.
    void existingPatternsAreFound() {
        const auto [change, kind, least] = test::row<Change, PatternKind, double>();
        Random random(6);
        constexpr int times = 500;
        int found = 0;
        for (int time = 0; time < times; ++time) {
            std::vector<double> series = normal(0.02)(random, 60);
            change(series);
            const auto pattern = patternOf(stepsOf(series));
            found += pattern && pattern->kind == kind ? 1 : 0;
        }
        qInfo("%s: found in %.3f", QTest::currentDataTag(), double(found) / times);
        QVERIFY(double(found) / times >= least);
    }

    void patternReportsItsStepsAndCost() {
        Random random(1);
        std::vector<double> series = normal(0.01)(random, 60);
        everyThird(0.5)(series);
        const auto pattern = test::orFail(patternOf(stepsOf(series)));
        QCOMPARE(pattern.kind, PatternKind::Period);
        QCOMPARE(test::listed(pattern.period, pattern.firstNumber, pattern.affected.size()), "3 | 4 | 20");
        QVERIFY(std::abs(pattern.share - 1.0 / 3) < 1e-9 && std::abs(double(pattern.excessNs) - 20e6) < 0.5e6);
        QVERIFY(std::abs(double(pattern.costNs) - 20e6 / 3) < 0.2e6);
        QCOMPARE(pattern.part, StepPart::LaunchBound);
        QVERIFY(std::abs(double(pattern.partExcessNs) - 20e6) < 0.5e6);
    }

    /// With accumulated gradients: every fourth step is long, and every second slightly longer.
    void periodThatExplainsMostIsChosen() {
        Random random(4);
        for (int time = 0; time < 50; ++time) {
            std::vector<double> series = normal(0.01)(random, 120);
            for (size_t step = 0; step < series.size(); ++step)
                series[step] += step % 4 == 3 ? 0.5 : step % 2 == 1 ? 0.05 : 0;
            const auto fourth = test::orFail(patternOf(stepsOf(series)));
            QCOMPARE(fourth.kind, PatternKind::Period);
            QCOMPARE(test::listed(fourth.period, fourth.firstNumber), "4 | 6");
            // Also if some of the steps between are occasionally longer.
            for (const size_t place : {1, 4, 9, 11, 15, 18, 24, 27}) series[4 * place + 1] += 0.6;
            QCOMPARE(test::orFail(patternOf(stepsOf(series))).period, 4);
            // And every second if that is all.
            series = normal(0.01)(random, 120);
            for (size_t step = 1; step < series.size(); step += 2) series[step] += 0.5;
            QCOMPARE(test::orFail(patternOf(stepsOf(series))).period, 2);
        }
    }

    void driftCostsNoMoreThanItsRise() {
        Random random(9);
        std::vector<double> series = normal(0.002)(random, 120);
        allTheWay(0.1)(series);
        for (const size_t step : {5, 17, 31, 38, 52, 59, 66, 73, 85, 97}) series[step] += 3;
        const auto pattern = test::orFail(patternOf(stepsOf(series)));
        QCOMPARE(pattern.kind, PatternKind::Drift);
        QVERIFY2(pattern.costNs > 0 && pattern.costNs < pattern.excessNs,
                 qPrintable(QString("%1 of %2").arg(pattern.costNs).arg(pattern.excessNs)));
    }

    /// In growing steps, the last of every few is the longest, and the later half forms its own mode.
    void growingStepsAreADrift() {
        Random random(11);
        std::vector<double> series = normal(0.03)(random, 110);
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += step < 9 ? 0 : 2 + 0.05 * static_cast<double>(step);
        series[0] = 80;
        series[3] = 4;
        QCOMPARE(test::orFail(patternOf(stepsOf(series))).kind, PatternKind::Drift);
    }

    /// However the later ones rise: most of the change is sudden.
    void jumpIsNoDrift() {
        Random random(5);
        std::vector<double> series = normal(0.03)(random, 54);
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += step < 9 ? 0 : 10 + 0.05 * static_cast<double>(step);
        series[9] = 20;
        series[30] = 18;
        const auto pattern = patternOf(stepsOf(series));
        QVERIFY(!pattern || pattern->kind != PatternKind::Drift);
    }

    /// Also if steps grow or shrink in addition.
    void periodWithDriftStaysAPeriod() {
        for (const double slope : {0.02, -0.02}) {
            Random random(13);
            std::vector<double> series = normal(0.02)(random, 120);
            for (size_t step = 0; step < series.size(); ++step)
                series[step] += 8 + slope * static_cast<double>(step) + (step % 4 == 3 ? 1.0 : 0.0);
            const auto pattern = test::orFail(patternOf(stepsOf(series)));
            QCOMPARE(test::listed(pattern.kind, pattern.period), test::listed(PatternKind::Period, 4));
        }
    }

    void fewStepsHaveNoPattern() {
        QVERIFY(!patternOf({}) && !patternOf(stepsOf({1})) && !patternOf(stepsOf({1, 2, 1, 2, 1, 2, 1, 2})));
        QVERIFY(!patternOf(stepsOf(std::vector<double>(50, 1.0))));
    }

    /// All ranks have it because they wait; only the causing rank reports it.
    void patternIsReportedForItsOwnRank() {
        Random random(2);
        const std::vector<double> flat = normal(0.01)(random, 60);
        std::vector<double> series = flat;
        everyThird(0.35)(series);
        const RunSummary before = runOf({stepsOf(flat), stepsOf(flat), stepsOf(flat)});
        const RunSummary after = runOf({stepsOf(series, StepPart::ExposedCommunication),
                                        stepsOf(series, StepPart::ExposedCommunication), stepsOf(series)});
        const RunComparison comparison = compareRuns({before}, {after});
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        QCOMPARE(comparison.patterns.size(), size_t{1});
        const PatternDifference& one = comparison.patterns.front();
        QCOMPARE(one.worker, std::string("rank 2, GPU 2"));
        QVERIFY(one.isCandidate);
        QCOMPARE(one.path, std::string("tokenize"));
        const QString sentence = QString::fromStdString(comparison.answer.sentence);
        QVERIFY2(sentence.contains("but only in the candidate, every third step of rank 2, GPU 2 takes 1"),
                 qPrintable(sentence));
        QVERIFY2(sentence.contains("in the range \"tokenize\""), qPrintable(sentence));
        // Swapped, it is the baseline's pattern; a pattern of both is no difference.
        const RunComparison back = compareRuns({after}, {before});
        QCOMPARE(back.patterns.size(), size_t{1});
        QVERIFY(!back.patterns.front().isCandidate);
        QVERIFY(compareRuns({after}, {after}).patterns.empty());
    }

    void halfOfSeveralRunsMustHaveThePattern() {
        Random random(3);
        const auto flat = [&] { return runOf({stepsOf(normal(0.01)(random, 60))}); };
        const auto uneven = [&] {
            std::vector<double> series = normal(0.01)(random, 60);
            everyThird(0.35)(series);
            return runOf({stepsOf(series)});
        };
        const std::vector<RunSummary> before{flat(), flat(), flat()};
        const auto found = test::orFail(comparePrograms(before, std::vector{uneven(), flat(), uneven()}));
        QCOMPARE(found.comparison.patterns.size(), size_t{1});
        QCOMPARE(found.comparison.patterns.front().pattern.period, 3);
        const auto none = comparePrograms(before, std::vector{flat(), flat(), uneven()});
        QVERIFY(none && none->comparison.patterns.empty());
    }

    void instanceWithTheLargestLossIsFound() {
        const Runs runs(steps({{90'000, 10'000}, {90'000, 10'000}, {90'000, 10'000}}),
                        steps({{91'000, 10'000}, {90'000, 40'000}, {90'000, 10'000}}));
        const WorstInstance worst = runs.find(runs.kernelQuery());
        QVERIFY(worst.isFound);
        QCOMPARE(test::listed(worst.step, worst.lostNs), "1 | 30000");
        QCOMPARE(worst.baseline, EventRef(EventKind::Kernel, 3));
        QCOMPARE(worst.candidate, EventRef(EventKind::Kernel, 3));
    }

    void unpairedInstanceHasNoCounterpart() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000, 20'000}}));
        const WorstInstance worst = runs.find(runs.kernelQuery());
        QCOMPARE(test::listed(worst.step, worst.lostNs), "2 | 20000");
        QVERIFY(!worst.baseline.isValid());
        QCOMPARE(worst.candidate, EventRef(EventKind::Kernel, 3));
    }

    void wholeGraphIsFound() {
        const Runs runs(stepsOfGraphs({50'000, 50'000, 50'000}), stepsOfGraphs({50'000, 70'000, 50'000}));
        const auto& contributors = runs.baseline.workers.front().contributors;
        const auto graphs = std::find_if(contributors.begin(), contributors.end(),
                                         [](const Contributor& each) { return each.kind == ContributorKind::Graph; });
        QVERIFY(graphs != contributors.end());
        InstanceQuery query{.part = graphs->part, .kind = ContributorKind::Graph};
        query.baselineName = query.candidateName = graphs->name;
        query.baselinePath = query.candidatePath = graphs->path;
        const WorstInstance worst = runs.find(query);
        QVERIFY(worst.isFound);
        QCOMPARE(test::listed(worst.lostNs, worst.baseline), test::listed(20'000, EventRef(EventKind::Graph, 1)));
        QCOMPARE(worst.candidate, EventRef(EventKind::Graph, 1));
    }

    void instanceOfTheBaselineOnlyIsFoundThere() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000}}, false));
        const auto& contributors = runs.baseline.workers.front().contributors;
        const auto copy = std::find_if(contributors.begin(), contributors.end(),
                                       [](const Contributor& each) { return each.kind == ContributorKind::Copy; });
        QVERIFY(copy != contributors.end());
        InstanceQuery query{
            .part = copy->part, .kind = ContributorKind::Copy, .baselineName = copy->name, .baselinePath = copy->path};
        const WorstInstance worst = runs.find(query);
        QVERIFY(worst.isFound);
        QCOMPARE(worst.baseline.kind(), EventKind::Memcpy);
        QVERIFY(!worst.candidate.isValid());
        QCOMPARE(worst.lostNs, -8'000);
    }

    void idleTimeLeadsToItsWorstStep() {
        const Runs runs(steps({{50'000}, {50'000}, {50'000}}), steps({{50'000}, {50'000}, {50'000}}));
        for (size_t part = 0; part < stepPartCount; ++part) {
            InstanceQuery query{.part = static_cast<StepPart>(part), .kind = ContributorKind::Idle};
            const WorstInstance worst = runs.find(query);
            QVERIFY(worst.isFound && !worst.baseline.isValid() && !worst.candidate.isValid());
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
        QVERIFY(worst.isFound && worst.baseline.isValid() && worst.candidate.isValid());
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
        QCOMPARE(test::listed(worst.baseline, worst.lostNs), test::listed(EventRef(EventKind::Kernel, 1), 10'000));
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
        QCOMPARE(test::listed(steps[0].lostNs(), steps[1].lostNs(), steps[1].lostInAllNs), "3 | -1 | 2");
        QCOMPARE(test::listed(steps[1].number, steps[1].baselineStartNs), "3 | 110");
    }
};

LANESCOPE_TEST(tst_stepPatterns, NoApplication)
#include "tst_stepPatterns.moc"
