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
#include "model/format/TimeRange.h"
#include "model/text/formatValue.h"
#include "model/trace/Trace.h"

namespace lanescope::compare {

/// A step of the candidate and the baseline's step at the same position among the compared steps.
struct StepDifference {
    int64_t number = 0;  ///< Number of the candidate's step.
    std::string name;
    int64_t baselineStartNs = 0, baselineNs = 0;
    int64_t candidateStartNs = 0, candidateNs = 0;
    int64_t lostInAllNs = 0;  ///< Time lost by this step and all before it.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// Returns as many differences as both workers have steps. Linear.
std::vector<StepDifference> stepDifferences(const analysis::WorkerSummary& baseline,
                                            const analysis::WorkerSummary& candidate);

/// Statistics of a counter over a range of time.
struct CounterAmount {
    bool hasValue = false;  ///< If false, the other members mean nothing.
    double minimum = 0;
    double maximum = 0;
    double mean = 0;   ///< Weighted by the duration of each value.
    EventRef highest;  ///< The sample with the greatest value.
};

/// A counter of the baseline and the same one of the candidate.
struct CounterDifference {
    std::string name;   ///< "Device memory".
    std::string owner;  ///< "GPU 0", "rank 1", "GPU 0, link 3"; empty for the machine.
    CounterUnit unit = CounterUnit::Count;
    CounterAmount baseline = {}, candidate = {};
    /// Percent of the baseline's mean; 0 if that is 0 or a side has no value.
    double changePercent() const;
};

/// Returns the counters of both runs in these ranges, largest change first. Counters of one name are paired by GPU
/// number, rank, link and sampler. Counters without a value on both sides are omitted. Linear in the samples of the
/// ranges and quadratic in the number of counters; any thread.
std::vector<CounterDifference> counterDifferences(const Trace& baseline, TimeRange baselineRange,
                                                  const Trace& candidate, TimeRange candidateRange);

/// Subject of a row or a clause of a comparison.
struct InstanceQuery {
    analysis::StepPart part = analysis::StepPart::Compute;
    analysis::ContributorKind kind = analysis::ContributorKind::Kernel;
    /// Empty if that run has nothing like it.
    analysis::ContributorName baselineName = {}, candidateName = {};
    std::string baselinePath = {}, candidatePath = {};
};

/// Kind of a fact, which determines its evidence.
enum class ClauseKind : uint8_t {
    Words,   ///< No evidence.
    Step,    ///< Duration of steps: shown by the step of either run nearest to its median.
    Cause,   ///< A change: shown by the place where `query` lost most.
    Single,  ///< An outlier step: shown by that step and its counterpart in the other run.
};
/// For files and programs: "words", "step", "cause", "single".
std::string_view identifier(ClauseKind kind);

/// A piece of a comparison's sentence and its evidence. All pieces in order form the sentence.
struct Clause {
    std::string text;
    ClauseKind kind = ClauseKind::Words;
    std::optional<InstanceQuery> query = {};  ///< For `Cause`.
    bool isCandidate = false;                 ///< For `Single`: the run of the step.
    int64_t number = 0;                       ///< For `Single`: the number of the step.
    bool hasEvidence() const { return kind != ClauseKind::Words; }
};

/// The reference run. A type of its own, so that the sides cannot be swapped.
struct BaselineRun {
    const analysis::RunSummary& summary;
};

/// The examined run: "why is it slower?"
struct CandidateRun {
    const analysis::RunSummary& summary;
};

/// Distribution of the durations of a run's steps, in nanoseconds. All 0 for no steps.
struct StepDistribution {
    int64_t count = 0;
    int64_t meanNs = 0;  ///< Rounded to the nanosecond; the sum of the parts.
    double medianNs = 0;
    double p95Ns = 0;
    int64_t minimumNs = 0, maximumNs = 0;
    double firstQuartileNs = 0, thirdQuartileNs = 0;
};

enum class Outcome : uint8_t {
    Nothing,      ///< A side is empty: nothing can be compared.
    TooFewSteps,  ///< Fewer than `minStepsForClaim` steps on a side: figures, but no claim.
    // For two runs, which give no evidence about their programs:
    Alike,    ///< The difference is not beyond the spread between steps.
    Longer,   ///< The candidate's steps took longer.
    Shorter,  ///< The candidate's steps took less time.
    // For programs, by runs with a known spread:
    WithinNoise,  ///< The difference is not beyond the spread between runs.
    Slower,
    Faster,
    PartsChanged,  ///< The step's difference is not beyond the spread, but that of some parts is. For answers only.
};
/// "nothing", "too few steps", "steps alike", "longer steps", "shorter steps", "within run-to-run
/// spread", "slower", "faster", "parts changed".
std::string_view name(Outcome outcome);
/// For files and programs: "nothing", "too_few_steps", "alike", "longer", "shorter",
/// "within_noise", "slower", "faster", "parts_changed".
std::string_view identifier(Outcome outcome);
/// With four steps on each side no difference, however large, has a p below 0.01.
inline constexpr int64_t minStepsForClaim = 5;

/// Independent unit of a claim: only runs give evidence about programs, steps only about the two runs.
enum class ClaimUnit : uint8_t { Steps, Runs };
/// "steps", "runs".
std::string_view identifier(ClaimUnit unit);

/// Verdict on the candidate's step time, and its certainty. For two runs (`ClaimUnit::Steps`),
/// `Longer` and `Shorter` need all of:
/// - p below 0.01 in a Mann-Whitney U test;
/// - a bootstrap confidence interval of the difference of medians without 0;
/// - a difference of medians greater than `noiseNs`.
///
/// For several runs (`ClaimUnit::Runs`) see `judgeRuns`.
struct Claim {
    Outcome outcome = Outcome::Nothing;
    ClaimUnit unit = ClaimUnit::Steps;
    /// Candidate's median minus the baseline's; for several runs the difference of geometric means.
    double differenceNs = 0;
    double percent = 0;  ///< Percent of the baseline's median.
    double pValue = 1;   ///< Two-sided, for this difference alone.
    /// For runs: corrected for the parts of the step that are also judged (`judgeParts`).
    double adjustedPValue = 1;
    double lowNs = 0, highNs = 0;            ///< 95 % confidence interval of `differenceNs`.
    double lowPercent = 0, highPercent = 0;  ///< The same interval in percent; for runs only.
    /// Smaller differences do not count. For two runs the maximum of 1 % of the baseline's median and, in either, half
    /// the interquartile range and the difference between the medians of its halves. For several runs 1 %.
    double noiseNs = 0;
    int64_t baselineRuns = 1, candidateRuns = 1;
    int64_t spreadRuns = 0;     ///< Earlier runs used to estimate the spread between runs.
    double visiblePercent = 0;  ///< The smallest change that four of five such tests detect; for runs.
    /// Largest distance between runs of one side, relative to the lowest; nullopt for one run per side.
    std::optional<double> spreadPercent = {};
    bool areAlternating = false;  ///< A drift over the order of the runs was tested for (`judgeRuns`).
};

/// Kind of a quantity judged in addition to the whole step, with the run as the unit.
enum class QuantityKind : uint8_t {
    Part,         ///< A part of the step.
    IdleInRange,  ///< All idle time of the GPU that lies in one NVTX path.
};
/// For files and programs: "part", "idle_in_range".
std::string_view identifier(QuantityKind kind);

/// Verdict on one quantity of the step in the candidate's program; see `judgeParts`.
struct QuantityClaim {
    QuantityKind kind = QuantityKind::Part;
    analysis::StepPart part = analysis::StepPart::Compute;  ///< For `Part`.
    std::string path;                                       ///< For `IdleInRange`.
    double baselineNs = 0;                                  ///< Mean over the runs.
    double differenceNs = 0;                                ///< Candidate's mean minus the baseline's.
    double lowNs = 0, highNs = 0;                           ///< 95 % confidence interval of `differenceNs`.
    double pValue = 1;                                      ///< Two-sided, for this quantity alone.
    double adjustedPValue = 1;                              ///< Corrected for all quantities judged together.
    /// The difference is beyond the spread between runs, and at least 1 % of the step.
    bool isCertain = false;
};

// Times of the mean step are rounded once, here, to multiples of the last digit shown by `WorkerComparison::scale`. The
// mean step is rounded first, then its parts, so that they sum to the step. The contributors of each part are rounded
// so that they sum to the part (the greatest remainders are rounded up). A range is the sum of its contributors. A
// difference is that of the two rounded numbers. All such times are written with that scale, so a sentence, a table, a
// chart and a file show the same number. Values that are not summed (medians, quantiles, single steps, summed
// durations) stay exact and are written by `shownNumbers.h`.

/// One part of the step in both runs, mean per step. Each column sums to the mean step time of its run over all parts.
struct PartDifference {
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t baselineNs = 0;
    int64_t candidateNs = 0;
    /// Positive if the candidate loses this time per step.
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// Method by which two contributors were matched.
enum class MatchKind : uint8_t {
    SameName,      ///< Same name within the same NVTX path, or the only one of that name.
    SamePosition,  ///< Renamed: same NVTX path, similar in order and count within the step.
    OnlyBaseline,
    OnlyCandidate,
};
/// "same name", "same position", "only in baseline", "only in candidate".
std::string_view name(MatchKind kind);
/// For files and programs: "same_name", "same_position", "only_baseline", "only_candidate".
std::string_view identifier(MatchKind kind);

/// One side of a contributor, per step.
struct ContributorShare {
    analysis::ContributorName name;
    int64_t exposedNs = 0;  ///< Share of the step's mean time; within a part the shares sum to the part.
    int64_t totalNs = 0;    ///< Summed durations, including overlapped time.
    double count = 0;
    int64_t bytes = 0;
    /// Bytes over summed durations, in 10^9 bytes per second; bus bandwidth (nccl-tests) of a collective. 0 if unknown.
    double gigabytesPerSecond = 0;
};

struct ContributorDifference {
    analysis::StepPart part = analysis::StepPart::Compute;
    analysis::ContributorKind kind = analysis::ContributorKind::Kernel;
    MatchKind match = MatchKind::SameName;
    std::string path = {};  ///< Surrounding NVTX ranges: "step #/backward".
    ContributorShare baseline = {};
    ContributorShare candidate = {};
    int64_t lostNs() const { return candidate.exposedNs - baseline.exposedNs; }
    /// Returns the candidate's name, or the baseline's if only the baseline has it.
    const analysis::ContributorName& name() const;
};

/// Time that a part lost within one NVTX path, summed over its contributors.
struct RangeDifference {
    std::string path;  ///< Empty: outside of any range.
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t baselineNs = 0, candidateNs = 0;
    int64_t lostNs() const { return candidateNs - baselineNs; }
};

/// A part of the critical path in both runs, matched by part, rank, name and line.
struct PathDifference {
    analysis::PathTime part;  ///< As in the baseline, or in the candidate if only that has it.
    std::optional<int64_t> baselineNs, candidateNs;
    int64_t lostNs() const { return candidateNs.value_or(0) - baselineNs.value_or(0); }
};

/// A worker of the baseline and its counterpart in the candidate.
struct WorkerComparison {
    uint32_t baselineWorker = noIndex;  ///< Index into `RunSummary::workers`.
    uint32_t candidateWorker = noIndex;
    std::string baselineLabel, candidateLabel;  ///< "rank 1, GPU 1".
    /// Scale of the times of the mean step. Depends on the baseline only, whose numbers are thus always the same.
    DurationScale scale = {};
    StepDistribution baseline = {}, candidate = {};
    /// MFU of the two runs, a fraction. Both have the same source of FLOPs and kind of peak; else nullopt.
    std::optional<double> baselineMfu = {}, candidateMfu = {};
    Claim claim = {};
    std::vector<PartDifference> parts = {};  ///< All of them, in the order of the enumeration.
    /// By part, then by lost time, largest first. Unmatched contributors have no counterpart.
    std::vector<ContributorDifference> contributors = {};
    std::vector<RangeDifference> ranges = {};  ///< By lost time, largest first.
    /// By change either way, largest first. Empty unless the recorded causes explain the steps of both runs.
    std::vector<PathDifference> path = {};
    /// Quantities judged in addition to the step: parts in their order, then ranges. Empty for two runs.
    std::vector<QuantityClaim> quantities = {};

