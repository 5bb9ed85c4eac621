// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/compare/RunComparison.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/judgeRuns.h"
#include "model/numbers/Statistics.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedRuns.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

constexpr double stepNs = 50e6;

/// Spread of the medians of runs, by noise, for the sizes below.
constexpr double driftSlope = 0.1;
const std::array<double, 4> spreads{0.03, std::sqrt(0.02 * 0.02 + 0.05 * 0.05 / 3),
                                    std::sqrt(0.05 * 0.05 + 0.01 * 0.01), 0.02 * std::sqrt(3.0)};

std::vector<RunNoise> recipes() {
    return runNoises(
        {.normal = 0.03, .spreadWithDrift = 0.02, .betweenModes = 0.1, .withinModes = 0.01, .heavyTail = 0.02});
}

double medianOf(const RunNoise& recipe, std::mt19937& random, double shift) {
    constexpr int steps = 40;
    const double slope = recipe.drifts ? std::uniform_real_distribution<double>(-driftSlope, driftSlope)(random) : 0;
    const double level = recipe.level(random) + shift;
    std::normal_distribution<double> noise(0, 0.01);
    std::vector<int64_t> wallNs;
    for (int step = 0; step < steps; ++step)
        wallNs.push_back(static_cast<int64_t>(stepNs * std::exp(level + slope * step / steps + noise(random))));
    return quantileOf(wallNs, 0.5);
}

std::vector<double> mediansOf(const RunNoise& recipe, std::mt19937& random, int runs, double shift) {
    std::vector<double> medians;
    for (int run = 0; run < runs; ++run) medians.push_back(medianOf(recipe, random, shift));
    return medians;
}

/// A run of one GPU whose steps take about that long, all in one kernel.
RunSummary steadyRun(double ms, const char* kernel = "gemm") {
    WorkerSummary worker;
    for (int number = 0; number < 20; ++number) {
        StepSummary step;
        step.number = number;
        step.wallNs = static_cast<int64_t>(ms * 1e6) + number % 5 * 1000;
        step.parts[StepPart::Compute] = step.wallNs;
        worker.steps.push_back(step);
    }
    return simulatedRun(std::move(worker), kernel);
}

std::vector<RunSummary> steadyRuns(const std::vector<double>& ms) {
    std::vector<RunSummary> runs;
    for (const double each : ms) runs.push_back(steadyRun(each));
    return runs;
}

}  // namespace

class TestComparePrograms : public QObject {
    Q_OBJECT

  private slots:
    void studentsDistributionMatchesSciPy() {
        QVERIFY(std::abs(studentTFor(0.95, 1) - 12.706204736) < 1e-6);
        QVERIFY(std::abs(studentTFor(0.95, 2) - 4.302652730) < 1e-6);
        QVERIFY(std::abs(studentTFor(0.95, 4) - 2.776445105) < 1e-6);
        QVERIFY(std::abs(studentTFor(0.95, 18) - 2.100922040) < 1e-6);
        QVERIFY(std::abs(studentTWithin(1, 1) - 0.5) < 1e-12);
        QVERIFY(std::abs(studentTWithin(2, 3) - 0.860674046) < 1e-6);
        QCOMPARE(studentTWithin(0, 7), 0.0);
    }

    void intervalHasItsStatedCoverage_data() { addNoiseRows(recipes()); }

