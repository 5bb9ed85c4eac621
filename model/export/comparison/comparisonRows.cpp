#include "model/export/comparison/comparisonRows.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

namespace lanescope {

namespace {

constexpr int64_t leastLossListedNs =
    100;  ///< Per step; less is no more than the clock's rounding.

/// Keeps the `top` rows that weigh most, sorted by loss.
template <class Row>
void keepWeightiest(std::vector<Row>& rows, size_t top) {
    if (top > 0 && rows.size() > top) {
        std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
            return std::abs(a.greatestLossNs) > std::abs(b.greatestLossNs);
        });
        rows.resize(top);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.greatestLossNs > b.greatestLossNs;
    });
}

int64_t fartherFromZero(int64_t a, int64_t b) {
    return std::abs(b) > std::abs(a) ? b : a;
}

bool isIn(ContributorList list, const ContributorDifference& difference) {
    if (isIdle(difference.part)) return list == ContributorList::Idle;
    switch (list) {
        case ContributorList::Kernels:
            return difference.part == StepPart::Compute;
        case ContributorList::Collectives:
            return difference.part == StepPart::ExposedCommunication;
        case ContributorList::Copies:
            return difference.part > StepPart::ExposedCommunication;
        case ContributorList::Idle:
            break;
    }
    return false;
}

ContributorRow rowOf(const ContributorDifference& difference, size_t candidateCount) {
    ContributorRow row;
    row.part = difference.part;
    row.kind = difference.kind;
    row.path = difference.path;
    row.name = difference.name();
    if (difference.match != MatchKind::OnlyCandidate) row.baseline = &difference.baseline;
    row.isOnlyBaseline = true;
    row.isOnlyCandidate = difference.match == MatchKind::OnlyCandidate;
    row.candidates.resize(candidateCount);
    return row;
}

/// Every contributor that `wanted` accepts, once, with what each candidate of the group has of it.
template <class Wanted>
std::vector<ContributorRow> mergedRows(const ComparisonReport& report, const CandidateGroup& group,
                                       Wanted wanted) {
    using Key = std::tuple<StepPart, ContributorKind, std::string_view, std::string_view, bool>;
    std::map<Key, size_t> places;
    std::vector<ContributorRow> rows;
    for (size_t column = 0; column < group.candidates.size(); ++column) {
        for (const ContributorDifference& difference :
             pairOf(report, group.candidates[column]).contributors) {
            if (!wanted(difference)) continue;
            const bool isOnlyCandidate = difference.match == MatchKind::OnlyCandidate;
            const std::string_view keyName =
                isOnlyCandidate ? difference.candidate.name : difference.baseline.name;
            const Key key{difference.part, difference.kind, difference.path, keyName,
                          isOnlyCandidate};
            const auto [place, isNew] = places.try_emplace(key, rows.size());
            if (isNew) rows.push_back(rowOf(difference, group.candidates.size()));
            ContributorRow& row = rows[place->second];
            row.candidates[column] = &difference;
            row.greatestLossNs = fartherFromZero(row.greatestLossNs, difference.lostNs());
            if (difference.match == MatchKind::OnlyBaseline) continue;
            row.isOnlyBaseline = false;
            if (difference.match == MatchKind::SamePosition) {
                row.name = difference.candidate.name;
                row.formerName = difference.baseline.name;
            }
        }
    }
    return rows;
}

}  // namespace

std::vector<CandidateGroup> candidateGroups(const ComparisonReport& report, size_t most) {
    std::vector<CandidateGroup> groups;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair) continue;
        const auto fitting = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
            return group.baselineWorker == pair->baselineWorker && group.candidates.size() < most;
        });
        if (fitting != groups.end())
            fitting->candidates.push_back(index);
        else
            groups.push_back({pair->baselineWorker, {index}});
    }
    return groups;
}

const WorkerComparison& pairOf(const ComparisonReport& report, size_t candidate) {
    const RunComparison& comparison = report.candidates[candidate].comparison;
    return comparison.workers[comparison.critical];
}

std::vector<int64_t> roundedToSum(std::span<const int64_t> values, int64_t quantum) {
    // Round all down, then give the quanta that are missing to the greatest remainders.
    const auto floorOf = [quantum](int64_t value) {
        return value / quantum - (value % quantum < 0 ? 1 : 0);
    };
    int64_t total = 0, given = 0;
    std::vector<int64_t> quanta;
    for (const int64_t value : values) {
        total += value;
        quanta.push_back(floorOf(value));
        given += quanta.back();
    }
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return values[a] - quanta[a] * quantum > values[b] - quanta[b] * quantum;
    });
    int64_t missing = floorOf(total + quantum / 2) - given;
    for (const size_t index : order)
        if (missing-- > 0) ++quanta[index];
    for (int64_t& count : quanta) count *= quantum;
    return quanta;
}

