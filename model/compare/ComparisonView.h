// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/analysis/StepSelection.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// One compared run: data to find single events in it again.
struct InstanceSide {
    const Trace& trace;
    StepSelection selection;  ///< Selection of the summary.
    const analysis::WorkerSummary& worker;
};

/// Place of the candidate's largest loss against the baseline.
struct WorstInstance {
    size_t step = 0;  ///< Index among the compared steps of both runs.
    /// Invalid if the run has none in that step. For idle time the work that ended the longest gap of that cause.
    EventRef baseline{}, candidate{};
    TimeRange baselineGap{}, candidateGap{};  ///< For idle time; else empty.
    int64_t lostNs = 0;                       ///< Loss of this instance.
    bool isFound = false;
};

/// Pairs the n-th instance of a contributor in a step with the n-th of the same step, and returns the pair with the
/// candidate's largest loss. An instance without a counterpart is compared with nothing. Uses instances on the query's
/// path, or of the name on any path if there are none. For idle time: the step whose part grew most, and in it the
/// longest gap of that cause, or else of that part. O(n log n) in the events of both runs; any thread.
WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query);

/// Evidence of a fact in one run.
struct EvidenceSide {
    std::optional<size_t> step;  ///< Index among the compared steps.
    TimeRange range;             ///< Range of the trace; empty if this run has nothing like it.
    EventRef event;              ///< Event to select; for idle time the work that ended it.
};

/// Evidence of a clause of the sentence in both runs.
struct Evidence {
    EvidenceSide baseline, candidate;
    bool isFound() const { return baseline.step || candidate.step; }
};

/// Finds the evidence of a clause. A step is shown by its longest piece of work on the worker's GPU, a cause by its
/// worst instance (`worstInstance`). A run without an instance shows the corresponding step. Finds nothing for words,
/// or in runs without steps. O(n log n) in the events of both runs; any thread.
Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate);

/// Range of the median steps of one side's runs.
struct RunBand {
    size_t runs = 0;  ///< No band with fewer than two.
    double lowestNs = 0, highestNs = 0;
};

/// Returns the band of the workers that represent one worker in each run. O(n log n) in their steps.
RunBand runBand(std::span<const analysis::WorkerSummary* const> workers);

/// Steps of several runs in order, as drawn by charts. More than a thousand are grouped with neighbours into bars.
struct StepBars {
    /// A step, or several consecutive ones.
    struct Bar {
        size_t first = 0, count = 1;  ///< Indices among the compared steps.
        int64_t shortestNs = 0, medianNs = 0, longestNs = 0;
    };
    /// An outlier step.
    struct Mark {
        size_t step = 0;
        analysis::OutlierStep outlier;
    };
    struct Run {
        std::vector<Bar> bars;
        std::vector<int64_t> numbers;    ///< Numbers of the steps.
        std::vector<std::string> names;  ///< "step 12", for the tooltip.
        std::vector<int64_t> wallNs;
        std::vector<Mark> marks;
        StepDistribution steps;
        RunBand band;
        size_t stepCount() const { return wallNs.size(); }
    };
    std::vector<Run> runs;
    size_t stepsPerBar = 1;
    size_t stepCount = 0;  ///< Steps of the longest run.
};

/// A run of the chart: its worker, or null for none.
struct StepBarsOf {
    const analysis::WorkerSummary* worker = nullptr;
    StepDistribution steps;
    RunBand band = {};
};

/// O(n log n) in the steps.
StepBars stepBars(std::span<const StepBarsOf> runs);

/// Bars from the baseline's mean step to the candidate's, in order, with small parts combined. A chart only draws them.
struct WaterfallBars {
    struct Bar {
        std::string label;                       ///< "exposed communication", "3 other parts".
        std::optional<analysis::StepPart> part;  ///< Nullopt for combined parts.
        int64_t fromNs = 0, toNs = 0;            ///< Starts at the end of the previous bar.
        int64_t lostNs() const { return toNs - fromNs; }
    };
    int64_t baselineNs = 0, candidateNs = 0;
    std::vector<Bar> bars;  ///< Largest first; combined parts last.
    DurationScale scale;    ///< Scale of all its numbers.

