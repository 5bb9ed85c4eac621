// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/analysis/ThreadActivities.h"
#include "model/analysis/groupKernels.h"
#include "model/compare/RunComparison.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/judgeRuns.h"
#include "model/explain/hostTime.h"
#include "model/numbers/Statistics.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedRuns.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::explain;

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
        StepSummary step{.number = number, .wallNs = static_cast<int64_t>(ms * 1e6) + number % 5 * 1000};
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

constexpr int64_t us = 1'000;
constexpr int64_t steps = 20, launchStepNs = 10 * ms;
const std::string producerName = "Lanescope 0.1.0";

/// Simulated steps of `perStep` kernels, each of which begins when its launching call ends, after
/// the GPU was idle for `idleNs`.
struct Program : SimulatedTrace {
    Program(int64_t callNs, int64_t idleNs, int64_t perStep = 100) {
        description().producer = producerName;
        uint32_t correlation = 0;
        const int64_t everyNs = launchStepNs / perStep;
        for (int64_t step = 0; step < steps; ++step) {
            const int64_t at = step * launchStepNs;
            addNvtx(defaultThread(), "step " + std::to_string(step), at, at + launchStepNs);
            for (int64_t each = 0; each < perStep; ++each) {
                const int64_t kernelNs = at + each * everyNs + idleNs;
                addApi(defaultThread(), "cuLaunchKernel", kernelNs - callNs, kernelNs, ++correlation);
                addKernel(defaultStream(), "gemm", kernelNs, kernelNs + everyNs - idleNs, correlation);
            }
        }
    }
    /// Adds a thread that waits for a core for that share of the time.
    void addHungry(uint32_t tid, double share) {
        test::addState(*this, addThread(0, tid), ThreadState::Lock, {0, steps * launchStepNs}, us,
                       static_cast<int64_t>(share * static_cast<double>(steps * launchStepNs)));
    }
    RunSummary summary() {
        const Result<RunSummary> made = summarizeRun(*finish());
        return made ? *made : RunSummary();
    }
};

std::vector<uint32_t> threadsOf(const Trace& trace, uint32_t process) {
    std::vector<uint32_t> threads;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (trace.threads[thread].process == process) threads.push_back(thread);
    return threads;
}

}  // namespace