    void intervalHasItsStatedCoverage() {
        QFETCH(int, recipe);
        QFETCH(int, runs);
        const RunNoise simulated = recipes()[size_t(recipe)];
        std::mt19937 random(uint32_t(runs * 100 + recipe));
        constexpr int times = 4000;
        const double shift = std::log(1.05);
        int covered = 0, claimed = 0;
        std::vector<double> widths;
        for (int time = 0; time < times; ++time) {
            RunMedians medians{mediansOf(simulated, random, runs, 0), mediansOf(simulated, random, runs, shift), {}};
            const Claim changed = judgeRuns(medians);
            covered += changed.lowPercent <= 5 && changed.highPercent >= 5 ? 1 : 0;
            widths.push_back(std::log1p(changed.highPercent / 100) - std::log1p(changed.lowPercent / 100));
            medians.candidate = mediansOf(simulated, random, runs, 0);
            claimed += judgeRuns(medians).outcome != Outcome::WithinNoise ? 1 : 0;
        }
        std::nth_element(widths.begin(), widths.begin() + times / 2, widths.end());
        const double known = 2 * 1.959964 * spreads[size_t(recipe)] * std::sqrt(2.0 / runs);
        const double coverage = double(covered) / times, claims = double(claimed) / times;
        qInfo(
            "%s, %d per side: coverage %.3f, claims of no change %.3f, width %.2f of that with "
            "known variances",
            simulated.name, runs, coverage, claims, widths[times / 2] / known);
        QVERIFY(coverage >= 0.93 && coverage <= 0.97);
        QVERIFY(claims <= 0.065);
        QVERIFY(widths[times / 2] <= 1.5 * known);
    }

    void severalRunsDescribePrograms() {
        const auto before = steadyRuns({50, 51, 49.5}), after = steadyRuns({56, 55, 57});
        const auto compared = comparePrograms(before, after);
        QVERIFY(compared);
        QCOMPARE(compared->comparison.answer.outcome, Outcome::Slower);
        const Claim& claim = compared->comparison.criticalPair()->claim;
        QCOMPARE(claim.baselineRuns, 3);
        QVERIFY(claim.lowPercent > 0 && claim.lowPercent < claim.percent);
        QVERIFY(claim.percent < claim.highPercent);
        const QString sentence = QString::fromStdString(compared->comparison.answer.sentence);
        QVERIFY2(sentence.contains("3 against 3 runs"), qPrintable(sentence));
    }

    /// Agreement among steps of one run does not describe the spread between runs.
    void runsWithEqualSpreadAreNoDifference() {
        const auto before = steadyRuns({50, 61, 55}), after = steadyRuns({62, 51, 60});
        const auto compared = comparePrograms(before, after);
        QVERIFY(compared);
        QCOMPARE(compared->comparison.answer.outcome, Outcome::WithinNoise);
        QVERIFY(compared->comparison.criticalPair()->claim.visiblePercent > 10);
    }