    /// Return the lowest and the highest end of a bar.
    int64_t lowestNs() const;
    int64_t highestNs() const;
};

/// Returns a bar for each changed part: the `maxBars` largest, each of at least a hundredth of all
/// changes. The rest is combined, unless it is one part or cancels out.
WaterfallBars waterfallBars(const WorkerComparison& pair, size_t maxBars = 7);

/// Comparisons of one baseline worker with its counterparts, side by side. Points into them; they must outlive it.
struct ComparisonView {
    struct Candidate {
        std::string heading;                     ///< Column heading: "Candidate", "[2]", "slow.sqlite".
        const WorkerComparison* pair = nullptr;  ///< Null if the candidate has no counterpart of that worker.
    };
    std::vector<Candidate> candidates;  ///< At least one, and the first has a pair.

    const WorkerComparison& first() const { return *candidates.front().pair; }
    bool isSingle() const { return candidates.size() == 1; }
    const DurationScale& scale() const { return first().scale; }
};

/// Target of a row.
struct RowLead {
    std::optional<InstanceQuery> query = {};  ///< For a contributor: leads to its worst instance.
    std::optional<analysis::StepPart> part = {};
    int step = -1;                                     ///< Index among the compared steps.
    EventRef baselineEvent = {}, candidateEvent = {};  ///< Exactly these events.
};

/// Returns a lead to the worst instance of a contributor.
RowLead leadTo(const ContributorDifference& contributor);

/// Values of one run in a row.
struct RowSide {
    std::optional<int64_t> ns;                ///< Time in the mean step; nullopt if the run has no such thing.
    std::optional<int64_t> lostNs;            ///< For a candidate: loss against the baseline, if either has it.
    const ContributorShare* share = nullptr;  ///< For a contributor that the run has.
};

/// A part, a contributor or an NVTX range in all runs of a view.
struct ComparisonRow {
    std::optional<analysis::StepPart> part;  ///< Nullopt for the whole step.
    analysis::ContributorKind kind = analysis::ContributorKind::Others;
    MatchKind match = MatchKind::SameName;  ///< "Only in the baseline" means that no candidate has it.
    std::string path = {};
    std::string name;             ///< Name of the part, range or contributor in the candidates.
    std::string formerName = {};  ///< Name of the contributor in the baseline, if different.
    RowSide baseline = {};
    std::vector<RowSide> candidates = {};  ///< As many as the view has.
    RowLead lead = {};

    /// Returns the candidates' loss farthest from 0.
    int64_t maxAbsoluteLossNs() const;
    /// Returns the side of the only run that has it; null if both sides have it.
    const ContributorShare* onlyShare() const;
};

/// Returns all parts in their order, or only those that any run has.
std::vector<ComparisonRow> partRows(const ComparisonView& view, bool hasAll = false);
/// Returns the mean step, the sum of the parts.
ComparisonRow stepRow(const ComparisonView& view);
/// Returns every contributor once, or those of one group of parts, in the order of the candidates' comparisons. They
/// are the same if part, kind, range and name in the baseline (else candidate) are.
std::vector<ComparisonRow> contributorRows(const ComparisonView& view,
                                           std::optional<analysis::PartGroup> group = std::nullopt);
/// Returns contributors, except idle time, that only the baseline or only candidates have, longest first.
std::vector<ComparisonRow> unmatchedRows(const ComparisonView& view, bool isOfBaseline);
/// Returns NVTX ranges, per part or with all parts together. Time outside any range counts only per part.
std::vector<ComparisonRow> rangeRows(const ComparisonView& view, bool isByPart);

/// Keeps the `top` changed rows with the largest change either way (all for 0), lost first, saved
/// last. With `keepsUnchanged`, keeps unchanged rows of a group that has bandwidths.
void keepLargestChanges(std::vector<ComparisonRow>& rows, size_t top, bool keepsUnchanged = false);
/// Returns true if the contributors of the group move bytes.
bool hasBandwidth(analysis::PartGroup group);

}  // namespace lanescope::compare
