// SPDX-License-Identifier: Apache-2.0
#include "model/compare/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>
#include <utility>

#include "model/analysis/IdleCauses.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/judgeRuns.h"
#include "model/compare/matchContributors.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatValue.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

/// Returns why two runs cannot be compared: steps of no time in one, or no GPU work.
std::string incomparableSentence(const RunSummary& baseline, const RunSummary& candidate) {
    for (const auto& [side, run] : {std::pair("baseline", &baseline), {"candidate", &candidate}})
        if (const std::string timeless = timelessSentence(*run); !timeless.empty())
            return fmt::format("The {} {} cannot be compared: {}", side, printable(run->facts.title), timeless);
    if (baseline.isEmpty() && candidate.isEmpty()) return "Neither run has GPU work, so there is nothing to compare.";
    const bool isBaseline = baseline.isEmpty();
    return fmt::format("The {} {} has no GPU work, so there is nothing to compare.",
                       isBaseline ? "baseline" : "candidate",
                       printable((isBaseline ? baseline : candidate).facts.title));
}

constexpr size_t maxReportedOutliers = 3;
/// A smaller relative difference is not mentioned.
constexpr double bandwidthTolerance = 0.1;
constexpr double ratioThresholdPercent = 100;  ///< Percent: a factor of two.

bool isOtherBandwidth(double before, double after) {
    return before > 0 && after > 0 && std::abs(after - before) > bandwidthTolerance * std::max(before, after);
}

std::string bandwidthText(const ContributorDifference& main) {
    const double before = main.baseline.gigabytesPerSecond;
    const double after = main.candidate.gigabytesPerSecond;
    if (!isOtherBandwidth(before, after)) return {};
    return fmt::format(", {}bandwidth {} \u2192 {} GB/s", main.kind == ContributorKind::Collective ? "bus " : "",
                       rateText(before), rateText(after));
}

std::string matchText(const ContributorDifference& main) {
    if (main.match == MatchKind::OnlyCandidate) return ", which the baseline does not have";
    if (main.match == MatchKind::OnlyBaseline) return ", which the candidate does not have";
    if (main.match == MatchKind::SamePosition)
        return fmt::format(", in the place of {}", replacedName(main.baseline.name, main.name()));
    const double before = main.baseline.count, after = main.candidate.count;
    // The number of times that a rank is not the last is not a number of collectives.
    const bool isWork = main.kind == ContributorKind::Kernel || main.kind == ContributorKind::Copy ||
                        (main.kind == ContributorKind::Collective && main.part != StepPart::WaitingForRanks);
    if (isWork && std::abs(after - before) > 0.1 * std::max(before, after))
        return fmt::format(", {} instead of {} per step", countText(after), countText(before));
    return {};
}

/// Returns "kernel gemm", "NCCL AllReduce" or "HtoD from pageable".
std::string kindAndName(const ContributorDifference& one) {
    const std::string which = shortName(one.name());
    if (one.kind == ContributorKind::Kernel) return "kernel " + which;
    return one.kind == ContributorKind::Collective ? withLibrary(which) : which;
}

/// Returns "+0.912 ms in the mean step for HtoD from pageable, in the place of HtoD from pinned,
/// bandwidth 52.1 → 8.3 GB/s".
std::string changeText(const Cause& cause, const std::string& time) {
    const ContributorDifference& main = *cause.main;
    const std::string which = shortName(main.name());
    if (main.kind == ContributorKind::Idle)
        return fmt::format("{} in the mean step for {} {} in {}{}", time, name(main.part), which, printable(main.path),
                           matchText(main));
    return fmt::format("{} in the mean step for {}{}{}", time, kindAndName(main), matchText(main), bandwidthText(main));
}

/// 'in cudaLaunchKernel in the range "forward"', "in kernel gemm", "in NCCL AllReduce".
std::string contributorText(const ContributorDifference& one) {
    if (one.kind != ContributorKind::Idle) return "in " + kindAndName(one);
    return shortName(one.name()) + (one.path.empty() ? "" : fmt::format(" in the range \"{}\"", printable(one.path)));
}

/// Minimum share of a change for its offset to be mentioned.
constexpr double minOffsetShare = 0.05;

/// Returns the offset of a contributor that changed by more than its part: ", offset by +0.602 ms in cudaLaunchKernel".
std::string offsetText(const Cause& cause, const WorkerComparison& pair) {
    const int64_t mainNs = cause.main->lostNs(), restNs = cause.lostNs - mainNs;
    if (std::abs(mainNs) <= std::abs(cause.lostNs) && (mainNs < 0) == (cause.lostNs < 0)) return {};
    if (static_cast<double>(std::abs(restNs)) < minOffsetShare * static_cast<double>(std::abs(mainNs))) return {};
    if (const ContributorDifference* offset = mainOffset(pair, cause))
        return fmt::format(", offset by {} {}", pair.scale.differenceText(offset->lostNs()),
                           contributorText(*offset) + matchText(*offset));
    return fmt::format(", offset by {} of other {}", pair.scale.differenceText(restNs), name(cause.part));
}

