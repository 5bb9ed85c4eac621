// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/judgeRuns.h"
#include "model/numbers/Statistics.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedRuns.h"

using namespace lanescope::analysis;
using namespace lanescope::compare;
using lanescope::addNoiseRows;
using lanescope::holmAdjusted;
using lanescope::RunNoise;
using lanescope::runNoises;
using lanescope::WeightedTest;

namespace {

/// Observed spread between runs of a program that launches its kernels one by one: step time by up
/// to 30 %, all of it idle, and GPU compute time by less than 1 %.
std::vector<RunNoise> recipes() {
    return runNoises(
        {.normal = 0.12, .spreadWithDrift = 0.03, .betweenModes = 0.25, .withinModes = 0.02, .heavyTail = 0.08});
}

/// Activity of a program in a step, in milliseconds.
struct Program {
    double computeMs = 3, idleMs = 9, syncMs = 0.4, extraMs = 0;
};
double stepMs(const Program& program) { return program.computeMs + program.idleMs + program.syncMs + program.extraMs; }

int64_t nsOf(double ms) { return std::llround(ms * 1e6); }

WorkerSummary runOf(const Program& program, double idleLog, std::mt19937& random) {
    constexpr int steps = 5;
    const double compute = program.computeMs * std::exp(std::normal_distribution<double>(0, 0.006)(random));
    const double sleep = program.extraMs * std::exp(std::normal_distribution<double>(0, 0.01)(random));
    std::normal_distribution<double> noise(0, 0.02);
    WorkerSummary worker;
    int64_t idleNs = 0, extraNs = 0;
    for (int number = 0; number < steps; ++number) {
        const int64_t idleStepNs = nsOf(program.idleMs * std::exp(idleLog + noise(random))), asleepNs = nsOf(sleep);
        StepSummary step;
        step.parts[StepPart::Compute] = nsOf(compute);
        step.parts[StepPart::LaunchBound] = idleStepNs + asleepNs;
        step.parts[StepPart::Synchronization] = nsOf(program.syncMs * std::exp(5 * noise(random)));
        step.wallNs = step.parts.sum();
        idleNs += idleStepNs;
        extraNs += asleepNs;
        worker.steps.push_back(step);
    }
    const auto addIdle = [&](const char* path, int64_t ns) {
        if (ns == 0) return;
        Contributor idle{.part = StepPart::LaunchBound, .kind = ContributorKind::Idle, .path = path, .exposedNs = ns};
        worker.contributors.push_back(idle);
    };
    addIdle("forward", idleNs / 3);
    addIdle("backward", idleNs - idleNs / 3);
    addIdle("extra", extraNs);
    return worker;
}

struct Judged {
    Claim step;
    std::vector<QuantityClaim> quantities;

    const QuantityClaim* find(QuantityKind kind, StepPart part, const std::string& path) const {
        for (const QuantityClaim& each : quantities)
            if (each.kind == kind && (kind == QuantityKind::Part ? each.part == part : each.path == path)) return &each;
        return nullptr;
    }
    bool hasCertain() const {
        return std::any_of(quantities.begin(), quantities.end(),
                           [](const QuantityClaim& each) { return each.isCertain; });
    }
};

/// Interleaved runs of two programs.
Judged judgedRuns(const RunNoise& recipe, int runs, const Program& before, const Program& after, std::mt19937& random) {
    std::vector<WorkerSummary> workers;
    std::vector<double> turns[2];
    const double slope = std::uniform_real_distribution<double>(-0.3, 0.3)(random);
    for (int turn = 0; turn < 2 * runs; ++turn) {
        const double place = double(turn) / (2 * runs);
        const double idleLog = recipe.level(random) + (recipe.drifts ? slope * place : 0);
        workers.push_back(runOf(turn % 2 == 0 ? before : after, idleLog, random));
        turns[turn % 2].push_back(turn);
    }
    JudgedRuns judged;
    for (size_t index = 0; index < workers.size(); ++index)
        (index % 2 == 0 ? judged.baseline : judged.candidate).push_back(&workers[index]);
    if (runs >= int(minAlternatingRuns)) {
        judged.baselineTurns = turns[0];
        judged.candidateTurns = turns[1];
    }
    WorkerComparison pair;
    judgeParts(judged, pair);
    return {pair.claim, pair.quantities};
}

bool covers(double low, double high, double truth) { return low <= truth && truth <= high; }

}  // namespace

class TestJudgeParts : public QObject {
    Q_OBJECT

