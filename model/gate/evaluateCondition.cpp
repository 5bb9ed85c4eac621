// SPDX-License-Identifier: Apache-2.0
#include "model/gate/evaluateCondition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/compare/shownNumbers.h"
#include "model/gate/measureOf.h"
#include "model/gate/namePattern.h"
#include "model/gate/partGroups.h"
#include "model/values/formatValue.h"

namespace lanescope::gate {

using namespace compare;

namespace {

bool holds(Relation relation, double number, double threshold) {
    switch (relation) {
        case Relation::Greater:
            return number > threshold;
        case Relation::GreaterOrEqual:
            return number >= threshold;
        case Relation::Less:
            return number < threshold;
        case Relation::LessOrEqual:
            break;
    }
    return number <= threshold;
}

/// "step.p50", "kernel "gemm".count".
std::string quantity(const ConditionTest& test) {
    if (!hasName(test.subject)) return fmt::format("{}.{}", name(test.subject), name(test.measure));
    return fmt::format("{} \"{}\".{}", name(test.subject), printable(test.name),
                       name(test.measure));
}

/// Writes the numbers of a test as the tables of the comparison do.
struct NumberWriter {
    Dimension dimension;
    std::optional<DurationScale> scale;

    std::string operator()(double number) const {
        switch (dimension) {
            case Dimension::Time:
                return scale ? scale->text(std::llround(number)) : timeText(number);
            case Dimension::Bytes:
                return formatCell(number, Unit::Bytes);
            case Dimension::Bandwidth:
                return rateText(number) + " GB/s";
            case Dimension::Count:
                break;
        }
        return countText(number);
    }
    std::string difference(double number) const {
        const std::string text = (*this)(std::abs(number));
        const bool isNothing = text.find_first_of("123456789") == std::string::npos;
        return (isNothing ? "" : number < 0 ? "-" : "+") + text;
    }
};

/// The difference in percent of the baseline; nothing against a baseline of nothing, but 0 if
/// both are.
std::optional<double> percentOf(double baseline, double candidate) {
    if (baseline > 0) return 100 * (candidate - baseline) / baseline;
    if (candidate == baseline) return 0;
    return std::nullopt;
}

std::string findingOf(const ConditionTest& test, double baseline, double candidate,
                      const NumberWriter& write) {
    const std::optional<double> percent = percentOf(baseline, candidate);
    return fmt::format("{} was {} and is {} ({}{})", quantity(test), write(baseline),
                       write(candidate), write.difference(candidate - baseline),
                       percent ? ", " + percentDifferenceText(*percent) + " %" : std::string());
}

TestOutcome judged(TestOutcome outcome, bool isHolding) {
    outcome.state = isHolding ? ConditionState::Met : ConditionState::NotMet;
    return outcome;
}

bool isMeant(const ConditionTest& test, const QuantityClaim& claim) {
    if (test.scope == VerdictScope::Any) return true;
    if (test.scope == VerdictScope::Range)
        return claim.kind == QuantityKind::IdleInRange && liesInRange(claim.path, test.name);
    const std::vector<StepPart> parts = partsCalled(test.name);
    return claim.kind == QuantityKind::Part &&
           std::find(parts.begin(), parts.end(), claim.part) != parts.end();
}

/// "compute +1.204 ms (95 % confidence +1.101 to +1.307 ms)".
std::string findingOf(const QuantityClaim& claim, const DurationScale& scale) {
    const auto text = [&](double ns) { return scale.differenceText(std::llround(ns)); };
    return fmt::format("{} {} (95 % confidence {} to {}{})",
                       claim.kind == QuantityKind::Part ? std::string(name(claim.part))
                                                        : "idle in " + printable(claim.path),
                       text(claim.differenceNs), text(claim.lowNs), text(claim.highNs),
                       claim.isCertain ? "" : "; not certain");
}

/// What is too small to be judged did not change by anything that counts.
TestOutcome evaluatePartVerdict(const ConditionTest& test, const WorkerComparison& pair) {
    TestOutcome outcome;
    bool isMet = false;
    const bool wantsLonger = test.subject == Subject::Slower;
    for (const QuantityClaim& claim : pair.quantities) {
        if (!isMeant(test, claim)) continue;
        const bool isSo = claim.isCertain && (claim.differenceNs > 0) == wantsLonger;
        isMet = isMet || isSo;
        // Of many only those that decide.
        if (isSo || test.scope != VerdictScope::Any)
            outcome.finding += (outcome.finding.empty() ? "" : ", ") + findingOf(claim, pair.scale);
    }
    if (outcome.finding.empty()) outcome.finding = "nothing of that name differs for certain";
    return judged(std::move(outcome), isMet);
}

TestOutcome evaluateVerdict(const ConditionTest& test, const RunComparison& comparison) {
    TestOutcome outcome;
    const Outcome found = comparison.answer.outcome;
    const WorkerComparison* pair = comparison.criticalPair();
    if (found == Outcome::Nothing || !pair || pair->claim.unit == ClaimUnit::Steps) {
        outcome.finding =
            found == Outcome::Nothing
                ? "there is nothing to compare"
                : "one run a side tells nothing of the programs: give several (--baseline A1 A2 "
                  "--candidate B1 B2), or earlier runs of one program (--spread)";
        return outcome;
    }
    if (test.scope != VerdictScope::Step) return evaluatePartVerdict(test, *pair);
    const bool isDecided = found == Outcome::Slower || found == Outcome::Faster;
    outcome.finding = fmt::format("the candidate is {}",
                                  isDecided ? name(found) : "within the spread between runs");
    return judged(std::move(outcome),
                  found == (test.subject == Subject::Slower ? Outcome::Slower : Outcome::Faster));
}

TestOutcome evaluateNumbers(const ConditionTest& test, const Measured& measured,
                            const NumberWriter& write) {
    TestOutcome outcome;
    outcome.baseline = measured.baseline;
    outcome.candidate = measured.candidate;
    const auto notComparable = [&](std::string why) {
        outcome.finding = fmt::format("{}: {}", quantity(test), why);
        return outcome;
    };
    if (!measured.candidate) return notComparable("the candidate has no such number");
    const double candidate = *measured.candidate;
    if (test.threshold.kind == ThresholdKind::Value && !measured.baseline) {
        outcome.finding = fmt::format("{} is {}", quantity(test), write(candidate));
        return judged(std::move(outcome), holds(test.relation, candidate, test.threshold.number));
    }
    if (!measured.baseline) return notComparable("the baseline has no such number");
    const double baseline = *measured.baseline;
    outcome.finding = findingOf(test, baseline, candidate, write);
    double number = candidate;
    if (test.threshold.kind == ThresholdKind::Difference) number = candidate - baseline;
    if (test.threshold.kind == ThresholdKind::Percent) {
        const std::optional<double> percent = percentOf(baseline, candidate);
        if (!percent) return notComparable("there is no percentage of a baseline of nothing");
        number = *percent;
    }
    return judged(std::move(outcome), holds(test.relation, number, test.threshold.number));
}

/// Why no test can be judged, if none can.
std::string doubtOf(const RunComparison& comparison) {
    for (const auto& [side, facts] : {std::pair("baseline", &comparison.baseline),
                                      std::pair("candidate", &comparison.candidate)})
        if (const HealthNote* damage = facts->damage())
            return fmt::format("the {} is damaged (\"{}\")", side, printable(damage->sentence));
    for (const WorkerComparison& pair : comparison.exact)
        for (const auto& [label, steps] : {std::pair(&pair.baselineLabel, &pair.baseline),
                                           std::pair(&pair.candidateLabel, &pair.candidate)})
            if (steps->count > 0 && steps->medianNs <= 0)
                return fmt::format("most steps of {} take no time", *label);
    return {};
}

TestOutcome evaluateTest(const ConditionTest& test, const RunComparison& comparison,
                         bool isMissingFine) {
    if (measuresOf(test.subject).empty()) return evaluateVerdict(test, comparison);
    const Measured measured = measureOf(test, comparison, comparison.exactCriticalPair());
    if (measured.missing.empty()) {
        NumberWriter write{dimensionOf(test.measure), std::nullopt};
        TestOutcome outcome = evaluateNumbers(test, measured, write);
        if (!isOfMeanStep(test)) return outcome;
        // In the numbers of the tables, unless these would tell something else than the exact ones.
        const WorkerComparison* pair = comparison.criticalPair();
        write.scale = pair->scale;
        const TestOutcome shown = evaluateNumbers(test, measureOf(test, comparison, pair), write);
        if (shown.state == outcome.state) outcome.finding = shown.finding;
        return outcome;
    }
    TestOutcome outcome;
    outcome.finding = fmt::format("{}: {}", quantity(test), measured.missing);
    if (measured.isUnknownName && isMissingFine) outcome.state = ConditionState::Skipped;
    return outcome;
}

/// One false test decides; else one that nobody can decide does.
ConditionState stateOf(const std::vector<TestOutcome>& tests) {
    const auto any = [&](ConditionState state) {
        return std::any_of(tests.begin(), tests.end(),
                           [state](const TestOutcome& test) { return test.state == state; });
    };
    for (const ConditionState state :
         {ConditionState::NotMet, ConditionState::NotComparable, ConditionState::Skipped})
        if (any(state)) return state;
    return ConditionState::Met;
}

}  // namespace

std::string_view name(ConditionState state) {
    static constexpr std::array<std::string_view, 4> all{"not met", "met", "not comparable",
                                                         "skipped"};
    return all[static_cast<size_t>(state)];
}

std::string_view identifier(ConditionState state) {
    static constexpr std::array<std::string_view, 4> all{"not_met", "met", "not_comparable",
                                                         "skipped"};
    return all[static_cast<size_t>(state)];
}

ConditionOutcome evaluateCondition(const Condition& condition, const RunComparison& comparison,
                                   bool isMissingFine) {
    ConditionOutcome outcome;
    outcome.text = condition.text;
    std::string findings;
    const std::string doubt = doubtOf(comparison);
    for (const ConditionTest& test : condition.tests) {
        outcome.tests.push_back(doubt.empty()
                                    ? evaluateTest(test, comparison, isMissingFine)
                                    : TestOutcome{ConditionState::NotComparable, {}, {}, doubt});
        if (!doubt.empty() && !findings.empty()) continue;
        findings += (findings.empty() ? "" : "; ") + outcome.tests.back().finding;
    }
    outcome.state = stateOf(outcome.tests);
    outcome.sentence =
        fmt::format("{}: {}: {}.", printable(condition.text), name(outcome.state), findings);
    return outcome;
}

}  // namespace lanescope::gate