    void singleRunsDescribeOnlyThemselves() {
        const auto compared = comparePrograms(steadyRuns({50}), steadyRuns({60}));
        QVERIFY(compared);
        QCOMPARE(compared->comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(compared->comparison.criticalPair()->claim.unit, ClaimUnit::Steps);
        const std::string& sentence = compared->comparison.answer.sentence;
        QVERIFY(sentence.find("slower") == std::string::npos);
        QVERIFY(sentence.find("One run per side") != std::string::npos);
    }

    void earlierRunsGiveTheSpread() {
        const auto near = comparePrograms(steadyRuns({50}), steadyRuns({60}), steadyRuns({50, 50.5, 49.7, 50.2}));
        QVERIFY(near);
        QCOMPARE(near->comparison.answer.outcome, Outcome::Slower);
        const auto far = comparePrograms(steadyRuns({50}), steadyRuns({60}), steadyRuns({50, 61, 44, 57}));
        QVERIFY(far);
        QCOMPARE(far->comparison.answer.outcome, Outcome::WithinNoise);
    }

    void copiesOfARecordingAreOneRun() {
        std::vector<RunSummary> before = steadyRuns({50, 51}), after = steadyRuns({60, 61});
        uint64_t hash = 7;
        for (std::vector<RunSummary>* runs : {&before, &after})
            for (RunSummary& run : *runs) run.facts.contentHash = ++hash;
        const auto compared = comparePrograms(before, after);
        QVERIFY(compared);
        for (const std::string& caution : compared->comparison.answer.cautions)
            QVERIFY(caution.find("same recording") == std::string::npos);
        const auto refused = [](const auto& result) {
            return !result && result.error().sentence.find("copies of one recording") != std::string::npos;
        };
        std::vector<RunSummary> twice = before;
        twice[1] = twice[0];
        QVERIFY(refused(comparePrograms(twice, after)));
        QVERIFY(refused(comparePrograms(after, twice)));
        QVERIFY(refused(comparePrograms(before, std::vector{after[0], before[1]})));
        QVERIFY(refused(comparePrograms(std::vector{before[0]}, std::vector{after[0]}, twice)));
    }

    /// The same processes at the same time of day are one run, whatever changed in the file since.
    void editedRecordingIsTheSameRun() {
        std::vector<RunSummary> before = steadyRuns({50, 51}), after = steadyRuns({60, 61});
        constexpr int64_t day = 86'400'000'000'000;
        int64_t number = 0;
        for (std::vector<RunSummary>* runs : {&before, &after})
            for (RunSummary& run : *runs) {
                run.facts.contentHash = static_cast<uint64_t>(++number);
                run.facts.startUtcNs = 20'000 * day + number * day;
                run.facts.host = "node7";
                run.facts.title = fmt::format("run{}.sqlite", number);
            }
        QVERIFY(comparePrograms(before, after));
        RunSummary moved = before[0];  // by a nanosecond
        moved.facts.contentHash = 100;
        moved.facts.title = "moved.sqlite";
        moved.workers[0].steps[0].startNs += 1;
        RunSummary exported = before[0];  // where time begins with the first event, and no host is named
        exported.facts.contentHash = 101;
        exported.facts.title = "exported.json";
        exported.facts.host.clear();
        exported.facts.startUtcNs += 5'000'000;
        for (StepSummary& step : exported.workers[0].steps) step.startNs -= 5'000'000;
        for (const RunSummary& copy : {moved, exported}) {
            const auto refused = comparePrograms(std::vector{before[0], copy}, after);
            QVERIFY(!refused);
            const QString sentence = QString::fromStdString(refused.error().sentence);
            QVERIFY2(sentence.startsWith("run1.sqlite and " + QString::fromStdString(copy.facts.title) + " are"),
                     qPrintable(sentence));
            QVERIFY(!comparePrograms(before, std::vector{after[0], copy}));
            const auto single = comparePrograms({&before[0], 1}, {&copy, 1});
            QVERIFY(single);
            const std::vector<std::string>& cautions = single->comparison.answer.cautions;
            QVERIFY(std::find(cautions.begin(), cautions.end(), "Both sides are the same recording.") !=
                    cautions.end());
        }
        RunSummary namesake = moved;
        namesake.facts.title = before[0].facts.title;
        const auto twice = comparePrograms(std::vector{before[0], namesake}, after);
        QVERIFY(!twice);
        QVERIFY(twice.error().sentence.starts_with("Two files named run1.sqlite are copies"));
        RunSummary elsewhere = moved;  // process ids are unique per host
        elsewhere.facts.host = "node8";
        QVERIFY(comparePrograms(std::vector{before[0], elsewhere}, after));
    }

    void earlierRunsOfASideCountOnce() {
        std::vector<RunSummary> before = steadyRuns({50, 51, 49}), after = steadyRuns({55});
        uint64_t hash = 7;
        for (RunSummary& run : before) run.facts.contentHash = ++hash;
        const auto alone = comparePrograms(before, after);
        const auto twice = comparePrograms(before, after, before);
        QVERIFY(alone && twice);
        const Claim &expected = alone->comparison.criticalPair()->claim,
                    &found = twice->comparison.criticalPair()->claim;
        QCOMPARE(found.pValue, expected.pValue);
        QCOMPARE(found.percent, expected.percent);
    }

    void pooledRunsSumToTheirSteps() {
        std::vector<RunSummary> runs = steadyRuns({50, 51});
        runs.push_back(steadyRun(49, "gemm_v2"));
        const Result<PooledRuns> pooled = poolRuns(runs, "baseline");
        QVERIFY(pooled);
        const WorkerSummary& worker = pooled->summary.workers.front();
        QCOMPARE(worker.steps.size(), size_t{60});
        QCOMPARE(worker.contributors.size(), size_t{2});
        int64_t exposedNs = 0;
        for (const Contributor& each : worker.contributors) exposedNs += each.exposedNs;
        QCOMPARE(exposedNs, worker.totalWallNs());
    }

    /// With so few steps no difference has a p below 0.01, so none could be found.
    void fourStepsAreTooFew() {
        std::vector<int64_t> before{100, 101, 102, 103}, after{200, 201, 202, 203};
        QCOMPARE(judgeSteps(before, after).outcome, Outcome::TooFewSteps);
        before.push_back(104);
        after.push_back(204);
        QCOMPARE(judgeSteps(before, after).outcome, Outcome::Longer);
    }

    /// A difference beyond the noise of both runs that may be chance is not called equal.
    void possibleChanceIsNotCalledEqual() {
        RunSummary before, after;
        for (RunSummary* run : {&before, &after}) {
            WorkerSummary worker;
            for (int number = 0; number < 5; ++number) {
                StepSummary step;
                step.number = number;
                const bool isLate = run == &after && number != 4;
                step.wallNs = (isLate ? 60'000'000 : 50'000'000) + number * 10'000;
                step.parts[StepPart::Compute] = step.wallNs;
                worker.steps.push_back(step);
            }
            *run = simulatedRun(std::move(worker), "gemm");
        }
        const auto compared = comparePrograms({&before, 1}, {&after, 1});
        QVERIFY(compared);
        const RunComparison& comparison = compared->comparison;
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        const QString sentence = QString::fromStdString(comparison.answer.sentence);
        QVERIFY(sentence.contains("no difference is distinguishable from chance: median step"));
        QVERIFY(!sentence.contains("alike") && !sentence.contains("within the spread"));
    }

    /// An outlier step belongs to a certain run.
    void outliersOfSeveralRunsNameTheirRun() {
        std::vector<RunSummary> runs = steadyRuns({50, 51, 49.5});
        int number = 500;
        for (RunSummary& run : runs) run.facts.title = fmt::format("run{}.sqlite", ++number);
        OutlierStep late;
        late.number = 7;
        late.excessNs = 5'000'000;
        runs[1].workers[0].outliers.push_back(late);
        const auto compared = comparePrograms(runs, steadyRuns({50.2, 51.1, 49.6}));
        QVERIFY(compared);
        QCOMPARE(compared->comparison.outliers.size(), size_t{1});
        QCOMPARE(QString::fromStdString(compared->comparison.outliers[0].worker),
                 QString("rank 0, GPU 0 of run502.sqlite"));
        const auto single = comparePrograms({&runs[1], 1}, steadyRuns({50.2}));
        QVERIFY(single);
        QCOMPARE(single->comparison.outliers.at(0).worker, std::string("rank 0, GPU 0"));
    }

    void replacedKernelComesFirst() {
        std::vector<RunSummary> before{steadyRun(50), steadyRun(50.1)};
        std::vector<RunSummary> after{steadyRun(58, "other_kernel"), steadyRun(58.1, "other_kernel")};
        const auto compared = comparePrograms(before, after);
        QVERIFY(compared);
        const Answer& answer = compared->comparison.answer;
        QVERIFY(!answer.causes.empty());
        QVERIFY(answer.causes.front().isChangeOfKind);
        QVERIFY(answer.sentence.find("other_kernel") != std::string::npos);
    }

    void unrelatedRunsAreRefused() {
        std::vector<RunSummary> two = steadyRuns({50, 51});
        two[1].workers.push_back(two[1].workers.front());
        two[1].workers.back().rank = 1;
        const auto other = comparePrograms(two, steadyRuns({50, 51}));
        QVERIFY(!other);
        QVERIFY(other.error().sentence.find("same processes") != std::string::npos);
        const std::vector<RunSummary> empty{steadyRun(50), RunSummary{}};
        QVERIFY(!comparePrograms(empty, steadyRuns({50, 51})));
        QVERIFY(!comparePrograms({}, steadyRuns({50, 51})));
    }
};

LANESCOPE_TEST(TestComparePrograms, NoApplication)
#include "tst_comparePrograms.moc"