/// "+7.104 ms exposed NCCL AllReduce in the mean step, bus bandwidth 210.3 → 27.1 GB/s".
std::string causeText(const Cause& cause, const WorkerComparison& pair) {
    const DurationScale& scale = pair.scale;
    const std::string time = scale.differenceText(cause.lostNs);
    if (!cause.isOfWholePart && cause.judged)
        return fmt::format(
            "{} idle in {} in the mean step{}", time, printable(cause.judged->path),
            cause.main && cause.main->match != MatchKind::SamePosition ? matchText(*cause.main) : std::string());
    if (!cause.isOfWholePart) return changeText(cause, time);
    std::string text = fmt::format("{} {} in the mean step", time, name(cause.part));
    if (cause.main) {
        const ContributorDifference& main = *cause.main;
        const bool isExposedCollective =
            main.kind == ContributorKind::Collective && cause.part == StepPart::ExposedCommunication;
        if (isExposedCollective && main.lostNs() == cause.lostNs)
            text = fmt::format("{} exposed {} in the mean step", time, kindAndName(main));
        else
            text += fmt::format(", {} {}", scale.differenceText(main.lostNs()), contributorText(main));
        if (main.kind != ContributorKind::Idle) text += bandwidthText(main) + matchText(main);
        text += offsetText(cause, pair);
    }
    return cause.hasLostNvlink ? text + ", no longer over the NVLink that connects these GPUs" : text;
}

/// Returns whether other runs of the programs would show the change: " (certain: +1.101 to +1.307
/// ms in the median step, 95 % confidence)", " (within the spread between runs)". Empty for two
/// runs. The interval is for the median steps of the runs, or for their mean idle time in a range.
std::string certaintyText(const Cause& cause, const DurationScale& scale) {
    if (!cause.judged) return {};
    if (!cause.isCertain() && cause.judged->adjustedPValue < runsSignificanceThreshold)
        return fmt::format(" (beyond the spread between runs, but {} in the median step, less than {:.0f} % of it)",
                           scale.differenceText(std::llround(cause.judged->differenceNs)), minRelevantPercent);
    if (!cause.isCertain()) return " (within the spread between runs)";
    const bool isPart = cause.judged->kind == QuantityKind::Part;
    return fmt::format(" (certain: {} {} to {} in the {} step, 95 % confidence)",
                       isPart ? name(cause.judged->part) : std::string_view("idle"),
                       scale.differenceText(std::llround(cause.judged->lowNs)),
                       scale.differenceText(std::llround(cause.judged->highNs)), isPart ? "median" : "mean");
}

std::string medians(const WorkerComparison& pair) {
    return fmt::format("{} in the candidate, {} in the baseline", timeText(pair.candidate.medianNs),
                       timeText(pair.baseline.medianNs));
}

std::string runCount(int64_t runs) { return fmt::format("{} {}", runs, runs == 1 ? "run" : "runs"); }

/// "3 against 3 runs", "5 against 5 runs, alternating", "1 against 1 run, by the spread of 5 earlier ones".
std::string runsText(const Claim& claim) {
    std::string text = fmt::format("{} against {}", claim.baselineRuns, runCount(claim.candidateRuns));
    if (claim.spreadRuns > 0) text += fmt::format(", by the spread of {} earlier ones", claim.spreadRuns);
    return claim.areAlternating ? text + ", alternating" : text;
}

std::string confidenceText(const Claim& claim) {
    return fmt::format("95 % confidence {} to {} %", percentDifferenceText(claim.lowPercent),
                       percentDifferenceText(claim.highPercent));
}

/// Returns a change of the step time: "9.9 % longer". From a factor of two on a ratio, "2.75 times as long".
std::string changeOf(double percent, std::string_view more, std::string_view less) {
    if (percent >= ratioThresholdPercent) return fmt::format("{:.2f} times as long", 1 + percent / 100);
    if (percent <= -ratioThresholdPercent / 2) return fmt::format("{:.2f} times as fast", 1 / (1 + percent / 100));
    return fmt::format("{} % {}", percentText(std::abs(percent)), percent > 0 ? more : less);
}

/// Returns the finding. The causes, which add up, are about the mean step.
std::string claimText(const Claim& claim) {
    if (claim.unit == ClaimUnit::Steps)
        return "In these two runs the candidate's median step is " + changeOf(claim.percent, "longer", "shorter");
    return fmt::format("Candidate {} {} ({}; {}, {})", claim.percent >= ratioThresholdPercent ? "takes" : "is",
                       changeOf(claim.percent, "slower", "faster"), runsText(claim), confidenceText(claim),
                       pValueEquation(claim.adjustedPValue));
}