  private slots:
    /// Computed by hand, and with R's `p.adjust(method = "holm")` for equal weights.
    void holmLevelsMatchR() {
        const std::vector<WeightedTest> equal{{0.01, 1}, {0.04, 1}, {0.03, 1}, {0.005, 1}};
        const std::vector<double> found = holmAdjusted(equal), expected{0.03, 0.06, 0.06, 0.02};
        for (size_t index = 0; index < expected.size(); ++index)
            QVERIFY(std::abs(found[index] - expected[index]) < 1e-12);
        const std::vector<WeightedTest> weighted{{0.02, 0.5}, {0.001, 0.25}, {0.9, 0.25}};
        const std::vector<double> levels = holmAdjusted(weighted);
        QVERIFY(std::abs(levels[0] - 0.03) < 1e-12);  // of the remaining 0.75
        QVERIFY(std::abs(levels[1] - 0.004) < 1e-12 && std::abs(levels[2] - 0.9) < 1e-12);
        QVERIFY(holmAdjusted({}).empty());
    }

    void linearDriftIsRemoved() {
        RunMedians drifting{{10, 12, 14, 16, 18}, {14, 16, 18, 20, 22}, {}};
        QVERIFY(differenceOf(drifting).pValue() > 0.05);
        drifting.baselineTurns = {0, 2, 4, 6, 8};
        drifting.candidateTurns = {1, 3, 5, 7, 9};
        const GroupDifference found = differenceOf(drifting);
        QVERIFY(std::abs(found.difference - 3) < 1e-9);  // 4, of which 1 is the drift per round
        QCOMPARE(found.freedom, 7);
        QVERIFY(found.pValue() < 0.001);
    }

    void contributorOfOneRunHasNoSpread() {
        std::mt19937 random(3);
        Program slow;
        slow.extraMs = 5;
        std::vector<WorkerSummary> workers;
        for (int run = 0; run < 6; ++run) workers.push_back(runOf({}, 0, random));
        workers.push_back(runOf(slow, 0, random));
        JudgedRuns judged{.baseline = {&workers[0]}, .candidate = {&workers[6]}};
        for (size_t run = 1; run < 6; ++run) judged.earlier.push_back(&workers[run]);
        WorkerComparison pair;
        judgeParts(judged, pair);
        QVERIFY(!pair.claim.spreadPercent);
        QVERIFY(!pair.quantities.empty());  // compute is unchanged
        for (const QuantityClaim& each : pair.quantities) QVERIFY(each.path != "extra");
        WorkerSummary again = runOf(slow, 0, random);
        judged.candidate.push_back(&again);
        judgeParts(judged, pair);
        QVERIFY(pair.claim.spreadPercent);
        QVERIFY(std::ranges::any_of(pair.quantities,
                                    [](const QuantityClaim& each) { return each.path == "extra" && each.isCertain; }));
    }

    void randomVariationIsNoDrift() {
        RunMedians steady{{10, 10.3, 9.9}, {11.1, 10.9, 11.2}, {}};
        const GroupDifference plain = differenceOf(steady);
        steady.baselineTurns = {0, 2, 4};
        steady.candidateTurns = {1, 3, 5};
        const GroupDifference found = differenceOf(steady);
        QCOMPARE(lanescope::test::listed(found.difference, found.freedom),
                 lanescope::test::listed(plain.difference, 3));
        QVERIFY(found.reach() > plain.reach());  // the cost of the test
    }

    void errorRateAndPowerAreAsStated_data() { addNoiseRows(recipes()); }

