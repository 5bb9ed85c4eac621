// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/stepPatterns.h"
#include "model/text/formatValue.h"

namespace lanescope::compare {

/// What a row or a clause of a comparison is about.
struct InstanceQuery {
    analysis::StepPart part = analysis::StepPart::Compute;
    analysis::ContributorKind kind = analysis::ContributorKind::Kernel;
    std::string baselineName, candidateName;  ///< Empty where that run has nothing like it.
    std::string baselinePath, candidatePath;
};

/// Of which kind a fact is, and so what shows it.
enum class ClauseKind : uint8_t {
    Words,   ///< Nothing to see.
    Step,    ///< How long steps take: the step of either run that is nearest to its median.
    Cause,   ///< What changed: the place where `query` lost most.
    Single,  ///< A step that stands out: that step of its run, and the other run's in its place.
};
/// For files and programs: "words", "step", "cause", "single".
std::string_view identifier(ClauseKind kind);

/// A piece of a comparison's sentence and where its evidence is. All of them after each other are
/// the sentence.
struct Clause {
    std::string text;
    ClauseKind kind = ClauseKind::Words;
    std::optional<InstanceQuery> query = {};  ///< Of `Cause`.
    bool isCandidate = false;                 ///< Of `Single`: whose step.
    int64_t number = 0;                       ///< Of `Single`: the step's.
    bool hasEvidence() const { return kind != ClauseKind::Words; }
};

/// The run that is compared against. A type of its own, so that the sides cannot be swapped.
struct BaselineRun {
    const analysis::RunSummary& summary;
};

/// The run that is asked about: "why is it slower?"
struct CandidateRun {
    const analysis::RunSummary& summary;
};

/// How the durations of a run's steps are spread, in nanoseconds. All 0 for no steps.
struct StepDistribution {
    int64_t count = 0;
    int64_t meanNs = 0;  ///< Rounded to the nanosecond: what the parts sum to.
    double medianNs = 0;
    double p95Ns = 0;
    int64_t minimumNs = 0, maximumNs = 0;
    double firstQuartileNs = 0, thirdQuartileNs = 0;
};

enum class Outcome : uint8_t {
    Nothing,      ///< A side is empty: nothing can be compared.
    TooFewSteps,  ///< Fewer than `fewestStepsForClaim` steps on a side: figures, but no claim.
    // Of two runs, which say nothing of their programs:
    Alike,    ///< The difference is not beyond the spread between steps.
    Longer,   ///< The candidate's steps took longer.
    Shorter,  ///< They took less.
    // Of programs, by runs whose spread is known:
    WithinNoise,  ///< The difference is not beyond the spread between runs.
    Slower,
    Faster,
    PartsChanged,  ///< That of the step is not, but that of some of its parts is; of answers only.
};
/// "nothing", "too few steps", "steps alike", "longer steps", "shorter steps", "within run-to-run
/// spread", "slower", "faster", "parts changed".
std::string_view name(Outcome outcome);
/// For files and programs: "nothing", "too_few_steps", "alike", "longer", "shorter",
/// "within_noise", "slower", "faster", "parts_changed".
std::string_view identifier(Outcome outcome);
/// Of four against four no difference, however large, has a p below 0.01.
inline constexpr int64_t fewestStepsForClaim = 5;

/// What a claim counts as independent: only runs tell of the program, steps of the two runs alone.
enum class ClaimUnit : uint8_t { Steps, Runs };
/// "steps", "runs".
std::string_view identifier(ClaimUnit unit);

/// Whether the candidate takes longer, and how sure that is. Of two runs (`ClaimUnit::Steps`):
/// `Longer` and `Shorter` need all of: p below 0.01 in a Mann-Whitney U test, a bootstrap
/// confidence interval of the difference of medians without 0, and a difference of medians greater
/// than `noiseNs`. Of several (`ClaimUnit::Runs`): see `judgeRuns`.
struct Claim {
    Outcome outcome = Outcome::Nothing;
    ClaimUnit unit = ClaimUnit::Steps;
    /// Candidate's median less the baseline's; of several runs, of the geometric means of theirs.
    double differenceNs = 0;
    double percent = 0;  ///< Of the baseline's median.
    double pValue = 1;   ///< Two-sided, of this difference alone.
    /// Of runs: with the parts of the step judged beside it considered (`judgeParts`).
    double adjustedPValue = 1;
    double lowNs = 0, highNs = 0;            ///< 95 % confidence interval of `differenceNs`.
    double lowPercent = 0, highPercent = 0;  ///< The same in percent; of runs only.
    /// A smaller difference is none. Of two runs the greatest of 1 % of the baseline's median and,
    /// in either run, half the interquartile range and how far the medians of its first and second
    /// half lie apart; of several 1 %.
    double noiseNs = 0;
    int64_t baselineRuns = 1, candidateRuns = 1;
    int64_t spreadRuns = 0;     ///< Earlier runs that tell how much runs differ.
    double visiblePercent = 0;  ///< The smallest change that four of five such tests see; of runs.
    /// How far the runs of a side lie apart, of the lowest; nothing of one run a side.
    std::optional<double> apartPercent;
    bool areByTurns = false;  ///< A drift over the order of the runs was looked for (`judgeRuns`).
};

/// What is judged beside the whole step, with the run as the unit.
enum class QuantityKind : uint8_t {
    Part,         ///< A part of the step.
    IdleInRange,  ///< All idle time of the GPU that lies in one NVTX path.
};
/// For files and programs: "part", "idle_in_range".
std::string_view identifier(QuantityKind kind);

/// Whether one quantity of the step is another in the candidate's program, see `judgeParts`.
struct QuantityClaim {
    QuantityKind kind = QuantityKind::Part;
    analysis::StepPart part = analysis::StepPart::Compute;  ///< Of `Part`.
    std::string path;                                       ///< Of `IdleInRange`.
    double baselineNs = 0;         ///< Mean over the runs of the number of each.
    double differenceNs = 0;       ///< Candidate's less the baseline's.
    double lowNs = 0, highNs = 0;  ///< 95 % confidence interval of `differenceNs`.
    double pValue = 1;             ///< Two-sided, of this quantity alone.
    double adjustedPValue = 1;     ///< With all that are judged at once considered.
    /// The difference is beyond the spread between runs, and at least 1 % of the step.
    bool isCertain = false;
};

// Times of the mean step are rounded once, here: to multiples of the last digit that
// `WorkerComparison::scale` shows. The mean step is rounded; then its parts, so that they sum to
// it; then the contributors of each part, so that they sum to the part (the greatest remainders are
// rounded up). A range is the sum of its contributors, and a difference that of the two rounded
// numbers. Whoever shows such a time writes it with that scale, so a sentence, a table, a chart and
// a file give one number. What nobody adds up (medians, quantiles, single steps, summed durations)
// stays exact, and is written by `shownNumbers.h`.

/// One part of the step in both runs, means per step. Over all parts each column sums to the mean
/// step time of its run.
struct PartDifference {
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t baselineNs = 0;
    int64_t candidateNs = 0;
    /// Positive: the candidate loses this much time a step.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// How two contributors were found to be the same thing.
enum class MatchKind : uint8_t {
    SameName,      ///< Same name within the same NVTX path, or the only one of that name.
    SamePosition,  ///< Renamed: same NVTX path, and alike in order and count within the step.
    OnlyBaseline,
    OnlyCandidate,
};
/// "same name", "same position", "only in baseline", "only in candidate".
std::string_view name(MatchKind kind);
/// For files and programs: "same_name", "same_position", "only_baseline", "only_candidate".
std::string_view identifier(MatchKind kind);

/// One side of a contributor, per step.
struct ContributorShare {
    std::string name;
    int64_t exposedNs = 0;  ///< Of the step's mean time; within a part these sum to the part.
    int64_t totalNs = 0;    ///< Summed durations, hidden ones too.
    double count = 0;
    int64_t bytes = 0;
    /// Bytes over summed durations, in 10^9 bytes a second; of a collective its bus bandwidth
    /// (as nccl-tests define it). 0 if unknown.
    double gigabytesPerSecond = 0;
};

struct ContributorDifference {
    analysis::StepPart part = analysis::StepPart::Compute;
    analysis::ContributorKind kind = analysis::ContributorKind::Kernel;
    MatchKind match = MatchKind::SameName;
    std::string path;  ///< NVTX ranges around it: "step #/backward".
    ContributorShare baseline;
    ContributorShare candidate;
    int64_t lostNs() const { return candidate.exposedNs - baseline.exposedNs; }
    /// The candidate's name, or the baseline's if only that has it.
    const std::string& name() const;
};

/// Time that a part lost within one NVTX path, summed over its contributors.
struct RangeDifference {
    std::string path;  ///< Empty: outside of any range.
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t baselineNs = 0, candidateNs = 0;
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// A worker of the baseline against the worker of the candidate that stands in its place.
struct WorkerComparison {
    uint32_t baselineWorker = noIndex;  ///< Index into `RunSummary::workers`.
    uint32_t candidateWorker = noIndex;
    std::string baselineLabel, candidateLabel;  ///< "rank 1, GPU 1".
    /// Of the times of the mean step; it depends on the baseline only, so that its numbers are the
    /// same against every candidate.
    DurationScale scale;
    StepDistribution baseline, candidate;
    Claim claim;
    std::vector<PartDifference> parts;  ///< All of them, in the order of the enumeration.
    /// By part, then by time lost, greatest first. Unmatched ones stand against nothing.
    std::vector<ContributorDifference> contributors;
    std::vector<RangeDifference> ranges;  ///< By time lost, greatest first.
    /// What was judged beside the step: parts in their order, then ranges; empty of two runs.
    std::vector<QuantityClaim> quantities;

