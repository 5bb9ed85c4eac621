#include "model/compare/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/compare/causes.h"
#include "model/compare/nvlinkSentence.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

constexpr size_t mostOutliersTold = 3;

std::string duration(double ns) {
    return formatDuration(static_cast<int64_t>(std::llround(ns)));
}

std::string probability(double pValue) {
    if (pValue < 0.001) return "p < 0.001";
    return fmt::format("p = {:.2g}", pValue);
}

std::string medians(const WorkerComparison& pair) {
    return fmt::format("{} against {}", duration(pair.candidate.medianNs),
                       duration(pair.baseline.medianNs));
}

/// "Candidate is 11 % slower (median step; p < 0.001)": causes, which add up, are of the mean step.
std::string claimText(const WorkerComparison& pair) {
    const Claim& claim = pair.claim;
    const bool isSlower = claim.outcome == Outcome::Slower;
    if (isSlower && claim.percent >= 100)  // no one pictures 640 %
        return fmt::format("Candidate takes {:.1f} times as long (median step; {})",
                           1 + claim.percent / 100, probability(claim.pValue));
    const double percent = std::abs(claim.percent);
    const std::string number =
        percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
    return fmt::format("Candidate is {} % {} (median step; {})", number,
                       isSlower ? "slower" : "faster", probability(claim.pValue));
}

std::string joined(const std::vector<Cause>& causes) {
    std::string text;
    for (const Cause& cause : causes) text += (text.empty() ? "" : "; ") + cause.text;
    return text;
}

/// "step 6".
std::string stepText(const OutlierStep& step) {
    const bool isNumbered = step.name.find_first_of("0123456789") != std::string::npos;
    return isNumbered ? printable(step.name)
                      : fmt::format("{} {}", step.name.empty() ? "step" : printable(step.name),
                                    step.number);
}

/// "step 6 of the candidate (rank 0, GPU 0) took 5.1 ms longer than its median: launch-bound idle
/// outside CUDA calls on the main thread, in optimizer".
std::string outlierText(const RunOutlier& outlier) {
    const OutlierStep& step = outlier.step;
    std::string text =
        fmt::format("{} of the {} ({}) took {} longer than its median: {}", stepText(step),
                    outlier.isCandidate ? "candidate" : "baseline", outlier.worker,
                    formatDuration(step.excessNs), lanescope::name(step.part));
    if (!step.contributor.empty())
        text += fmt::format(" {}{}", isIdle(step.part) ? "" : "in ",
                            shortContributorName(step.contributor));
    if (!step.path.empty()) text += fmt::format(", in {}", printable(step.path));
    return text;
}

/// The longest step of the candidate that stands out, if it does so more than any of the baseline.
const RunOutlier* tellingOutlier(const RunComparison& comparison) {
    const RunOutlier* longest = nullptr;
    int64_t baselineNs = 0;
    for (const RunOutlier& outlier : comparison.outliers) {
        if (!outlier.isCandidate)
            baselineNs = std::max(baselineNs, outlier.step.excessNs);
        else if (!longest || outlier.step.excessNs > longest->step.excessNs)
            longest = &outlier;
    }
    return longest && longest->step.excessNs > baselineNs ? longest : nullptr;
}

/// ", and likewise step 17"; empty if no other step lost its time as `outlier` did.
std::string othersLikeIt(const RunComparison& comparison, const RunOutlier& outlier) {
    const OutlierStep& step = outlier.step;
    std::vector<const OutlierStep*> others;
    for (const RunOutlier& other : comparison.outliers)
        if (&other != &outlier && other.isCandidate == outlier.isCandidate &&
            other.worker == outlier.worker && other.step.part == step.part &&
            other.step.contributor == step.contributor && other.step.path == step.path)
            others.push_back(&other.step);
    if (others.empty()) return {};
    if (others.size() == 1) return fmt::format(", and likewise {}", stepText(*others.front()));
    return fmt::format(", and likewise {} other steps", others.size());
}

std::string emptySentence(const RunSummary& baseline, const RunSummary& candidate) {
    if (baseline.isEmpty() && candidate.isEmpty())
        return "Neither run has GPU work, so there is nothing to compare.";
    const bool isBaseline = baseline.isEmpty();
    return fmt::format("The {} {} has no GPU work, so there is nothing to compare.",
                       isBaseline ? "baseline" : "candidate",
                       printable((isBaseline ? baseline : candidate).facts.title));
}

