// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"

namespace lanescope {

namespace {

/// GPU times of the work of operators that have a backward, or are one: from the first start to the
/// last end of their projections on all streams; empty for others. O(n).
class OnGpu {
  public:
    explicit OnGpu(const Trace& trace)
        : startNs_(trace.nvtx.size(), 0, trace.memory.get()), endNs_(trace.nvtx.size(), 0, trace.memory.get()) {
        const ProjectionTable& projections = trace.projections;
        for (uint32_t row = 0; row < projections.size(); ++row) {
            const uint32_t range = projections.nvtx[row];
            const TimeRange each{projections.startNs[row], projections.endNs[row]};
            const TimeRange all = of(range).isEmpty() ? each : of(range).united(each);
            startNs_[range] = all.startNs;
            endNs_[range] = all.endNs;
        }
    }
    TimeRange of(uint32_t range) const { return {startNs_[range], endNs_[range]}; }

  private:
    LargeVector<int64_t> startNs_, endNs_;
};

/// Operators of one name whose backwards have one name.
struct Operators {
    StringIndex forward = 0, backward = 0;
    int64_t calls = 0, backwards = 0;
    int64_t forwardNs = 0, backwardNs = 0;
    int64_t totalNs() const { return saturatingSum(forwardNs, backwardNs); }
};

class OperatorSums {
  public:
    explicit OperatorSums(const ReportQuery& query) : query_(query), onGpu_(query.trace) {
        const BackwardTable& pairs = query.trace.backwards;
        for (uint32_t row = 0; row < pairs.size(); ++row)
            // Counted for the first of several.
            take(pairs.forward[row], pairs.backward[row], row == 0 || pairs.forward[row] != pairs.forward[row - 1]);
    }

    /// Returns the operators with most time first.
    std::vector<Operators> sums() const {
        std::vector<Operators> list;
        for (const auto& each : sums_) list.push_back(each.second);
        std::sort(list.begin(), list.end(), [this](const Operators& a, const Operators& b) {
            if (a.totalNs() != b.totalNs()) return a.totalNs() > b.totalNs();
            return std::pair(nameOf(a.forward), nameOf(a.backward)) < std::pair(nameOf(b.forward), nameOf(b.backward));
        });
        return list;
    }
    std::string_view nameOf(StringIndex name) const { return query_.trace.strings.at(name); }
    int64_t cut() const { return cut_; }

  private:
    void take(uint32_t forward, uint32_t backward, bool isFirst) {
        const TimeRange there = onGpu_.of(forward), back = onGpu_.of(backward);
        const bool isForward = isFirst && counts(there), isBackward = counts(back);
        if (!isForward && !isBackward) return;
        const NvtxTable& ranges = query_.trace.nvtx;
        Operators& sum = sums_[{ranges.text[forward], ranges.text[backward]}];
        sum.forward = ranges.text[forward];
        sum.backward = ranges.text[backward];
        if (isForward) add(there, sum.calls, sum.forwardNs);
        if (isBackward) add(back, sum.backwards, sum.backwardNs);
    }
    bool counts(TimeRange work) const { return !work.isEmpty() && query_.includes(work.startNs, work.endNs); }
    void add(TimeRange work, int64_t& count, int64_t& sumNs) {
        const int64_t withinNs = query_.timeWithin(work.startNs, work.endNs);
        ++count;
        sumNs = saturatingSum(sumNs, withinNs);
        if (withinNs != work.durationNs()) ++cut_;
    }

    const ReportQuery& query_;
    const OnGpu onGpu_;
    std::map<std::pair<StringIndex, StringIndex>, Operators> sums_;
    int64_t cut_ = 0;
};

ReportTable backwardByOperator(const ReportQuery& query) {
    ReportTable table;
    table.columns = {
        {"Time", Unit::Percent}, {"Forward GPU Time", Unit::Nanoseconds}, {"Backward GPU Time", Unit::Nanoseconds},
        {"Calls", Unit::Count},  {"Backward Calls", Unit::Count},         {"Operator", Unit::Text},
        {"Backward", Unit::Text}};
    if (query.trace.backwards.size() == 0) return table;
    const OperatorSums operators(query);
    const std::vector<Operators> sums = operators.sums();
    double total = 0;
    for (const Operators& each : sums) total += static_cast<double>(each.totalNs());
    for (const Operators& each : sums) {
        table.searches.emplace_back(operators.nameOf(each.forward));
        table.rows.push_back({total > 0 ? 100.0 * static_cast<double>(each.totalNs()) / total : 0.0, each.forwardNs,
                              each.backwardNs, each.calls, each.backwards, std::string(operators.nameOf(each.forward)),
                              std::string(operators.nameOf(each.backward))});
    }
    table.notes = clippedNotes(operators.cut(), "Time", "Calls");
    return table;
}

}  // namespace

const Report backwardByOperatorReport{.info = {.name = "backward_by_operator",
                                               .title = "GPU Time of Operators and Their Backward",
                                               .description = "GPU time of each PyTorch operator and of its backward",
                                               .isDefault = false},
                                      .build = backwardByOperator};

}  // namespace lanescope