/// Returns ", and the mean step 5.87 times as fast" if few very long steps change the mean more than the median.
std::string meanText(const WorkerComparison& pair) {
    constexpr double minOtherPercent = 10;
    if (pair.claim.unit != ClaimUnit::Steps || pair.baseline.meanNs <= 0) return {};
    const double percent =
        100 * (static_cast<double>(pair.candidate.meanNs) / static_cast<double>(pair.baseline.meanNs) - 1);
    if (std::abs(percent - pair.claim.percent) < minOtherPercent) return {};
    return ", and the mean step " + changeOf(percent, "longer", "shorter");
}

/// "step 6".
std::string stepText(const OutlierStep& step) {
    const bool isNumbered = step.name.find_first_of("0123456789") != std::string::npos;
    return isNumbered ? printable(step.name)
                      : fmt::format("{} {}", step.name.empty() ? "step" : printable(step.name), step.number);
}

/// "step 6 of the candidate (rank 0, GPU 0) took 5.1 ms longer than the median: waiting for launches in host code ...".
std::string outlierText(const RunOutlier& outlier) {
    const OutlierStep& step = outlier.step;
    std::string text = fmt::format("{} of the {} ({}) took {} longer than the median: {}", stepText(step),
                                   outlier.isCandidate ? "candidate" : "baseline", outlier.worker,
                                   formatDuration(step.excessNs), name(step.part));
    if (!step.contributor.empty())
        text += fmt::format(" {}{}", isIdle(step.part) ? "" : "in ", shortName(step.contributor));
    if (!step.path.empty()) text += fmt::format(", in the range \"{}\"", printable(step.path));
    return text;
}

Clause words(std::string text) { return {std::move(text)}; }

Clause ofSteps(std::string text) { return {std::move(text), ClauseKind::Step}; }

Clause ofSingle(std::string text, bool isCandidate, int64_t number) {
    Clause clause{std::move(text), ClauseKind::Single};
    clause.isCandidate = isCandidate;
    clause.number = number;
    return clause;
}

/// Returns the contributor with the largest change among those that are wanted; null if none is.
const ContributorDifference* findLargest(const WorkerComparison& pair, auto changeOf, auto isWanted) {
    const ContributorDifference* most = nullptr;
    for (const ContributorDifference& each : pair.contributors)
        if (isWanted(each) && (!most || changeOf(each) > changeOf(*most))) most = &each;
    return most;
}

auto ofPart(StepPart part) {
    return [part](const auto& each) { return each.part == part && each.kind != ContributorKind::Others; };
}

/// Returns the change in the direction of `ns`.
auto changeLike(int64_t ns) {
    return [sign = ns < 0 ? -1 : 1](const ContributorDifference& each) { return each.lostNs() * sign; };
}

Clause ofCause(const Cause& cause, const WorkerComparison& pair) {
    // The one that changed most, if no single one stands out.
    const auto absoluteChange = [](const ContributorDifference& each) { return std::abs(each.lostNs()); };
    const ContributorDifference* main =
        cause.main ? &*cause.main : findLargest(pair, absoluteChange, ofPart(cause.part));
    Clause clause{cause.text, ClauseKind::Step};  // a part without listed contributors
    if (!main) return clause;
    clause.kind = ClauseKind::Cause;
    clause.query = queryOf(*main);
    return clause;
}

/// Builds a sentence from clauses.
class Clauses {
  public:
    void add(Clause clause) {
        if (!clause.text.empty()) all_.push_back(std::move(clause));
    }
    /// Adds `before` and the causes, separated by "; "; nothing without. Marks the first that offsets the change.
    void addCauses(std::string before, const std::vector<Cause>& causes, const WorkerComparison& pair) {
        bool isWithIt = true;
        for (const Cause& cause : causes) {
            if (std::exchange(isWithIt, isWithIt && !isOffset(pair, cause)) != isWithIt)
                before = &cause == &causes.front() ? ", though " : "; offset by ";
            add(words(std::exchange(before, "; ")));
            add(ofCause(cause, pair));
        }
    }
    /// Adds the differences of runs with equal medians: patterns of steps, else single steps.
    void addTelling(const RunComparison& comparison) {
        if (!comparison.patterns.empty()) {
            const PatternDifference& first = comparison.patterns.front();
            add(words("; but "));
            add(ofSingle(first.text, first.isCandidate, first.pattern.firstNumber));
            return;
        }
        const std::vector<uint32_t>& telling = comparison.answer.significantOutliers;
        const auto outlier = [&](uint32_t index) -> const RunOutlier& { return comparison.outliers[index]; };
        if (telling.empty()) return;
        const RunOutlier& longest = outlier(telling.front());
        add(words("; but "));
        add(ofSingle(outlierText(longest), longest.isCandidate, longest.step.number));
        if (telling.size() == 1) return;
        add(words(", and likewise "));
        const RunOutlier& next = outlier(telling[1]);
        add(ofSingle(telling.size() == 2 ? stepText(outlier(telling.back()).step)
                                         : fmt::format("{} other steps", telling.size() - 1),
                     next.isCandidate, next.step.number));
    }
    std::vector<Clause> take() { return std::move(all_); }

