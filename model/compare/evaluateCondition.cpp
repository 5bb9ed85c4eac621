// SPDX-License-Identifier: Apache-2.0
#include "model/compare/evaluateCondition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/analysis/shownNumbers.h"
#include "model/analysis/stepRanges.h"
#include "model/format/optionValues.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope::compare {

using namespace analysis;

/// The two numbers of a test, in nanoseconds, pieces, bytes or GB/s.
struct Measured {
    /// Nullopt if that side has no such number, such as the bandwidth of missing copies.
    std::optional<double> baseline{}, candidate{};
    std::string missing{};       ///< Reason for no number on either side; empty if there is one.
    bool isUnknownName = false;  ///< Neither side has anything of that name.
};

namespace {

Measured missing(std::string why) { return {.missing = std::move(why)}; }

/// Contributors too small to be listed have lost their name.
bool isListTruncated(const WorkerComparison& pair) {
    return std::ranges::any_of(pair.contributors, [](const auto& one) { return one.kind == ContributorKind::Others; });
}

Measured missingName(const ConditionTest& test, const WorkerComparison& pair) {
    return {.missing = fmt::format("neither run has such a {}{}", name(test.subject),
                                   isListTruncated(pair) ? " among those that take most time" : ""),
            .isUnknownName = true};
}

double ofSteps(const StepDistribution& steps, Measure measure) {
    switch (measure) {
        case Measure::Median: return steps.medianNs;
        case Measure::P95: return steps.p95Ns;
        case Measure::Minimum: return static_cast<double>(steps.minimumNs);
        case Measure::Maximum: return static_cast<double>(steps.maximumNs);
        case Measure::Count: return static_cast<double>(steps.count);
        default: return static_cast<double>(steps.meanNs);
    }
}

Measured measureSteps(const ConditionTest& test, const RunComparison& comparison, const WorkerComparison& pair) {
    const bool isBaselineWhole = comparison.baselineSource == StepSource::WholeRun;
    const bool isCandidateWhole = comparison.candidateSource == StepSource::WholeRun;
    if (isBaselineWhole || isCandidateWhole)
        return missing(fmt::format("{} no steps", isBaselineWhole && isCandidateWhole ? "the runs have"
                                                  : isBaselineWhole                   ? "the baseline has"
                                                                                      : "the candidate has"));
    return {ofSteps(pair.baseline, test.measure), ofSteps(pair.candidate, test.measure)};
}

Measured measureParts(const ConditionTest& test, const WorkerComparison& pair) {
    const std::vector<StepPart> wanted = partsCalled(test.name);
    Measured measured{0.0, 0.0};
    for (const PartDifference& part : pair.parts) {
        if (std::ranges::find(wanted, part.part) == wanted.end()) continue;
        *measured.baseline += static_cast<double>(part.baselineNs);
        *measured.candidate += static_cast<double>(part.candidateNs);
    }
    return measured;
}

Measured measureRanges(const ConditionTest& test, const WorkerComparison& pair) {
    Measured measured;
    for (const RangeDifference& range : pair.ranges) {
        if (!liesInRange(range.path, test.name)) continue;
        measured.baseline = measured.baseline.value_or(0) + static_cast<double>(range.baselineNs);
        measured.candidate = measured.candidate.value_or(0) + static_cast<double>(range.candidateNs);
    }
    return measured.baseline ? measured : missingName(test, pair);
}

/// "HtoD" matches all copies of that kind; "HtoD from pinned" only those.
bool namesCopy(std::string_view copy, std::string_view wanted) {
    const std::string name = lowerCase(std::string(copy));
    const std::string pattern = lowerCase(std::string(wanted));
    return matchesPattern(name, pattern) || matchesPattern(name, pattern + " *");
}

bool isMeant(const ConditionTest& test, ContributorKind kind, std::string_view contributor) {
    switch (test.subject) {
        case Subject::Kernel: return kind == ContributorKind::Kernel && namesKernel(contributor, test.name);
        case Subject::Collective:
            return kind == ContributorKind::Collective &&
                   matchesPattern(lowerCase(std::string(contributor)), lowerCase(test.name));
        case Subject::Copy: return kind == ContributorKind::Copy && namesCopy(contributor, test.name);
        case Subject::Memset: return kind == ContributorKind::Memset;
        case Subject::Step:
        case Subject::Part:
        case Subject::Range:
        case Subject::Mfu:
        case Subject::Slower:
        case Subject::Faster: break;
    }
    return false;
}

/// Sum of one side over all matching contributors.
class SideSum {
  public:
    void add(const ContributorShare& share) {
        isThere_ = true;
        exposedNs_ += static_cast<double>(share.exposedNs);
        totalNs_ += static_cast<double>(share.totalNs);
        count_ += share.count;
        bytes_ += static_cast<double>(share.bytes);
        // Bus bandwidth is not bytes over time, so the rate is weighted by time.
        if (share.gigabytesPerSecond <= 0) return;
        ratedNs_ += static_cast<double>(share.totalNs);
        ratedBytes_ += share.gigabytesPerSecond * static_cast<double>(share.totalNs);
    }
    bool isThere() const { return isThere_; }

