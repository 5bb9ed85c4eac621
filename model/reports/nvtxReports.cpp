// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/analysis/stepRanges.h"
#include "model/format/TimeRange.h"
#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/trace/Trace.h"

namespace lanescope {

namespace {

/// GPU times of operators that have a backward, or are one: from first start to last end on all streams; else empty.
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
        std::vector<Operators> list = mapped(sums_, [](const auto& each) { return each.second; });
        std::ranges::sort(list, [this](const Operators& a, const Operators& b) {
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
    const double total = sumOf(sums, [](const Operators& each) { return static_cast<double>(each.totalNs()); });
    for (const Operators& each : sums) {
        table.searches.emplace_back(operators.nameOf(each.forward));
        table.rows.push_back({total > 0 ? 100.0 * static_cast<double>(each.totalNs()) / total : 0.0, each.forwardNs,
                              each.backwardNs, each.calls, each.backwards, std::string(operators.nameOf(each.forward)),
                              std::string(operators.nameOf(each.backward))});
    }
    table.notes = clippedNotes(operators.cut(), "Time", "Calls");
    return table;
}

/// Returns ":text" in the default domain, "Domain:text" in another, as Nsight Systems names ranges.
std::string rangeLabel(const Trace& trace, StringIndex domain, StringIndex text) {
    return fmt::format("{}:{}", trace.strings.at(domain), trace.strings.at(text));
}

/// "PushPop", "StartEnd", "Mark".
std::string_view styleName(NvtxStyle style) { return enumText(style, {"PushPop", "StartEnd", "Mark"}); }

/// Work of an NVTX range on the GPU, over all streams.
struct RangeProjection {
    TimeRange range;              ///< From the first start to the last end of its work.
    uint32_t operationCount = 0;  ///< 0 if the range launched nothing.
    uint32_t level = 0;           ///< Number of enclosing ranges on its thread, in any domain.
    uint32_t childCount = 0;      ///< Ranges directly inside it that launched something.
};

constexpr size_t maxOpenRanges = 256;  // bounds the time for a file whose ranges all overlap

/// Returns the row of the shortest open range around `row`, or `noIndex`.
uint32_t enclosingRange(const NvtxTable& nvtx, const std::vector<uint32_t>& open, uint32_t row) {
    uint32_t tightest = noIndex;
    const size_t first = open.size() > maxOpenRanges ? open.size() - maxOpenRanges : 0;
    for (size_t at = open.size(); at-- > first;) {
        const uint32_t other = open[at];
        if (nvtx.endNs[other] < nvtx.endNs[row]) continue;
        const auto length = [&](uint32_t range) { return nvtx.endNs[range] - nvtx.startNs[range]; };
        if (tightest == noIndex || length(other) < length(tightest)) tightest = other;
    }
    return tightest;
}

/// Finds the range around each range: on the same thread, in any domain and style, as start-end ranges need not nest.
void nest(const NvtxTable& nvtx, std::vector<RangeProjection>& projections) {
    std::vector<uint32_t> rows(nvtx.size());
    std::iota(rows.begin(), rows.end(), 0u);
    // By thread and start; of those with the same start the longer encloses the shorter.
    std::ranges::sort(rows, [&](uint32_t a, uint32_t b) {
        if (nvtx.thread[a] != nvtx.thread[b]) return nvtx.thread[a] < nvtx.thread[b];
        if (nvtx.startNs[a] != nvtx.startNs[b]) return nvtx.startNs[a] < nvtx.startNs[b];
        if (nvtx.endNs[a] != nvtx.endNs[b]) return nvtx.endNs[a] > nvtx.endNs[b];
        return a < b;
    });
    std::vector<uint32_t> open;
    uint32_t thread = noIndex;
    for (const uint32_t row : rows) {
        if (nvtx.style[row] == NvtxStyle::Mark) continue;
        if (std::exchange(thread, nvtx.thread[row]) != nvtx.thread[row]) open.clear();
        while (!open.empty() && nvtx.endNs[open.back()] < nvtx.startNs[row]) open.pop_back();
        const uint32_t parent = enclosingRange(nvtx, open, row);
        if (parent != noIndex) {
            projections[row].level = projections[parent].level + 1;
            if (projections[row].operationCount > 0) ++projections[parent].childCount;
        }
        open.push_back(row);
    }
}

/// Returns one per row of `trace.nvtx`. O(n log n). Of more than some hundred open ranges the latest count.
std::vector<RangeProjection> projectRanges(const Trace& trace) {
    std::vector<RangeProjection> result(trace.nvtx.size());
    const ProjectionTable& projections = trace.projections;
    for (uint32_t row = 0; row < projections.size(); ++row) {
        RangeProjection& projection = result[projections.nvtx[row]];
        const TimeRange range{projections.startNs[row], projections.endNs[row]};
        projection.range = projection.operationCount == 0 ? range : projection.range.united(range);
        projection.operationCount += projections.operationCount[row];
    }
    nest(trace.nvtx, result);
    return result;
}

/// Groups the ranges of one style by domain and `nameOf` their text; marks have no duration to sum.
GroupedValues durationsOf(const ReportQuery& query, NvtxStyle style, auto nameOf) {
    const NvtxTable& nvtx = query.trace.nvtx;
    GroupedValues durations;
    for (uint32_t row = 0; row < nvtx.size(); ++row)
        if (nvtx.style[row] == style && query.includes(nvtx.startNs[row], nvtx.endNs[row]))
            durations.addTime(GroupedValues::pairKey(nvtx.domain[row], nameOf(nvtx.text[row])), query,
                              nvtx.startNs[row], nvtx.endNs[row]);
    return durations;
}

/// Appends a row for each name of the ranges of one style.
void appendRows(const ReportQuery& query, NvtxStyle style, bool withStyle, std::vector<SummaryRow>& rows) {
    GroupedValues durations = durationsOf(query, style, std::identity());
    for (GroupedValues::Group& group : durations.groups()) {
        std::vector<std::string> labels;
        if (withStyle) labels.emplace_back(styleName(style));
        const StringIndex text = GroupedValues::low(group.key);
        labels.push_back(rangeLabel(query.trace, GroupedValues::high(group.key), text));
        rows.push_back({group, std::move(labels), std::string(query.trace.strings.at(text))});
    }
}

template <NvtxStyle style>
ReportTable summaryOfStyle(const ReportQuery& query) {
    std::vector<SummaryRow> rows;
    appendRows(query, style, false, rows);
    return summaryTable({.labelColumns = {"Range"}}, std::move(rows));
}

ReportTable nvtxSummary(const ReportQuery& query) {
    std::vector<SummaryRow> rows;
    appendRows(query, NvtxStyle::PushPop, true, rows);
    appendRows(query, NvtxStyle::StartEnd, true, rows);
    return summaryTable({.labelColumns = {"Style", "Range"}}, std::move(rows));
}

ReportTable nvtxFamilySummary(const ReportQuery& query) {
    std::vector<SummaryRow> rows;
    RangeFamilies families(query.trace);
    for (const NvtxStyle style : {NvtxStyle::PushPop, NvtxStyle::StartEnd}) {
        GroupedValues durations = durationsOf(query, style, [&](StringIndex text) { return families.of(text); });
        for (GroupedValues::Group& group : durations.groups()) {
            const uint32_t family = GroupedValues::low(group.key);
            const std::string_view domain = query.trace.strings.at(GroupedValues::high(group.key));
            rows.push_back({group,
                            {std::to_string(families.sizeOf(family)), families.nameOf(family), std::string(domain)},
                            families.searchFor(family)});
        }
    }
    return summaryTable({.labelColumns = {"Names", "Range", "Domain"}}, std::move(rows));
}

/// All ranges of one name, or family of names, and style that launched GPU work.
struct ProjectedRanges {
    NvtxStyle style = NvtxStyle::PushPop;
    StringIndex domain = 0;
    uint32_t name = 0;  ///< The text or family.
    std::vector<int64_t> projectedNs = {};
    Statistics figures = {};  ///< Statistics of `projectedNs`, whole.
    std::string label = {}, search = {};
    int64_t rangeNs = 0, operations = 0, levels = 0, children = 0;
    /// Part of the projections in the requested range, and the number that extend beyond it.
    int64_t projectedWithinNs = 0, cut = 0;
};

struct NameAndStyle {
    StringIndex domain;
    uint32_t name;
    NvtxStyle style;
    bool operator==(const NameAndStyle&) const = default;
};

struct HashNameAndStyle {
    size_t operator()(const NameAndStyle& key) const {
        const uint64_t packed = (static_cast<uint64_t>(key.domain) << 32) | key.name;
        return std::hash<uint64_t>{}(packed * 4 + static_cast<uint64_t>(key.style));
    }
};

/// Sums by name, or by family if `families` is not null.
std::vector<ProjectedRanges> collect(const ReportQuery& query, RangeFamilies* families) {
    const NvtxTable& nvtx = query.trace.nvtx;
    const std::vector<RangeProjection> projections = projectRanges(query.trace);
    std::unordered_map<NameAndStyle, size_t, HashNameAndStyle> groupOf;
    std::vector<ProjectedRanges> groups;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        const RangeProjection& projection = projections[row];
        if (projection.operationCount == 0) continue;
        // Work launched in a range runs at its own time.
        const TimeRange own{nvtx.startNs[row], nvtx.endNs[row]}, onGpu = projection.range;
        const bool isOnCpu = query.includes(own.startNs, own.endNs);
        const bool isOnGpu = query.includes(onGpu.startNs, onGpu.endNs);
        if (!isOnCpu && !isOnGpu) continue;
        const StringIndex text = nvtx.text[row];
        const NameAndStyle key{nvtx.domain[row], families ? families->of(text) : text, nvtx.style[row]};
        const auto [place, isNew] = groupOf.try_emplace(key, groups.size());
        if (isNew) groups.push_back({key.style, key.domain, key.name});
        ProjectedRanges& group = groups[place->second];
        const int64_t ownNs = isOnCpu ? query.timeWithin(own.startNs, own.endNs) : 0;
        const int64_t onGpuNs = isOnGpu ? query.timeWithin(onGpu.startNs, onGpu.endNs) : 0;
        group.projectedNs.push_back(onGpu.durationNs());
        group.projectedWithinNs = saturatingSum(group.projectedWithinNs, onGpuNs);
        group.rangeNs = saturatingSum(group.rangeNs, ownNs);
        if (ownNs != own.durationNs() || onGpuNs != onGpu.durationNs()) ++group.cut;
        group.operations += projection.operationCount;
        group.levels += projection.level;
        group.children += projection.childCount;
    }
    for (ProjectedRanges& group : groups) {
        group.figures = statisticsOf(group.projectedNs);
        const std::string_view domain = query.trace.strings.at(group.domain);
        group.label = families ? families->nameOf(group.name) : std::string(query.trace.strings.at(group.name));
        group.search = families ? families->searchFor(group.name) : group.label;
        if (!families || !domain.empty()) group.label = fmt::format("{}:{}", domain, group.label);
    }
    std::ranges::sort(groups, [](const auto& a, const auto& b) {
        if (a.projectedWithinNs != b.projectedWithinNs) return a.projectedWithinNs > b.projectedWithinNs;
        return a.label < b.label;
    });
    return groups;
}

ReportTable projectionTable(const ReportQuery& query, RangeFamilies* families) {
    ReportTable table{.columns = {{"Range", Unit::Text},
                                  {"Style", Unit::Text},
                                  {"Total Proj Time", Unit::Nanoseconds},
                                  {"Total Range Time", Unit::Nanoseconds},
                                  {"Range Instances", Unit::Count},
                                  {"Proj Avg", Unit::Nanoseconds},
                                  {"Proj Med", Unit::Nanoseconds},
                                  {"Proj Min", Unit::Nanoseconds},
                                  {"Proj Max", Unit::Nanoseconds},
                                  {"Proj StdDev", Unit::Nanoseconds},
                                  {"Total GPU Ops", Unit::Count},
                                  {"Avg GPU Ops", Unit::Count},
                                  {"Avg Range Lvl", Unit::Count},
                                  {"Avg Num Child", Unit::Count}}};
    int64_t cut = 0;
    for (const ProjectedRanges& group : collect(query, families)) {
        cut += group.cut;
        const Statistics& figures = group.figures;
        const auto count = static_cast<double>(figures.count);
        table.searches.push_back(group.search);
        table.rows.push_back({group.label, std::string(styleName(group.style)), group.projectedWithinNs, group.rangeNs,
                              figures.count, figures.average, figures.median, figures.minimum, figures.maximum,
                              figures.standardDeviation, group.operations,
                              static_cast<double>(group.operations) / count, static_cast<double>(group.levels) / count,
                              static_cast<double>(group.children) / count});
    }
    table.notes = clippedNotes(cut, "Total Proj Time and Total Range Time", "the other columns");
    return table;
}

ReportTable nvtxGpuProjectionFamilySummary(const ReportQuery& query) {
    RangeFamilies families(query.trace);
    return projectionTable(query, &families);
}

}  // namespace

const Report backwardByOperatorReport{.info = {"backward_by_operator", "GPU Time of Operators and Their Backward",
                                               "GPU time of each PyTorch operator and of its backward"},
                                      .build = backwardByOperator};

const Report nvtxSummaryReport{.info = {.name = "nvtx_sum",
                                        .title = "NVTX Range Summary",
                                        .description = "CPU time in each NVTX range",
                                        .isDefault = true},
                               .build = nvtxSummary};

const Report nvtxFamilySummaryReport{
    .info = {"nvtx_sum:family", "NVTX Range Summary (By Family)",
             "CPU time in NVTX ranges; names that differ only in numbers are combined"},
    .build = nvtxFamilySummary,
    .tab = {"NVTX ranges", 2, [](const Trace& trace) { return trace.nvtx.size() > 0; }}};

const Report nvtxPushPopSummaryReport{
    .info = {"nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", "CPU time in each push/pop NVTX range"},
    .build = summaryOfStyle<NvtxStyle::PushPop>};

const Report nvtxStartEndSummaryReport{
    .info = {"nvtx_startend_sum", "NVTX Start/End Range Summary", "CPU time in each started and ended NVTX range"},
    .build = summaryOfStyle<NvtxStyle::StartEnd>};

const Report nvtxGpuProjectionSummaryReport{
    .info = {.name = "nvtx_gpu_proj_sum",
             .title = "NVTX GPU Projection Summary",
             .description = "GPU time of the work launched in each NVTX range",
             .isDefault = true},
    .build = [](const ReportQuery& query) { return projectionTable(query, nullptr); }};

const Report nvtxGpuProjectionFamilySummaryReport{
    .info = {"nvtx_gpu_proj_sum:family", "NVTX GPU Projection Summary (By Family)",
             "GPU time of NVTX ranges; names that differ only in numbers are combined"},
    .build = nvtxGpuProjectionFamilySummary,
    .tab = {"NVTX on the GPU", 3, [](const Trace& trace) { return trace.nvtx.size() > 0 && hasGpuWork(trace); }}};

}  // namespace lanescope