    /// Additional time of the candidate's mean step; the sum of `lostNs()` of all parts.
    int64_t lostNs() const { return candidate.meanNs - baseline.meanNs; }
};

/// One reason for the difference.
struct Cause {
    analysis::StepPart part = analysis::StepPart::Compute;
    int64_t lostNs = 0;  ///< Per step; negative if the candidate saves it.
    /// The contributor of the part that changed most; nullopt if no single one stands out.
    std::optional<ContributorDifference> main = {};
    bool hasLostNvlink = false;  ///< The transfer used NVLink in the baseline and no longer does.
    /// The program does something else, not the same for longer. Reported first, as a fact about
    /// the program. `lostNs` then covers `main` alone if another cause, or none, covers its part.
    bool isChangeOfKind = false;
    bool isOfWholePart = true;  ///< `lostNs` is the loss of the whole part, not of `main` alone.
    /// Certainty that the programs differ in this; nullopt if not judged.
    std::optional<QuantityClaim> judged = {};
    bool isCertain() const { return judged && judged->isCertain; }
    /// In words: "+31.204 ms exposed NCCL AllReduce in the mean step, bus bandwidth 112.0 → 24.3 GB/s".
    std::string text = {};
};

/// The answer: first the findings, then the same in words.
struct Answer {
    Outcome outcome = Outcome::Nothing;
    std::vector<Cause> causes;  ///< As found and ordered by `causesOf`.
    /// Indices into `RunComparison::outliers`, if the runs are otherwise alike: the candidate's
    /// most significant outlier step, then steps that lost their time in the same way.
    std::vector<uint32_t> significantOutliers;
    /// "Candidate is 23.1 % slower (95 % confidence 20.2 to 26.1 %, p < 0.001, ...): +31.204 ms ..."
    std::string sentence;
    std::vector<Clause> clauses;        ///< The sentence in pieces, each with its evidence.
    std::vector<std::string> details;   ///< Further sentences: which steps, which rank, outliers.
    std::vector<std::string> cautions;  ///< Reasons to doubt the numbers; shown before them.
};

struct RunOutlier {
    bool isCandidate = false;
    std::string worker;  ///< "rank 1, GPU 1".
    analysis::OutlierStep step;
};

/// A pattern of one side's steps that the other side lacks or has far less of (`patternOf`).
struct PatternDifference {
    bool isCandidate = false;
    uint32_t pair = noIndex;  ///< Index into `RunComparison::workers`.
    std::string worker;       ///< "rank 2, GPU 2".
    analysis::StepPattern pattern;
    int64_t otherExcessNs = 0;                   ///< Excess of the same pattern on the other side; 0 if it has none.
    analysis::ContributorName contributor = {};  ///< Its main contributor; empty if unknown.
    std::string path = {};
    std::string text = {};  ///< "only in the candidate, every third step of rank 2, GPU 2 takes ..."
};

struct RunComparison {
    analysis::SummaryFacts baseline, candidate;
    StepSource baselineSource = StepSource::WholeRun, candidateSource = StepSource::WholeRun;
    std::string baselinePattern, candidatePattern;
    std::vector<WorkerComparison> workers = {};  ///< Pairs; in the order of the candidate's workers.
    /// The same pairs with times to the nanosecond; conditions are tested against these.
    std::vector<WorkerComparison> exact = {};
    uint32_t critical = noIndex;  ///< The pair that the answer is about; `noIndex` if there is none.
    std::vector<RunOutlier> outliers = {};
    std::vector<PatternDifference> patterns = {};  ///< Most expensive first.
    Answer answer = {};