    std::optional<double> of(Measure measure) const {
        switch (measure) {
            case Measure::Exposed: return exposedNs_;
            case Measure::Count: return count_;
            case Measure::Bytes: return bytes_;
            case Measure::Bandwidth:
                if (ratedNs_ <= 0) return std::nullopt;
                return ratedBytes_ / ratedNs_;
            default: return totalNs_;
        }
    }

  private:
    bool isThere_ = false;
    double exposedNs_ = 0, totalNs_ = 0, count_ = 0, bytes_ = 0, ratedNs_ = 0, ratedBytes_ = 0;
};

Measured measureMfu(const WorkerComparison& pair) {
    if (!pair.baselineMfu && !pair.candidateMfu) return missing("neither run has an MFU");
    const auto percent = [](const std::optional<double>& share) {
        return share ? std::optional(100 * *share) : std::nullopt;
    };
    return {percent(pair.baselineMfu), percent(pair.candidateMfu)};
}

bool hasAny(const ContributorShare& share) { return !share.name.empty(); }

Measured measureContributors(const ConditionTest& test, const WorkerComparison& pair) {
    SideSum baseline, candidate;
    for (const ContributorDifference& difference : pair.contributors) {
        // A renamed kernel matches by either of its names: it is the same work.
        const bool isWanted = isMeant(test, difference.kind, difference.baseline.name.work) ||
                              isMeant(test, difference.kind, difference.candidate.name.work);
        if (!isWanted) continue;
        if (hasAny(difference.baseline)) baseline.add(difference.baseline);
        if (hasAny(difference.candidate)) candidate.add(difference.candidate);
    }
    if (!baseline.isThere() && !candidate.isThere()) return missingName(test, pair);
    return {baseline.of(test.measure), candidate.of(test.measure)};
}

/// Returns true if the test is about a time of the mean step, shown in the scale of the comparison.
bool isOfMeanStep(const ConditionTest& test) {
    switch (test.measure) {
        case Measure::Mean:
        case Measure::Exposed: return true;
        case Measure::Time: return test.subject == Subject::Part || test.subject == Subject::Range;
        default: return false;
    }
}

/// Finds the numbers in a pair of workers of the comparison, exact or as shown; a null pair has none. Sums over all
/// matches of a name; for bandwidths, sums bytes and durations. O(contributors).
Measured measureOf(const ConditionTest& test, const RunComparison& comparison, const WorkerComparison* pair) {
    if (!pair) return missing("there is nothing to compare");
    switch (test.subject) {
        case Subject::Step: return measureSteps(test, comparison, *pair);
        case Subject::Part: return measureParts(test, *pair);
        case Subject::Range: return measureRanges(test, *pair);
        case Subject::Mfu: return measureMfu(*pair);
        case Subject::Kernel:
        case Subject::Collective:
        case Subject::Copy:
        case Subject::Memset: return measureContributors(test, *pair);
        case Subject::Slower:
        case Subject::Faster: break;
    }
    return missing("a verdict has no number");
}

bool holds(Relation relation, double number, double threshold) {
    switch (relation) {
        case Relation::Greater: return number > threshold;
        case Relation::GreaterOrEqual: return number >= threshold;
        case Relation::Less: return number < threshold;
        case Relation::LessOrEqual: break;
    }
    return number <= threshold;
}

/// "step.p50", "kernel "gemm".count".
std::string quantity(const ConditionTest& test) {
    if (!hasName(test.subject)) return fmt::format("{}.{}", name(test.subject), name(test.measure));
    return fmt::format("{} \"{}\".{}", name(test.subject), printable(test.name), name(test.measure));
}

/// Writes the numbers of a test in the format of the comparison's tables.
struct NumberWriter {
    Dimension dimension;
    std::optional<DurationScale> scale;

