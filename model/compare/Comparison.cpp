#include "model/compare/Comparison.h"

#include <algorithm>
#include <cstdlib>

#include "model/compare/busyTime.h"
#include "model/compare/sideTotals.h"
#include "model/compare/stepPace.h"
#include "model/summary/Statistics.h"

namespace lanescope {

namespace {

SideOverview overviewOf(const Trace& trace, TimeRange range) {
    SideOverview overview;
    overview.wallNs = std::max<int64_t>(0, range.durationNs());
    for (const int64_t busyNs : busyTimePerGpu(trace, range)) {
        if (busyNs == 0) continue;
        overview.gpuBusyNs = saturatingSum(overview.gpuBusyNs, busyNs);
        ++overview.gpuCount;
    }
    return overview;
}

std::vector<Difference> differencesOf(const std::map<DifferenceKey, SideTotal>& baseline,
                                      const std::map<DifferenceKey, SideTotal>& candidate) {
    std::map<DifferenceKey, Difference> merged;
    for (const auto& [key, total] : baseline) merged[key] = {key.group, key.name, total, {}};
    for (const auto& [key, total] : candidate) {
        Difference& difference = merged[key];
        difference.group = key.group;
        difference.name = key.name;
        difference.candidate = total;
    }
    std::vector<Difference> differences;
    differences.reserve(merged.size());
    for (auto& [key, difference] : merged) differences.push_back(std::move(difference));
    // Stable over names in order, so that equal losses always stand in the same order.
    std::stable_sort(differences.begin(), differences.end(),
                     [](const Difference& a, const Difference& b) {
                         if (a.group != b.group) return a.group < b.group;
                         return a.lostNs() > b.lostNs();
                     });
    return differences;
}

}  // namespace

std::string_view name(DifferenceGroup group) {
    switch (group) {
        case DifferenceGroup::Kernel:
            return "kernel";
        case DifferenceGroup::Memcpy:
            return "memcpy";
        case DifferenceGroup::Memset:
            return "memset";
        case DifferenceGroup::NvtxRange:
            return "NVTX range";
        case DifferenceGroup::ApiCall:
            return "API call";
    }
    return "";
}

double SideOverview::busyShare() const {
    if (wallNs <= 0 || gpuCount == 0) return 0;
    return static_cast<double>(gpuBusyNs) / (static_cast<double>(wallNs) * gpuCount);
}

Comparison compare(Baseline baseline, Candidate candidate) {
    Comparison comparison;
    comparison.baselineTitle = baseline.trace.title;
    comparison.candidateTitle = candidate.trace.title;
    comparison.baselineRange = baseline.range;
    comparison.candidateRange = candidate.range;
    comparison.baseline = overviewOf(baseline.trace, baseline.range);
    comparison.candidate = overviewOf(candidate.trace, candidate.range);
    comparison.steps = stepPace(baseline, candidate);
    comparison.differences = differencesOf(sideTotals(baseline.trace, baseline.range),
                                           sideTotals(candidate.trace, candidate.range));
    return comparison;
}

Comparison largestDifferences(Comparison comparison, size_t perGroup) {
    std::vector<Difference> kept;
    const std::vector<Difference>& all = comparison.differences;
    for (size_t begin = 0; begin < all.size();) {
        size_t end = begin;
        while (end < all.size() && all[end].group == all[begin].group) ++end;
        // Sorted by time lost, a group has its heavyweights at both ends: take from either.
        size_t front = begin, back = end;
        while (front < back && (front - begin) + (end - back) < perGroup) {
            if (std::abs(all[front].lostNs()) >= std::abs(all[back - 1].lostNs()))
                ++front;
            else
                --back;
        }
        kept.insert(kept.end(), all.begin() + begin, all.begin() + front);
        kept.insert(kept.end(), all.begin() + back, all.begin() + end);
        begin = end;
    }
    comparison.differences = std::move(kept);
    return comparison;
}

ReportTable toTable(const Comparison& comparison) {
    ReportTable table;
    table.name = "comparison";
    table.title = "Comparison";
    table.columns = {{"Group", Unit::Text},
                     {"Name", Unit::Text},
                     {"Baseline Count", Unit::Count},
                     {"Baseline Time", Unit::Nanoseconds},
                     {"Candidate Count", Unit::Count},
                     {"Candidate Time", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds},
                     {"Change", Unit::Percent}};
    for (const Difference& difference : comparison.differences) {
        std::vector<Cell> row{std::string(name(difference.group)),
                              difference.name,
                              difference.baseline.count,
                              difference.baseline.timeNs,
                              difference.candidate.count,
                              difference.candidate.timeNs,
                              difference.lostNs()};
        if (difference.baseline.timeNs > 0)
            row.emplace_back(100.0 * static_cast<double>(difference.lostNs()) /
                             static_cast<double>(difference.baseline.timeNs));
        else
            row.emplace_back();  // against nothing there is no percentage
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace lanescope