    /// What the mean step of the candidate takes longer; the sum of all parts' `lostNs()`.
    int64_t lostNs() const { return candidate.meanNs - baseline.meanNs; }
};

/// One reason of the difference.
struct Cause {
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t lostNs = 0;  ///< Per step; negative if the candidate saves it.
    /// The contributor of the part that changed most; nothing if no single one stands out.
    std::optional<ContributorDifference> main;
    bool hasLostNvlink = false;  ///< It went over NVLink, and does no longer.
    /// Something else is done, not the same for longer: a fact of the program, told first. `lostNs`
    /// is then that of `main` alone where its part is told by another cause, or not at all.
    bool isChangeOfKind = false;
    bool isOfWholePart = true;  ///< `lostNs` is what the part lost, not `main` alone.
    /// How sure it is that the programs differ in this; nothing where that was not judged.
    std::optional<QuantityClaim> judged;
    bool isCertain() const { return judged && judged->isCertain; }
    /// In words: "+31.204 ms exposed NCCL AllReduce in the mean step, bus bandwidth 112.0 → 24.3
    /// GB/s".
    std::string text;
};

/// The one answer: what was found, then the same in words.
struct Answer {
    Outcome outcome = Outcome::Nothing;
    std::vector<Cause> causes;  ///< As `causesOf` finds and orders them.
    /// Of `RunComparison::outliers`, if the runs are alike but for it: the step of the candidate
    /// that stands out most, then those that lost their time in the same way.
    std::vector<uint32_t> tellingOutliers;
    /// "Candidate is 23.1 % slower (95 % confidence 20.2 to 26.1 %, p < 0.001, ...): +31.204 ms
    /// ..."
    std::string sentence;
    std::vector<Clause> clauses;       ///< The sentence in pieces, each with its evidence.
    std::vector<std::string> details;  ///< Further sentences: which steps, which rank, outliers.
    std::vector<std::string>
        cautions;  ///< What makes the numbers doubtful; to be shown before them.
};

/// A step that stands out, and in which run.
struct RunOutlier {
    bool isCandidate = false;
    std::string worker;  ///< "rank 1, GPU 1".
    analysis::OutlierStep step;
};

/// What the steps of one side do and those of the other do not, or far less (`patternOf`).
struct PatternDifference {
    bool isCandidate = false;
    uint32_t pair = noIndex;  ///< Index into `RunComparison::workers`.
    std::string worker;       ///< "rank 2, GPU 2".
    analysis::StepPattern pattern;
    int64_t otherExcessNs = 0;      ///< Of the same pattern on the other side; 0 if it has none.
    std::string contributor, path;  ///< What carries it; empty if that is not known.
    std::string text;  ///< "only in the candidate every third step of rank 2, GPU 2 takes ..."
};

struct RunComparison {
    analysis::SummaryFacts baseline, candidate;
    StepSource baselineSource = StepSource::WholeRun, candidateSource = StepSource::WholeRun;
    std::string baselinePattern, candidatePattern;
    std::vector<WorkerComparison> workers;  ///< Pairs; in the order of the candidate's workers.
    /// The same pairs with times to the nanosecond: what conditions are tested by.
    std::vector<WorkerComparison> exact;
    uint32_t critical = noIndex;  ///< The pair the answer is about; `noIndex` if there is none.
    std::vector<RunOutlier> outliers;
    std::vector<PatternDifference> patterns;  ///< Dearest first.
    Answer answer;