    /// Steps of 12.4 ms, of which the GPU computes 3.
    void errorRateAndPowerAreAsStated() {
        QFETCH(int, recipe);
        QFETCH(int, runs);
        const RunNoise simulated = recipes()[size_t(recipe)];
        const double share = runs == 3 ? 0.1 : 0.05;
        const Program referenceProgram;
        Program onGpu = referenceProgram, onHost = referenceProgram;
        onGpu.computeMs += share * stepMs(referenceProgram);
        onHost.extraMs = share * stepMs(referenceProgram);
        std::mt19937 random(uint32_t(runs * 100 + recipe));
        constexpr int times = 2000;
        int covered = 0, coveredPart = 0, claimed = 0, gpu = 0, gpuBefore = 0, host = 0, hostBefore = 0;
        for (int time = 0; time < times; ++time) {
            const Judged equal = judgedRuns(simulated, runs, referenceProgram, referenceProgram, random);
            claimed += equal.step.outcome != Outcome::WithinNoise || equal.hasCertain() ? 1 : 0;
            covered += covers(equal.step.lowPercent, equal.step.highPercent, 0) ? 1 : 0;
            const Judged more = judgedRuns(simulated, runs, referenceProgram, onGpu, random);
            const QuantityClaim* compute = more.find(QuantityKind::Part, StepPart::Compute, std::string());
            QVERIFY(compute);
            coveredPart +=
                covers(compute->lowNs, compute->highNs, 1e6 * (onGpu.computeMs - referenceProgram.computeMs)) ? 1 : 0;
            gpu += compute->isCertain && compute->differenceNs > 0 ? 1 : 0;
            gpuBefore += more.step.pValue < 0.05 && more.step.percent >= 1 ? 1 : 0;
            const Judged asleep = judgedRuns(simulated, runs, referenceProgram, onHost, random);
            const QuantityClaim* extra = asleep.find(QuantityKind::IdleInRange, StepPart::Compute, "extra");
            host += extra && extra->isCertain && extra->differenceNs > 0 ? 1 : 0;
            hostBefore += asleep.step.pValue < 0.05 && asleep.step.percent >= 1 ? 1 : 0;
        }
        const auto of = [](int count) { return double(count) / times; };
        qInfo(
            "%s, %d per side: coverage of the step %.3f, of compute %.3f; claims of no change %.3f; +%.0f %% of the "
            "step found on the GPU %.3f (by the step alone %.3f), on the host %.3f (%.3f)",
            simulated.name, runs, of(covered), of(coveredPart), of(claimed), 100 * share, of(gpu), of(gpuBefore),
            of(host), of(hostBefore));
        QVERIFY(of(covered) >= 0.93 && of(covered) <= 0.97);
        QVERIFY(of(coveredPart) >= 0.93 && of(coveredPart) <= 0.97 && of(claimed) <= 0.055);
        QVERIFY(of(gpu) >= 0.9 && of(host) >= 0.9);
    }

    /// A case that the whole step cannot decide, through the entire comparison.
    void partMayBeCertainWhereTheStepIsNot() {
        std::mt19937 random(7);
        Program slow;
        slow.computeMs += 0.1 * stepMs(slow);
        const double idle[2][3] = {{0.15, -0.12, 0.02}, {-0.1, 0.14, -0.06}};
        std::vector<RunSummary> sides[2];
        for (int side = 0; side < 2; ++side)
            for (const double log : idle[side])
                sides[side].push_back(simulatedRun(runOf(side == 0 ? Program() : slow, log, random), "gemm"));
        const auto compared = comparePrograms(sides[0], sides[1]);
        QVERIFY(compared);
        const Answer& answer = compared->comparison.answer;
        QCOMPARE(answer.outcome, Outcome::PartsChanged);
        QCOMPARE(compared->comparison.criticalPair()->claim.outcome, Outcome::WithinNoise);
        QVERIFY(!answer.causes.empty());
        QCOMPARE(answer.causes.front().part, StepPart::Compute);
        QVERIFY(answer.causes.front().isCertain());
        for (const Cause& cause : answer.causes) QVERIFY(cause.isCertain() || cause.isChangeOfKind);
        QVERIFY(answer.sentence.find("compute in the mean step") != std::string::npos);
        QVERIFY(answer.sentence.find("Of the whole step no difference is certain") != std::string::npos);
        QCOMPARE(compared->comparison.exact.front().quantities.size(),
                 compared->comparison.workers.front().quantities.size());
    }

    void onlyInterleavedRunsHaveRounds() {
        std::vector<RunSummary> before(5), after(5);
        for (size_t run = 0; run < 5; ++run) {
            before[run].facts.startUtcNs = int64_t(10 * run + 1);
            after[run].facts.startUtcNs = int64_t(10 * run + 2);
        }
        QCOMPARE(runTurns(before, after).baseline, (std::vector<double>{0, 2, 4, 6, 8}));
        QCOMPARE(runTurns(before, after).candidate, (std::vector<double>{1, 3, 5, 7, 9}));
        std::swap(before[0].facts, before[4].facts);  // in any order on the command line
        QCOMPARE(runTurns(before, after).baseline, (std::vector<double>{8, 2, 4, 6, 0}));
        const RunGroup first(before.data(), 3);
        QCOMPARE(runTurns(first, RunGroup(after.data(), 3)).baseline, (std::vector<double>{5, 1, 3}));
        QVERIFY(runTurns(first.first(2), RunGroup(after.data(), 2)).baseline.empty());
        after[4].facts.host = "other";
        QVERIFY(runTurns(before, after).baseline.empty());
        after[4].facts.host.clear();
        after[0].facts.startUtcNs = 25;  // the first two runs are of the baseline
        QVERIFY(runTurns(before, after).baseline.empty());
        after[4].facts.startUtcNs = 0;
        QVERIFY(runTurns(before, after).baseline.empty());
    }
};

LANESCOPE_TEST(TestJudgeParts, NoApplication)
#include "tst_judgeParts.moc"