  private:
    std::vector<Clause> all_;
};

bool isWithinNoise(const Claim& claim) { return std::abs(claim.differenceNs) <= claim.noiseNs; }

/// Returns the number of runs, then the facts about the whole step.
std::string undecidedText(const Claim& claim) {
    std::string text =
        fmt::format("no difference is certain: {} % ({})", percentDifferenceText(claim.percent), confidenceText(claim));
    if (claim.spreadPercent) text += fmt::format(", its runs differ by up to {} %", percentText(*claim.spreadPercent));
    return text;
}

/// From this difference in percent on, few runs that vary much show no change.
constexpr double meaninglessPercent = 100;

/// Returns the clause about the changes that the runs would show.
std::string visibleText(const Claim& claim) {
    if (claim.visiblePercent >= meaninglessPercent) return "; even a doubling could go unnoticed in these runs";
    return fmt::format("; one of {} % would most likely have been seen", percentText(claim.visiblePercent));
}

std::vector<Clause> clausesOf(const RunComparison& comparison, const WorkerComparison& pair) {
    const Claim& claim = pair.claim;
    const std::vector<Cause>& causes = comparison.answer.causes;
    Clauses clauses;
    switch (comparison.answer.outcome) {
        case Outcome::Slower:
        case Outcome::Faster:
        case Outcome::Longer:
        case Outcome::Shorter:
            clauses.add(ofSteps(claimText(claim) + meanText(pair)));
            clauses.addCauses(": ", causes, pair);
            clauses.add(words(claim.unit == ClaimUnit::Runs ? "." : ". One run per side: run-to-run spread unknown."));
            break;
        case Outcome::TooFewSteps:
            clauses.add(words("Too few steps to distinguish a difference from chance ("));
            clauses.add(ofSteps(fmt::format("{} and {}", pair.baseline.count, pair.candidate.count)));
            clauses.add(words("): "));
            clauses.add(
                ofSteps(fmt::format("median step {}, {} %", medians(pair), percentDifferenceText(claim.percent))));
            clauses.addCauses("; ", causes, pair);
            clauses.add(words("."));
            break;
        case Outcome::Alike:
            // A difference beyond the spread that may still be chance is not called alike.
            clauses.add(words(isWithinNoise(claim)
                                  ? "In these two runs steps are alike: "
                                  : "In these two runs no difference is distinguishable from chance: "));
            clauses.add(
                ofSteps(fmt::format("median step {} ({} %)", medians(pair), percentDifferenceText(claim.percent))));
            clauses.add(words(isWithinNoise(claim) ? ", within the spread of each run's own steps"
                                                   : fmt::format(" by {} and {} steps, {}", pair.baseline.count,
                                                                 pair.candidate.count, pValueEquation(claim.pValue))));
            clauses.addCauses("; but ", causes, pair);
            clauses.addTelling(comparison);
            clauses.add(words("."));
            break;
        case Outcome::PartsChanged:
            clauses.add(words(fmt::format("Parts of the step changed ({})", runsText(claim))));
            clauses.addCauses(": ", causes, pair);
            clauses.add(words(". Of the whole step "));
            clauses.add(ofSteps(undecidedText(claim)));
            clauses.addTelling(comparison);
            clauses.add(words("."));
            break;
        case Outcome::WithinNoise:
            clauses.add(words("No difference beyond that between runs: "));
            clauses.add(ofSteps(fmt::format("{} % ({}; {})", percentDifferenceText(claim.percent), runsText(claim),
                                            confidenceText(claim))));
            clauses.add(words(visibleText(claim)));
            clauses.addCauses("; but ", causes, pair);
            clauses.addTelling(comparison);
            clauses.add(words(claim.visiblePercent >= meaninglessPercent ? ". Record more runs." : "."));
            break;
        case Outcome::Nothing: break;
    }
    return clauses.take();
}