    const WorkerComparison* criticalPair() const {
        return critical < workers.size() ? &workers[critical] : nullptr;
    }
    const WorkerComparison* exactCriticalPair() const {
        return critical < exact.size() ? &exact[critical] : nullptr;
    }
};

/// Compares two runs. Workers are paired by rank, else in order; where one run has more, the rest
/// stands alone and is not compared, but a caution says so. The pair that the answer is about is
/// that of the critical worker (`RunSummary::criticalWorker`) of the slower run. Linear but for
/// sorting and for at most some hundred renamed kernels, which is quadratic; any thread. The same
/// input gives the same answer.
RunComparison compareRuns(BaselineRun baseline, CandidateRun candidate);

/// Runs of the same program, at least one.
using RunGroup = std::span<const analysis::RunSummary>;

/// Two programs by several runs a side, with the run as the unit (`judgeRuns`).
struct ProgramComparison {
    analysis::RunSummary baseline, candidate;  ///< The runs of a side as one (`poolRuns`).
    RunComparison comparison;  ///< Of these; its claims are of runs where their spread is known.
};

/// Compares programs. Parts, contributors and steps are those of all runs of a side together.
/// `earlier` are runs of one program, here or before, that tell how much runs differ; none, or two
/// and more. With one run a side and none earlier the comparison is that of `compareRuns`. Fails,
/// with a sentence, if runs of a side have not the same workers, or one has no steps.
Result<ProgramComparison> comparePrograms(RunGroup baseline, RunGroup candidate,
                                          RunGroup earlier = {});

/// Workers of two runs that stand in the same place: indices into `RunSummary::workers`.
struct WorkerPair {
    uint32_t baseline;
    uint32_t candidate;
};

/// Pairs workers by rank, where each has one of its own, else in order. What has no counterpart is
/// left out. Quadratic in the workers.
std::vector<WorkerPair> workerPairs(const analysis::RunSummary& baseline,
                                    const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
