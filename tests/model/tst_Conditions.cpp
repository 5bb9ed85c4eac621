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

ConditionTest onlyTest(std::string_view text) {
    const Condition condition = test::orFail(parseCondition(text));
    if (condition.tests.size() != 1) qFatal("not one test: %s", std::string(text).c_str());
    return condition.tests[0];
}

ContributorDifference contributor(StepPart part, ContributorKind kind, std::string name, int64_t baselineNs,
                                  int64_t candidateNs) {
    return ContributorDifference{.part = part,
                                 .kind = kind,
                                 .baseline = {name, baselineNs, baselineNs, 2, 1'000'000, 0},
                                 .candidate = {name, candidateNs, candidateNs, 3, 1'000'000, 0}};
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
    const Condition condition = test::orFail(parseCondition(text));
    return evaluateCondition(condition, comparison, isMissingFine);
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

class tst_Conditions : public QObject {
    Q_OBJECT

  private slots:
    void relativeStepTimeIsParsed() {
        const ConditionTest test = onlyTest("step.p50 > +3%");
        QVERIFY(test.subject == Subject::Step && test.measure == Measure::Median);
        QVERIFY(test.relation == Relation::Greater && test.threshold.kind == ThresholdKind::Percent);
        QCOMPARE(test.threshold.number, 3.0);
    }

    void everyRelationIsParsed() {
        QVERIFY(onlyTest("step>1ms").relation == Relation::Greater);
        QVERIFY(onlyTest("step>=1ms").relation == Relation::GreaterOrEqual);
        QVERIFY(onlyTest("step < 1 ms").relation == Relation::Less);
        QVERIFY(onlyTest("step <= 1 ms").relation == Relation::LessOrEqual);
    }

    void signMeansADifferenceAndNoSignTheValue() {
        const ConditionTest value = onlyTest("step > 70 ms");
        QVERIFY(value.threshold.kind == ThresholdKind::Value);
        QCOMPARE(value.threshold.number, 70e6);
        const ConditionTest difference = onlyTest("step > +2.5ms");
        QVERIFY(difference.threshold.kind == ThresholdKind::Difference);
        QCOMPARE(difference.threshold.number, 2.5e6);
        QCOMPARE(onlyTest("step < -2.5us").threshold.number, -2500.0);
        QVERIFY(onlyTest("step > 3%").threshold.kind == ThresholdKind::Percent);
    }

    void unitsMatchTheMeasure_data() {
        const test::Rows<QString, double> row;
        row("ns", "step > 5 ns", 5.0);
        row("us", "step > 5us", 5e3);
        row("micro", "step > 5\u00b5s", 5e3);
        row("ms", "step > 5ms", 5e6);
        row("s", "step > 0.5 s", 5e8);
        row("count", "kernel k.count > 1000", 1000.0);
        row("more", "kernel k.count > +10", 10.0);
        row("B", "memset.bytes > 5 B", 5.0);
        row("KiB", "copy HtoD.bytes > 2KiB", 2048.0);
        row("MB", "copy HtoD.bytes > 2MB", 2e6);
        row("GiB", "copy HtoD.bytes > 1 GiB", 1073741824.0);
        row("GB/s", "copy HtoD.bandwidth < 40 GB/s", 40.0);
        row("MB/s", "collective AllReduce.bandwidth < 500MB/s", 0.5);
        row("TB/s", "copy DtoD.bandwidth < 1.5TB/s", 1500.0);
    }
    void unitsMatchTheMeasure() {
        const auto [text, number] = test::row<QString, double>();
        QCOMPARE(onlyTest(text.toStdString()).threshold.number, number);
    }

    void namesMayBeQuoted() {
        QCOMPARE(onlyTest("kernel gemm > +3%").name, std::string("gemm"));
        QCOMPARE(onlyTest("kernel flash_fwd*.count > 3").name, std::string("flash_fwd*"));
        const ConditionTest quoted = onlyTest("kernel \"void f<float, 128>(float*, int)\".exposed > 1us");
        QCOMPARE(quoted.name, std::string("void f<float, 128>(float*, int)"));
        QVERIFY(quoted.measure == Measure::Exposed);
        QCOMPARE(onlyTest("kernel 'a.b > c' > 1us").name, std::string("a.b > c"));
        QCOMPARE(onlyTest("kernel \"a\\\"b\\\\c\" > 1us").name, std::string("a\"b\\c"));
        QCOMPARE(onlyTest("range step/backward > 1us").name, std::string("step/backward"));
        QCOMPARE(onlyTest("range \"layer #\" > 1us").name, std::string("layer #"));
        QCOMPARE(onlyTest("range \"\u00fcber\" > 1us").name, std::string("\u00fcber"));
    }

    void partsHaveSeveralSpellings() {
        for (const char* text :
             {"part exposed_communication > +1ms", "part exposed-communication > +1ms",
              "part \"Exposed Communication\" > +1ms", "part idle > 5%", "part copies.time > 5%", "part compute > 5%"})
            QVERIFY2(parseCondition(text).has_value(), text);
    }

    void missingMeasureIsTheFirst() {
        QVERIFY(onlyTest("step > 1ms").measure == Measure::Median);
        QVERIFY(onlyTest("step.median > 1ms").measure == Measure::Median);
        QVERIFY(onlyTest("kernel k > 1ms").measure == Measure::Time);
        QVERIFY(onlyTest("memset > 1ms").measure == Measure::Time);
    }

    void testsAreCombinedByAnd() {
        const Result<Condition> condition =
            parseCondition("slower and step.p95 > +3% and kernel k.count > 5 and memset > 1ms");
        QVERIFY(condition.has_value());
        QCOMPARE(condition->tests.size(), size_t{4});
        QVERIFY(condition->tests[0].subject == Subject::Slower);
        QVERIFY(condition->tests[2].measure == Measure::Count);
        QCOMPARE(condition->tests[2].threshold.number, 5.0);
    }

    void nonsenseIsAnErrorWithPosition_data() {
        const test::Rows<QString, int, QString> row;
        row("empty", "", 1, "ends where step, part");
        row("spaces", "   ", 4, "ends where");
        row("subject", "steps > 3%", 1, "found \"steps\"");
        row("measure", "step.p99 > 3%", 6, "p50, p95");
        row("measure of another", "kernel k.p50 > 3%", 10, "time, exposed or count");
        row("no measure", "step. > 3%", 7, "found \">\"");
        row("no relation", "step.p50", 9, "ends where >");
        row("equals", "step.p50 = 3%", 10, "found \"=\"");
        row("no number", "step.p50 > fast", 12, "number");
        row("twice", "step.p50 >> 3%", 11, "number");
        row("no unit", "step.p50 > 3", 13, "there is none");
        row("other unit", "step.p50 > 3 GB/s", 14, "not \"GB/s\"");
        row("unit of a count", "step.count > 3 ms", 16, "nothing or %");
        row("half a number", "step > .5 ms", 8, "number");
        row("point at the end", "step > 5. ms", 9, "unit");
        row("exponent", "step > 1e9 ns", 9, "not \"e\"");
        row("infinity", "step > inf", 8, "number");
        row("two signs", "step > +-3%", 9, "number");
        row("too large", QString("step > %1 s").arg(QString(400, '9')), 8, "large");
        row("no name", "kernel > 3%", 8, "name of a kernel");
        row("empty name", "kernel \"\" > 3%", 8, "empty");
        row("open quote", "kernel \"gemm > 3%", 8, "not closed");
        row("open escape", "kernel \"gemm\\", 8, "not closed");
        row("part", "part thinking > 3%", 6, "exposed_communication");
        row("rest", "step > 3% 4", 11, "\"and\" or the end");
        row("or", "slower or faster", 8, "found \"or\"");
        row("in nothing", "slower in", 10, "a part of the step");
        row("in no part", "slower in thinking", 11, "exposed_communication");
        row("in no range", "slower in range", 16, "the name of a range");
        row("and nothing", "slower and", 11, "ends where");
        row("characters count, not bytes", "range \u00fc > ?", 11, "found \"?\"");
        row("more than ASCII", "step > \u2265", 8, "found \"\u2265\"");
    }
    void nonsenseIsAnErrorWithPosition() {
        const auto [text, character, mentions] = test::row<QString, int, QString>();
        const Result<Condition> condition = parseCondition(text.toStdString());
        QVERIFY(!condition);
        const QString sentence = QString::fromStdString(condition.error().sentence);
        QVERIFY2(sentence.contains(mentions), qPrintable(sentence));
        QVERIFY2(sentence.contains(QString("at character %1:").arg(character)), qPrintable(sentence));
        QVERIFY(sentence.endsWith('.') && !sentence.contains('\n'));
    }

    void controlCharactersAreEscaped() {
        const Result<Condition> condition = parseCondition("step \x1b[31m\n> 3");
        QVERIFY(!condition);
        for (const char c : condition.error().sentence) QVERIFY(static_cast<unsigned char>(c) >= 0x20);
    }

    /// Pieces of valid conditions in any order, and bytes in any order: never a crash, always
    /// either tests or a sentence.
    void anyInputIsParsedOrRefused() {
        const std::vector<std::string> pieces{"step",
                                              "part",
                                              "kernel",
                                              "copy",
                                              "range",
                                              "slower",
                                              "and",
                                              ".",
                                              ".p50",
                                              ".count",
                                              ">",
                                              "<=",
                                              "=",
                                              "+",
                                              "-",
                                              "3",
                                              "0.5",
                                              "%",
                                              "ms",
                                              "GB/s",
                                              "\"",
                                              "'",
                                              "\\",
                                              " ",
                                              "\t",
                                              "compute",
                                              "idle",
                                              "*",
                                              "\xc3\xbc",
                                              "\xff",
                                              std::string(1, '\0'),
                                              "99999999999999999999"};
        std::mt19937 random(20260101);
        int accepted = 0;
        for (int round = 0; round < 20'000; ++round) {
            std::string text;
            const size_t length = random() % 12;
            for (size_t index = 0; index < length; ++index)
                text += round % 4 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                       : pieces[random() % pieces.size()];
            const Result<Condition> condition = parseCondition(text);
            if (condition) {
                ++accepted;
                QVERIFY(!condition->tests.empty());
                for (const ConditionTest& test : condition->tests) QVERIFY(hasName(test.subject) == !test.name.empty());
            } else {
                QVERIFY(condition.error().sentence.starts_with("In the condition \""));
                QVERIFY(condition.error().sentence.ends_with('.'));
            }
        }
        QVERIFY(accepted > 0);  // otherwise only errors were tested
    }

    void stepTimesAreCompared() {
        QVERIFY(isMet("step.p50 > +9.9%") && !isMet("step.p50 > +10%"));
        for (const char* part : {"step.p50 >= +10%", "step.p95 > +19 us", "step.mean > 110 us", "step.min < 99.5 us",
                                 "step.max >= 150 us", "step.count > +1"})
            QVERIFY2(isMet(part), part);
        QVERIFY(!isMet("step.p50 < -1%"));
    }

    void partsAndTheirGroupsAreCompared() {
        for (const char* part : {"part compute >= +3 us", "part copies >= +3 us"}) QVERIFY2(isMet(part), part);
        QVERIFY(!isMet("part copies > +3 us") && isMet("part idle <= 34 us"));
        const TestOutcome test = outcomeOf("part idle > 1 s").tests[0];
        QCOMPARE(test::listed(*test.baseline, *test.candidate), "30000 | 34000");
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
        for (const char* part : {"kernel fresh > +9 us", "kernel fresh.count >= 3"}) QVERIFY2(isMet(part), part);
        const ConditionOutcome percent = outcomeOf("kernel fresh > +3%");
        QVERIFY(percent.state == ConditionState::NotComparable);
        QVERIFY(percent.sentence.find("the baseline is 0") != std::string::npos);
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

    void mfuIsComparedInPercent() {
        RunComparison comparison = smallComparison();
        const auto set = [&](std::optional<double> baseline, std::optional<double> candidate) {
            comparison.workers.front().baselineMfu = baseline;
            comparison.workers.front().candidateMfu = candidate;
            comparison.exact = comparison.workers;
        };
        set(0.40, 0.36);
        const auto isMetBy = [&](const char* text) { return outcomeOf(text, comparison).state == ConditionState::Met; };
        QVERIFY(isMetBy("mfu < 37") && !isMetBy("mfu.share < 35"));
        for (const char* part : {"mfu < -9%", "mfu < -3"}) QVERIFY2(isMetBy(part), part);
        set(std::nullopt, std::nullopt);
        QVERIFY(outcomeOf("mfu < 37", comparison).state == ConditionState::NotComparable);
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
        QVERIFY(state("slower") == ConditionState::NotMet && state("slower in compute") == ConditionState::Met);
        QVERIFY(state("faster in compute") == ConditionState::NotMet);
        QVERIFY(state("slower in idle") == ConditionState::NotMet);  // it is not certain
        QVERIFY(state("slower in any and part compute >= +3 us") == ConditionState::Met);
        QVERIFY(state("faster in range \"layer 3\"") == ConditionState::Met);
        QVERIFY(state("slower in range backward") == ConditionState::NotMet);
        QVERIFY(state("slower in range forward") == ConditionState::NotMet);
        const std::string found = outcomeOf("slower in compute", comparison).sentence;
        HAS(found, "compute +");
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
        HAS(sentence, "take no time");
        const std::vector<std::string> caveats = explain::explain(timeless).caveats;
        QVERIFY(std::ranges::find(caveats, sentence) != caveats.end());
        for (const bool isCandidate : {false, true}) {
            const RunComparison comparison =
                isCandidate ? compareRuns({*normal}, {timeless}) : compareRuns({timeless}, {*normal});
            QVERIFY(comparison.answer.outcome == Outcome::Nothing);
            QVERIFY(comparison.answer.sentence.find(sentence) != std::string::npos);
            const ConditionOutcome outcome = outcomeOf("step.p50 > +3%", comparison);
            QVERIFY(outcome.state == ConditionState::NotComparable);
            HAS(outcome.sentence, "take no time");
        }
    }

    void everyPartNameIsRecognized() {
        for (size_t index = 0; index < stepPartCount; ++index) {
            const auto part = static_cast<StepPart>(index);
            QVERIFY(partsCalled(name(part)) == std::vector{part});
            QVERIFY(partsCalled(identifier(part)) == std::vector{part});
        }
        for (const char* part : {"nothing", ""}) QVERIFY2(partsCalled(part).empty(), part);
    }
};

LANESCOPE_TEST(tst_Conditions, NoApplication)
#include "tst_Conditions.moc"