std::string stepsOfSide(const WorkerSummary& worker, std::string_view side) {
    std::string text = fmt::format("{}: {} of {} steps", side, worker.steps.size(), worker.foundSteps);
    if (worker.warmUpSteps == 1) text += ", the first skipped as warm-up";
    if (worker.warmUpSteps > 1) text += fmt::format(", the first {} skipped as warm-up", worker.warmUpSteps);
    if (worker.isLastLeftOut) text += ", the last skipped (its end is unknown)";
    const std::optional<int64_t> onCpuNs = worker.aheadNs();
    return onCpuNs ? fmt::format("{}, {} each on the CPU, which runs ahead", text, formatDuration(*onCpuNs)) : text;
}

std::string asSentence(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

/// "5 parts of it and the idle time of 3 ranges, 2 of which differ for certain".
std::string judgedText(const WorkerComparison& pair) {
    int64_t parts = 0, ranges = 0, certain = 0;
    for (const QuantityClaim& each : pair.quantities) {
        ++(each.kind == QuantityKind::Part ? parts : ranges);
        certain += each.isCertain ? 1 : 0;
    }
    std::string text = fmt::format("{} {} of it", parts, parts == 1 ? "part" : "parts");
    if (ranges > 0) text += fmt::format(" and the idle time of {} {}", ranges, ranges == 1 ? "range" : "ranges");
    return text + fmt::format(", {} of which {} for certain", certain == 0 ? "none" : std::to_string(certain),
                              certain > 1 ? "differ" : "differs");
}

/// Returns 'Steps are "step #". ', for both runs or each; empty if the steps have no marks.
std::string whatStepsAre(const RunComparison& runs) {
    const auto marked = [](StepSource source, const std::string& pattern) {
        const std::string_view relation = source == StepSource::KernelPattern ? "begin with kernel"
                                          : source == StepSource::PythonLoop  ? "are iterations at"
                                                                              : "are";
        return fmt::format("{} \"{}\"", relation, shortContributorName(pattern));
    };
    if (runs.baselinePattern.empty() || runs.candidatePattern.empty()) return {};
    const std::string before = marked(runs.baselineSource, runs.baselinePattern);
    const std::string after = marked(runs.candidateSource, runs.candidatePattern);
    if (before == after) return fmt::format("Steps {}. ", after);
    return fmt::format("The baseline's steps {}, the candidate's {}. ", before, after);
}

std::vector<std::string> detailsOf(const RunComparison& comparison, const WorkerComparison& pair,
                                   const RunSummary& baseline, const RunSummary& candidate) {
    std::vector<std::string> details;
    const WorkerSummary& before = baseline.workers[pair.baselineWorker];
    const WorkerSummary& after = candidate.workers[pair.candidateWorker];
    details.push_back(fmt::format("{}{}; {}.", whatStepsAre(comparison), stepsOfSide(before, "Baseline"),
                                  stepsOfSide(after, "candidate")));
    if (comparison.workers.size() > 1)
        details.push_back(fmt::format("This is about {}, whose steps are longest without their waits for other ranks.",
                                      pair.candidateLabel));
    details.push_back(fmt::format(
        "Steps, candidate to baseline: medians {} against {}; 95th percentiles {} against {}; means {} against {}.",
        timeText(pair.candidate.medianNs), timeText(pair.baseline.medianNs), timeText(pair.candidate.p95Ns),
        timeText(pair.baseline.p95Ns), pair.scale.text(pair.candidate.meanNs), pair.scale.text(pair.baseline.meanNs)));
    if (pair.claim.unit == ClaimUnit::Runs)
        details.push_back(
            fmt::format("Median steps of the runs: {} (95 % confidence {} to {}), judged with the run as the unit, "
                        "together with {}; times are those of all steps of a side's runs.",
                        timeDifferenceText(pair.claim.differenceNs), timeDifferenceText(pair.claim.lowNs),
                        timeDifferenceText(pair.claim.highNs), judgedText(pair)));
    else if (pair.claim.outcome != Outcome::TooFewSteps)
        details.push_back(fmt::format(
            "Difference of medians {} (95 % interval from the steps of these runs: {} to {}). Differences of up to {} "
            "are noise, by the spread of these steps.",
            timeDifferenceText(pair.claim.differenceNs), timeDifferenceText(pair.claim.lowNs),
            timeDifferenceText(pair.claim.highNs), timeText(pair.claim.noiseNs)));
    if (pair.baselineMfu && pair.candidateMfu)
        details.push_back(fmt::format("MFU, candidate against baseline: {} % against {} %.",
                                      percentText(100 * *pair.candidateMfu), percentText(100 * *pair.baselineMfu)));
    for (const PatternDifference& each : comparison.patterns) details.push_back(asSentence(each.text));
    for (size_t index = 0; index < comparison.outliers.size(); ++index) {
        if (index == maxReportedOutliers) {
            details.push_back(
                fmt::format("{} more steps stand out.", comparison.outliers.size() - maxReportedOutliers));
            break;
        }
        details.push_back(asSentence(outlierText(comparison.outliers[index])));
    }
    return details;
}

constexpr size_t maxCauses = 3;
constexpr size_t maxKindChanges = 2;       ///< Changes of kind, in addition to those in a part's cause.
constexpr int64_t minChangeDivisor = 100;  ///< Of the step: one part in so many.
constexpr double countTolerance = 0.1;     ///< Relative difference from which a count is different.
constexpr int64_t minCauseDivisor = 6;     ///< One part in so many.
constexpr size_t maxOffsets = 2;
/// Bandwidth of PCIe 5 x16 in one direction, the fastest link between GPUs except NVLink.
constexpr double maxPcieGBps = 64;

/// Returns a part's contributor that changed most in its direction; null if none changed by a third of the part.
const ContributorDifference* mainContributor(const WorkerComparison& pair, StepPart part, int64_t lostNs) {
    const auto changeOf = changeLike(lostNs);
    const ContributorDifference* main = findLargest(pair, changeOf, ofPart(part));
    return main && changeOf(*main) * 3 >= std::abs(lostNs) ? main : nullptr;
}

/// Returns true if NVLink connects the GPUs and no longer carries their data: by counters, else by the pace.
bool hasLostNvlink(StepPart part, const ContributorDifference* main, const RunSummary& baseline,
                   const RunSummary& candidate) {
    const bool isBetweenGpus = part == StepPart::ExposedCommunication || part == StepPart::ExposedPtoP;
    if (!isBetweenGpus || !candidate.facts.isNvlinkPresent) return false;
    if (baseline.nvlink.evidence == LinkEvidence::Counters && candidate.nvlink.evidence == LinkEvidence::Counters)
        return baseline.nvlink.use == NvlinkVerdict::Use::Used && candidate.nvlink.use == NvlinkVerdict::Use::NotSeen;
    return main && main->baseline.gigabytesPerSecond > maxPcieGBps && main->candidate.gigabytesPerSecond > 0 &&
           main->candidate.gigabytesPerSecond < maxPcieGBps;
}

/// Returns true if the other side has nothing in the NVTX ranges of this contributor.
bool isInNewRange(const WorkerComparison& pair, const ContributorDifference& one) {
    const bool isCandidate = one.match == MatchKind::OnlyCandidate;
    return !one.path.empty() && std::ranges::none_of(pair.contributors, [&](const auto& each) {
        const MatchKind own = isCandidate ? MatchKind::OnlyCandidate : MatchKind::OnlyBaseline;
        return each.match != own && each.path == one.path;
    });
}

/// Returns the baseline's mean step without time around all work, not the program's if no steps were found.
int64_t busyStepNs(const WorkerComparison& pair) {
    int64_t ns = pair.baseline.meanNs;
    for (const ContributorDifference& each : pair.contributors)
        if (each.name().idle.kind == CauseKind::NoWorkAround) ns -= each.baseline.exposedNs;
    return ns;
}

/// Returns true if the program does something else here, not the same in another time: a hundredth of the step or more.
bool isChangeOfKind(const WorkerComparison& pair, const ContributorDifference& one) {
    // The number of times that a rank is last does not depend on its own work.
    if (one.kind == ContributorKind::Others || one.part == StepPart::WaitingForRanks) return false;
    const int64_t overlappedNs = std::abs(one.candidate.totalNs - one.baseline.totalNs);
    if (std::max(std::abs(one.lostNs()), overlappedNs) * minChangeDivisor < busyStepNs(pair)) return false;
    const bool isIdle = one.kind == ContributorKind::Idle;
    if (one.match == MatchKind::OnlyBaseline || one.match == MatchKind::OnlyCandidate)
        return !isIdle || isInNewRange(pair, one);
    if (isIdle) return false;
    if (one.match == MatchKind::SamePosition)
        return one.kind != ContributorKind::Kernel ||
               kernelFamily(one.baseline.name.work) != kernelFamily(one.candidate.name.work);
    return std::abs(one.candidate.count - one.baseline.count) >
           countTolerance * std::max(one.candidate.count, one.baseline.count);
}

const QuantityClaim* judgedPart(const WorkerComparison& pair, StepPart part) {
    for (const QuantityClaim& each : pair.quantities)
        if (each.kind == QuantityKind::Part && each.part == part) return &each;
    return nullptr;
}

/// Returns changes of kind without a cause, most expensive first.
std::vector<Cause> furtherChanges(const WorkerComparison& pair, const std::vector<Cause>& causes) {
    std::vector<const ContributorDifference*> changes;
    for (const ContributorDifference& each : pair.contributors) {
        const bool isShown = std::ranges::any_of(causes, [&](const Cause& cause) {
            return cause.main && cause.part == each.part && cause.main->match == each.match &&
                   cause.main->path == each.path && cause.main->name() == each.name();
        });
        if (!isShown && isChangeOfKind(pair, each)) changes.push_back(&each);
    }
    std::ranges::stable_sort(changes, std::ranges::greater(),
                             [](const auto* each) { return std::abs(each->lostNs()); });
    if (changes.size() > maxKindChanges) changes.resize(maxKindChanges);
    std::vector<Cause> further;
    for (const ContributorDifference* each : changes) {
        further.push_back({.part = each->part,
                           .lostNs = each->lostNs(),
                           .main = *each,
                           .isChangeOfKind = true,
                           .isOfWholePart = false});
    }
    return further;
}

Cause causeOf(const WorkerComparison& pair, const PartDifference& part, const RunSummary& baseline,
              const RunSummary& candidate) {
    Cause cause{.part = part.part, .lostNs = part.lostNs()};
    const ContributorDifference* main = mainContributor(pair, part.part, part.lostNs());
    if (main) cause.main = *main;
    cause.hasLostNvlink = hasLostNvlink(part.part, main, baseline, candidate);
    cause.isChangeOfKind = cause.hasLostNvlink || (main && isChangeOfKind(pair, *main));
    if (const QuantityClaim* judged = judgedPart(pair, part.part)) cause.judged = *judged;
    return cause;
}

/// Returns a cause for the idle time of a path, described by its contributor that changed most.
Cause causeOf(const WorkerComparison& pair, const QuantityClaim& idle) {
    Cause cause{.isOfWholePart = false, .judged = idle};
    for (const ContributorDifference& each : pair.contributors)
        if (each.kind == ContributorKind::Idle && each.path == idle.path) cause.lostNs += each.lostNs();
    if (const ContributorDifference* main = findLargestIdleChange(pair, idle)) cause.main = *main;
    if (cause.main) {
        cause.part = cause.main->part;
        cause.isChangeOfKind = isChangeOfKind(pair, *cause.main);
    }
    return cause;
}

/// Adds certain changes that are not yet a cause, largest first.
void addCertain(const WorkerComparison& pair, const RunSummary& baseline, const RunSummary& candidate,
                std::vector<Cause>& causes) {
    std::vector<const QuantityClaim*> certain;
    for (const QuantityClaim& each : pair.quantities) {
        const bool isShown = std::ranges::any_of(causes, [&](const Cause& cause) {
            if (each.kind == QuantityKind::Part) return cause.isOfWholePart && cause.part == each.part;
            return cause.isCertain() && cause.main && cause.main->path == each.path &&
                   cause.main->kind == ContributorKind::Idle;
        });
        if (each.isCertain && !isShown) certain.push_back(&each);
    }
    std::ranges::stable_sort(certain, std::ranges::greater(),
                             [](const auto* each) { return std::abs(each->differenceNs); });
    if (certain.size() > maxCauses) certain.resize(maxCauses);
    for (const QuantityClaim* each : certain) {
        if (each->kind == QuantityKind::IdleInRange)
            causes.push_back(causeOf(pair, *each));
        else
            causes.push_back(causeOf(pair, pair.parts[static_cast<size_t>(each->part)], baseline, candidate));
    }
}

/// Returns the candidate's longest outlier if it exceeds all of the baseline's, and steps that lost time alike.
std::vector<uint32_t> significantOutliers(const std::vector<RunOutlier>& outliers) {
    const RunOutlier* longest = nullptr;
    int64_t baselineNs = 0;
    for (const RunOutlier& outlier : outliers) {
        if (!outlier.isCandidate)
            baselineNs = std::max(baselineNs, outlier.step.excessNs);
        else if (!longest || outlier.step.excessNs > longest->step.excessNs)
            longest = &outlier;
    }
    if (!longest || longest->step.excessNs <= baselineNs) return {};
    std::vector<uint32_t> telling{static_cast<uint32_t>(longest - outliers.data())};
    for (const RunOutlier& other : outliers)
        if (&other != longest && other.isCandidate && other.worker == longest->worker &&
            other.step.part == longest->step.part && other.step.contributor == longest->step.contributor &&
            other.step.path == longest->step.path)
            telling.push_back(static_cast<uint32_t>(&other - outliers.data()));
    return telling;
}

bool isAlike(Outcome outcome) { return outcome == Outcome::Alike || outcome == Outcome::WithinNoise; }

}  // namespace