class tst_comparePrograms : public QObject {
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
        qInfo("%s, %d per side: coverage %.3f, claims of no change %.3f, width %.2f of that with known variances",
              simulated.name, runs, coverage, claims, widths[times / 2] / known);
        QVERIFY(coverage >= 0.93 && coverage <= 0.97);
        QVERIFY(claims <= 0.065);
        QVERIFY(widths[times / 2] <= 1.5 * known);
    }

    void severalRunsDescribePrograms() {
        const auto before = steadyRuns({50, 51, 49.5}), after = steadyRuns({56, 55, 57});
        const auto compared = test::orFail(comparePrograms(before, after));
        QCOMPARE(compared.comparison.answer.outcome, Outcome::Slower);
        const Claim& claim = compared.comparison.criticalPair()->claim;
        QCOMPARE(claim.baselineRuns, 3);
        QVERIFY(claim.lowPercent > 0 && claim.lowPercent < claim.percent && claim.percent < claim.highPercent);
        const QString sentence = QString::fromStdString(compared.comparison.answer.sentence);
        QVERIFY2(sentence.contains("3 against 3 runs"), qPrintable(sentence));
    }

    /// Agreement among steps of one run does not describe the spread between runs.
    void runsWithEqualSpreadAreNoDifference() {
        const auto before = steadyRuns({50, 61, 55}), after = steadyRuns({62, 51, 60});
        const auto compared = test::orFail(comparePrograms(before, after));
        QCOMPARE(compared.comparison.answer.outcome, Outcome::WithinNoise);
        QVERIFY(compared.comparison.criticalPair()->claim.visiblePercent > 10);
        QVERIFY(compared.comparison.answer.sentence.find("would most likely have been seen") != std::string::npos);
    }

    void runsThatCannotShowADoublingAreNotGivenAPercentage() {
        const auto compared = test::orFail(comparePrograms(steadyRuns({50, 140}), steadyRuns({55, 120})));
        QCOMPARE(compared.comparison.answer.outcome, Outcome::WithinNoise);
        QVERIFY(compared.comparison.criticalPair()->claim.visiblePercent > 100);
        const std::string& sentence = compared.comparison.answer.sentence;
        HAS(sentence, "even a doubling could go unnoticed");
        QVERIFY2(sentence.ends_with(". Record more runs."), sentence.c_str());
        HAS_NO(sentence, "would most likely");
    }

    void singleRunsDescribeOnlyThemselves() {
        const auto compared = test::orFail(comparePrograms(steadyRuns({50}), steadyRuns({60})));
        QCOMPARE(compared.comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(compared.comparison.criticalPair()->claim.unit, ClaimUnit::Steps);
        const std::string& sentence = compared.comparison.answer.sentence;
        QVERIFY(sentence.find("slower") == std::string::npos);
        QVERIFY(sentence.find("One run per side") != std::string::npos);
    }

    void earlierRunsGiveTheSpread() {
        const auto near =
            test::orFail(comparePrograms(steadyRuns({50}), steadyRuns({60}), steadyRuns({50, 50.5, 49.7, 50.2})));
        QCOMPARE(near.comparison.answer.outcome, Outcome::Slower);
        const auto far =
            test::orFail(comparePrograms(steadyRuns({50}), steadyRuns({60}), steadyRuns({50, 61, 44, 57})));
        QCOMPARE(far.comparison.answer.outcome, Outcome::WithinNoise);
    }

    /// Seeds and output folders differ between runs of one program.
    void argumentsMakeNoOtherProgram() {
        const auto cautions = [](const char* other) {
            std::vector<RunSummary> before = steadyRuns({50, 51}), after = steadyRuns({60, 61});
            for (RunSummary* run : {&before[0], &after[0], &after[1]})
                run->facts.commandLine = "/usr/bin/python3 train.py --seed 1";
            before[1].facts.commandLine = other;
            const auto compared = comparePrograms(before, after);
            std::string all;
            for (const std::string& each : compared->comparison.answer.cautions) all += each;
            return all;
        };
        QVERIFY(cautions("python train.py --seed 2 --out b").find("of the baseline") == std::string::npos);
        std::vector<RunSummary> before = steadyRuns({50}), after = steadyRuns({60});
        before[0].facts.commandLine = "python train.py --seed 1";
        const auto programs = [&](const char* command) {
            after[0].facts.commandLine = command;
            return std::ranges::count(comparePrograms(before, after)->comparison.answer.cautions,
                                      std::string("Program: python train.py in the baseline, python eval.py in the "
                                                  "candidate."));
        };
        QCOMPARE(test::listed(programs("python train.py --seed 2"), programs("python eval.py")), "0 | 1");
        const std::string other = cautions("python eval.py --seed 1");
        QVERIFY2(
            other.find("The runs of the baseline are of different programs: python train.py and python eval.py.") !=
                std::string::npos,
            other.c_str());
    }

    void copiesOfARecordingAreOneRun() {
        std::vector<RunSummary> before = steadyRuns({50, 51}), after = steadyRuns({60, 61});
        uint64_t hash = 7;
        for (std::vector<RunSummary>* runs : {&before, &after})
            for (RunSummary& run : *runs) run.facts.contentHash = ++hash;
        const auto compared = test::orFail(comparePrograms(before, after));
        for (const std::string& caution : compared.comparison.answer.cautions)
            QVERIFY(caution.find("same recording") == std::string::npos);
        const auto refused = [](const auto& result) {
            return !result && result.error().sentence.find("copies of one recording") != std::string::npos;
        };
        std::vector<RunSummary> twice = before;
        twice[1] = twice[0];
        QVERIFY(refused(comparePrograms(twice, after)) && refused(comparePrograms(after, twice)));
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
            const auto single = test::orFail(comparePrograms({&before[0], 1}, {&copy, 1}));
            const std::vector<std::string>& cautions = single.comparison.answer.cautions;
            QVERIFY(std::find(cautions.begin(), cautions.end(), "Both sides are the same recording.") !=
                    cautions.end());
        }
        RunSummary namesake = moved;
        namesake.facts.title = before[0].facts.title;
        const auto twice = comparePrograms(std::vector{before[0], namesake}, after);
        QVERIFY(!twice && twice.error().sentence.starts_with("Two files named run1.sqlite are copies"));
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
        QCOMPARE(test::listed(found.pValue, found.percent), test::listed(expected.pValue, expected.percent));
    }

    void pooledRunsSumToTheirSteps() {
        std::vector<RunSummary> runs = steadyRuns({50, 51});
        runs.push_back(steadyRun(49, "gemm_v2"));
        const PooledRuns pooled = test::orFail(poolRuns(runs, "baseline"));
        const WorkerSummary& worker = pooled.summary.workers.front();
        QCOMPARE(test::listed(worker.steps.size(), worker.contributors.size()), "60 | 2");
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
        const auto compared = test::orFail(comparePrograms({&before, 1}, {&after, 1}));
        const RunComparison& comparison = compared.comparison;
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
        runs[1].workers[0].outliers.push_back(OutlierStep{.number = 7, .excessNs = 5'000'000});
        const auto compared = test::orFail(comparePrograms(runs, steadyRuns({50.2, 51.1, 49.6})));
        QCOMPARE(compared.comparison.outliers.size(), size_t{1});
        QCOMPARE(QString::fromStdString(compared.comparison.outliers[0].worker),
                 QString("rank 0, GPU 0 of run502.sqlite"));
        const auto single = test::orFail(comparePrograms({&runs[1], 1}, steadyRuns({50.2})));
        QCOMPARE(single.comparison.outliers.at(0).worker, std::string("rank 0, GPU 0"));
    }

    void replacedKernelComesFirst() {
        std::vector<RunSummary> before{steadyRun(50), steadyRun(50.1)};
        std::vector<RunSummary> after{steadyRun(58, "other_kernel"), steadyRun(58.1, "other_kernel")};
        const auto compared = test::orFail(comparePrograms(before, after));
        const Answer& answer = compared.comparison.answer;
        QVERIFY(!answer.causes.empty() && answer.causes.front().isChangeOfKind);
        QVERIFY(answer.sentence.find("other_kernel") != std::string::npos);
    }

    void unrelatedRunsAreRefused() {
        std::vector<RunSummary> two = steadyRuns({50, 51});
        two[1].workers.push_back(two[1].workers.front());
        two[1].workers.back().rank = 1;
        const auto other = comparePrograms(two, steadyRuns({50, 51}));
        QVERIFY(!other && other.error().sentence.find("same processes") != std::string::npos);
        const std::vector<RunSummary> empty{steadyRun(50), RunSummary{}};
        QVERIFY(!comparePrograms(empty, steadyRuns({50, 51})) && !comparePrograms({}, steadyRuns({50, 51})));
    }

    void callsOfTheStepsAreCounted() {
        const RunSummary run = Program(7'450, 40 * us).summary();
        QCOMPARE(run.workers.size(), size_t(1));
        const LaunchTimes& launches = run.workers[0].launches;
        QCOMPARE(launches.count, static_cast<int64_t>(run.workers[0].steps.size()) * 100);
        QCOMPARE(launches.medianNs, int64_t{7'450});
        QCOMPARE(overheadShareNs(run, run.workers[0]), 100 * 5'000);
    }

    /// Although kernels of another stream run between its own.
    void graphIsOneLaunch() {
        SimulatedTrace sim;
        sim.addApi(sim.defaultThread(), "cuGraphLaunch", 0, 9 * us, 1);
        const uint32_t stream = sim.defaultStream(), other = sim.addStream(0, 0, 8);
        sim.addKernel(stream, "a", 10 * us, 20 * us, 1);
        sim.addKernel(other, "b", 12 * us, 22 * us, 2);
        sim.addKernel(sim.defaultStream(), "a", 20 * us, 30 * us, 1);
        sim.addApi(sim.defaultThread(), "cuLaunchKernel", 10 * us, 13 * us, 2);
        sim.addKernel(sim.defaultStream(), "c", 40 * us, 50 * us, 2);
        const TracePtr trace = sim.finish();
        WorkList work;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            GpuWork each;
            each.startNs = trace->kernels.startNs[row];
            each.endNs = trace->kernels.endNs[row];
            each.event = EventRef(EventKind::Kernel, row);
            const EventRef call = trace->launchingCall(each.event);
            each.call = call.isValid() ? call.row() : noIndex;
            work.push_back(each);
        }
        const std::vector<TimeRange> all{{0, ms}}, late{{35 * us, ms}};
        const WorkPlaces places(*trace, {});
        QCOMPARE(launchTimes(*trace, all, work, places), (LaunchTimes{2, 6 * us}));
        QCOMPARE(launchTimes(*trace, late, work, places), (LaunchTimes{1, 3 * us}));
        QCOMPARE(launchTimes(*trace, {}, work, places), LaunchTimes());
    }

    void profilerShareIsBounded_data() {
        const test::Rows<qint64, qint64> row;
        row("fast", qint64{2'000}, qint64{0});
        row("plain", qint64{2'450}, qint64{0});
        row("recorded", qint64{3'050}, qint64{600});
        row("busy machine", qint64{9'450}, qint64{7'000});
        // A longer launch has another cause: a thread without a core, a full queue.
        row("stuck", qint64{4'000'000}, qint64{10'000});
    }
    void profilerShareIsBounded() {
        const auto [medianNs, eachNs] = test::row<qint64, qint64>();
        MadeRun made;
        made.run().facts.producerKind = ProducerKind::Lanescope;
        WorkerSummary& worker = made.run().workers[0];
        worker.launches = {100 * MadeRun::steps, medianNs};
        QCOMPARE(overheadShareNs(made.run(), worker), 100 * eachNs);
        for (const char* other :
             {"torch.profiler", "Nsight Systems 2026.2.1", "", "Lanescope 0.1.0 and torch.profiler"}) {
            made.run().facts.producerKind = producerKindOf(other);
            QCOMPARE(overheadShareNs(made.run(), worker), int64_t{0});
        }
    }

    void hugeCountDoesNotOverflow() {
        MadeRun made;
        made.run().facts.producerKind = ProducerKind::Lanescope;
        made.run().workers[0].launches = {INT64_MAX, INT64_MAX};
        QCOMPARE(overheadShareNs(made.run(), made.run().workers[0]), maxTimestampNs);
        made.run().workers[0].steps.clear();
        QCOMPARE(overheadShareNs(made.run(), made.run().workers[0]), int64_t{0});
    }

    /// The part subtracted from one finding is neither reported as another nor subtracted from others.
    void profilerShareIsNoOtherFinding() {
        // 10 us for each of 200 launches are a fifth of the step.
        const Explanation many = explain::explain(Program(12'450, 40 * us, 200).summary());
        QCOMPARE(rulesOf(many), std::vector{&launchBoundRule});
        QCOMPARE(many.findings[0].overheadNs, int64_t{2'000'000});

        // All launches are in time, however long they take.
        MadeRun ahead;
        ahead.run().facts.producerKind = ProducerKind::Lanescope;
        ahead.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::QueuedWork), 11'500 * us);
        ahead.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), 3'300 * us);
        ahead.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 3'300 * us);
        ahead.add(StepPart::Compute, ContributorKind::Kernel, "gemm", 2 * ms);
        ahead.run().workers[0].launches = {4'000 * MadeRun::steps, 12'450};
        QCOMPARE(rulesOf(ahead), std::vector{&gpuIdleRule});
        QCOMPARE(explain::explain(ahead.run()).findings[0].maxGainNs, 18'100 * us);
    }

    /// The GPU idles for 18 % of each step, of which 5 % may be profiler overhead.
    void profilerOverheadIsNotBlamedOnTheProgram() {
        const Explanation slowCalls = explain::explain(Program(7'450, 18 * us).summary());
        QVERIFY(findingOf(slowCalls, &launchBoundRule) == nullptr);
        QVERIFY(findingOf(slowCalls, &gpuIdleRule) == nullptr);
        const Finding found = foundBy(explain::explain(Program(2'450, 18 * us).summary()), &launchBoundRule);
        HAS_NO(found.sentence, "cost of recording");
    }

    void findingsExcludeTheProfilerShare() {
        const Finding found = foundBy(explain::explain(Program(7'450, 40 * us).summary()), &launchBoundRule);
        QVERIFY2(found.share > 0.34 && found.share < 0.36, found.sentence.c_str());
        HAS(found.sentence,
            "In addition, recording may cost up to 500.0 µs per step: 100 launches at 7.450 µs each, where "
            "2.450 µs was measured without a profiler.");
    }

    void veryLongLaunchesAreNotAllProfilerOverhead() {
        const Finding found = foundBy(explain::explain(Program(60 * us, 40 * us).summary()), &launchBoundRule);
        HAS(found.sentence,
            "In addition, recording may cost up to 999.5 µs per step: at most 10.00 µs for each of 99.95 launches.");
    }

    void threadsWithoutCoresAreReported() {
        Program program(2'450, 40 * us);
        for (uint32_t tid = 500; tid < 508; ++tid) program.addHungry(tid, 0.25);
        program.addHungry(600, 0.001);
        const RunSummary run = program.summary();
        QVERIFY(run.workers[0].coreWaits.has_value());
        QCOMPARE(run.workers[0].coreWaits->threads, int64_t{8});
        const auto wallNs = static_cast<double>(run.workers[0].totalWallNs());
        const double cores = static_cast<double>(run.workers[0].coreWaits->ns) / wallNs;
        QVERIFY2(cores > 1.99 && cores < 2.01, qPrintable(QString::number(cores)));
        const Finding found = foundBy(explain::explain(run), &launchBoundRule);
        HAS(found.sentence, "8 threads of the process waited for a core, each for 25.0 % of the time");
    }

    void fewThreadsWithoutACoreAreNotReported() {
        Program program(2'450, 40 * us);
        program.addHungry(500, 0.25);
        HAS_NO(findingOf(explain::explain(program.summary()), &launchBoundRule)->sentence, "for a core");
    }

    void coreWaitsAreUnknownWithoutSamples() {
        QVERIFY(!Program(2'450, 40 * us).summary().workers[0].coreWaits.has_value());
    }

    /// A row that claims more than the available time.
    void impossibleTimesAreClamped() {
        SimulatedTrace sim;
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = 10 * ms;
        row.thread = sim.defaultThread();
        row.state = ThreadState::Lock;
        row.delayNs = INT64_MAX;
        // The row occurs twice, and once more with an overlapping time.
        sim.add<kinds::CpuState>(row);
        sim.add<kinds::CpuState>(row);
        row.startNs = 4 * ms;
        sim.add<kinds::CpuState>(row);
        const TracePtr trace = sim.finish();
        const std::vector<TimeRange> part{{0, 5 * ms}}, elsewhere{{20 * ms, 30 * ms}};
        const StatesOfThreads states(*trace);
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), part), std::optional(CoreWaits{1, 5 * ms}));
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), elsewhere), std::optional<CoreWaits>());
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 1), part), std::optional<CoreWaits>());
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), {}), std::optional<CoreWaits>());
        // Very short steps.
        const std::vector<TimeRange> tiny{{0, 1}};
        QCOMPARE(coreWaits(*trace, states, threadsOf(*trace, 0), tiny), std::optional(CoreWaits{1, 1}));
    }

    /// Compared with a plain loop over random states and steps.
    void sharesMatchPlainLoop() {
        std::mt19937 random(5);
        const auto upTo = [&random](int64_t most) {
            return static_cast<int64_t>(random() % static_cast<uint32_t>(most + 1));
        };
        for (int round = 0; round < 50; ++round) {
            SimulatedTrace sim;
            std::vector<TimeRange> steps;
            for (int64_t at = upTo(50); steps.size() < 20; at = steps.back().endNs + upTo(30))
                steps.push_back({at, at + 1 + upTo(90)});
            int64_t allNs = 0;
            for (const TimeRange& step : steps) allNs += step.durationNs();
            double plainNs = 0;
            for (int64_t at = 0; at < steps.back().endNs;) {
                kinds::CpuState::Row row;
                row.startNs = at;
                row.endNs = at + 1 + upTo(200);
                row.thread = sim.defaultThread();
                row.state = upTo(1) == 0 ? ThreadState::Runnable : ThreadState::Running;
                const int64_t wholeNs = row.endNs - row.startNs;
                row.cpuNs = upTo(wholeNs);
                row.delayNs = upTo(wholeNs - row.cpuNs);
                sim.add<kinds::CpuState>(row);
                for (const TimeRange& step : steps)
                    if (const TimeRange both = step.intersected({row.startNs, row.endNs}); !both.isEmpty())
                        plainNs += static_cast<double>(row.state == ThreadState::Runnable ? wholeNs - row.cpuNs
                                                                                          : row.delayNs) *
                                   static_cast<double>(both.durationNs()) / static_cast<double>(wholeNs);
                at = row.endNs + upTo(20);
            }
            const TracePtr trace = sim.finish();
            const auto waits = test::orFail(coreWaits(*trace, StatesOfThreads(*trace), threadsOf(*trace, 0), steps));
            if (plainNs < 0.01 * static_cast<double>(allNs)) continue;
            QVERIFY(std::abs(static_cast<double>(waits.ns) - plainNs) < 1.5);
        }
    }

    /// As without a counting kernel, and in calls and samples of other tools.
    void uncountedTimeIsUnknown() {
        for (const StateSource source : {StateSource::StateSamples, StateSource::Calls}) {
            SimulatedTrace sim;
            kinds::CpuState::Row row{
                .endNs = 10 * ms, .thread = sim.defaultThread(), .state = ThreadState::Running, .source = source};
            sim.add<kinds::CpuState>(row);
            const TracePtr trace = sim.finish();
            const std::vector<TimeRange> all{{0, 10 * ms}};
            QCOMPARE(coreWaits(*trace, StatesOfThreads(*trace), threadsOf(*trace, 0), all), std::optional<CoreWaits>());
        }
    }

    /// Threads throttled by a limit count as runnable: this is reported once.
    void cpuLimitIsReportedInsteadOfItsThreads() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 60 * ms);
        WorkerSummary& worker = made.run().workers[0];
        worker.coreWaits = CoreWaits{8, 6 * worker.totalWallNs()};
        const auto sentence = [&] { return explain::explain(made.run()).findings[0].sentence; };
        HAS(sentence(), "8 threads of the process");
        worker.heldBackNs = 6 * worker.totalWallNs();
        HAS(sentence(), "the limit of the cgroup held processors back for 6.00 s");
        HAS_NO(sentence(), "of the process");
        worker.heldBackNs.reset();
        worker.coreWaits = CoreWaits{1, worker.totalWallNs()};
        QVERIFY2(test::has(sentence(), "one thread of the process") && !test::has(sentence(), "Fewer threads"),
                 sentence().c_str());
    }
};

LANESCOPE_TEST(tst_comparePrograms, NoApplication)
#include "tst_comparePrograms.moc"