    std::string operator()(double number) const {
        switch (dimension) {
            case Dimension::Time: return scale ? scale->text(std::llround(number)) : timeText(number);
            case Dimension::Bytes: return formatCell(number, Unit::Bytes);
            case Dimension::Bandwidth: return rateText(number) + " GB/s";
            case Dimension::Count: break;
        }
        return countText(number);
    }
    std::string difference(double number) const {
        const std::string text = (*this)(std::abs(number));
        const bool isNothing = text.find_first_of("123456789") == std::string::npos;
        return (isNothing ? "" : number < 0 ? "-" : "+") + text;
    }
};

/// Returns the difference in percent of the baseline. If the baseline is 0: nullopt, or 0 if both are 0.
std::optional<double> percentOf(double baseline, double candidate) {
    if (baseline > 0) return 100 * (candidate - baseline) / baseline;
    if (candidate == baseline) return 0;
    return std::nullopt;
}

std::string findingOf(const ConditionTest& test, double baseline, double candidate, const NumberWriter& write) {
    const std::optional<double> percent = percentOf(baseline, candidate);
    return fmt::format("{} was {} and is {} ({}{})", quantity(test), write(baseline), write(candidate),
                       write.difference(candidate - baseline),
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
    return claim.kind == QuantityKind::Part && std::ranges::find(parts, claim.part) != parts.end();
}

/// "compute +1.204 ms (95 % confidence +1.101 to +1.307 ms)".
std::string findingOf(const QuantityClaim& claim, const DurationScale& scale) {
    const auto text = [&](double ns) { return scale.differenceText(std::llround(ns)); };
    return fmt::format(
        "{} {} (95 % confidence {} to {}{})",
        claim.kind == QuantityKind::Part ? std::string(name(claim.part)) : "idle in " + printable(claim.path),
        text(claim.differenceNs), text(claim.lowNs), text(claim.highNs), claim.isCertain ? "" : "; not certain");
}

/// Parts too small to be judged did not change by a relevant amount.
TestOutcome evaluatePartVerdict(const ConditionTest& test, const WorkerComparison& pair) {
    TestOutcome outcome;
    bool isMet = false;
    const bool wantsLonger = test.subject == Subject::Slower;
    for (const QuantityClaim& claim : pair.quantities) {
        if (!isMeant(test, claim)) continue;
        const bool isSo = claim.isCertain && (claim.differenceNs > 0) == wantsLonger;
        isMet = isMet || isSo;
        // With several, only the decisive ones.
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
        outcome.finding = found == Outcome::Nothing
                              ? "there is nothing to compare"
                              : "one run per side is no evidence about the programs: pass several (--baseline A1 A2 "
                                "--candidate B1 B2), or earlier runs of one program (--spread)";
        return outcome;
    }
    if (test.scope != VerdictScope::Step) return evaluatePartVerdict(test, *pair);
    const bool isDecided = found == Outcome::Slower || found == Outcome::Faster;
    outcome.finding = fmt::format("the candidate is {}", isDecided ? name(found) : "within the spread between runs");
    return judged(std::move(outcome), found == (test.subject == Subject::Slower ? Outcome::Slower : Outcome::Faster));
}

TestOutcome evaluateNumbers(const ConditionTest& test, const Measured& measured, const NumberWriter& write) {
    TestOutcome outcome{.baseline = measured.baseline, .candidate = measured.candidate};
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
        if (!percent) return notComparable("the baseline is 0, so a difference in percent is undefined");
        number = *percent;
    }
    return judged(std::move(outcome), holds(test.relation, number, test.threshold.number));
}

/// Returns why no test can be judged; empty if tests can be judged.
std::string reasonNotComparable(const RunComparison& comparison) {
    for (const auto& [side, facts] :
         {std::pair("baseline", &comparison.baseline), std::pair("candidate", &comparison.candidate)})
        if (const HealthNote* damage = facts->damage())
            return fmt::format("the {} is corrupt (\"{}\")", side, printable(damage->sentence));
    for (const WorkerComparison& pair : comparison.exact)
        for (const auto& [label, steps] :
             {std::pair(&pair.baselineLabel, &pair.baseline), std::pair(&pair.candidateLabel, &pair.candidate)})
            if (steps->count > 0 && steps->medianNs <= 0) return fmt::format("most steps of {} take no time", *label);
    return {};
}

TestOutcome evaluateTest(const ConditionTest& test, const RunComparison& comparison, bool isMissingFine) {
    if (measuresOf(test.subject).empty()) return evaluateVerdict(test, comparison);
    const Measured measured = measureOf(test, comparison, comparison.exactCriticalPair());
    if (measured.missing.empty()) {
        NumberWriter write{dimensionOf(test.measure), std::nullopt};
        TestOutcome outcome = evaluateNumbers(test, measured, write);
        if (!isOfMeanStep(test)) return outcome;
        // Uses the numbers of the tables, unless the exact ones give another result.
        const WorkerComparison* pair = comparison.criticalPair();
        write.scale = pair->scale;
        const TestOutcome shown = evaluateNumbers(test, measureOf(test, comparison, pair), write);
        if (shown.state == outcome.state) outcome.finding = shown.finding;
        return outcome;
    }
    TestOutcome outcome{.finding = fmt::format("{}: {}", quantity(test), measured.missing)};
    if (measured.isUnknownName && isMissingFine) outcome.state = ConditionState::Skipped;
    return outcome;
}

/// One false test decides, else an undecidable one.
ConditionState stateOf(const std::vector<TestOutcome>& tests) {
    const auto any = [&](ConditionState state) {
        return std::ranges::any_of(tests, [state](const TestOutcome& test) { return test.state == state; });
    };
    for (const ConditionState state : {ConditionState::NotMet, ConditionState::NotComparable, ConditionState::Skipped})
        if (any(state)) return state;
    return ConditionState::Met;
}

}  // namespace