void writeAnswer(RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate) {
    Answer& answer = comparison.answer;
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair || answer.outcome == Outcome::Nothing) {
        answer.sentence = incomparableSentence(baseline, candidate);
        answer.clauses = {words(answer.sentence)};
        return;
    }
    for (Cause& cause : answer.causes) cause.text = causeText(cause, *pair) + certaintyText(cause, pair->scale);
    answer.clauses = clausesOf(comparison, *pair);
    answer.sentence.clear();
    for (const Clause& clause : answer.clauses) answer.sentence += clause.text;
    answer.details = detailsOf(comparison, *pair, baseline, candidate);
    const std::string nvlink = nvlinkSentence(baseline, candidate);
    // First if it may explain the difference, since there is not always room for all of them.
    if (!nvlink.empty())
        answer.details.insert(isNvlinkUseOther(baseline, candidate) ? answer.details.begin() : answer.details.end(),
                              nvlink);
}

InstanceQuery queryOf(const ContributorDifference& contributor) {
    InstanceQuery query{.part = contributor.part, .kind = contributor.kind};
    if (contributor.match != MatchKind::OnlyCandidate) {
        query.baselineName = contributor.baseline.name;
        query.baselinePath = contributor.path;
    }
    if (contributor.match != MatchKind::OnlyBaseline) {
        query.candidateName = contributor.candidate.name;
        query.candidatePath = contributor.path;
    }
    return query;
}

