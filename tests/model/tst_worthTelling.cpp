// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>

#include "tests/model/madeSteps.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

/// Steps of which every `every`th has as much more of a part.
void lengthen(WorkerSummary& worker, int64_t steps, int64_t every, StepPart part, int64_t moreNs) {
    const StepSummary like = worker.steps.front();
    worker.steps.clear();
    for (int64_t number = 0; number < steps; ++number) {
        worker.steps.push_back(like);
        StepSummary& step = worker.steps.back();
        step.number = number;
        step.startNs = number * 1'000 * ms;
        const int64_t longerNs = (number % every == 0 ? moreNs : 0) + number * 7'919 % 100'000;
        step.parts[part] += longerNs;
        step.wallNs += longerNs;
    }
}

int64_t placeOf(const Explanation& explanation, Rule rule) {
    const std::vector<Rule> rules = rulesOf(explanation);
    const auto found = std::ranges::find(rules, rule);
    return found == rules.end() ? -1 : found - rules.begin();
}

}  // namespace

/// What is worth telling at all, and first.
class TestWorthTelling : public QObject {
    Q_OBJECT
  private slots:
    void launchesAreToldFromWhatARecorderAddsOn() {
        const auto with = [](int64_t ns) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls),
                     ns);
            return rulesOf(made);
        };
        QCOMPARE(with(20 * ms), std::vector{Rule::LaunchBound});
        QVERIFY(with(15 * ms).empty());
    }

    void launchesThatAreLateInFewStepsAreNoMatterOfLaunches() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls),
                 30 * ms);
        QCOMPARE(rulesOf(made), std::vector{Rule::LaunchBound});
        // The same in the mean, by four steps of ten.
        auto& steps = made.run().workers[0].steps;
        for (size_t step = 0; step < steps.size(); ++step) {
            const int64_t ns = step % 5 < 2 ? 75 * ms : 0;
            steps[step].wallNs += ns - steps[step].parts[StepPart::LaunchBound];
            steps[step].parts[StepPart::LaunchBound] = ns;
        }
        const Explanation few = explain::explain(made.run());
        QCOMPARE(placeOf(few, Rule::LaunchBound), int64_t{-1});
        // That the GPU had nothing to do stays true.
        QVERIFY(placeOf(few, Rule::GpuIdle) >= 0);
    }

    void aGuessAsksForAsMuchAsALateLaunch() {
        const auto with = [](const IdleCause& cause, int64_t ns) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, cause, ns);
            return rulesOf(made);
        };
        const IdleCause guess = idle(CauseKind::BeforeBatchCopy);
        QVERIFY(with(guess, 10 * ms).empty());
        QCOMPARE(with(guess, 20 * ms), std::vector{Rule::InputData});
        QCOMPARE(with(idle(CauseKind::BeforeBatchCopy, ThreadState::Poll), 10 * ms),
                 std::vector{Rule::InputData});
        QCOMPARE(with(idle(CauseKind::LoadingRange), 10 * ms), std::vector{Rule::InputData});
    }

    void kernelsThatOnlySetMemoryAreMemsets() {
        const auto with = [](const char* kernel, int64_t ns) {
            MadeRun made;
            made.add(StepPart::Compute, ContributorKind::Kernel, kernel, ns);
            return explain::explain(made.run());
        };
        const char* fill =
            "at::native::vectorized_elementwise_kernel<16, at::native::FillFunctor<unsigned "
            "char>>";
        const Explanation filled = with(fill, 20 * ms);
        QCOMPARE(rulesOf(filled), std::vector{Rule::Memsets});
        QCOMPARE(filled.findings[0].maxGainNs, 20 * ms);
        QCOMPARE(filled.findings[0].contributor.text(), std::string(fill));
        QVERIFY(rulesOf(with(fill, 2 * ms)).empty());
        QVERIFY(rulesOf(with("at::native::AddFunctor<float>", 20 * ms)).empty());
    }

    void aPeriodThatIsMoreThanHalfOfAPartComesBeforeIt() {
        const auto explained = [](int64_t alwaysNs) {
            MadeRun made;
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), alwaysNs);
            WorkerSummary& worker = made.run().workers[0];
            lengthen(worker, 40, 8, StepPart::Synchronization, 160 * ms);
            worker.contributors.back().exposedNs = 0;
            for (const StepSummary& step : worker.steps)
                worker.contributors.back().exposedNs += step.parts[StepPart::Synchronization];
            return explain::explain(made.run());
        };
        // 20 ms in the mean of all steps, as of a step that takes 160 ms longer in eight.
        const Explanation mostly = explained(15 * ms), hardly = explained(25 * ms);
        QCOMPARE(placeOf(mostly, Rule::StepPattern), int64_t{0});
        QCOMPARE(placeOf(mostly, Rule::HostSynchronization), int64_t{1});
        QCOMPARE(placeOf(hardly, Rule::HostSynchronization), int64_t{0});
        QCOMPARE(placeOf(hardly, Rule::StepPattern), int64_t{1});
    }

    /// In no order: that says nothing of why.
    void whatStepsAreLongerByComesBeforeThatTheyAre() {
        const auto explained = [](const IdleCause& cause) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange),
                     1 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), 9 * ms);
            WorkerSummary& worker = made.run().workers[0];
            lengthen(worker, 40, 40, StepPart::DataLoading, 0);
            int64_t dataNs = 0;
            for (StepSummary& step : worker.steps) {
                const int64_t moreNs = step.number * 7 % 10 < 5 ? 80 * ms : 0;
                // Most of it here, and some in another part, so that the pattern takes more.
                step.parts[StepPart::DataLoading] += moreNs * 3 / 4;
                step.parts[StepPart::Synchronization] += moreNs / 4;
                step.wallNs += moreNs;
                dataNs += step.parts[StepPart::DataLoading];
            }
            for (Contributor& each : worker.contributors) {
                if (each.part != StepPart::DataLoading) continue;
                each.exposedNs = dataNs;
                each.name = cause;
            }
            return explain::explain(made.run());
        };
        const Explanation same = explained(idle(CauseKind::LoadingRange));
        QVERIFY(placeOf(same, Rule::StepPattern) >= 0);
        const Finding& pattern =
            same.findings[static_cast<size_t>(placeOf(same, Rule::StepPattern))];
        QVERIFY(pattern.pattern->kind != PatternKind::Period);
        const Finding& data = same.findings[static_cast<size_t>(placeOf(same, Rule::InputData))];
        QVERIFY(pattern.maxGainNs > data.maxGainNs);
        QVERIFY(placeOf(same, Rule::InputData) < placeOf(same, Rule::StepPattern));
    }

    void waitsComeBeforeTheLaunchesThatTheyKeepFromRunningAhead() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls),
                     40 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle,
                     idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{Rule::HostSynchronization, Rule::LaunchBound}));
        // One for the loss leaves the rest to be launched ahead.
        QCOMPARE(explained(1), (std::vector{Rule::LaunchBound, Rule::HostSynchronization}));
    }

    /// Late launches that are too little for a rule are most of all other idle time.
    void waitsComeBeforeTheIdleTimeThatTheyCause() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls),
                     18 * ms);
            made.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::QueuedWork),
                     10 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle,
                     idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{Rule::HostSynchronization, Rule::GpuIdle}));
        QCOMPARE(explained(1), (std::vector{Rule::GpuIdle, Rule::HostSynchronization}));
    }

    void batchesOfSeveralSizesAreNoPatternToChange() {
        const auto hasPattern = [](MadeRun made, StepPart part) {
            lengthen(made.run().workers.back(), 30, 3, part, 30 * ms);
            return placeOf(explain::explain(made.run()), Rule::StepPattern) >= 0;
        };
        QVERIFY(!hasPattern(MadeRun(), StepPart::Compute));
        // What is not computed is another matter, and so is what others wait for.
        QVERIFY(hasPattern(MadeRun(), StepPart::DataLoading));
        QVERIFY(hasPattern(MadeRun(2), StepPart::Compute));
        // So are steps that are odd for it.
        MadeRun odd;
        OutlierStep step;
        step.number = 6;
        step.excessNs = 30 * ms;
        odd.run().workers[0].outliers.push_back(step);
        QVERIFY(hasPattern(odd, StepPart::Compute));
    }
};

LANESCOPE_TEST(TestWorthTelling, NoApplication)
#include "tst_worthTelling.moc"
