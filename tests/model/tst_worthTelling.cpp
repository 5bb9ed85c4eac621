// SPDX-License-Identifier: Apache-2.0
#include "tests/model/madeSteps.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

/// Lengthens a part of every `every`th step.
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

int64_t placeOf(const Explanation& explanation, const Rule* rule) {
    const std::vector<const Rule*> rules = rulesOf(explanation);
    const auto found = std::ranges::find(rules, rule);
    return found == rules.end() ? -1 : found - rules.begin();
}

}  // namespace

class TestWorthTelling : public QObject {
    Q_OBJECT
  private slots:
    void launchesAreReportedBeyondTheProfilerOverhead() {
        const auto with = [](int64_t ns) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), ns);
            return rulesOf(made);
        };
        QCOMPARE(with(20 * ms), std::vector{&launchBoundRule});
        QVERIFY(with(15 * ms).empty());
    }

    void lateLaunchesInFewStepsAreNotLaunchBound() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 30 * ms);
        QCOMPARE(rulesOf(made), std::vector{&launchBoundRule});
        // The same mean, caused by four steps of ten.
        auto& steps = made.run().workers[0].steps;
        for (size_t step = 0; step < steps.size(); ++step) {
            const int64_t ns = step % 5 < 2 ? 75 * ms : 0;
            steps[step].wallNs += ns - steps[step].parts[StepPart::LaunchBound];
            steps[step].parts[StepPart::LaunchBound] = ns;
        }
        const Explanation few = explain::explain(made.run());
        QCOMPARE(placeOf(few, &launchBoundRule), int64_t{-1});
        // The idle GPU is still reported.
        QVERIFY(placeOf(few, &gpuIdleRule) >= 0);
    }

    void guessNeedsAsMuchTimeAsALateLaunch() {
        const auto with = [](const IdleCause& cause, int64_t ns) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, cause, ns);
            return rulesOf(made);
        };
        const IdleCause guess = idle(CauseKind::BeforeBatchCopy);
        QVERIFY(with(guess, 10 * ms).empty());
        QCOMPARE(with(guess, 20 * ms), std::vector{&inputDataRule});
        QCOMPARE(with(idle(CauseKind::BeforeBatchCopy, ThreadState::Poll), 10 * ms), std::vector{&inputDataRule});
        QCOMPARE(with(idle(CauseKind::LoadingRange), 10 * ms), std::vector{&inputDataRule});
    }

    void memoryFillKernelsAreMemsets() {
        const auto with = [](const char* kernel, int64_t ns) {
            MadeRun made;
            made.add(StepPart::Compute, ContributorKind::Kernel, kernel, ns);
            return explain::explain(made.run());
        };
        const char* fill =
            "at::native::vectorized_elementwise_kernel<16, at::native::FillFunctor<unsigned "
            "char>>";
        const Explanation filled = with(fill, 20 * ms);
        QCOMPARE(rulesOf(filled), std::vector{&memsetsRule});
        QCOMPARE(filled.findings[0].maxGainNs, 20 * ms);
        QCOMPARE(filled.findings[0].contributor.text(), std::string(fill));
        QVERIFY(rulesOf(with(fill, 2 * ms)).empty());
        QVERIFY(rulesOf(with("at::native::AddFunctor<float>", 20 * ms)).empty());
    }

    void periodAboveHalfOfItsPartComesFirst() {
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
        // A mean of 20 ms over all steps, from an excess of 160 ms in every eighth.
        const Explanation mostly = explained(15 * ms), hardly = explained(25 * ms);
        QCOMPARE(placeOf(mostly, &stepPatternRule), int64_t{0});
        QCOMPARE(placeOf(mostly, &hostSyncRule), int64_t{1});
        QCOMPARE(placeOf(hardly, &hostSyncRule), int64_t{0});
        QCOMPARE(placeOf(hardly, &stepPatternRule), int64_t{1});
    }

    /// Irregular steps, which do not explain the cause.
    void causeOfLongerStepsComesBeforeTheirPattern() {
        const auto explained = [](const IdleCause& cause) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 1 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), 9 * ms);
            WorkerSummary& worker = made.run().workers[0];
            lengthen(worker, 40, 40, StepPart::DataLoading, 0);
            int64_t dataNs = 0;
            for (StepSummary& step : worker.steps) {
                const int64_t moreNs = step.number * 7 % 10 < 5 ? 80 * ms : 0;
                // Most of it here, and some in another part, so that the pattern is larger.
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
        QVERIFY(placeOf(same, &stepPatternRule) >= 0);
        const Finding& pattern = same.findings[static_cast<size_t>(placeOf(same, &stepPatternRule))];
        QVERIFY(pattern.pattern->kind != PatternKind::Period);
        const Finding& data = same.findings[static_cast<size_t>(placeOf(same, &inputDataRule))];
        QVERIFY(pattern.maxGainNs > data.maxGainNs);
        QVERIFY(placeOf(same, &inputDataRule) < placeOf(same, &stepPatternRule));
    }

    void waitsComeBeforeLaunchesTheyDelay() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 40 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{&hostSyncRule, &launchBoundRule}));
        // A wait for the loss leaves room to launch the rest ahead.
        QCOMPARE(explained(1), (std::vector{&launchBoundRule, &hostSyncRule}));
    }

    /// Late launches too small for a rule make up most of the other idle time.
    void waitsComeBeforeTheIdleTimeTheyCause() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 18 * ms);
            made.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::QueuedWork), 10 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{&hostSyncRule, &gpuIdleRule}));
        QCOMPARE(explained(1), (std::vector{&gpuIdleRule, &hostSyncRule}));
    }

    void batchesOfSeveralSizesAreNoPattern() {
        const auto hasPattern = [](MadeRun made, StepPart part) {
            lengthen(made.run().workers.back(), 30, 3, part, 30 * ms);
            return placeOf(explain::explain(made.run()), &stepPatternRule) >= 0;
        };
        QVERIFY(!hasPattern(MadeRun(), StepPart::Compute));
        // Parts other than compute, and waits of other ranks, still count.
        QVERIFY(hasPattern(MadeRun(), StepPart::DataLoading));
        QVERIFY(hasPattern(MadeRun(2), StepPart::Compute));
        // The same applies to outlier steps.
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
