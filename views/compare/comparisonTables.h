#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/compare/worstInstance.h"
#include "views/compare/ComparedRuns.h"

namespace lanescope {

/// What a row of a comparison's table leads to.
struct CompareRow {
    std::optional<InstanceQuery> query;  ///< A contributor: go to its worst instance.
    std::optional<StepPart> part;
    int step = -1;                           ///< By its place among the compared ones.
    EventRef baselineEvent, candidateEvent;  ///< Exactly these.
};

/// A table with what its rows lead to; as many of one as of the other.
struct CompareTable {
    ReportTable table;
    std::vector<CompareRow> rows;
};

/// Which candidate, and which pair of workers of its comparison, a table is about.
struct ComparedPair {
    const ComparedRuns& runs;
    size_t candidate = 0;
    uint32_t pair = 0;

    const WorkerComparison& workers() const { return runs.comparisons[candidate].workers[pair]; }
};

// All times are per step. Each further candidate has a column "Lost: NAME" of its own.

/// Part, Baseline, Candidate, Lost, Share.
CompareTable partRows(const ComparedPair& shown);
/// Part, Kind, Name, Range, counts, times and rates on both sides, Lost, Match; `kinds` empty for
/// all of them.
CompareTable contributorRows(const ComparedPair& shown, const std::vector<ContributorKind>& kinds);
/// Range, Part, Baseline, Candidate, Lost.
CompareTable rangeRows(const ComparedPair& shown);
/// What only one run has: Side, Part, Kind, Name, Range, Count, Time.
CompareTable unmatchedRows(const ComparedPair& shown);
/// Step, Name, Baseline, Candidate, Lost, Lost in All, Most Lost In.
CompareTable stepRows(const ComparedPair& shown);
/// The steps that stand out in either run.
CompareTable outlierRows(const ComparedPair& shown);
/// Counters over the compared steps: Counter, Of, means, greatest values, Change.
CompareTable counterRows(const ComparedPair& shown);
/// Every pair of workers.
CompareTable workerRows(const ComparedPair& shown);

}  // namespace lanescope