    const WorkerComparison* criticalPair() const { return critical < workers.size() ? &workers[critical] : nullptr; }
    const WorkerComparison* exactCriticalPair() const { return critical < exact.size() ? &exact[critical] : nullptr; }
};

/// Compares two runs. Workers are paired by rank, else in order. A caution reports unpaired workers. The answer is
/// about the pair of the slower run's critical worker (`RunSummary::criticalWorker`). Linear except for sorting,
/// quadratic in some hundred renamed kernels; any thread. The same input gives the same answer.
RunComparison compareRuns(BaselineRun baseline, CandidateRun candidate);

/// Runs of the same program, at least one.
using RunGroup = std::span<const analysis::RunSummary>;

/// Comparison of two programs by several runs per side, with the run as the unit (`judgeRuns`).
struct ProgramComparison {
    analysis::RunSummary baseline, candidate;  ///< The runs of each side as one (`poolRuns`).
    RunComparison comparison;  ///< Comparison of the pooled runs; its claims are about runs if their spread is known.
};

/// Compares programs. Parts, contributors and steps are those of all runs of a side together. `earlier` contains none
/// or at least two runs of one program, here or before, for the spread between runs. With one run per side and none
/// earlier the result is that of `compareRuns`. Fails if a side's runs have different workers, or one has no steps.
Result<ProgramComparison> comparePrograms(RunGroup baseline, RunGroup candidate, RunGroup earlier = {});

/// Corresponding workers of two runs: indices into `RunSummary::workers`.
struct WorkerPair {
    uint32_t baseline;
    uint32_t candidate;
};

/// Pairs workers by rank if each has its own, else in order. Omits workers without a counterpart. Quadratic.
std::vector<WorkerPair> workerPairs(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
