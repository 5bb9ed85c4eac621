// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/RunComparison.h"
#include "model/compare/worstInstance.h"

namespace lanescope::compare {

/// Comparisons of one worker of the baseline with its counterparts, side by side: what text, pages,
/// files and windows lay out. It points into the comparisons, which outlive it.
struct ComparisonView {
    struct Candidate {
        std::string heading;  ///< Of its column: "Candidate", "[2]", "slow.sqlite".
        const WorkerComparison* pair = nullptr;  ///< Null if it has no counterpart of that worker.
    };
    std::vector<Candidate> candidates;  ///< At least one, and the first has a pair.

    const WorkerComparison& first() const { return *candidates.front().pair; }
    bool isSingle() const { return candidates.size() == 1; }
    const DurationScale& scale() const { return first().scale; }
};

/// What a row leads to.
struct RowLead {
    std::optional<InstanceQuery> query = {};  ///< A contributor: go to its worst instance.
    std::optional<analysis::StepPart> part = {};
    int step = -1;                                     ///< By its place among the compared ones.
    EventRef baselineEvent = {}, candidateEvent = {};  ///< Exactly these.
};

/// To the worst instance of a contributor.
RowLead leadTo(const ContributorDifference& contributor);

/// What one run has of a row.
struct RowSide {
    std::optional<int64_t> ns;      ///< Of the mean step; nothing if it does not have it.
    std::optional<int64_t> lostNs;  ///< Of a candidate: against the baseline, if either has it.
    const ContributorShare* share = nullptr;  ///< Of a contributor that it has.
};

/// A part, a contributor or an NVTX range in all runs of a view.
struct ComparisonRow {
    std::optional<analysis::StepPart> part;  ///< Nothing: of the whole step.
    analysis::ContributorKind kind = analysis::ContributorKind::Others;
    MatchKind match = MatchKind::SameName;  ///< Only in the baseline: no candidate has it.
    std::string path;
    std::string name;  ///< Of the part, range or contributor, as the candidates call it.
    std::string
        formerName;  ///< Of the contributor in the baseline, if it was found under another name.
    RowSide baseline;
    std::vector<RowSide> candidates;  ///< As many as the view has.
    RowLead lead;

    /// Of the candidates' losses the one farthest from 0.
    int64_t greatestLossNs() const;
    /// The side of the only run that has it; null if both sides do.
    const ContributorShare* onlyShare() const;
};

/// The parts in their order: all, or those that any run has.
std::vector<ComparisonRow> partRows(const ComparisonView& view, bool hasAll = false);
/// The mean step, to which they sum.
ComparisonRow stepRow(const ComparisonView& view);
/// Every contributor, or those of one group of parts, once. The same contributor: same part, kind
/// and range, and the same name in the baseline; what only candidates have goes by their name for
/// it. In the order of the candidates' comparisons.
std::vector<ComparisonRow> contributorRows(const ComparisonView& view,
                                           std::optional<analysis::PartGroup> group = std::nullopt);
/// Contributors but idle time that only the baseline or only candidates have, longest first.
std::vector<ComparisonRow> unmatchedRows(const ComparisonView& view, bool isOfBaseline);
/// NVTX ranges, by their parts or with all of them together; time outside of any counts with its
/// parts only.
std::vector<ComparisonRow> rangeRows(const ComparisonView& view, bool isByPart);

/// The `top` rows that weigh most either way (all for 0) and changed at all, lost first and saved
/// last. Those of a group that has bandwidths are worth a look unchanged.
void keepWeightiest(std::vector<ComparisonRow>& rows, size_t top, bool keepsUnchanged = false);
/// Its contributors move bytes.
bool hasBandwidth(analysis::PartGroup group);

}  // namespace lanescope::compare