const ContributorDifference* findLargestIdleChange(const WorkerComparison& pair, const QuantityClaim& idle) {
    return findLargest(pair, changeLike(idle.differenceNs < 0 ? -1 : 1),
                       [&](const auto& each) { return each.kind == ContributorKind::Idle && each.path == idle.path; });
}

const ContributorDifference* mainOffset(const WorkerComparison& pair, const Cause& cause) {
    if (!cause.isOfWholePart || !cause.main) return nullptr;
    const int64_t restNs = cause.lostNs - cause.main->lostNs();
    const auto changeOf = changeLike(restNs);
    const ContributorDifference* most = findLargest(pair, changeOf, ofPart(cause.part));
    if (!most) return nullptr;
    const int64_t largestNs = changeOf(*most);
    return largestNs * 2 >= std::abs(restNs) && largestNs <= std::abs(restNs) * 2 ? most : nullptr;
}

bool isOffset(const WorkerComparison& pair, const Cause& cause) {
    const bool isOneWay = pair.claim.outcome != Outcome::Alike && pair.claim.outcome != Outcome::WithinNoise;
    return isOneWay && (pair.claim.differenceNs > 0 ? cause.lostNs < 0 : cause.lostNs > 0);
}

std::vector<Cause> causesOf(const WorkerComparison& pair, const RunSummary& baseline, const RunSummary& candidate) {
    const bool isSlower = pair.claim.differenceNs > 0;
    std::vector<const PartDifference*> changed, offsets;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0) continue;
        const bool isWithIt = (part.lostNs() > 0) == isSlower;
        (isWithIt ? changed : offsets).push_back(&part);
        if (isWithIt) allNs += std::abs(part.lostNs());
    }
    for (std::vector<const PartDifference*>* parts : {&changed, &offsets})
        std::ranges::stable_sort(*parts, std::ranges::greater(),
                                 [](const auto* part) { return std::abs(part->lostNs()); });
    std::vector<Cause> causes;
    const auto addWeighty = [&](const std::vector<const PartDifference*>& parts, size_t most) {
        for (size_t index = 0; index < std::min(parts.size(), most); ++index)
            if (std::abs(parts[index]->lostNs()) * minCauseDivisor >= allNs)
                causes.push_back(causeOf(pair, *parts[index], baseline, candidate));
    };
    addWeighty(changed, maxCauses);
    addWeighty(offsets, maxOffsets);
    addCertain(pair, baseline, candidate, causes);
    for (Cause& change : furtherChanges(pair, causes)) causes.push_back(std::move(change));
    // A change without a cost is no reason.
    const auto rank = [&](const Cause& cause) {
        const bool isReason =
            cause.lostNs != 0 || pair.claim.outcome == Outcome::Alike || pair.claim.outcome == Outcome::WithinNoise;
        return std::tuple(isOffset(pair, cause), !isReason, !cause.isChangeOfKind, !cause.isCertain());
    };
    std::ranges::stable_sort(causes, {}, [&](const Cause& each) { return rank(each); });
    return causes;
}

Answer answerOf(const RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate) {
    Answer answer;
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair) return answer;
    answer.outcome = pair->claim.outcome;
    if (answer.outcome == Outcome::Nothing) return answer;
    answer.causes = causesOf(*pair, baseline, candidate);
    if (isAlike(answer.outcome)) {
        // Amounts within noise have no cause. A change in what the program does remains a fact, as does a certain one.
        std::erase_if(answer.causes, [](const Cause& cause) { return !cause.isChangeOfKind && !cause.isCertain(); });
        if (std::ranges::any_of(answer.causes, [](const Cause& cause) { return cause.isCertain(); }))
            answer.outcome = Outcome::PartsChanged;
        answer.significantOutliers = significantOutliers(comparison.outliers);
    }
    return answer;
}

}  // namespace lanescope::compare
