#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/export/comparison/ComparisonReport.h"

namespace lanescope {

// What text and HTML lay out: the candidates of a report side by side, row by row. Pointers point
// into the report.

/// Candidates that are compared with the same worker of the baseline, so that one column holds its
/// numbers. Nearly always there is one group; candidates without steps are in none.
struct CandidateGroup {
    uint32_t baselineWorker = 0;
    std::vector<size_t> candidates;  ///< Indices into `ComparisonReport::candidates`.
};
/// In groups of at most `most` candidates, in the order of the report.
std::vector<CandidateGroup> candidateGroups(const ComparisonReport& report, size_t most);

/// The pair of workers that the answer about a candidate of a group is about.
const WorkerComparison& pairOf(const ComparisonReport& report, size_t candidate);

/// One part of the step in all runs of a group.
struct PartRow {
    StepPart part = StepPart::Compute;
    int64_t baselineNs = 0;
    std::vector<int64_t> candidateNs;
};
/// The parts that any run of the group has, in their order. Every column is rounded to multiples of
/// `quantumNs` so that it still sums to its rounded mean step.
std::vector<PartRow> partRows(const ComparisonReport& report, const CandidateGroup& group,
                              int64_t quantumNs);

/// Rounds to multiples of `quantum` so that the sum of the results is the rounded sum, moving each
/// number by less than one quantum (largest remainder). O(n log n).
std::vector<int64_t> roundedToSum(std::span<const int64_t> values, int64_t quantum);

/// A contributor in all runs of a group.
struct ContributorRow {
    StepPart part = StepPart::Compute;
    ContributorKind kind = ContributorKind::Kernel;
    std::string_view path;
    std::string_view name;        ///< In the candidates, or in the baseline if only there.
    std::string_view formerName;  ///< In the baseline, if it was found under another name.
    const ContributorShare* baseline = nullptr;            ///< Null if it has none.
    std::vector<const ContributorDifference*> candidates;  ///< Null where neither side has it.
    int64_t greatestLossNs = 0;   ///< Of the candidates' losses the one farthest from 0.
    bool isOnlyBaseline = false;  ///< No candidate has it.
    bool isOnlyCandidate = false;
};

/// Lists of contributors, as they are headed: kernels, collectives, copies with memsets, idle time.
enum class ContributorList : uint8_t { Kernels, Collectives, Copies, Idle };
inline constexpr size_t contributorListCount = 4;
std::string_view titleOf(ContributorList list);
bool hasBandwidth(ContributorList list);

/// The contributors of a list: by the loss of a candidate, lost first and saved last; of those the
/// `top` that weigh most either way and changed at all, or all if `top` is 0. Those on one side
/// only are among them.
std::vector<ContributorRow> contributorRows(const ComparisonReport& report,
                                            const CandidateGroup& group, ContributorList list,
                                            size_t top);

/// Those that only one side has, longest first.
std::vector<ContributorRow> unmatchedRows(const ComparisonReport& report,
                                          const CandidateGroup& group, bool isOfBaseline);

/// An NVTX path in all runs of a group: its share of the step, over all parts.
struct RangeRow {
    std::string_view path;
    int64_t baselineNs = 0;
    std::vector<int64_t> candidateNs;
    int64_t greatestLossNs = 0;
};
std::vector<RangeRow> rangeRows(const ComparisonReport& report, const CandidateGroup& group,
                                size_t top);

}  // namespace lanescope
