// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/analysis/RunSummary.h"
#include "model/compare/Condition.h"
#include "model/compare/evaluateCondition.h"
#include "model/explain/Explanation.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

ContributorDifference contributor(StepPart part, ContributorKind kind, std::string name, int64_t baselineNs,
                                  int64_t candidateNs) {
    ContributorDifference difference;
    difference.part = part;
    difference.kind = kind;
    difference.baseline = {name, baselineNs, baselineNs, 2, 1'000'000, 0};
    difference.candidate = {name, candidateNs, candidateNs, 3, 1'000'000, 0};
    return difference;
}

/// A synthetic comparison: steps of 100 and 110 us.
RunComparison smallComparison() {
    RunComparison comparison;
    comparison.baselineSource = comparison.candidateSource = StepSource::NvtxRange;
    comparison.answer.outcome = Outcome::Longer;
    comparison.critical = 0;
    WorkerComparison& pair = comparison.workers.emplace_back();
    pair.baseline = {10, 101'000, 100'000, 120'000, 90'000, 130'000, 95'000, 105'000};
    pair.candidate = {12, 111'000, 110'000, 140'000, 99'000, 150'000, 105'000, 115'000};
    pair.parts = {{StepPart::Compute, 60'000, 63'000},
                  {StepPart::ExposedHtoD, 10'000, 12'000},
                  {StepPart::ExposedDtoH, 1'000, 2'000},
                  {StepPart::LaunchBound, 20'000, 25'000},
                  {StepPart::OtherIdle, 10'000, 9'000}};
    pair.contributors.push_back(
        contributor(StepPart::Compute, ContributorKind::Kernel, "void gemm<float>(float*, int)", 40'000, 42'000));
    pair.contributors.push_back(
        contributor(StepPart::Compute, ContributorKind::Kernel, "void gemm<half>(half*, int)", 10'000, 11'000));
    ContributorDifference onlyNew = contributor(StepPart::Compute, ContributorKind::Kernel, "fresh", 0, 10'000);
    onlyNew.match = MatchKind::OnlyCandidate;
    onlyNew.baseline = {};
    pair.contributors.push_back(onlyNew);
    ContributorDifference pinned =
        contributor(StepPart::ExposedHtoD, ContributorKind::Copy, "HtoD from pinned", 10'000, 20'000);
    pinned.baseline.gigabytesPerSecond = 50;
    pinned.candidate.gigabytesPerSecond = 25;
    pair.contributors.push_back(pinned);
    ContributorDifference pageable =
        contributor(StepPart::ExposedHtoD, ContributorKind::Copy, "HtoD from pageable", 0, 20'000);
    pageable.match = MatchKind::OnlyCandidate;
    pageable.baseline = {};
    pageable.candidate.gigabytesPerSecond = 5;
    pair.contributors.push_back(pageable);
    pair.ranges = {{"forward", StepPart::Compute, 30'000, 31'000},
                   {"forward/layer #", StepPart::Compute, 20'000, 25'000},
                   {"backward", StepPart::LaunchBound, 5'000, 6'000}};
    pair.scale = DurationScale::ofStep(pair.baseline.meanNs);
    comparison.exact = comparison.workers;
    return comparison;
}

ConditionOutcome outcomeOf(std::string_view text, const RunComparison& comparison = smallComparison(),
                           bool isMissingFine = false) {
    const Result<Condition> condition = parseCondition(text);
    if (!condition) qFatal("%s", condition.error().sentence.c_str());
    return evaluateCondition(*condition, comparison, isMissingFine);
}

bool isMet(std::string_view text) { return outcomeOf(text).state == ConditionState::Met; }

/// The same, judged by several runs.
RunComparison programs(Outcome outcome) {
    RunComparison comparison = smallComparison();
    comparison.workers[comparison.critical].claim.unit = ClaimUnit::Runs;
    comparison.answer.outcome = outcome;
    return comparison;
}

}  // namespace

class TestEvaluateCondition : public QObject {
    Q_OBJECT

  private slots:
    void stepTimesAreCompared() {
        QVERIFY(isMet("step.p50 > +9.9%"));
        QVERIFY(!isMet("step.p50 > +10%"));
        QVERIFY(isMet("step.p50 >= +10%"));
        QVERIFY(isMet("step.p95 > +19 us"));
        QVERIFY(isMet("step.mean > 110 us"));
        QVERIFY(isMet("step.min < 99.5 us"));
        QVERIFY(isMet("step.max >= 150 us"));
        QVERIFY(isMet("step.count > +1"));
        QVERIFY(!isMet("step.p50 < -1%"));
    }

    void partsAndTheirGroupsAreCompared() {
        QVERIFY(isMet("part compute >= +3 us"));
        QVERIFY(isMet("part copies >= +3 us"));
        QVERIFY(!isMet("part copies > +3 us"));
        QVERIFY(isMet("part idle <= 34 us"));
        const TestOutcome test = outcomeOf("part idle > 1 s").tests[0];
        QCOMPARE(*test.baseline, 30'000.0);
        QCOMPARE(*test.candidate, 34'000.0);
        // A part that neither run has takes no time.
        QVERIFY(!isMet("part exposed_communication > 0 ns"));
    }

    void kernelsMatchByNameBaseNameAndStar() {
        QVERIFY(isMet("kernel \"void gemm<float>(float*, int)\" >= +2 us"));
        QVERIFY(isMet("kernel \"void gemm<float>\" > 41.9 us"));
        QCOMPARE(*outcomeOf("kernel gemm > 1s").tests[0].baseline, 50'000.0);  // both of them
        QCOMPARE(*outcomeOf("kernel \"*half*\" > 1s").tests[0].candidate, 11'000.0);
        QVERIFY(isMet("kernel gemm.count > 5"));
    }

    void contributorOfOneSideCountsFromZero() {
        QVERIFY(isMet("kernel fresh > +9 us"));
        QVERIFY(isMet("kernel fresh.count >= 3"));
        const ConditionOutcome percent = outcomeOf("kernel fresh > +3%");
        QVERIFY(percent.state == ConditionState::NotComparable);
        QVERIFY(percent.sentence.find("baseline of nothing") != std::string::npos);
    }

    void bandwidthIsWeightedByTime() {
        const TestOutcome test = outcomeOf("copy htod.bandwidth < 20 GB/s").tests[0];
        QCOMPARE(*test.baseline, 50.0);
        QCOMPARE(*test.candidate, 15.0);  // 20 us at 25 and 20 us at 5 GB/s
        QVERIFY(test.state == ConditionState::Met);
        QVERIFY(isMet("copy \"HtoD from pinned\".bandwidth < -20 GB/s"));
        QVERIFY(isMet("copy \"HtoD from pageable\".bandwidth < 10 GB/s"));
        QVERIFY(outcomeOf("copy \"HtoD from pageable\".bandwidth < -1 GB/s").state == ConditionState::NotComparable);
    }

    void rangesIncludeNestedRanges() {
        QCOMPARE(*outcomeOf("range forward > 1s").tests[0].candidate, 56'000.0);
        QCOMPARE(*outcomeOf("range \"layer 3\" > 1s").tests[0].candidate, 25'000.0);
        QCOMPARE(*outcomeOf("range \"forward/layer #\" > 1s").tests[0].baseline, 20'000.0);
        QVERIFY(outcomeOf("range for > 1s").state == ConditionState::NotComparable);
        QCOMPARE(*outcomeOf("range for* > 1s").tests[0].candidate, 56'000.0);
    }

    void verdictIsTested() {
        const RunComparison slower = programs(Outcome::Slower);
        QVERIFY(outcomeOf("slower", slower).state == ConditionState::Met);
        QVERIFY(outcomeOf("faster", slower).state == ConditionState::NotMet);
        QVERIFY(outcomeOf("slower", programs(Outcome::WithinNoise)).state == ConditionState::NotMet);
    }

    void partVerdictIsTested() {
        RunComparison comparison = programs(Outcome::PartsChanged);
        QuantityClaim compute, waiting, idle;
        compute.differenceNs = 3'000;
        compute.isCertain = true;
        waiting.part = StepPart::LaunchBound;
        waiting.differenceNs = 5'000;
        idle.kind = QuantityKind::IdleInRange;
        idle.path = "backward/layer #";
        idle.differenceNs = -2'000;
        idle.isCertain = true;
        comparison.workers.front().quantities = {compute, waiting, idle};
        const auto state = [&](std::string_view text) { return outcomeOf(text, comparison).state; };
        QVERIFY(state("slower") == ConditionState::NotMet);
        QVERIFY(state("slower in compute") == ConditionState::Met);
        QVERIFY(state("faster in compute") == ConditionState::NotMet);
        QVERIFY(state("slower in idle") == ConditionState::NotMet);  // it is not certain
        QVERIFY(state("slower in any and part compute >= +3 us") == ConditionState::Met);
        QVERIFY(state("faster in range \"layer 3\"") == ConditionState::Met);
        QVERIFY(state("slower in range backward") == ConditionState::NotMet);
        QVERIFY(state("slower in range forward") == ConditionState::NotMet);
        const std::string found = outcomeOf("slower in compute", comparison).sentence;
        QVERIFY2(found.find("compute +") != std::string::npos, found.c_str());
        QVERIFY(outcomeOf("slower in compute").state == ConditionState::NotComparable);
    }

    void singleRunsHaveNoVerdict() {
        for (const Outcome outcome : {Outcome::TooFewSteps, Outcome::Alike, Outcome::Longer, Outcome::Shorter}) {
            RunComparison comparison = smallComparison();
            comparison.answer.outcome = outcome;
            const ConditionOutcome slower = outcomeOf("slower", comparison);
            QVERIFY(slower.state == ConditionState::NotComparable);
            QVERIFY(slower.sentence.find("one run per side") != std::string::npos);
            QVERIFY(outcomeOf("faster", comparison).state == ConditionState::NotComparable);
        }
    }

    void oneFalseTestDecides() {
        const RunComparison slower = programs(Outcome::Slower);
        QVERIFY(outcomeOf("faster and kernel none > 1s", slower).state == ConditionState::NotMet);
        QVERIFY(outcomeOf("slower and kernel none > 1s", slower).state == ConditionState::NotComparable);
        QVERIFY(outcomeOf("slower and kernel none > 1s", slower, true).state == ConditionState::Skipped);
    }

    void missingNamesAreNotComparable() {
        const ConditionOutcome missing = outcomeOf("collective AllReduce > 1 ms");
        QVERIFY(missing.state == ConditionState::NotComparable);
        QVERIFY(missing.sentence.find("neither run has such a collective") != std::string::npos);
        RunComparison comparison = smallComparison();
        comparison.candidateSource = StepSource::WholeRun;
        const ConditionOutcome noSteps = outcomeOf("step > 1 s", comparison);
        QVERIFY(noSteps.state == ConditionState::NotComparable);
        QVERIFY(noSteps.sentence.find("the candidate has no steps") != std::string::npos);
        // Missing steps are no missing name.
        QVERIFY(outcomeOf("step > 1 s", comparison, true).state == ConditionState::NotComparable);
        QVERIFY(outcomeOf("step > 1 s", RunComparison{}).state == ConditionState::NotComparable);
    }

    /// Regardless of the numbers and the other tests.
    void corruptRunsAreNotComparable() {
        for (const bool isCandidate : {false, true}) {
            RunComparison comparison = smallComparison();
            SummaryFacts& facts = isCandidate ? comparison.candidate : comparison.baseline;
            facts.healthWarnings = {{Severity::Error, HealthCode::IndexDamaged, "of the index"},
                                    {Severity::Error, HealthCode::TableDamaged, "Rows are lost."}};
            for (const char* text :
                 {"step.p50 > +3%", "step.p50 > +90%", "slower", "kernel nosuch > 1 us", "step > 1 s and slower"}) {
                const ConditionOutcome outcome = outcomeOf(text, comparison, true);
                QVERIFY(outcome.state == ConditionState::NotComparable);
                QCOMPARE(outcome.sentence, fmt::format("{}: not comparable: the {} is corrupt (\"Rows are lost.\").",
                                                       text, isCandidate ? "candidate" : "baseline"));
            }
            facts.healthWarnings = {{Severity::Warning, HealthCode::EventsDropped, "Few."}};
            QVERIFY(outcomeOf("step.p50 > +3%", comparison).state == ConditionState::Met);
        }
    }

    /// Work that seems to last past the following steps leaves no time for them.
    void stepsOfNoDurationAreNotComparable() {
        const auto normal = summarizeRun(*simulatedTraining({.steps = 8}));
        QVERIFY(normal && timelessSentence(*normal).empty());
        RunSummary timeless = *normal;
        std::vector<StepSummary>& steps = timeless.workers[0].steps;
        for (size_t step = 1; step < steps.size(); ++step) {
            steps[step].wallNs = 0;
            steps[step].parts = {};
        }
        const std::string sentence = timelessSentence(timeless);
        QVERIFY2(sentence.find("take no time") != std::string::npos, sentence.c_str());
        const std::vector<std::string> caveats = explain::explain(timeless).caveats;
        QVERIFY(std::ranges::find(caveats, sentence) != caveats.end());
        for (const bool isCandidate : {false, true}) {
            const RunComparison comparison =
                isCandidate ? compareRuns({*normal}, {timeless}) : compareRuns({timeless}, {*normal});
            QVERIFY(comparison.answer.outcome == Outcome::Nothing);
            QVERIFY(comparison.answer.sentence.find(sentence) != std::string::npos);
            const ConditionOutcome outcome = outcomeOf("step.p50 > +3%", comparison);
            QVERIFY(outcome.state == ConditionState::NotComparable);
            QVERIFY2(outcome.sentence.find("take no time") != std::string::npos, outcome.sentence.c_str());
        }
    }

    void everyPartNameIsRecognized() {
        for (size_t index = 0; index < stepPartCount; ++index) {
            const auto part = static_cast<StepPart>(index);
            QVERIFY(partsCalled(name(part)) == std::vector{part});
            QVERIFY(partsCalled(identifier(part)) == std::vector{part});
        }
        QVERIFY(partsCalled("nothing").empty());
        QVERIFY(partsCalled("").empty());
    }
};

LANESCOPE_TEST(TestEvaluateCondition, NoApplication)
#include "tst_evaluateCondition.moc"