std::string sentenceOf(const RunComparison& comparison, const WorkerComparison& pair,
                       const std::vector<Cause>& causes) {
    const Claim& claim = pair.claim;
    std::string sentence;
    switch (claim.outcome) {
        case Outcome::Slower:
        case Outcome::Faster:
            sentence = claimText(pair);
            if (!causes.empty()) sentence += ": " + joined(causes);
            break;
        case Outcome::TooFewSteps:
            sentence = fmt::format(
                "Too few steps to tell a difference from chance ({} and {}): median step {}, "
                "{:+.1f} %",
                pair.baseline.count, pair.candidate.count, medians(pair), claim.percent);
            if (!causes.empty()) sentence += "; " + joined(causes);
            break;
        case Outcome::WithinNoise:
            sentence = fmt::format(
                "Candidate is within noise of the baseline: median step {} ({:+.1f} %, {})",
                medians(pair), claim.percent, probability(claim.pValue));
            break;
        case Outcome::Nothing:
            break;
    }
    const RunOutlier* outlier = tellingOutlier(comparison);
    if (claim.outcome == Outcome::WithinNoise && outlier)
        sentence += "; but " + outlierText(*outlier) + othersLikeIt(comparison, *outlier);
    return sentence + ".";
}

std::string stepsOfSide(const WorkerSummary& worker, std::string_view side) {
    std::string text =
        fmt::format("{}: {} of {} steps", side, worker.steps.size(), worker.foundSteps);
    if (worker.warmUpSteps == 1) text += ", the first left out as warm-up";
    if (worker.warmUpSteps > 1)
        text += fmt::format(", the first {} left out as warm-up", worker.warmUpSteps);
    if (worker.isLastLeftOut) text += ", the last since no next one ends it";
    return text;
}

std::vector<std::string> detailsOf(const RunComparison& comparison, const WorkerComparison& pair,
                                   const RunSummary& baseline, const RunSummary& candidate) {
    std::vector<std::string> details;
    const WorkerSummary& before = baseline.workers[pair.baselineWorker];
    const WorkerSummary& after = candidate.workers[pair.candidateWorker];
    const bool areKernels = comparison.candidateSource == StepSource::KernelPattern;
    const std::string pattern =
        comparison.candidatePattern.empty()
            ? std::string()
            : fmt::format("Steps {} \"{}\". ", areKernels ? "begin with kernel" : "are",
                          shortContributorName(comparison.candidatePattern));
    details.push_back(fmt::format("{}{}; {}.", pattern, stepsOfSide(before, "Baseline"),
                                  stepsOfSide(after, "candidate")));
    if (comparison.workers.size() > 1)
        details.push_back(fmt::format(
            "The answer is about {}, whose steps are longest apart from waiting for other ranks.",
            pair.candidateLabel));
    details.push_back(
        fmt::format("Steps, candidate against baseline: medians {}; 95th percentiles {} against "
                    "{}; means {} against {}.",
                    medians(pair), duration(pair.candidate.p95Ns), duration(pair.baseline.p95Ns),
                    formatDuration(pair.candidate.meanNs), formatDuration(pair.baseline.meanNs)));
    if (pair.claim.outcome != Outcome::TooFewSteps)
        details.push_back(fmt::format(
            "Difference of medians {} (95 % confidence {} to {}); differences up to {} count as "
            "noise.",
            duration(pair.claim.differenceNs), duration(pair.claim.lowNs),
            duration(pair.claim.highNs), duration(pair.claim.noiseNs)));
    for (size_t index = 0; index < comparison.outliers.size(); ++index) {
        if (index == mostOutliersTold) {
            details.push_back(fmt::format("{} more steps stand out.",
                                          comparison.outliers.size() - mostOutliersTold));
            break;
        }
        std::string text = outlierText(comparison.outliers[index]);
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        details.push_back(text + ".");
    }
    return details;
}

}  // namespace

Answer answerOf(const RunComparison& comparison, const RunSummary& baseline,
                const RunSummary& candidate) {
    Answer answer;
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair || pair->claim.outcome == Outcome::Nothing) {
        answer.sentence = emptySentence(baseline, candidate);
        return answer;
    }
    answer.outcome = pair->claim.outcome;
    if (answer.outcome != Outcome::WithinNoise)
        answer.causes = causesOf(*pair, baseline, candidate);
    answer.sentence = sentenceOf(comparison, *pair, answer.causes);
    answer.details = detailsOf(comparison, *pair, baseline, candidate);
    const std::string nvlink = nvlinkSentence(baseline, candidate);
    // First where it may explain the difference: there is not always room for all of them.
    if (!nvlink.empty())
        answer.details.insert(
            isNvlinkUseOther(baseline, candidate) ? answer.details.begin() : answer.details.end(),
            nvlink);
    return answer;
}

}  // namespace lanescope