std::vector<PartRow> partRows(const ComparisonReport& report, const CandidateGroup& group,
                              int64_t quantumNs) {
    std::vector<PartRow> rows(stepPartCount);
    for (size_t part = 0; part < stepPartCount; ++part)
        rows[part].part = static_cast<StepPart>(part);
    for (size_t column = 0; column < group.candidates.size(); ++column) {
        std::vector<int64_t> baseline(stepPartCount), candidate(stepPartCount);
        for (const PartDifference& part : pairOf(report, group.candidates[column]).parts) {
            baseline[static_cast<size_t>(part.part)] = part.baselineNs;
            candidate[static_cast<size_t>(part.part)] = part.candidateNs;
        }
        baseline = roundedToSum(baseline, quantumNs);
        candidate = roundedToSum(candidate, quantumNs);
        for (size_t part = 0; part < stepPartCount; ++part) {
            rows[part].baselineNs = baseline[part];
            rows[part].candidateNs.push_back(candidate[part]);
        }
    }
    std::erase_if(rows, [](const PartRow& row) {
        return row.baselineNs == 0 && std::all_of(row.candidateNs.begin(), row.candidateNs.end(),
                                                  [](int64_t ns) { return ns == 0; });
    });
    return rows;
}

std::string_view titleOf(ContributorList list) {
    switch (list) {
        case ContributorList::Kernels:
            return "Kernels";
        case ContributorList::Collectives:
            return "Collectives";
        case ContributorList::Copies:
            return "Copies and memsets";
        case ContributorList::Idle:
            break;
    }
    return "While the GPU was idle";
}

bool hasBandwidth(ContributorList list) {
    return list == ContributorList::Collectives || list == ContributorList::Copies;
}

std::vector<ContributorRow> contributorRows(const ComparisonReport& report,
                                            const CandidateGroup& group, ContributorList list,
                                            size_t top) {
    std::vector<ContributorRow> rows = mergedRows(
        report, group,
        [list](const ContributorDifference& difference) { return isIn(list, difference); });
    // A list that is cut has no place for what did not change, but bandwidths are worth a look
    // anyway.
    if (top > 0 && !hasBandwidth(list))
        std::erase_if(rows, [](const ContributorRow& row) {
            return std::abs(row.greatestLossNs) < leastLossListedNs;
        });
    keepWeightiest(rows, top);
    return rows;
}

std::vector<ContributorRow> unmatchedRows(const ComparisonReport& report,
                                          const CandidateGroup& group, bool isOfBaseline) {
    std::vector<ContributorRow> rows =
        mergedRows(report, group, [](const ContributorDifference& difference) {
            return !isIdle(difference.part) && difference.kind != ContributorKind::Others;
        });
    std::erase_if(rows, [isOfBaseline](const ContributorRow& row) {
        return isOfBaseline ? !row.isOnlyBaseline : !row.isOnlyCandidate;
    });
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return std::abs(a.greatestLossNs) > std::abs(b.greatestLossNs);
    });
    return rows;
}

std::vector<RangeRow> rangeRows(const ComparisonReport& report, const CandidateGroup& group,
                                size_t top) {
    std::map<std::string_view, size_t> places;
    std::vector<RangeRow> rows;
    for (size_t column = 0; column < group.candidates.size(); ++column) {
        std::map<size_t, int64_t> baselineNs;  // the same for every candidate, so set, not added
        for (const RangeDifference& range : pairOf(report, group.candidates[column]).ranges) {
            if (range.path.empty()) continue;
            const auto [place, isNew] = places.try_emplace(range.path, rows.size());
            if (isNew) {
                rows.push_back({range.path, 0, {}, 0});
                rows.back().candidateNs.resize(group.candidates.size());
            }
            baselineNs[place->second] += range.baselineNs;
            rows[place->second].candidateNs[column] += range.candidateNs;
        }
        for (const auto& [row, ns] : baselineNs) rows[row].baselineNs = ns;
    }
    for (RangeRow& row : rows)
        for (const int64_t ns : row.candidateNs)
            row.greatestLossNs = fartherFromZero(row.greatestLossNs, ns - row.baselineNs);
    keepWeightiest(rows, top);
    return rows;
}

}  // namespace lanescope