bool namesKernel(std::string_view demangled, std::string_view wanted) {
    return matchesPattern(demangled, wanted) || matchesPattern(withoutParameters(demangled), wanted) ||
           matchesPattern(kernelBaseName(demangled), wanted);
}

bool liesInRange(std::string_view path, std::string_view wanted) {
    const std::string within = "/" + std::string(path) + "/";
    const std::string pattern = rangePattern(wanted);
    return !path.empty() && matchesPattern(within, "*/" + pattern + "/*");
}

std::string_view name(ConditionState state) { return enumText(state, {"not met", "met", "not comparable", "skipped"}); }

std::string_view identifier(ConditionState state) {
    return enumText(state, {"not_met", "met", "not_comparable", "skipped"});
}

ConditionOutcome evaluateCondition(const Condition& condition, const RunComparison& comparison, bool isMissingFine) {
    ConditionOutcome outcome{.text = condition.text};
    std::string findings;
    const std::string doubt = reasonNotComparable(comparison);
    for (const ConditionTest& test : condition.tests) {
        outcome.tests.push_back(doubt.empty() ? evaluateTest(test, comparison, isMissingFine)
                                              : TestOutcome{ConditionState::NotComparable, {}, {}, doubt});
        if (!doubt.empty() && !findings.empty()) continue;
        findings += (findings.empty() ? "" : "; ") + outcome.tests.back().finding;
    }
    outcome.state = stateOf(outcome.tests);
    outcome.sentence = fmt::format("{}: {}: {}.", printable(condition.text), name(outcome.state), findings);
    return outcome;
}

}  // namespace lanescope::compare
